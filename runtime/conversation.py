"""Joins the voice and a session: what was said becomes a message, and the answer is spoken while it streams.

A model that is still talking is cut off by whoever speaks next; a tool that is working is not: the message
then enters before the next call of the model. A tap on the key only stops the speech.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from resources.sentences import sentence
from resources.translation import _
from runtime import events as ev
from runtime.conversation_events import Asking, ConversationEvent, Draft, Understood
from runtime.errors import OrionError
from runtime.session import Session
from runtime.speech import Speech
from runtime.spoken_questions import Questions, remark
from runtime.spoken_status import Status
from runtime.spoken_words import Word, understood
from runtime.voice_child import VoiceChild
from voice.client import VoiceClient, default_command
from voice.events import Final, Speaking, Spoken, State, Trouble, VoiceEvent

if TYPE_CHECKING:
    from runtime.assemble import Runtime

SOURCE = "voice"
TALKING = ("PLANNING", "THINKING", "COMPILING")
"""States in which a turn is cut off by the next utterance; in the others it is steered."""
_FIRST = re.compile(r".*?[.!?](?=\s|$)", re.DOTALL)


class Conversation:
    """The voice of one process; made by the runtime, used from its loop, closed by the runtime.

    The child starts at the first use (`start` does it earlier). `on_event` is called on the loop with every
    event of the voice and those of conversation_events.py; all are plain values. Only turns that were begun
    by voice are answered aloud. Faults are Trouble events; typing always goes on.
    """

    def __init__(
        self,
        runtime: Runtime,
        on_event: Callable[[ConversationEvent], None],
        command: Sequence[str] | None = None,
    ) -> None:
        self._runtime = runtime
        self._emit = on_event
        self._client = VoiceClient(command or default_command(), self._on_voice)
        self._child = VoiceChild(runtime, self._client, on_event)
        self._speech = Speech(self._client, on_event, self._child.entries)
        self._questions = Questions(self._speech.aside, on_event)
        self._status = Status()
        self._session: Session | None = None
        self._unsubscribe: Callable[[], None] = lambda: None
        self._aloud = False
        self._asked = 0  # messages sent from here that have not entered the conversation yet
        self._waiting = False
        self._drafting = False
        self._listening = False
        self._open = 0  # utterances that have begun and are not understood yet
        self._elsewhere = 0  # how many of them were spoken to a chat that is not in front any more
        self._key = asyncio.Lock()  # a release must not overtake the press that still starts the child
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    # --- what a door does -----------------------------------------------------------------------------

    def attach(self, session: Session | None) -> None:
        """The chat that voice belongs to from now on; what is being said stops, and what was spoken to the
        chat before and is not understood yet becomes a Draft."""
        if session is self._session:
            return
        self._unsubscribe()
        self._speech.attach(session)
        self._questions.forget()
        self._session, self._status = session, Status()
        self._aloud = self._waiting = False
        self._asked = 0
        self._elsewhere = self._open
        self._unsubscribe = session.subscribe(self._on_session) if session is not None else lambda: None
        self._child.attach(session)

    async def start(self) -> None:
        """Start the child, so that the first word finds it ready; does nothing while it runs."""
        await self._child.start()

    async def press(self, *, draft: bool = False) -> None:
        """The key goes down: speech stops, and it is listened to. With `draft` what is said becomes a Draft
        whatever the settings say: it belongs to a message that is being written."""
        self._drafting = draft
        async with self._key:
            await self.start()
            self._client.press()

    async def release(self) -> None:
        """The key comes up: what was said is sent, or becomes a Draft."""
        async with self._key:
            self._client.release()

    async def cancel(self) -> None:
        """Throw away what is being said to the program."""
        async with self._key:
            self._client.cancel()

    async def hush(self) -> None:
        """Stop speaking at once. The turn goes on, and the stored answer stays whole: it can be read."""
        self._speech.hush(keep=False)

    async def hands_free(self, on: bool) -> None:
        """Listen without a key, or no longer; holds until the setting changes."""
        await self._child.hands_free(on)

    async def configure(self) -> None:
        """The settings, permissions or profile changed."""
        self._child.settings_changed()

    async def send(self, text: str) -> None:
        """Send a Draft that was looked over; it is answered aloud like what is sent at once."""
        if self._session is not None:
            async with self._turn:
                await self._send(self._session, text)

    async def read_aloud(self, text: str) -> None:
        """Say `text` (Markdown) instead of what is being said."""
        await self.start()
        self._speech.hush(keep=False)
        self._speech.forget()
        self._speech.begin()
        self._speech.aside(text)
        self._speech.end()

    async def close(self) -> None:
        """End the child and everything that is under way; idempotent."""
        self._unsubscribe()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._client.close()
        self._child.entries.close()

    # --- from the voice -------------------------------------------------------------------------------

    def _on_voice(self, event: VoiceEvent) -> None:
        self._emit(event)
        match event:
            case Speaking():
                self._speech.on_speaking(event)
            case Spoken():
                self._speech.on_spoken(event)
            case State():
                self._on_state(event)
            case Final():
                self._on_final(event)
            case Trouble(code="voice_child_ended" | "voice_gave_up"):
                self._open = self._elsewhere = 0
                self._speech.on_death()
            case _:
                pass

    def _on_state(self, event: State) -> None:
        before, self._listening = self._listening, event.state in ("hearing", "interrupted")
        self._open += self._listening and not before
        if event.state == "interrupted":
            self._speech.mute()

    def _on_final(self, said: Final) -> None:
        left, self._elsewhere = self._elsewhere > 0, max(self._elsewhere - 1, 0)
        self._open = max(self._open - 1, 0)
        if left and said.text.strip():
            self._emit(Draft(said.text.strip()))
        elif said.text.strip():
            self._run(self._heard(said))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="voice utterance")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _heard(self, said: Final) -> None:
        """One utterance after the other."""
        async with self._turn:
            try:
                await self._act(said)
            except OrionError as error:
                self._emit(Trouble(error.code, error.fields))

    async def _act(self, said: Final) -> None:
        session, text = self._session, said.text.strip()
        if session is None or session.closed:
            self._emit(Draft(text))
            return
        word = understood(text, said.language)
        drafting = self._drafting and not said.hands_free
        at_once = self._runtime.settings.voice.send_at_once and not drafting
        asked = self._questions.open
        answers = asked is not None and not (drafting and asked.judge(text, said.language) == "unclear")
        if answers and word is None:
            await self._answer(session, said)
        elif word is not None and (at_once or self._at_work(session)):
            self._emit(Understood(word))
            await self._obey(session, word, text)
        elif at_once:
            await self._send(session, text)
        else:
            self._emit(Draft(text))

    def _at_work(self, session: Session) -> bool:
        """Whether there is something that a word can be about; else it may be part of a draft."""
        return session.busy or self._speech.speaking or self._speech.has_rest or self._waiting

    async def _send(self, session: Session, text: str) -> None:
        await self._make_way(session)
        self._speech.begin()
        self._asked += 1
        await session.submit(text, source=SOURCE)
        self._child.refresh()

    async def _make_way(self, session: Session) -> None:
        """Before something new: no model talks, nothing is spoken or paused."""
        if self._speech.speaking:
            self._speech.hush()
        if session.busy and session.state in TALKING:
            session.cancel()
            await session.idle()
        self._waiting = False
        session.resume()
        self._speech.forget()

    async def _answer(self, session: Session, said: Final) -> None:
        asked, text = self._questions.open, said.text.strip()
        self._speech.begin()
        by_key = not said.overheard and not said.hands_free
        match self._questions.answer(text, said.language, session.pending, by_key=by_key):
            case "approve" if asked is not None:
                await session.answer(asked.id, "approve", door=SOURCE)
            case "deny" if asked is not None:
                await session.answer(asked.id, "deny", note=remark(text), door=SOURCE)
            case "none":
                await self._send(session, text)
            case _:
                self._speech.end()

    async def _obey(self, session: Session, word: Word, text: str) -> None:
        match word:
            case "stop":
                await self._stop(session)
            case "wait":
                self._waiting = True
                self._speech.hush(keep=False)
                if session.busy:
                    session.pause(_("You said wait."))
            case "go_on":
                await self._go_on(session, text)
            case "status":
                self._speech.resume(self._status.sentence(time.monotonic()), more=self._streams(session))

    async def _stop(self, session: Session) -> None:
        if self._speech.speaking:
            self._speech.hush()
        session.cancel()
        await session.idle()
        self._waiting = False
        session.resume()

    async def _go_on(self, session: Session, text: str) -> None:
        held, self._waiting = self._waiting, False
        session.resume()
        if self._questions.open is not None:
            self._speech.begin()
            self._questions.repeat()
            self._speech.end()
            return
        if self._speech.has_rest or (held and session.busy):
            self._speech.resume(more=self._streams(session))
        elif session.interrupted:
            self._speech.begin()
            self._aloud = True
            await session.continue_(SOURCE)
        elif not session.busy:
            await self._send(session, text)

    def _streams(self, session: Session) -> bool:
        """Whether more of the spoken answer is to come."""
        return self._aloud and session.busy and self._questions.open is None

    # --- from the session -----------------------------------------------------------------------------

    def _on_session(self, event: ev.Event) -> None:
        body = event.body
        self._status.note(body, time.monotonic())
        match body:
            case ev.UserSaid(source=source, steering=steering):
                self._on_message(body.text, by_voice=source == SOURCE, steering=steering)
            case ev.ApprovalReceived(id=answered, door=door):
                self._on_answered(answered, door)
            case ev.Paused(paused=False) if self._waiting:
                self._waiting = False
                self._speech.resume(more=self._aloud)
            case _ if self._aloud:
                self._speak(body)
            case _:
                pass

    def _on_message(self, text: str, *, by_voice: bool, steering: bool) -> None:
        """A message enters; one that was sent from here is answered aloud, as is what it steers."""
        self._child.names.note(text)
        mine = by_voice and self._asked > 0
        self._asked -= mine
        if not (mine or steering) and self._speech.speaking:
            self._speech.hush(keep=False)
        self._aloud = mine or (steering and self._aloud)

    def _speak(self, body: ev.Body) -> None:
        """Say what is to be said of an event of a turn that is answered aloud."""
        match body:
            case ev.ResponseChunk(text=text):
                self._speech.say(text)
            case ev.ResponseComplete(id=record):
                self._speech.named(record)
                self._child.names.note(body.text)
            case ev.Fallback():
                self._speech.named("")
            case ev.ErrorRaised(code=code, fields=fields):
                self._speech.aside(_first(sentence(code, **fields)))
            case ev.ApprovalRequired():
                if self._questions.open is None:
                    self._ask(body)
            case ev.Done():
                self._on_done()
            case _:
                pass

    def _on_done(self) -> None:
        """The turn is over; a pause that the user asked for must not hold up the next one."""
        session, waiting = self._session, self._waiting
        if session is not None:
            self._speech.named(session.last_answer)
            self._waiting = False
            session.resume()
            self._waiting = waiting
        self._speech.end()
        self._questions.forget()
        self._aloud = False

    def _ask(self, asked: ev.ApprovalRequired) -> None:
        if self._speech.muted:
            self._emit(Asking(asked.id, "", by_hand=True))
            return
        self._questions.ask(asked, self._runtime.registry.get(asked.name))
        self._speech.end()

    def _on_answered(self, answered: str, door: str) -> None:
        """A question is settled: the next one that waits is asked, or the work goes on."""
        asked = self._questions.open
        if not self._aloud or self._session is None:
            return
        if asked is not None and asked.id == answered:
            self._questions.forget()
            if door != SOURCE and self._speech.speaking:
                self._speech.hush(keep=False)
        if self._questions.open is not None:
            return
        self._speech.begin()
        waiting = [one for one in self._session.pending if one.id != answered]
        if waiting:
            self._ask(waiting[0])


def _first(text: str) -> str:
    """The first sentence of `text`."""
    found = _FIRST.match(text)
    return found.group() if found else text
