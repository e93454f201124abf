"""Checks of what leaves this machine: hosts reached and allowed, and where keys are; never a key."""

from __future__ import annotations

import os
import time

from resources.sentences import sentence
from resources.translation import _
from runtime.checks.check import Check
from runtime.errors import OrionError
from runtime.keys import Keys
from runtime.ledger import Reached
from runtime.network import Network
from runtime.paths import Home
from runtime.services import SERVICES, host_of, title, variables


def network(home: Home) -> Check:
    """What the ledger holds, and which hosts are allowed."""
    wires = Network(home)
    try:
        allowed = [known.host for known in wires.allowed()]
        reached = [one for one in wires.summary() if not one.local]
    except OrionError as error:
        mend = _("Correct or delete that file; until then no host may be reached.")
        return Check("network", "warn", sentence(error.code, **error.fields), mend)
    told = _("allowed: {hosts}").format(hosts=", ".join(allowed)) if allowed else _("no host is allowed")
    return Check("network", "ok", f"{_reached(reached)}; {told}")


def _reached(hosts: list[Reached]) -> str:
    if not hosts:
        return _("nothing has left this machine")
    day = time.strftime("%Y-%m-%d", time.localtime(min(one.first for one in hosts)))
    return _("{count} hosts reached since {day} ({sent} bytes sent, {received} received)").format(
        count=len(hosts),
        day=day,
        sent=sum(one.sent for one in hosts),
        received=sum(one.received for one in hosts),
    )


def keys(home: Home) -> Check:
    """For which services there is a key, and where it lies; the keyring is not opened."""
    try:
        found = [
            _("{name} at {host} in the keyring").format(name=title(provider), host=host_of(place))
            for provider, place in Keys(home.keys_file).kept()
        ]
    except OrionError as error:
        return Check("keys", "warn", sentence(error.code, **error.fields), _("Correct or delete that file."))
    for service in SERVICES.values():
        names = [name for name in variables(service.provider, service.place) if os.environ.get(name)]
        found += [_("{name} from {variable}").format(name=service.title, variable=name) for name in names[:1]]
    return Check("keys", "ok", ", ".join(found) or _("none; models on this machine need none"))


def totals(home: Home) -> list[str]:
    """One line for each host ever reached, with counts only; for a report."""
    try:
        hosts = Network(home).summary()
    except OrionError as error:
        return [f"unreadable: {error}"]
    return [
        f"{one.host}{' (local)' * one.local} {one.times} times, {one.sent} sent, {one.received} received"
        for one in hosts
    ]
