"""The hosts to which the user allowed that something is sent, in home/network.yaml."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from runtime.errors import Field as ErrorField
from runtime.errors import OrionError
from runtime.shared_file import SharedFile

VERSION = 1


class Permission(BaseModel):
    """One allowed `host`; `who` is what for, `since` when."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str
    who: str = ""
    since: datetime


class _Hosts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = Field(default=VERSION, ge=1)
    hosts: tuple[Permission, ...] = ()


class Permits:
    """The permissions in `path`, read again whenever the file changed; several processes may share it."""

    def __init__(self, path: Path) -> None:
        self._file = SharedFile(path, _Hosts, VERSION)

    def allow(self, host: str, who: str) -> str:
        """Allow `host` (a name, an address or a URL) for `who`; returns its plain name. A host on this
        machine needs no permission and is not stored.

        Raises OrionError `host_invalid` or a fault of the file.
        """
        name = host_name(host)
        if not is_local(name):
            fresh = Permission(host=name, who=who, since=datetime.now(UTC).replace(microsecond=0))
            self._file.change(lambda found: _members([*_without(found, name), fresh]))
        return name

    def revoke(self, host: str) -> str:
        """Take a permission back; one that is not there is ignored. Raises as `allow`."""
        name = host_name(host)
        self._file.change(lambda found: _members(_without(found, name)))
        return name

    def allowed(self) -> list[Permission]:
        """Every permission, the oldest first. Raises OrionError naming what is wrong with the file."""
        return list(self._file.read().hosts)

    def notices(self) -> list[tuple[str, dict[str, ErrorField]]]:
        """Code and fields of what is wrong with the file, which then allows nothing."""
        return self._file.notices()

    def permits(self, host: str) -> bool:
        """Whether something may be sent to `host` (its plain name). A file that cannot be read allows
        nothing."""
        try:
            return any(known.host == host for known in self._file.read().hosts)
        except OrionError:
            return False


def _without(found: _Hosts, name: str) -> list[Permission]:
    return [known for known in found.hosts if known.host != name]


def _members(hosts: Iterable[Permission]) -> dict[str, Any]:
    return {"hosts": [known.model_dump(mode="json") for known in hosts]}


def host_name(text: str) -> str:
    """The plain name of a host, an address or a URL: lower case, ASCII, without port and final dot. Raises
    OrionError `host_invalid`."""
    text = text.strip()
    try:
        split = urlsplit(text if "://" in text else f"//{_bracketed(text)}")
        name = (split.hostname or "").rstrip(".")
        split.port  # noqa: B018  a port that is none is a fault
        if not name.isascii():
            name = name.encode("idna").decode("ascii")
    except ValueError:
        name = ""
    if _address(name) is None and not _is_name(name):
        raise OrionError("host_invalid", host=text)
    return name


def _bracketed(text: str) -> str:
    return f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text


def _is_name(name: str) -> bool:
    labels = name.split(".")
    return len(name) < 254 and all(
        0 < len(label) < 64 and all(sign.isalnum() or sign in "-_" for sign in label) for label in labels
    )


def is_local(host: str) -> bool:
    """Whether `host` is this machine by its very name: localhost or a loopback address."""
    if host == "localhost":
        return True
    address = _address(host)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address is not None and address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
