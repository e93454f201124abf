"""Only requests that can be understood in one way are let through, with nothing after them."""

from __future__ import annotations

import asyncio
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.egress_http import Malformed, Sent, parse, server_name


def head(*lines: str) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def test_a_request_goes_out_with_its_own_host_and_one_turn() -> None:
    request = parse(
        head(
            "GET http://Example.com/a?b=c HTTP/1.1",
            "Host: example.com",
            "Accept: */*",
            "Proxy-Authorization: Basic eA==",
            "Proxy-Connection: keep-alive",
            "Connection: keep-alive",
            "TE: trailers",
        )
    )
    assert (request.host, request.port, request.length, request.upgrade) == ("example.com", 80, 0, False)
    assert request.head == head(
        "GET /a?b=c HTTP/1.1", "Host: example.com", "accept: */*", "Connection: close"
    )


def test_hosts_and_ports_are_read_wherever_they_stand() -> None:
    assert parse(head("GET / HTTP/1.1", "Host: a.test:8080")).port == 8080
    assert parse(head("GET http://[2606:4700::1]:81/ HTTP/1.1")).host == "2606:4700::1"
    assert parse(head("GET http://a.test?x HTTP/1.1")).head.startswith(
        b"GET /?x HTTP/1.1\r\nHost: a.test\r\n"
    )
    socket = ("Host: a.test", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: x")
    upgrade = parse(head("GET / HTTP/1.1", *socket))
    assert upgrade.upgrade
    assert upgrade.head.endswith(b"sec-websocket-key: x\r\nConnection: Upgrade\r\n\r\n")


@pytest.mark.parametrize(
    "lines",
    [
        ["GET http://a.test/ HTTP/1.1", "Host: b.test"],
        ["GET http://a.test/ HTTP/1.1", "Host: a.test", "Host: b.test"],
        ["GET / HTTP/1.1", "Host: a.test", "host: a.test"],
        ["GET / HTTP/1.1"],
        ["GET / HTTP/1.1", "Host: a.test@b.test"],
        ["GET http://a.test@b.test/ HTTP/1.1"],
        ["GET / HTTP/1.1", "Host : a.test"],
        ["GET / HTTP/1.1", "Host: a.test", " continued: b.test"],
        ["GET / HTTP/1.1", "Host: a.test", "X: a\nHost: b.test"],
        ["GET / HTTP/1.1", "Host: a.test", "X: a\rHost: b.test"],
        ["GET / HTTP/1.1", "Host: a.test", "X: \0"],
        ["GET / HTTP/1.1", "Host: 2130706433"],
        ["GET  / HTTP/1.1", "Host: a.test"],
        ["GET / HTTP/2.0", "Host: a.test"],
        ["GET /\tx HTTP/1.1", "Host: a.test"],
        ["GET ftp://a.test/ HTTP/1.1"],
        ["CONNECT a.test:22 HTTP/1.1", "Host: a.test"],
        ["POST / HTTP/1.1", "Host: a.test", "Content-Length: 4", "Transfer-Encoding: chunked"],
        ["POST / HTTP/1.1", "Host: a.test", "Content-Length: 4", "Content-Length: 5"],
        ["POST / HTTP/1.1", "Host: a.test", "Content-Length: +4"],
        ["POST / HTTP/1.1", "Host: a.test", "Content-Length: 4,5"],
        ["POST / HTTP/1.1", "Host: a.test", "Transfer-Encoding: gzip, chunked"],
        ["POST / HTTP/1.1", "Host: a.test", "Transfer-Encoding: xchunked"],
        ["POST / HTTP/1.0", "Host: a.test", "Transfer-Encoding: chunked"],
        ["GET / HTTP/1.1", "Host: a.test", *[f"X{number}: y" for number in range(300)]],
        ["SSH-2.0-client"],
        [""],
    ],
)
def test_what_two_readers_could_understand_differently_is_refused(lines: list[str]) -> None:
    with pytest.raises(Malformed):
        parse(head(*lines))


def sent(data: bytes, size: int = 3) -> Sent:
    pieces = [data[start : start + size] for start in range(0, len(data), size)]

    async def take() -> bytes:
        return pieces.pop(0) if pieces else b""

    return Sent(take)


def body(header: str, data: bytes) -> bytes:
    request = parse(head("POST / HTTP/1.1", "Host: a.test", header))
    out = bytearray()

    async def give(piece: bytes) -> None:
        out.extend(piece)

    asyncio.run(sent(data).body(request, give))
    return bytes(out)


def test_a_body_ends_where_it_says_and_nothing_follows_it() -> None:
    smuggled = b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    assert body("Content-Length: 5", b"hello" + smuggled) == b"hello"
    chunks = b"5;x=y\r\nhello\r\n00A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
    assert body("Transfer-Encoding: chunked", chunks + smuggled) == (
        b"5\r\nhello\r\na\r\n0123456789\r\n0\r\n\r\n"
    )


@pytest.mark.parametrize(
    "chunks", [b"-1\r\n", b"0x5\r\nhello\r\n", b" \r\n", b"5\r\nhelloX\r\n", b"5\r\nhel", b"f" * 16 + b"\r\n"]
)
def test_chunks_that_do_not_count_are_refused(chunks: bytes) -> None:
    with pytest.raises(Malformed):
        body("Transfer-Encoding: chunked", chunks)


def test_a_head_without_end_is_refused() -> None:
    async def work() -> None:
        with pytest.raises(Malformed):
            await sent(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, 60_000).head()
        with pytest.raises(Malformed):
            await sent(b"GET / HTTP/1.1\r\nHost").head()

    asyncio.run(work())


def hello(name: str | None) -> bytes:
    """What the system's own TLS says first."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def test_the_name_in_tls_is_read_as_soon_as_it_is_there() -> None:
    data = hello("Example.com")
    assert server_name(data) == "example.com"
    assert server_name(data[:-1]) is None
    assert server_name(data[:7]) is None
    assert server_name(hello(None)) == ""
    size = len(data) - 5
    split = data[:3] + (100).to_bytes(2, "big") + data[5:105] + data[:3] + (size - 100).to_bytes(2, "big")
    assert server_name(split + data[105:]) == "example.com"


def test_two_names_in_tls_are_refused() -> None:
    def extension(name: bytes) -> bytes:
        entry = b"\0" + len(name).to_bytes(2, "big") + name
        content = len(entry).to_bytes(2, "big") + entry
        return b"\0\0" + len(content).to_bytes(2, "big") + content

    def said(*names: bytes) -> bytes:
        extensions = b"".join(map(extension, names))
        body = bytes(34) + b"\0" + b"\0\2\x13\1" + b"\1\0" + len(extensions).to_bytes(2, "big") + extensions
        shake = b"\1" + len(body).to_bytes(3, "big") + body
        return b"\x16\3\1" + len(shake).to_bytes(2, "big") + shake

    assert server_name(said(b"a.test")) == "a.test"
    with pytest.raises(Malformed):
        server_name(said(b"a.test", b"b.test"))


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader_of_tls(data: bytes) -> None:
    for given_bytes in (data, b"\x16\x03\x01\x01\x00\x01\x00\x00\xfc" + data):
        try:
            server_name(given_bytes)
        except Malformed:
            continue


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader_of_http(data: bytes) -> None:
    for given_bytes in (data, b"GET / HTTP/1.1\r\nHost: a.test\r\n" + data):
        try:
            parse(given_bytes)
        except Malformed:
            continue


@pytest.mark.parametrize(
    ("first", "headers"),
    [
        ("GET / HTTP/1.1", ("Upgrade: h2c", "Sec-WebSocket-Key: x")),
        ("GET / HTTP/1.1", ("Upgrade: websocket",)),
        ("GET / HTTP/1.1", ("Upgrade: websocket, h2c", "Sec-WebSocket-Key: x")),
        ("GET / HTTP/1.1", ("Upgrade: websocket", "Upgrade: h2c", "Sec-WebSocket-Key: x")),
        ("GET / HTTP/1.1", ("Upgrade: websocket", "Sec-WebSocket-Key: x", "Sec-WebSocket-Key: y")),
        ("GET / HTTP/1.1", ("Upgrade: websocket", "Sec-WebSocket-Key: x", "Content-Length: 5")),
        ("POST / HTTP/1.1", ("Upgrade: websocket", "Sec-WebSocket-Key: x")),
        ("GET / HTTP/1.1", ("Upgrade: TLS/1.3", "Sec-WebSocket-Key: x")),
    ],
)
def test_nothing_is_upgraded_to_but_a_web_socket(first: str, headers: tuple[str, ...]) -> None:
    request = parse(head(first, "Host: a.test", "Connection: Upgrade", *headers))
    assert not request.upgrade
    assert b"pgrade" not in request.head
    assert request.head.endswith(b"Connection: close\r\n\r\n")
