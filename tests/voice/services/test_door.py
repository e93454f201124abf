"""Who is let in, how much may be sent, and what happens when a side stalls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from voice.services.door import Door
from voice.services.limits import Limits

LIMITS = Limits(body=1000, stall=0.05)
LOCAL = {"host": "127.0.0.1:5050"}


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await PlainTextResponse(f"{len(body)} bytes")(scope, receive, send)


class Client:
    """Sends the pieces of a body, then hangs on; notes what was answered."""

    def __init__(self, pieces: Iterable[bytes], *, ends: bool = True) -> None:
        self._pieces = list(pieces)
        self._ends = ends
        self.taken = 0
        self.status = 0
        self.body = b""
        self.deaf = False

    async def receive(self) -> Message:
        if not self._pieces:
            await asyncio.Event().wait()
        self.taken += 1
        piece = self._pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(self._pieces) or not self._ends}

    async def send(self, message: Message) -> None:
        if self.deaf:
            await asyncio.Event().wait()
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)["error"]
        return found


def ask(client: Client, headers: Mapping[str, str], token: str = "", path: str = "/v1/audio/speech") -> None:
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(Door(echo, LIMITS, token)(scope, client.receive, client.send))


def refused(headers: Mapping[str, str], token: str = "") -> tuple[int, str]:
    client = Client([b"x"])
    ask(client, headers, token)
    return client.status, str(client.error["code"])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:5050", "localhost:5050", "[::1]:5050", "LOCALHOST"])
def test_a_program_on_this_machine_is_served(host: str) -> None:
    client = Client([b"12345", b"678"])
    ask(client, {"host": host})
    assert (client.status, client.body) == (200, b"8 bytes")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:5050", "127.0.0.1.evil.example", "", "[::1"])
def test_a_name_that_was_bent_to_this_machine_is_refused(host: str) -> None:
    assert refused({"host": host}) == (403, "service_host_strange")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example"])
def test_a_page_from_elsewhere_is_refused(origin: str) -> None:
    assert refused(LOCAL | {"origin": origin}) == (403, "service_page_strange")


def test_a_page_of_this_machine_is_served() -> None:
    client = Client([b"x"])
    ask(client, LOCAL | {"origin": "http://localhost:3000"})
    assert client.status == 200


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer wrong", "Basic secret", "secret", "Bearer secret2", "Bearer söcret"]
)
def test_a_wrong_token_is_refused(given: str) -> None:
    assert refused({"host": "far.example", "authorization": given}, "secret") == (401, "service_token_wrong")


@pytest.mark.parametrize("given", ["Bearer secret", "bearer secret", "Bearer  secret "])
def test_with_the_token_any_host_and_page_is_served(given: str) -> None:
    client = Client([b"x"])
    ask(client, {"host": "far.example", "origin": "https://app.example", "authorization": given}, "secret")
    assert client.status == 200


def test_health_needs_no_token() -> None:
    client = Client([b""])
    ask(client, {"host": "far.example"}, "secret", "/health")
    assert client.status == 200


def test_a_body_that_says_it_is_too_large_is_read_away_and_refused() -> None:
    client = Client([b"x" * 1000, b"x"])
    ask(client, LOCAL | {"content-length": "1001"})
    assert (client.status, client.error["code"], client.taken) == (413, "service_body_too_large", 2)


def test_one_that_says_it_is_enormous_is_refused_at_once() -> None:
    client = Client([b"x"])
    ask(client, LOCAL | {"content-length": str(10**12)})
    assert (client.status, client.taken) == (413, 0)


def test_one_that_does_not_say_is_counted() -> None:
    client = Client([b"x" * 600] * 50)
    ask(client, LOCAL)
    assert (client.status, client.error["type"]) == (413, "invalid_request_error")
    assert client.taken < 10


def test_a_client_that_stops_sending_is_given_up() -> None:
    client = Client([b"x"], ends=False)
    ask(client, LOCAL)
    assert (client.status, client.error["code"]) == (408, "service_client_stalled")


def test_a_client_that_stops_reading_is_given_up() -> None:
    client = Client([b"x"])
    client.deaf = True
    ask(client, LOCAL)
    assert client.status == 0
