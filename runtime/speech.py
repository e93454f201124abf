"""What the program says: hands answers to the voice as they stream, and stores what was heard of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from runtime.conversation_events import Caption, ConversationEvent
from runtime.errors import OrionError
from runtime.session import Session
from runtime.spoken_answer import Share, SpokenAnswer
from runtime.voice_entries import VoiceEntries
from voice.client import VoiceClient
from voice.events import Speaking, Spoken, Trouble

GAP = "\n\n"
"""Between stretches, so that none waits for the next one to be a whole sentence."""


@dataclass(slots=True)
class _Handed:
    """An answer that the voice has and has not told about yet. `kept` is whether a cut of it is stored,
    `wanted` whether its rest may be asked for."""

    answer: SpokenAnswer
    session: Session | None
    kept: bool = True
    wanted: bool = True


class Speech:
    """One voice's answers, in order; used from the runtime's loop.

    While `muted`, what is added is only kept, to be said by `resume`. The voice tells of each answer once,
    in the order in which they were begun.
    """

    def __init__(
        self, client: VoiceClient, emit: Callable[[ConversationEvent], None], entries: VoiceEntries
    ) -> None:
        self._client = client
        self._emit = emit
        self._entries = entries
        self._session: Session | None = None
        self._handed: deque[_Handed] = deque()
        self._open: SpokenAnswer | None = None
        self._last: SpokenAnswer | None = None
        self._captioned = ""
        self.muted = False

    @property
    def speaking(self) -> bool:
        """Whether something was handed to the voice that it has not told about."""
        return bool(self._handed)

    @property
    def has_rest(self) -> bool:
        """Whether a part of what was last said has not been heard."""
        return self._last is not None and any(self._last.rest())

    # --- to the voice ---------------------------------------------------------------------------------

    def attach(self, session: Session | None) -> None:
        """What is said from now on belongs to `session`; what is being said stops, and nothing is stored."""
        self.hush(keep=False)
        self._session, self._open, self._last = session, None, None

    def begin(self) -> None:
        """Something is being worked on that will be answered aloud."""
        self._client.expect()
        self.muted, self._open = False, None

    def say(self, text: str) -> None:
        """More of the reply under way."""
        self._answer().add(text)
        self._hand_over(text)

    def aside(self, text: str) -> None:
        """A sentence of the program's own."""
        self._answer().aside(text + GAP)
        self._hand_over(text + GAP)

    def named(self, record: str) -> None:
        """The reply under way was stored as `record`, or broke off and was not ("")."""
        begun = self._open is not None and self._open.unnamed
        for answer, session in self._unnamed():
            self._store(answer.name(record), session)
        if begun and not self.muted:
            self._answer().aside(GAP)
            self._hand_over(GAP)

    def end(self) -> None:
        """Nothing is added to this answer any more."""
        if self._open is None and not self.muted:
            self._answer()
        self._client.end_of_answer()
        if self._open is not None and (self.muted or self._open.over):
            self._last = self._open
        self._open = None

    def hush(self, *, keep: bool = True) -> None:
        """Be silent at once. With `keep` what was not heard counts as cut off by the user."""
        for handed in self._handed:
            handed.kept = handed.kept and keep
        self._client.hush()
        self.muted = True

    def mute(self) -> None:
        """The voice fell silent by itself, because somebody else speaks."""
        self.muted = True

    def forget(self) -> None:
        """What was not heard will not be asked for."""
        self._last = None
        for handed in self._handed:
            handed.wanted = False

    def resume(self, aside: str = "", *, more: bool) -> None:
        """Say `aside`, then what was not heard; `more` is whether the answer goes on after that."""
        rest = list(self._last.rest()) if self._last is not None else []
        self._last = None
        self.begin()
        if aside:
            self.aside(aside)
        for of, text, before in rest:
            self._answer().add(text, of, before)
            self._hand_over(text)
        if not more:
            self.end()

    # --- from the voice -------------------------------------------------------------------------------

    def on_speaking(self, event: Speaking) -> None:
        """A piece begins to be heard."""
        self._emit(Caption(self._captioned, event.text))
        self._captioned += event.text

    def on_spoken(self, event: Spoken) -> None:
        """The oldest answer has been said, or was cut short."""
        self._captioned = ""
        self._emit(Caption("", ""))
        if self._handed:
            self._settle(self._handed.popleft(), event.heard, whole=event.whole)

    def on_death(self) -> None:
        """The voice ended and tells no more of what it had."""
        while self._handed:
            self._settle(self._handed.popleft(), "", whole=False)

    # --- inside ---------------------------------------------------------------------------------------

    def _answer(self) -> SpokenAnswer:
        if self._open is None:
            self._open = SpokenAnswer()
            if not self.muted and self._client.pid:
                self._handed.append(_Handed(self._open, self._session))
        return self._open

    def _hand_over(self, text: str) -> None:
        if not self.muted and self._client.pid:
            self._entries.begin(self._answer(), text)
            self._client.say(text)

    def _unnamed(self) -> list[tuple[SpokenAnswer, Session | None]]:
        """Every answer that may hold a part of the reply under way."""
        found = {id(handed.answer): (handed.answer, handed.session) for handed in self._handed}
        for answer in (self._open, self._last):
            if answer is not None:
                found.setdefault(id(answer), (answer, self._session))
        return list(found.values())

    def _settle(self, handed: _Handed, heard: str, *, whole: bool) -> None:
        answer = handed.answer
        shares = answer.cut(heard, whole=whole, kept=handed.kept)
        self._entries.end(answer)
        self._store(shares, handed.session)
        if not whole:
            self.muted = self.muted or answer is self._open
            if handed.wanted:
                self._last = answer

    def _store(self, shares: list[Share], session: Session | None) -> None:
        if session is None or session.closed:
            return
        for share in shares:
            try:
                session.heard(share.of, share.text, whole=share.whole)
            except OrionError as error:
                self._emit(Trouble(error.code, error.fields))
