"""Servers on loopback for the tests of the network: plain and secure HTTP, and a proxy."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def head(reader: asyncio.StreamReader) -> bytes:
    """The first line and the headers of a request, with the empty line."""
    return await reader.readuntil(b"\r\n\r\n")


def says(answer: bytes, seen: list[bytes] | None = None) -> Answer:
    """A server that reads a request with its body, keeps it in `seen`, sends `answer` and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await head(reader)
        length = next(
            (
                int(line[15:])
                for line in request.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            ),
            0,
        )
        request += await reader.readexactly(length)
        if seen is not None:
            seen.append(request)
        writer.write(answer)
        await writer.drain()

    return serve


@asynccontextmanager
async def serving(answer: Answer, secure: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port of a server that answers every connection with `answer` and then closes it."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=secure)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def proxy(to: int, seen: list[bytes]) -> Answer:
    """An HTTP proxy that leads every tunnel and every plain request to the port `to` on loopback."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await head(reader)
        seen.append(request)
        there, back = await asyncio.open_connection("127.0.0.1", to)
        if request.startswith(b"CONNECT "):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            back.write(request)
        try:
            await asyncio.gather(_pump(reader, back), _pump(there, writer))
        finally:
            back.close()

    return serve


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(65536):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        with suppress(OSError):  # who is gone needs no end
            writer.write_eof()
    else:
        writer.close()


def certificates(folder: Path, *hosts: str) -> tuple[Path, ssl.SSLContext]:
    """A new authority's certificate file, and a server context for `hosts` that it signed."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    def name(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def builder(subject: str, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        begun = datetime.now(UTC) - timedelta(days=1)
        made = x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name("Test Authority"))
        made = made.public_key(public).serial_number(x509.random_serial_number())
        made = made.not_valid_before(begun).not_valid_after(begun + timedelta(days=30))
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())
        return made.add_extension(identifier, critical=False)

    authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    use = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    root = (
        builder("Test Authority", authority.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(use, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), critical=False)
        .sign(authority, hashes.SHA256())
    )
    names = [x509.IPAddress(ip_address(h)) if h[0].isdigit() else x509.DNSName(h) for h in hosts]
    leaf = (
        builder(hosts[0], key.public_key())
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(authority, hashes.SHA256())
    )
    folder.mkdir(parents=True, exist_ok=True)
    trusted, chain, secret = folder / "authority.pem", folder / "server.pem", folder / "server.key"
    trusted.write_bytes(root.public_bytes(serialization.Encoding.PEM))
    chain.write_bytes(leaf.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, secret)
    return trusted, context
