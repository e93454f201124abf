"""`orion sessions`: the stored conversations, from the command line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.files import read, write_new
from runtime.cli.host import Host
from runtime.cli.lookup import find_session
from runtime.cli.terminal import Terminal, visible

if TYPE_CHECKING:
    from runtime.sessions import SessionStore

Row = dict[str, Any]

_UNITS = ((86400 * 365, "y"), (86400 * 30, "mo"), (86400, "d"), (3600, "h"), (60, "min"))


def listing(rows: Iterable[Row], width: int) -> Iterator[str]:
    """One line a session: id, age, number of messages, title or the found text; cut to `width` columns."""
    for row in rows:
        title = " ".join(str(row.get("snippet") or row["title"] or row["preview"] or _("New chat")).split())
        mark = "! " if row["interrupted"] else ""
        line = f"{row['id']}  {_age(row['updated']):>6}  {row['messages']:>4}  {mark}{visible(title)}"
        yield line if len(line) <= width else line[: max(width - 1, 1)] + "…"


def show_list(terminal: Terminal, limit: int, *, as_json: bool) -> ExitCode:
    """Print the newest sessions."""
    return _print_rows(terminal, _with_store(lambda store: store.list(limit)), as_json=as_json)


def search(terminal: Terminal, text: str, limit: int, *, as_json: bool) -> ExitCode:
    """Print the sessions in which `text` occurs."""
    return _print_rows(terminal, _with_store(lambda store: store.search(text, limit)), as_json=as_json)


def show(terminal: Terminal, wanted: str, *, as_json: bool) -> ExitCode:
    """Print a session as Markdown or as JSON; another process may have it open."""
    return export(terminal, wanted, None, as_json=as_json)


def export(terminal: Terminal, wanted: str, output: Path | None, *, as_json: bool) -> ExitCode:
    """Print a session or write it to a new file."""
    kind = "json" if as_json else "markdown"
    text = _with_store(lambda store: store.export(find_session(store, wanted), kind))
    text = text if text.endswith("\n") else text + "\n"
    if output is not None:
        write_new(output, text)
        terminal.note(_("Written to {file}.").format(file=output), "good")
    else:
        terminal.answer(visible(text) if terminal.out_tty else text)
    return ExitCode.OK


def import_(terminal: Terminal, file: str, *, as_json: bool) -> ExitCode:
    """Store an exported session as a new one."""
    text = read(file)
    session = _with_store(lambda store: store.import_(text))
    return _print_result(terminal, {"id": session}, _("Imported as {id}."), as_json=as_json)


def rename(terminal: Terminal, wanted: str, title: str, *, as_json: bool) -> ExitCode:
    """Give a session a title."""

    def renamed(store: SessionStore) -> str:
        found = find_session(store, wanted)
        store.rename(found, title)
        return found

    result = {"id": _with_store(renamed), "title": title}
    return _print_result(terminal, result, _("{id} is now called “{title}”."), as_json=as_json)


def delete(terminal: Terminal, wanted: str, *, as_json: bool) -> ExitCode:
    """Delete a session and say how to take that back."""

    def deleted(store: SessionStore) -> Row:
        found = find_session(store, wanted)
        return {"id": found, "token": store.delete(found)}

    text = _("Deleted {id}. Take it back with: orion sessions restore {token}")
    return _print_result(terminal, _with_store(deleted), text, as_json=as_json)


def restore(terminal: Terminal, token: str, *, as_json: bool) -> ExitCode:
    """Take back a deletion."""
    _with_store(lambda store: store.restore(token))
    return _print_result(terminal, {"token": token}, _("Restored."), as_json=as_json)


def fork(terminal: Terminal, wanted: str, message: str, *, as_json: bool) -> ExitCode:
    """Start a new session from a message of another one."""
    forked = _with_store(lambda store: store.fork(find_session(store, wanted), message))
    return _print_result(terminal, {"id": forked}, _("Forked as {id}."), as_json=as_json)


def _with_store(do: Callable[[SessionStore], Any]) -> Any:
    with Host() as host:
        return host.run(do, host.runtime.sessions)


def _print_rows(terminal: Terminal, rows: list[Row], *, as_json: bool) -> ExitCode:
    if as_json:
        terminal.answer(json.dumps(rows, indent=2) + "\n")
        return ExitCode.OK
    if not rows:
        terminal.note(_("There are no sessions here yet; orion ask or orion chat starts one."))
    for line in listing(rows, terminal.width if terminal.out_tty else 10_000):
        terminal.answer(line + "\n")
    return ExitCode.OK


def _print_result(terminal: Terminal, result: Row, text: str, *, as_json: bool) -> ExitCode:
    terminal.answer((json.dumps(result) if as_json else text.format_map(result)) + "\n")
    return ExitCode.OK


def _age(updated: float) -> str:
    seconds = max(time.time() - updated, 0)
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return _("now")
