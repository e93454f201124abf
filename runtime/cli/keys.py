"""`orion keys`: keys of services in the keyring of the system."""

from __future__ import annotations

import getpass
import json
import sys
from typing import Annotated, Any

import typer

from resources.sentences import sentence
from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal, visible
from runtime.errors import OrionError

Provider = Annotated[
    str, typer.Argument(metavar="PROVIDER", help=_("openai, anthropic, ollama or huggingface."))
]
Address = Annotated[
    str, typer.Option("--address", "-a", help=_("Where the service is, if not at its usual address."))
]

app = typer.Typer(
    help=_("Keep, list and remove keys of services in the keyring of this system."),
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("set", help=_("Keep a key; it is asked for without showing it, or read from standard input."))
def set_key(provider: Provider, address: Address = "") -> ExitCode:
    from runtime import services
    from runtime.keys import Keys
    from runtime.network import Network
    from runtime.paths import find_home
    from runtime.permits import is_local

    terminal, place = Terminal(), _place(provider, address)
    home = find_home()
    home.create()
    name = services.title(provider)
    Keys(home.keys_file).set(provider, place, _read(_("Key for {name}: ").format(name=name)))
    host = services.host_of(place)
    terminal.note(_("The key for {name} at {host} is in the keyring.").format(name=name, host=host), "good")
    if not is_local(host) and not Network(home).permits(host):
        terminal.note(_("Nothing may be sent there yet: orion network allow {host}").format(host=host))
    return ExitCode.OK


@app.command("list", help=_("Show where the key of each service comes from, never a key."))
def list_keys(
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON for a program to read."))] = False,
) -> ExitCode:
    return show(Terminal(), as_json=json)


@app.command(help=_("Take a key out of the keyring."))
def remove(provider: Provider, address: Address = "") -> ExitCode:
    from runtime import services
    from runtime.keys import Keys
    from runtime.paths import find_home

    place = _place(provider, address)
    home = find_home()
    home.create()
    Keys(home.keys_file).remove(provider, place)
    told = _("There is no key for {name} at {host} in the keyring any more.")
    Terminal().note(told.format(name=services.title(provider), host=services.host_of(place)), "good")
    return ExitCode.OK


def show(terminal: Terminal, *, as_json: bool) -> ExitCode:
    """Print one line a service: its name, its address and where its key comes from."""
    from runtime.connections import known_services
    from runtime.keys import Keys
    from runtime.network import Network
    from runtime.paths import find_home
    from runtime.profiles import Profiles

    home = find_home()
    rows = known_services(Profiles(home.profiles), Keys(home.keys_file), Network(home))
    if as_json:
        terminal.answer(json.dumps(rows, indent=2) + "\n")
        return ExitCode.OK
    for row in rows:
        terminal.answer(f"{visible(row['title'])}, {visible(row['address'])}: {_where(row)}\n")
    return ExitCode.OK


def _where(row: dict[str, Any]) -> str:
    if row["fault"]:
        return sentence(row["fault"]["code"], **row["fault"]["fields"])
    where, hint = row["key"]["where"], row["key"]["hint"]
    ends = _(", ending in {hint}").format(hint=hint) if hint else ""
    if where == "keyring":
        return _("in the keyring") + ends
    if where == "environment":
        return _("from the environment") + ends
    return _("no key") if row["needs_key"] else _("no key needed")


def _place(provider: str, address: str) -> str:
    from runtime import services

    if provider not in services.SERVICES and not address:
        raise OrionError("service_unknown", provider=provider, known=", ".join(services.SERVICES))
    return services.place(services.address(provider, address))


def _read(prompt: str) -> str:
    """A line nobody sees: from the terminal without echo, else the first line of standard input."""
    if sys.stdin is None:
        return ""
    if not sys.stdin.isatty():
        return sys.stdin.readline()
    try:
        return getpass.getpass(prompt)
    except EOFError:
        return ""
