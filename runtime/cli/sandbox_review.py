"""What `orion sandbox review`, `apply`, `reject` and `undo` do, without an engine or a running computer."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from typing import Any

from resources.sentences import sentence
from resources.translation import _, ngettext
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal, exact
from runtime.errors import OrionError
from runtime.machines import NAME
from runtime.pathnames import visible
from runtime.paths import find_home
from runtime.proposals import Choice, Proposal
from runtime.review import Review
from runtime.workspace import Workspace

_STYLES = {"+": "good", "-": "bad"}


def review(terminal: Terminal, path: str, *, as_json: bool) -> ExitCode:
    """List what waits, or show the parts of one file."""
    found = _review()
    waiting = asyncio.run(found.look())
    if path:
        detail = asyncio.run(found.detail(path))
        if as_json:
            terminal.answer(json.dumps(detail, indent=2) + "\n")
        else:
            _show_file(terminal, detail)
        return ExitCode.OK
    if as_json:
        left_out = [{"path": name, "code": code} for name, code in sorted(found.left_out.items())]
        plain = {"proposals": [one.as_dict() for one in waiting], "left_out": left_out}
        terminal.answer(json.dumps(plain, indent=2) + "\n")
        return ExitCode.OK
    lines = asyncio.run(found.lines(waiting))
    for one in waiting:
        added, removed = lines.get(one.path, (0, 0))
        figures = f"  +{added} -{removed}" if added + removed else ""
        source = f"  <- {exact(one.source)}" if one.source else ""
        clash = f"  ({_('in conflict')})" if one.conflict else ""
        terminal.answer(f"{_kind(one):<9} {exact(one.path)}{source}{figures}{clash}\n")
    if not waiting:
        terminal.note(_("Nothing waits for your decision."))
    for name, code in sorted(found.left_out.items()):
        terminal.note(sentence(code, path=visible(name)))
    return ExitCode.OK


def apply(terminal: Terminal, paths: Sequence[str], parts: Sequence[int]) -> ExitCode:
    """Let these files (all where none is named), or some parts of one, happen in the user's folder."""
    found = _review()
    asyncio.run(found.apply(_choices(found, paths, parts)))
    left = len(found.pending)
    terminal.note(_("Done; 'orion sandbox undo' takes it back."), "good")
    if left:
        terminal.note(ngettext("1 file still waits.", "{n} files still wait.", left).format(n=left))
    return ExitCode.OK


def reject(terminal: Terminal, paths: Sequence[str], parts: Sequence[int]) -> ExitCode:
    """Take these files (all where none is named), or some parts of one, back in the sandbox."""
    found = _review()
    asyncio.run(found.reject(_choices(found, paths, parts)))
    terminal.note(_("Done; the sandbox's own files follow when it is used next."), "good")
    return ExitCode.OK


def undo(terminal: Terminal, run: str) -> ExitCode:
    """Take the last decision back, or all that a run did."""
    found = _review()
    asyncio.run(found.look())
    if run:
        for path in asyncio.run(found.undo(run)):
            terminal.answer(f"{exact(path)}\n")
    elif found.decisions:
        asyncio.run(found.take_back(found.decisions[-1].id))
        terminal.note(_("Taken back; it waits for your decision again."), "good")
    else:
        raise OrionError("review_nothing_to_undo")
    return ExitCode.OK


def _review() -> Review:
    home = find_home()
    name = os.environ.get("COMPUTER_USE_CONTAINER") or NAME
    return Review(Workspace.create(home.workspace, home.changes), home.changes, name=name)


def _choices(found: Review, paths: Sequence[str], parts: Sequence[int]) -> list[Choice] | None:
    waiting = {one.path: one for one in asyncio.run(found.look())}
    if not paths and not parts:
        return None
    if parts and len(paths) != 1:
        raise OrionError("review_parts_of_one")
    chosen = []
    for path in paths:
        if path not in waiting:
            raise OrionError("review_not_waiting", path=visible(path))
        numbers = [part - 1 for part in parts] if parts else None
        chosen.append(Choice.of(waiting[path], numbers))
    return chosen


def _kind(one: Proposal) -> str:
    return {
        "created": _("new"),
        "modified": _("changed"),
        "deleted": _("deleted"),
        "moved": _("moved"),
        "mode": _("mode"),
    }[one.kind]


def _show_file(terminal: Terminal, detail: dict[str, Any]) -> None:
    """The parts of a file with their numbers, which `--part` takes."""
    for number, hunk in enumerate(detail["hunks"], 1):
        terminal.answer(terminal.painted(f"[{number}] {hunk['head']}\n", "accent"))
        _show_lines(terminal, str(hunk["text"]))
    if detail["text"]:
        _show_lines(terminal, str(detail["text"]))
    elif not detail["hunks"]:
        words = _("{path} goes as a whole ({size} bytes).")
        terminal.note(words.format(path=exact(detail["path"]), size=detail["size"]))


def _show_lines(terminal: Terminal, text: str) -> None:
    for line in text.split("\n"):
        terminal.answer(terminal.painted(exact(line), _STYLES.get(line[:1], "")) + "\n")
