"""`orion network`: the ledger of what left this machine, and the hosts that may be reached."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal, visible

if TYPE_CHECKING:
    from runtime.ledger import Reached
    from runtime.network import Network

Host = Annotated[str, typer.Argument(metavar="HOST", help=_("Its name, for example api.example.com."))]

app = typer.Typer(
    help=_("Show what left this machine, and allow hosts or take that back."),
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def ledger(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON for a program to read."))] = False,
) -> ExitCode | None:
    return None if context.invoked_subcommand else show(Terminal(), as_json=json)


@app.command(help=_("Allow that something is sent to a host."))
def allow(host: Host) -> ExitCode:
    from runtime.permits import is_local

    terminal = Terminal()
    name = _network().allow(host, _("the terminal"))
    if is_local(name):
        terminal.note(_("{host} is this machine; it needs no permission.").format(host=name))
    else:
        terminal.note(_("{host} may be reached now.").format(host=name), "good")
    return ExitCode.OK


@app.command(help=_("Take the permission for a host back."))
def revoke(host: Host) -> ExitCode:
    name = _network().revoke(host)
    Terminal().note(_("{host} may not be reached any more.").format(host=name), "good")
    return ExitCode.OK


def show(terminal: Terminal, *, as_json: bool) -> ExitCode:
    """Print the allowed hosts and what went to each host that was reached."""
    from runtime.network import uncounted

    network = _network()
    allowed, reached = network.allowed(), network.summary()
    if as_json:
        answer: dict[str, Any] = {
            "allowed": [known.model_dump(mode="json") for known in allowed],
            "hosts": [asdict(one) for one in reached],
            "entries": [asdict(entry) for entry in network.entries()],
        }
        terminal.answer(json.dumps(answer, indent=2) + "\n")
        return ExitCode.OK
    if all(one.local for one in reached):
        terminal.answer(_("Nothing has left this machine.") + "\n")
    if pulls := network.pulls():
        terminal.answer(uncounted(pulls) + "\n")
    for line in listing(reached):
        terminal.answer(line + "\n")
    names = ", ".join(known.host for known in allowed) or _("none")
    terminal.answer(_("Allowed hosts: {hosts}").format(hosts=visible(names)) + "\n")
    return ExitCode.OK


def listing(reached: list[Reached]) -> Iterator[str]:
    """One line a host: name, times, bytes sent and received, first and last day."""
    longest = max((len(one.host) for one in reached), default=0)
    for one in reached:
        facts = _("{times} times, {sent} bytes sent, {received} received, {first} to {last}").format(
            times=one.times,
            sent=one.sent,
            received=one.received,
            first=time.strftime("%Y-%m-%d", time.localtime(one.first)),
            last=time.strftime("%Y-%m-%d", time.localtime(one.last)),
        )
        place = _(" (this machine)") if one.local else ""
        yield f"{visible(one.host):<{longest}}  {facts}{place}"


def _network() -> Network:
    from runtime.network import Network
    from runtime.paths import find_home

    home = find_home()
    home.create()
    return Network(home)
