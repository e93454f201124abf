"""What the window may ask of the hosts that the agent's computer may always reach; questions to the desk."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runtime.errors import OrionError

if TYPE_CHECKING:
    from desktop.desk import Desk

SETTING = "sandbox.allowed_hosts"


async def computer_hosts(desk: Desk) -> list[str]:
    """The user's own list, as it is in the settings; see sandbox.egress_addresses.Allowlist for its words."""
    return list(desk.runtime.settings.sandbox.allowed_hosts)


async def add_computer_host(desk: Desk, text: str) -> list[str]:
    """Put what the user typed or pasted, an address of a page included, into the list; the list. Raises
    OrionError `computer_host_invalid` (host), or as the settings are refused."""
    from sandbox.egress_addresses import Allowlist

    entry = _host_in(text)
    if not entry or Allowlist([entry]).ignored:
        raise OrionError("computer_host_invalid", host=text.strip())
    known = await computer_hosts(desk)
    if entry not in known:
        desk.runtime.save_settings({SETTING: [*known, entry]})
    return await computer_hosts(desk)


async def remove_computer_host(desk: Desk, entry: str) -> list[str]:
    """Take an entry out of the list; the list."""
    known = await computer_hosts(desk)
    desk.runtime.save_settings({SETTING: [one for one in known if one != entry]})
    return await computer_hosts(desk)


def _host_in(text: str) -> str:
    """The host of a pasted address of a page, else the text without spaces around it."""
    text = text.strip().lower()
    if "://" not in text:
        return text.rstrip("/")
    try:
        found = urlsplit(text)
        port = found.port
    except ValueError:
        return ""
    return f"{found.hostname or ''}:{port}" if port is not None else found.hostname or ""
