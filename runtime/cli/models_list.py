"""`orion models list | use`: which models can answer, and the choice of one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from resources.sentences import sentence
from resources.translation import _
from runtime.amounts import size
from runtime.cli import models_words as words
from runtime.cli.exit_codes import ExitCode
from runtime.cli.host import Host
from runtime.cli.lookup import find_session
from runtime.cli.models_words import Row
from runtime.cli.terminal import Terminal, exact, visible


def show_list(terminal: Terminal, profile: str, *, as_json: bool) -> ExitCode:
    """Print the models of all providers, or of one profile. Services are asked only where that is allowed."""
    with Host() as host:
        offers = host.runtime.offers
        rows = host.call(offers.of, host.runtime.profiles.get(profile)) if profile else host.call(offers.all)
    if as_json:
        terminal.answer(json.dumps(rows, indent=2) + "\n")
        return ExitCode.OK
    for line in listing(rows, terminal.width if terminal.out_tty else 10_000):
        terminal.answer(line + "\n")
    for reason in dict.fromkeys(sentence(row["error"], **row["fields"]) for row in rows if row["error"]):
        terminal.note(reason, "warn")
    return ExitCode.OK


def show_here(terminal: Terminal, *, as_json: bool) -> ExitCode:
    """Print everything on this machine, also what does not chat: how it runs, and what exams showed."""
    with Host() as host:
        rows = host.call(host.runtime.shelf.installed)
    if as_json:
        terminal.answer(json.dumps(rows, indent=2) + "\n")
        return ExitCode.OK
    for line in here(rows, terminal.width if terminal.out_tty else 10_000):
        terminal.answer(line + "\n")
    for reason in dict.fromkeys(sentence(row["error"], **row["fields"]) for row in rows if row["error"]):
        terminal.note(reason, "warn")
    return ExitCode.OK


def here(rows: list[Row], width: int) -> Iterator[str]:
    """One line a model of this machine: name, kind, size, who holds it, how it runs, and its exam."""
    longest = min(max((len(row["name"]) for row in rows), default=0), words.NAME)
    for row in rows:
        facts = [row["kind"], row["quantisation"], size(int(row["size"])), _HELD[row["origin"]]()]
        facts += [words.fitting(row["fit"])]
        if row["kind"] in ("language", "vision") and not row["error"]:
            facts.append(words.examined(row["exam"]))
        mark = "*" if row["default"] else "!" if row["error"] else " "
        yield words.cut(f"{mark} {visible(row['name']):<{longest}}  {', '.join(filter(None, facts))}", width)


_HELD: dict[str, Callable[[], str]] = {
    "bundled": lambda: _("shipped"),
    "orion": lambda: "",
    "imported": lambda: _("in a folder of yours"),
    "lmstudio": lambda: _("held by LM Studio"),
    "ollama": lambda: _("held by Ollama"),
}


def listing(rows: Iterable[Row], width: int) -> Iterator[str]:
    """One line a model: provider and name, where it runs, its size or window, what it can, and the profile it
    belongs to where several have models of one provider."""
    rows = list(rows)
    owners = {(row["provider"], row["profile"]) for row in rows}
    several = Counter(provider for provider, _profile in owners)
    shown = [(f"{row['provider']}/{row['name']}", row) for row in rows]
    longest = max((len(name) for name, _row in shown), default=0)
    for name, row in shown:
        facts = [
            _("on this machine")
            if row["local"]
            else _("sent to {name}").format(name=row.get("host") or row["provider"])
        ]
        if row["size"]:
            facts.append(f"{row['size'] / 1e6:.0f} MB")
        if row.get("window"):
            facts.append(_("{count} tokens").format(count=row["window"]))
        if row.get("images"):
            facts.append(_("sees pictures"))
        if several[row["provider"]] > 1:
            facts.append(_("profile {name}").format(name=visible(row["profile"])))
        mark = "*" if row["default"] else "!" if row["error"] else " "
        line = f"{mark} {visible(name):<{min(longest, 48)}}  {', '.join(facts)}"
        yield line if len(line) <= width else line[: max(width - 1, 1)] + "…"


def use(terminal: Terminal, name: str, session: str, *, as_json: bool) -> ExitCode:
    """Choose a model for new conversations or for one session."""
    with Host() as host:
        found = host.run(find_session, host.runtime.sessions, session) if session else ""
        row = host.call(host.runtime.shelf.use, name, found)
    if as_json:
        terminal.answer(json.dumps(row) + "\n")
        return ExitCode.OK
    if row.get("kind") == "speech":
        terminal.note(_("{name} listens from now on.").format(name=exact(row["name"])), "good")
        return ExitCode.OK
    place = (
        _("on this machine")
        if row["local"]
        else _("over the network, at {name}").format(name=row["provider"])
    )
    who = _("This session uses") if session else _("New conversations use")
    terminal.note(f"{who} {row['name']} ({row['profile']}), {place}.", "good")
    if row["error"]:
        terminal.note(sentence(row["error"], **row["fields"]), "warn")
    return ExitCode.OK
