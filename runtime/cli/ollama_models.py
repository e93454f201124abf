"""`orion models pull | show | delete`: the models on the disk of an Ollama server."""

from __future__ import annotations

import json
from dataclasses import asdict

from resources.translation import _
from runtime.amounts import size
from runtime.cli.consent import agreed
from runtime.cli.exit_codes import ExitCode
from runtime.cli.host import Host
from runtime.cli.terminal import Terminal, exact, visible
from runtime.errors import OrionError
from runtime.ollama_shelf import Download, OllamaShelf, registry_of
from runtime.providers.ollama_library import OllamaModel

_BAR = 24


def pull(terminal: Terminal, name: str, profile: str, *, as_json: bool) -> ExitCode:
    """Let the server fetch a model; the command is the permission. Ctrl-C stops the download."""
    with Host() as host:
        shelf = host.run(host.runtime.ollama, profile)
        now = host.call(shelf.begin, name)
        terminal.note(_announced(shelf, now.model))
        try:
            while now.state == "running":
                _tell(terminal, now, as_json)
                now = host.call(shelf.step, now.step) or now
        except KeyboardInterrupt:
            now = host.call(shelf.stop) or now
        terminal.clear()
        if as_json:
            _tell(terminal, now, as_json)
    return _ended(terminal, now)


def show(terminal: Terminal, name: str, profile: str, *, as_json: bool) -> ExitCode:
    """Print what the server knows of one of its models."""
    with Host() as host:
        model = host.call(host.run(host.runtime.ollama, profile).show, name)
    if as_json:
        data = asdict(model) | {"capabilities": sorted(model.capabilities)}
        terminal.answer(json.dumps(data, indent=2) + "\n")
        return ExitCode.OK
    rows = [(title, value) for title, value in _facts(model) if value]
    longest = max(len(title) for title, _value in rows)
    for title, value in rows:
        terminal.answer(f"{title:<{longest}}  {visible(value)}\n")
    return ExitCode.OK


def delete(terminal: Terminal, name: str, profile: str, *, yes: bool) -> ExitCode:
    """Remove a model from the server's disk, once the user has confirmed it."""
    with Host() as host:
        shelf = host.run(host.runtime.ollama, profile)
        model = host.call(shelf.show, name)
        if not yes and not _confirmed(terminal, model):
            terminal.note(_("Nothing was deleted."))
            return ExitCode.APPROVAL
        host.call(shelf.delete, model.name)
    terminal.note(_("{name} is deleted from the disk of Ollama.").format(name=exact(model.name)), "good")
    return ExitCode.OK


def _announced(shelf: OllamaShelf, name: str) -> str:
    told = _(
        "Ollama at {address} fetches {name} from {registry}. It goes out to the network itself, so what it "
        "moves is not counted in the ledger. Ctrl-C stops it."
    )
    return told.format(address=shelf.address, name=exact(name), registry=exact(registry_of(name)))


def _tell(terminal: Terminal, now: Download, as_json: bool) -> None:
    """A line of JSON, or the bar in the place of the last one."""
    if as_json:
        terminal.answer(json.dumps(now.as_dict()) + "\n")
    else:
        terminal.status(_bar(terminal, now))


def _bar(terminal: Terminal, now: Download) -> str:
    if not now.total:
        return now.status or _("Asking Ollama…")
    share = min(now.completed / now.total, 1.0)
    full = round(_BAR * share)
    drawn = terminal.sign("█", "#") * full + terminal.sign("░", "-") * (_BAR - full)
    told = _("{done} of {total}").format(done=size(now.completed), total=size(now.total))
    return f"{drawn} {share:4.0%}  {told}  {now.status}"


def _ended(terminal: Terminal, now: Download) -> ExitCode:
    name = exact(now.model)
    if now.state == "failed":
        raise OrionError(now.code, fault="provider", **(now.fields or {}))
    if now.state == "stopped":
        told = _(
            "Stopped. What came of {name} so far stays on Ollama's disk, and the same command goes on from "
            "there."
        )
        terminal.note(told.format(name=name), "warn")
        return ExitCode.INTERRUPTED
    terminal.note(_("{name} is there. orion models list shows it.").format(name=name), "good")
    return ExitCode.OK


def _facts(model: OllamaModel) -> list[tuple[str, str]]:
    window = _("{count} tokens").format(count=model.window) if model.window else ""
    chosen = _("{count} tokens").format(count=model.chosen) if model.chosen else ""
    return [
        (_("name"), model.name),
        (_("size"), size(model.size) if model.size else ""),
        (_("parameters"), model.parameters),
        (_("quantization"), model.quantization),
        (_("window"), window),
        (_("window set by its maker"), chosen),
        (_("can"), ", ".join(sorted(model.capabilities))),
        (_("digest"), model.digest),
    ]


def _confirmed(terminal: Terminal, model: OllamaModel) -> bool:
    """Whether the person at the keyboard typed yes. Raises `cli_delete_unconfirmed` where nobody is there."""
    told = _("Delete {name} ({size}) from the disk of Ollama?").format(
        name=exact(model.name), size=size(model.size)
    )
    return agreed(terminal, told, OrionError("cli_delete_unconfirmed", name=model.name))
