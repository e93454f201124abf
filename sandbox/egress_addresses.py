"""Which names and addresses on the network a program in the sandbox may be led to."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

PORTS = (80, 443)

_METADATA = frozenset({"169.254.169.254", "169.254.170.2", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"})
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_NEAR = (ipaddress.IPv6Network("64:ff9b:1::/48"), ipaddress.IPv6Network("fec0::/10"))
"""Networks of one site that Python takes for open: its own translation to IPv4, and what was for sites before
fc00::/7."""


def address(text: str) -> Address | None:
    """`text` as an address, also where it is written as [::1]; None for a name."""
    try:
        return ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def plain_host(text: str) -> str:
    """The one way to write a host: lower case, without final dot or brackets; "" for what is no host. A name
    that ends in a number is none, because systems read such ones as addresses in disguise."""
    text = text.lower().removesuffix(".")
    found = address(text)
    if found is not None:
        return str(found)
    labels = text.split(".")
    last = labels[-1]
    if len(text) > 253 or not text.isascii() or last.isdigit() or last.startswith("0x"):
        return ""
    if not all(0 < len(label) < 64 and set(label) <= _LETTERS and label[0] != "-" for label in labels):
        return ""
    return text


_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


def is_metadata(found: Address) -> bool:
    """Whether a cloud gives away its machines' secrets there; nobody is led there on any permission."""
    return any(str(each) in _METADATA for each in (found, *_inner(found)))


def is_public(found: Address) -> bool:
    """Whether it is on the open internet: not this machine, not a near network, not a group of hosts."""
    if isinstance(found, ipaddress.IPv6Address) and any(found in network for network in _NEAR):
        return False
    meant = _inner(found) or [found]
    return all(one.is_global and not one.is_multicast and not one.is_reserved for one in meant)


def _inner(found: Address) -> list[Address]:
    """The IPv4 addresses that an IPv6 one stands for."""
    if isinstance(found, ipaddress.IPv4Address):
        return []
    inner: list[Address] = [one for one in (found.ipv4_mapped, found.sixtofour) if one is not None]
    if found.teredo is not None:
        inner += found.teredo
    if found in _TRANSLATED:
        inner.append(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF))
    return inner


class Allowlist:
    """The user's own list. An entry is a name ("example.com", for ports 80 and 443), all names below one
    ("*.example.com"), either with a port ("example.com:8443"), an address ("192.168.1.5", "[::1]:8000") or
    "localhost", and "private:nas.lan" for a name that leads into the user's own network. Others are ignored.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._public: set[tuple[str, int]] = set()
        self._near: set[tuple[str, int]] = set()
        self.ignored: list[str] = []
        for entry in entries:
            self._add(entry.strip())

    def _add(self, entry: str) -> None:
        rest = entry.removeprefix("private:")
        below, rest = rest.startswith("*."), rest.removeprefix("*.")
        host, port = split_port(rest)
        name = plain_host(host)
        if not name or (port is None and host != rest) or (below and (entry != f"*.{rest}" or address(name))):
            self.ignored.append(entry)
            return
        near = entry.startswith("private:") or name == "localhost" or address(name) is not None
        ports = PORTS if port is None else (port,)
        (self._near if near else self._public).update(
            (f"*.{name}" if below else name, each) for each in ports
        )

    def covers(self, host: str, port: int) -> bool:
        """Whether the list allows this host on this port."""
        name = plain_host(host)
        if not name:
            return False
        labels = name.split(".")
        wider = ["*." + ".".join(labels[start:]) for start in range(1, len(labels))]
        return (name, port) in self._near or any((one, port) in self._public for one in (name, *wider))

    def names(self, host: str, port: int) -> bool:
        """Whether it names this very address, or a host of the user's own network."""
        return (plain_host(host), port) in self._near


def split_port(text: str) -> tuple[str, int | None]:
    """Host and port of "host:port", "[address]:port" or either without a port; a port that is none leaves
    `text` whole with None."""
    if address(text) is not None:
        return text, None
    host, colon, digits = text.rpartition(":")
    if not colon:
        return text, None
    if digits.isascii() and digits.isdigit() and len(digits) < 6 and 0 < int(digits) < 65_536:
        return host, int(digits)
    return text, None
