"""What stands before every request: who may ask, how much may be sent, and how long either side may stall."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from voice.services.address import is_loopback
from voice.services.limits import Limits
from voice.services.refusal import Refusal

_OPEN = ("/health",)
"""Paths that need no token: they tell nothing but that the program runs."""

_DRAINED = 4
"""A body up to this many times too large is read to its end, so that the client reads why it was refused."""


class Door:
    """An ASGI application that lets the requests through to `app` which it may serve.

    With a token, a request must carry it. Without one, only this machine is listened to, so a web page in
    a browser is the one stranger: requests that name another host or come from another page are refused.
    """

    def __init__(self, app: ASGIApp, limits: Limits, token: str) -> None:
        self._app = app
        self._limits = limits
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; see the class."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        bounds = _Bounds(scope, receive, send, self._limits)
        try:
            self._admit(scope)
            await bounds.measure()
            await self._app(scope, bounds.receive, bounds.send)
        except _Stalled:
            return
        except Refusal as refusal:
            if bounds.answered:
                raise
            answer = JSONResponse(refusal.body(), refusal.status, refusal.headers)
            await answer(scope, receive, bounds.send)

    def _admit(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if self._token:
            kind, _, given = headers.get("authorization", "").partition(" ")
            right = hmac.compare_digest(given.strip().encode(), self._token)
            if not (right and kind.lower() == "bearer") and scope["path"] not in _OPEN:
                raise Refusal(401, "service_token_wrong")
            return
        host = _host("//" + headers.get("host", ""))
        if not is_loopback(host):
            raise Refusal(403, "service_host_strange", host=host)
        if (origin := headers.get("origin")) and not is_loopback(_host(origin)):
            raise Refusal(403, "service_page_strange", page=origin)


class _Stalled(Exception):
    """The client takes nothing of the answer any more; the server then hangs up."""


class _Bounds:
    """The two directions of one request, counted and timed."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limits: Limits) -> None:
        self.answered = False
        self._headers: MutableMapping[str, Any] = dict(Headers(scope=scope))
        self._receive = receive
        self._send = send
        self._limits = limits
        self._read = 0
        self._whole = False

    async def measure(self) -> None:
        """Refuse a body that says it is too large before any of it is kept."""
        said = str(self._headers.get("content-length", "0"))
        size = int(said) if said.isdecimal() else 0
        if size <= self._limits.body:
            return
        if size <= self._limits.body * _DRAINED:
            await self._drain()
        raise self._too_large()

    async def receive(self) -> Message:
        """The next piece of the request; Refusal when it is one too many, or does not come."""
        if self._whole:
            return await self._receive()
        message = await self._next()
        if self._read > self._limits.body:
            await self._drain()
            raise self._too_large()
        return message

    async def send(self, message: Message) -> None:
        """Give the client the next piece of the answer; _Stalled when it takes nothing."""
        self.answered = True
        try:
            async with asyncio.timeout(self._limits.stall):
                await self._send(message)
        except TimeoutError:
            raise _Stalled from None

    async def _next(self) -> Message:
        try:
            async with asyncio.timeout(self._limits.stall):
                message = await self._receive()
        except TimeoutError:
            raise Refusal(408, "service_client_stalled", seconds=round(self._limits.stall)) from None
        self._read += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        return message

    async def _drain(self) -> None:
        while not self._whole and self._read <= self._limits.body * _DRAINED:
            await self._next()

    def _too_large(self) -> Refusal:
        return Refusal(413, "service_body_too_large", megabytes=round(self._limits.body / 2**20))


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return address
