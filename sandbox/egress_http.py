"""What a program sends, read strictly: one HTTP request with its body, or the name that TLS begins with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sandbox.egress_addresses import plain_host, split_port

LONGEST_HEAD = 65_536
MOST_HEADERS = 200
HANDSHAKE = 22
"""The first byte of TLS."""

_TOKEN = frozenset(b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_HOPS = frozenset({"connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "trailer"})


class Malformed(Exception):
    """What was sent is not what may be sent."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `host` is the plain host that it asks for, `port` 80 unless it says another. `head` is
    what goes to that host. The body has `length` bytes, or is `chunked`; `upgrade`: it
    asks for a websocket, whose frames follow once the host has agreed."""

    method: str
    host: str
    port: int
    head: bytes
    length: int
    chunked: bool
    upgrade: bool


def parse(data: bytes, scheme: str = "http") -> Request:
    """The request whose head, with its empty line, is `data`. Raises Malformed for whatever two readers could
    understand differently."""
    lines = data.removesuffix(b"\r\n\r\n").split(b"\r\n")
    words = lines[0].split(b" ")
    if (
        len(words) != 3
        or words[2] not in (b"HTTP/1.1", b"HTTP/1.0")
        or not words[0]
        or set(words[0]) - _TOKEN
    ):
        raise Malformed("the request line")
    if any(byte < 0x21 or byte > 0x7E for byte in words[1]):
        raise Malformed("the address")
    if len(lines) > MOST_HEADERS:
        raise Malformed("too many headers")
    headers = [_header(line) for line in lines[1:]]
    host, port, path = _target(words[1].decode("ascii"), headers, scheme)
    length, chunked = _framing(headers)
    if chunked and words[2] == b"HTTP/1.0":  # which knows none: chunks could be read as a request
        raise Malformed("the length of the body")
    upgrade = words[0] == b"GET" and not length and not chunked and _is_websocket(headers)
    return Request(
        method=words[0].decode("ascii"),
        host=host,
        port=port,
        head=_head((words[0], path.encode("ascii"), words[2]), host, port, headers, upgrade),
        length=length,
        chunked=chunked,
        upgrade=upgrade,
    )


def _header(line: bytes) -> tuple[str, bytes]:
    name, colon, value = line.partition(b":")
    if not colon or not name or set(name) - _TOKEN:
        raise Malformed("a header")
    value = value.strip(b" \t")
    if any((byte < 0x20 and byte != 9) or byte == 0x7F for byte in value):
        raise Malformed("a header")
    return name.decode("ascii").lower(), value


def _target(target: str, headers: list[tuple[str, bytes]], scheme: str) -> tuple[str, int, str]:
    """Host, port and path of the request; both places where a host can stand must name the same."""
    named = [value.decode("latin-1") for name, value in headers if name == "host"]
    if len(named) > 1:
        raise Malformed("two hosts")
    if target.startswith("/"):
        authority, path = (named or [""])[0], target
    else:
        before, found, rest = target.partition("://")
        if not found or before.lower() not in ("http", scheme, "ws"):
            raise Malformed("the address")
        authority, slash, path = rest.partition("/")
        authority, query, asked = (authority, "", "") if slash else authority.partition("?")
        path = f"/{path}" if slash else f"/{query}{asked}"
    host, port = _authority(authority)
    if named and _authority(named[0]) != (host, port):
        raise Malformed("two hosts")
    return host, port, path


def _authority(text: str) -> tuple[str, int]:
    name, port = split_port(text)
    host = plain_host(name)
    if not host:
        raise Malformed("the host")
    return host, 80 if port is None else port


def _framing(headers: list[tuple[str, bytes]]) -> tuple[int, bool]:
    lengths = [value for name, value in headers if name == "content-length"]
    codings = [value.lower() for name, value in headers if name == "transfer-encoding"]
    if len(lengths) > 1 or len(codings) > 1 or (lengths and codings) or (codings and codings != [b"chunked"]):
        raise Malformed("the length of the body")
    if not lengths:
        return 0, bool(codings)
    if not lengths[0].isdigit() or len(lengths[0]) > 18:
        raise Malformed("the length of the body")
    return int(lengths[0]), False


def _is_websocket(headers: list[tuple[str, bytes]]) -> bool:
    """Whether they ask for a websocket and for nothing else: any other protocol could not be checked."""
    upgrades = [value.lower() for name, value in headers if name == "upgrade"]
    keys = [value for name, value in headers if name == "sec-websocket-key"]
    return upgrades == [b"websocket"] and len(keys) == 1


def _head(
    first: tuple[bytes, bytes, bytes], host: str, port: int, headers: list[tuple[str, bytes]], upgrade: bool
) -> bytes:
    """The head as it goes out: its own host and one request for the connection."""
    named = f"[{host}]" if ":" in host else host
    place = named if port == 80 else f"{named}:{port}"
    lines = [b" ".join(first), b"Host: " + place.encode("ascii")]
    kept = _HOPS - {"connection"} if upgrade else _HOPS | {"upgrade"}
    lines += [
        name.encode("ascii") + b": " + value
        for name, value in headers
        if name not in kept | {"host"} and not (upgrade and name == "connection")
    ]
    lines.append(b"Connection: " + (b"Upgrade" if upgrade else b"close"))
    return b"\r\n".join(lines) + b"\r\n\r\n"


Take = Callable[[], Awaitable[bytes]]
Give = Callable[[bytes], Awaitable[None]]


class Sent:
    """What a program sends, taken in pieces that it does not choose. Raises Malformed where it ends early."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._held = bytearray()

    async def peek(self, size: int) -> bytes:
        """The first bytes, at least `size` of them unless it ends before."""
        while len(self._held) < size and (data := await self._take()):
            self._held += data
        return bytes(self._held)

    async def head(self) -> bytes:
        """Up to and with the first empty line."""
        while (end := self._held.find(b"\r\n\r\n")) < 0:
            if len(self._held) > LONGEST_HEAD:
                raise Malformed("too long a head")
            await self._more()
        if end > LONGEST_HEAD:
            raise Malformed("too long a head")
        return self._cut(end + 4)

    async def line(self) -> bytes:
        """The next line, which is short, without its end."""
        while (end := self._held.find(b"\r\n")) < 0:
            if len(self._held) > 1_000:
                raise Malformed("too long a line")
            await self._more()
        return self._cut(end + 2)[:-2]

    async def exactly(self, size: int, give: Give) -> None:
        """Pass `size` bytes on."""
        while size:
            if not self._held:
                await self._more()
            data = self._cut(size)
            size -= len(data)
            await give(data)

    async def all(self, give: Give) -> None:
        """Pass everything on until the program has finished."""
        if self._held:
            await give(self._cut(len(self._held)))
        while data := await self._take():
            await give(data)

    async def body(self, request: Request, give: Give) -> None:
        """Pass the body on and nothing after it; chunks are counted and written anew."""
        if not request.chunked:
            await self.exactly(request.length, give)
            return
        while True:
            text = (await self.line()).partition(b";")[0].strip()
            if not text or len(text) > 15 or set(text) - frozenset(b"0123456789abcdefABCDEF"):
                raise Malformed("a chunk")
            size = int(text, 16)
            if not size:
                await give(b"0\r\n\r\n")
                return
            await give(f"{size:x}\r\n".encode())
            await self.exactly(size, give)
            if await self.line():
                raise Malformed("a chunk")
            await give(b"\r\n")

    async def _more(self) -> None:
        data = await self._take()
        if not data:
            raise Malformed("it ends too early")
        self._held += data

    def _cut(self, size: int) -> bytes:
        data = bytes(self._held[:size])
        del self._held[:size]
        return data


