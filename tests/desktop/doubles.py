"""A bridge without a runtime behind it, and the plain data that a runtime would send."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate

from desktop.bridge import Bridge, P, R, Reply
from desktop.desk import Desk
from runtime.errors import OrionError
from runtime.events import Body, Event


class RecordingBridge(Bridge):
    """Remembers each question as (name, arguments); `settle` answers all of them from `answers`, where a
    value may be an OrionError or a function of the arguments. Whatever crosses must be JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self.answers: dict[str, Any] = {"sessions": [], "search": []}
        self._open: list[tuple[Reply[Any], str, tuple[Any, ...]]] = []

    def ask(
        self,
        question: Callable[Concatenate[Desk, P], Awaitable[R]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Reply[R]:
        given = (*args, *kwargs.values())
        json.dumps(given)
        reply: Reply[R] = Reply()
        name = question.__name__
        self.asked.append((name, given))
        self._open.append((reply, name, given))
        return reply

    def settle(self) -> None:
        """Answer everything asked so far, and what that leads to."""
        while self._open:
            reply, name, given = self._open.pop(0)
            answer = self.answers.get(name)
            if callable(answer):
                answer = answer(*given)
            if isinstance(answer, OrionError):
                if not reply.settle(False, (answer.code, answer.fields)):
                    self.refused.emit(answer.code, answer.fields)
            else:
                json.dumps(answer)
                reply.settle(True, answer)

    def names(self) -> list[str]:
        return [name for name, _given in self.asked]

    def last(self, name: str) -> tuple[Any, ...]:
        """The arguments of the newest question called `name`."""
        return next(given for asked, given in reversed(self.asked) if asked == name)


def card(session: str = "s1", **changes: Any) -> dict[str, Any]:
    """A session's card as the desk makes it."""
    made: dict[str, Any] = {
        "id": session,
        "title": "",
        "profile": "orion-local",
        "model": "bundled",
        "provider": "local",
        "host": "local",
        "local": True,
        "tools": True,
        "images": False,
        "autonomy": "semi",
        "state": "IDLE",
        "busy": False,
        "private": False,
        "pending": [],
    }
    return made | changes


def listed(session: str, title: str, **changes: Any) -> dict[str, Any]:
    """A session as the store lists it."""
    made: dict[str, Any] = {
        "id": session,
        "title": title,
        "profile": "orion-local",
        "updated": 0.0,
        "messages": 2,
        "preview": "what was said",
        "interrupted": False,
    }
    return made | changes


def asked(approval: str = "a1", **changes: Any) -> dict[str, Any]:
    """A pending approval as plain data."""
    made: dict[str, Any] = {
        "id": approval,
        "name": "write_file",
        "arguments": {"path": "notes/hello.md", "text": "Hello"},
        "digest": "d" * 64,
        "risk": "medium",
        "summary": "Write notes/hello.md",
        "preview": "--- notes/hello.md\n+++ notes/hello.md\n@@ -0,0 +1 @@\n+Hello",
        "rules": {"once": "exactly this call", "session": "write_file below notes/"},
    }
    return made | changes


def overview(**changes: Any) -> dict[str, Any]:
    """What the desk says when the runtime is there."""
    made: dict[str, Any] = {
        "home": "home",
        "workspace": "home/workspace",
        "profiles": [
            {"name": "orion-demo", "provider": "scripted", "model": "demo.yaml", "local": True},
            {"name": "orion-local", "provider": "local", "model": "bundled", "local": True},
        ],
        "models": [
            {"name": "bundled", "path": "b.gguf", "size": 91_000_000, "provider": "local", "error": ""}
        ],
        "sessions": [],
        "notices": [],
        "settings": {
            "appearance": {"theme": "light", "text_scale": 1.0, "language": ""},
            "sessions": {"restore_last": True},
        },
    }
    return made | changes


_seq = 0


def event(body: Body, session: str = "s1") -> Event:
    """`body` in an envelope; it must survive JSON."""
    global _seq
    _seq += 1
    made = Event(_seq, session, "t1", 0.0, body)
    json.dumps(made.as_dict())
    return made
