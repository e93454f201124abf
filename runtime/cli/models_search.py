"""`orion models search | info | fit`: what there is, what is known of it, and how it would run here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from resources.sentences import sentence
from resources.translation import _
from runtime.amounts import size
from runtime.cli import models_words as words
from runtime.cli.consent import agreed, somebody_is_there
from runtime.cli.exit_codes import ExitCode
from runtime.cli.host import Host
from runtime.cli.models_words import Row
from runtime.cli.terminal import Terminal, exact, visible
from runtime.errors import OrionError
from runtime.model_shelf import Kind, ModelShelf


@dataclass(frozen=True, slots=True)
class Asked:
    """A search: `text` to look for, models of `kind` only if that is given, `offline` never asking the hub,
    `yes` allowing it, as `as_json` for a program."""

    text: str
    kind: Kind = ""
    offline: bool = False
    yes: bool = False
    as_json: bool = False


def search(terminal: Terminal, asked: Asked) -> ExitCode:
    """Print what the catalogue and, where it may be asked, the hub have. Without words: what suits here."""
    with Host() as host:
        shelf = host.runtime.shelf
        if not asked.text.strip():
            known = host.call(shelf.recommended, asked.kind)
            found: Row = {"known": known, "found": [], "refused": ""}
        else:
            found = host.call(shelf.search, asked.text, offline=True)
            refused = "" if asked.offline else found["refused"]
            if refused and _may_ask(terminal, refused, asked):
                host.call(shelf.allow, refused)
                refused = ""
            if not (asked.offline or refused):
                found = _searched(host, terminal, asked, found)
    for part in ("known", "found"):
        found[part] = [card for card in found[part] if asked.kind in ("", card["kind"])]
    if asked.as_json:
        terminal.answer(json.dumps(found, indent=2) + "\n")
        return ExitCode.OK
    _print(terminal, found)
    if found["refused"] and not asked.offline:
        told = _("Only the catalogue of this program was searched. For more: orion network allow {host}")
        terminal.note(told.format(host=exact(found["refused"])))
    if not found["known"] and not found["found"]:
        terminal.note(_("Nothing was found for {text}.").format(text=asked.text))
    return ExitCode.OK


def _searched(host: Host, terminal: Terminal, asked: Asked, known: Row) -> Row:
    """What catalogue and hub have; where the hub fails, what is `known` without it is printed first."""
    try:
        return host.call(host.runtime.shelf.search, asked.text)
    except OrionError:
        if not asked.as_json:
            _print(terminal, known)
        raise


def _may_ask(terminal: Terminal, place: str, asked: Asked) -> bool:
    """Whether the words may be sent to the hub: by --yes or by the person who is there."""
    if asked.yes:
        return True
    if asked.as_json or not somebody_is_there():
        return False
    told = _("Search {host} too? It is told what you look for, now and in later searches.")
    return agreed(terminal, told.format(host=exact(place)), OrionError("host_refused", host=place))


def _print(terminal: Terminal, found: Row) -> None:
    width = terminal.width if terminal.out_tty else 10_000
    for line in words.card_lines([*found["known"], *found["found"]], width):
        terminal.answer(line + "\n")


def info(terminal: Terminal, name: str, *, yes: bool, as_json: bool) -> ExitCode:
    """Print the card of one model: of a file here, of the catalogue, or of the hub where it may be asked."""
    with Host() as host:
        card = known_card(host, terminal, name, yes=yes)
        here = [row for row in host.call(host.runtime.shelf.installed) if _is_of(row, card, name)]
    if as_json:
        terminal.answer(json.dumps(card | {"here": here}, indent=2) + "\n")
        return ExitCode.OK
    for line in _described(card):
        terminal.answer(line + "\n")
    width = terminal.width if terminal.out_tty else 10_000
    for line in words.variant_lines(card, width):
        terminal.answer(line + "\n")
    for row in here:
        for line in _here(row):
            terminal.answer(line + "\n")
    return ExitCode.OK


def known_card(host: Host, terminal: Terminal, name: str, *, yes: bool) -> Row:
    """The card of `name`; the hub is asked once that was agreed to. Raises OrionError as ModelShelf.info."""
    shelf = host.runtime.shelf
    while True:
        try:
            return host.call(shelf.info, name)
        except OrionError as refused:
            if refused.code != "host_refused" or not may_reach(terminal, refused, yes=yes):
                raise
            host.call(shelf.allow, str(refused.fields["host"]))


def may_reach(terminal: Terminal, refused: OrionError, *, yes: bool) -> bool:
    """Whether the host that `refused` names may be asked and fetched from: by --yes or by the person who is
    there. Raises `refused` where nobody is."""
    if yes:
        return True
    told = _("Ask {host} for models and fetch them from there? It has not been allowed so far.")
    return agreed(terminal, told.format(host=exact(str(refused.fields["host"]))), refused)


def _is_of(row: Row, card: Row, name: str) -> bool:
    return row["name"] == name or any(variant["installed"] == row["name"] for variant in card["variants"])


def _described(card: Row) -> Iterator[str]:
    facts = [
        (_("name"), card["id"]),
        (_("title"), card["title"]),
        (_("maker"), card["maker"]),
        (_("licence"), card["licence"] + (_(" (to be accepted)") if card["accept"] else "")),
        ("", card["licence_url"]),
        (_("kind"), card["kind"]),
        (_("parameters"), words.parameters(card["parameters"]) if card["parameters"] else ""),
        (_("window"), _("{count} tokens").format(count=card["window"]) if card["window"] else ""),
        (_("made for"), ", ".join(words.abilities(card))),
    ]
    shown = [(title, value) for title, value in facts if value]
    longest = max(len(title) for title, _value in shown)
    for title, value in shown:
        yield f"{title:<{longest}}  {visible(value)}"
    if card["about"]:
        yield visible(card["about"])


def _here(row: Row) -> Iterator[str]:
    yield _("On this machine as {name}: {path}").format(name=visible(row["name"]), path=visible(row["path"]))
    if row["error"]:
        yield sentence(row["error"], **row["fields"])
        return
    yield words.examined(row["exam"])
    for name, found in (row["exam"] or {}).get("scores", {}).items():
        yield "  " + words.score(name, found)


def fit(terminal: Terminal, name: str, kind: Kind, *, as_json: bool) -> ExitCode:
    """Print what this machine has, and how one model or the catalogue's would run on it. Asks no host."""
    with Host() as host:
        shelf: ModelShelf = host.runtime.shelf
        machine = host.call(shelf.machine)
        cards = [host.call(shelf.info, name, offline=True)] if name else host.call(shelf.recommended, kind)
    if as_json:
        terminal.answer(json.dumps({"machine": machine, "models": cards}, indent=2) + "\n")
        return ExitCode.OK
    terminal.answer(_machine(machine) + "\n")
    width = terminal.width if terminal.out_tty else 10_000
    lines = words.variant_lines(cards[0], width) if name else words.card_lines(cards, width)
    for line in lines:
        terminal.answer(line + "\n")
    if name:
        for told in dict.fromkeys(filter(None, (words.reason(v["fit"]) for v in cards[0]["variants"]))):
            terminal.note(told)
    return ExitCode.OK


def _machine(machine: Row) -> str:
    cards = ", ".join(f"{card['name']} ({size(int(card['memory']))})" for card in machine["cards"])
    told = _("{processor}, {cores} cores, {free} of {memory} memory free, {disk} free on the disk, {cards}")
    return told.format(
        processor=visible(machine["processor"]),
        cores=machine["cores"],
        free=size(int(machine["memory_available"])),
        memory=size(int(machine["memory"])),
        disk=size(int(machine["disk_free"])),
        cards=visible(cards) or _("no graphics card"),
    )