def server_name(hello: bytes) -> str | None:
    """The plain host that a TLS ClientHello asks for, "" for none; None while `hello` is not all of it.
    Raises Malformed for what is no such thing."""
    handshake = bytearray()
    position = 0
    while len(handshake) < 4 or len(handshake) < 4 + int.from_bytes(handshake[1:4], "big"):
        record = hello[position : position + 5]
        if len(record) < 5:
            return None
        size = int.from_bytes(record[3:5], "big")
        if record[0] != HANDSHAKE or record[1] != 3 or not 0 < size <= 16_640:
            raise Malformed("the handshake")
        if len(hello) < position + 5 + size:
            return None
        handshake += hello[position + 5 : position + 5 + size]
        position += 5 + size
        if handshake[0] != 1 or len(handshake) > LONGEST_HEAD:
            raise Malformed("the handshake")
    return _name_in(bytes(handshake[4 : 4 + int.from_bytes(handshake[1:4], "big")]))


def _name_in(body: bytes) -> str:
    reader = _Bytes(body)
    reader.take(34)
    for width in (1, 2, 1):  # session, ciphers, compressions
        reader.take(reader.number(width))
    if not reader.left:
        return ""
    extensions = _Bytes(reader.take(reader.number(2)))
    name = ""
    while extensions.left:
        kind = extensions.number(2)
        content = _Bytes(extensions.take(extensions.number(2)))
        if kind == 0:
            if name:
                raise Malformed("two names in TLS")
            names = _Bytes(content.take(content.number(2)))
            if names.number(1) != 0:
                raise Malformed("the name in TLS")
            name = plain_host(names.take(names.number(2)).decode("latin-1"))
            if not name or names.left:
                raise Malformed("the name in TLS")
    return name


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        if size > self.left:
            raise Malformed("the handshake")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "big")
