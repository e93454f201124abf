"""What the window may ask of the voice; questions to the desk like its own methods. Nothing of speech is
imported before the first that needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime.conversation import Conversation

    from desktop.desk import Desk
    from runtime.assemble import Runtime
    from runtime.session import Session


class DeskVoice:
    """The desk's conversation by voice, made at its first use. Lives on the runtime's loop; `listener` gets
    each event there."""

    def __init__(self, runtime: Runtime, listener: Callable[[Any], None]) -> None:
        self._runtime = runtime
        self._listener = listener
        self._session: Session | None = None
        self._made: Conversation | None = None

    @property
    def used(self) -> bool:
        """Whether there is a conversation by voice yet."""
        return self._made is not None

    def conversation(self) -> Conversation:
        """The conversation, attached to the chat in front."""
        if self._made is None:
            from runtime.conversation import Conversation

            self._made = Conversation(self._runtime, self._listener)
            self._made.attach(self._session)
        return self._made

    def attach(self, session: Session | None) -> None:
        """Voice belongs to this chat now; None to none."""
        self._session = session
        if self._made is not None:
            self._made.attach(session)

    def let_go(self, session: Session) -> None:
        """`session` is about to be closed."""
        if self._session is session:
            self.attach(None)

    async def configure(self) -> None:
        """The settings changed."""
        if self._made is not None:
            await self._made.configure()

    async def close(self) -> None:
        """End the conversation and what it started; idempotent."""
        made, self._made = self._made, None
        if made is not None:
            await made.close()


async def press(desk: Desk) -> None:
    """The key goes down: be silent and listen."""
    await desk.voice.conversation().press()


async def release(desk: Desk) -> None:
    """The key comes up: what was said is sent to the chat in front."""
    await desk.voice.conversation().release()


async def cancel(desk: Desk) -> None:
    """Throw away what is being said."""
    if desk.voice.used:
        await desk.voice.conversation().cancel()


async def hush(desk: Desk) -> None:
    """Stop speaking."""
    if desk.voice.used:
        await desk.voice.conversation().hush()


async def hands_free(desk: Desk, on: bool) -> None:
    """Listen without a key from now on, or no longer."""
    await desk.voice.conversation().hands_free(on)


async def read_aloud(desk: Desk, text: str) -> None:
    """Say `text` (Markdown)."""
    await desk.voice.conversation().read_aloud(text)


async def attach(desk: Desk, session: str) -> None:
    """Let voice belong to an open session; "" to none, so that what is said is only shown."""
    desk.voice.attach(desk.session(session) if session else None)
