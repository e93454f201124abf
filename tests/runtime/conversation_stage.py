"""A conversation with a scripted voice, over a session with a scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from runtime.assemble import Runtime
from runtime.conversation import Conversation
from runtime.conversation_events import ConversationEvent
from runtime.session import Session
from tests.runtime.scripted_house import Steps, Watch, talking
from tests.runtime.scripted_voice import Step, Voice

PRESSED: list[Step] = [["await", "press"], ["state", "hearing"], ["await", "release"]]
ANSWER = "One is one. Two is two. Three is three."


class Stage:
    """A conversation with a scripted voice, over a session with a scripted model."""

    def __init__(
        self, runtime: Runtime, session: Session, watch: Watch, voice: Voice, conversation: Conversation
    ) -> None:
        self.runtime = runtime
        self.session = session
        self.watch = watch
        self.voice = voice
        self.conversation = conversation

    async def push_to_talk(self) -> None:
        await self.conversation.press()
        await self.conversation.release()

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return [row for row in self.session.rows() if row["kind"] == kind]


@asynccontextmanager
async def stage(
    home: Path, steps: Steps, *lives: list[Step], settings: dict[str, object] | None = None, **profile: Any
) -> AsyncIterator[Stage]:
    async with talking(home, steps, **profile) as (runtime, session, watch):
        runtime.save_settings(settings or {})
        voice = Voice(home.parent / "voice")
        conversation = Conversation(runtime, voice.take, command=voice.command(*lives))
        conversation.attach(session)
        try:
            yield Stage(runtime, session, watch, voice, conversation)
        finally:
            await conversation.close()


def is_(kind: type, **fields: Any) -> Any:
    def holds(event: ConversationEvent) -> bool:
        return isinstance(event, kind) and all(getattr(event, key) == value for key, value in fields.items())

    return holds
