"""What the window may ask of the voice; questions to the desk like its own methods. Nothing of speech is
imported before the first that needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

    from desktop.desk import Desk
    from runtime.assemble import Runtime
    from runtime.conversation import Conversation
    from runtime.session import Session


Choices = list[tuple[str, str]]
"""Values of a setting and the words for them."""


class DeskVoice:
    """The desk's conversation by voice, made at its first use. Lives on the runtime's loop; `listener` gets
    each event there; `command` starts another child than the program's own. While the microphone is tried
    nothing that is said reaches a chat."""

    def __init__(
        self,
        runtime: Runtime,
        listener: Callable[[Any], None],
        command: Sequence[str] | None = None,
    ) -> None:
        self._runtime = runtime
        self._listener = listener
        self._command = command
        self._session: Session | None = None
        self._made: Conversation | None = None
        self._devices: dict[str, Choices] = {"microphones": [], "loudspeakers": []}
        self._trying: asyncio.Event | None = None

    @property
    def used(self) -> bool:
        """Whether there is a conversation by voice yet."""
        return self._made is not None

    def conversation(self) -> Conversation:
        """The conversation, attached to the chat in front."""
        if self._made is None:
            self._made = self._runtime.conversation(self.on_event, self._command)
            self._made.attach(self._session)
        return self._made

    def attach(self, session: Session | None) -> None:
        """Voice belongs to this chat now; None to none."""
        self._session = session
        if self._made is not None and self._trying is None:
            self._made.attach(session)

    def let_go(self, session: Session) -> None:
        """`session` is about to be closed."""
        if self._session is session:
            self.attach(None)

    async def try_out(self, on: bool) -> None:
        """Begin to listen for nobody, or end it; the Final that follows ends the trial."""
        made = self.conversation()
        if on:
            import asyncio  # here and not above: the first frame must not wait for it

            self._trying = asyncio.Event()
            made.attach(None)
            await made.press()
        else:
            await made.release()

    async def settled(self) -> None:
        """Until no trial is under way."""
        if self._trying is not None:
            await self._trying.wait()

    async def choices(self, kind: str) -> Choices:
        """What a setting may be now: "microphones", "loudspeakers" (as far as they are known) or "voices"."""
        if kind == "voices":
            import asyncio

            return await asyncio.to_thread(_voices, self._runtime)
        return list(self._devices.get(kind, []))

    def on_event(self, event: Any) -> None:
        """Keep what is asked for later, end a trial, and pass the event on."""
        from runtime.conversation_events import Draft
        from voice.events import Devices, Final

        if isinstance(event, Devices):
            self._devices = {kind: list(getattr(event, kind)) for kind in self._devices}
        empty = isinstance(event, Final) and not event.text.strip()
        if self._trying is not None and (empty or isinstance(event, Draft)):
            self._trying.set()
            self._trying = None
            self.conversation().attach(self._session)
            if isinstance(event, Draft):
                return
        self._listener(event)

    async def configure(self) -> None:
        """The settings changed."""
        if self._made is not None:
            await self._made.configure()

    async def close(self) -> None:
        """End the conversation and what it started; idempotent."""
        made, self._made = self._made, None
        if made is not None:
            await made.close()


async def press(desk: Desk, draft: bool = False) -> None:
    """The key goes down: be silent and listen; with `draft` what is said is only written, not sent."""
    await desk.voice.conversation().press(draft=draft)


async def send(desk: Desk, text: str) -> None:
    """Send what was said and then looked over; it is answered aloud."""
    await desk.voice.conversation().send(text)


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


async def try_microphone(desk: Desk, on: bool) -> None:
    """Listen without sending what is said anywhere (True), until False."""
    await desk.voice.try_out(on)


async def wake(desk: Desk) -> None:
    """Start what hears and speaks: it tells which devices there are."""
    await desk.voice.conversation().start()


async def allow_host(desk: Desk, host: str) -> None:
    """Let the voices send what they say to `host` from now on."""
    from runtime.voice_entries import WHO

    desk.runtime.network.allow(host, WHO)
    await desk.voice.configure()


async def attach(desk: Desk, session: str) -> None:
    """Let voice belong to an open session; "" to none, so that what is said is only shown."""
    desk.voice.attach(desk.session(session) if session else None)


def _voices(runtime: Runtime) -> Choices:
    """The voices that may speak here, with the languages they can."""
    from runtime.voice_entries import ONLINE_HOST
    from runtime.voice_setup import PIPER_VOICES
    from voice.config import VoiceConfig
    from voice.tts.choice import available

    online = runtime.settings.voice.online_voices and runtime.network.permits(ONLINE_HOST)
    config = VoiceConfig(online_voices=online, piper_voices=str(runtime.home.weights / PIPER_VOICES))
    return [(voice.name, f"{voice.name} ({', '.join(voice.languages)})") for voice in available(config)]
