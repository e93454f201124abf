"""The mouth: chunks of an answer go in, clause by clause they are heard, and what was heard is told."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Literal, Protocol

from voice.answer import Answer, Piece
from voice.clauses import Clause
from voice.errors import VoiceError
from voice.events import Speaking, Spoken, VoiceEvent
from voice.trim import pause_after, trimmed

if TYPE_CHECKING:
    from voice.sound import Samples
    from voice.tts.voice import Sound

AHEAD = 2
"""Clauses that are made into sound before the one that is heard now has ended."""


class Tongue(Protocol):
    """What makes sound of a clause (voice/tts/choice.py)."""

    def warm(self) -> None: ...
    def speak(self, clause: Clause) -> Iterator[Sound]: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...


class Horn(Protocol):
    """What plays sound (voice/loudspeaker.py)."""

    def play(self, samples: Samples, rate: int, mark: int) -> bool: ...
    def end(self, mark: int) -> None: ...
    def stop(self) -> list[tuple[int, float]]: ...


class Mouth:
    """Says answers in their order, in a thread of its own; its owner closes it.

    `tell` gets Speaking and Spoken; `changed` is called when words begin to wait for being heard and when
    there are no more (`unheard`), and with True when an answer has ended; `lost` gets the fault of a
    loudspeaker on which nothing can be played. They are called in the mouth's or the loudspeaker's thread,
    and must not call back. Sound is only made while the gate is open. The other methods may be called in any
    thread and return at once. The tongue that it is given is its own: it warms and closes it.
    """

    def __init__(
        self,
        tell: Callable[[VoiceEvent], None],
        changed: Callable[[bool], None],
        lost: Callable[[VoiceError], None],
    ) -> None:
        self._tongue: Tongue | None = None
        self._new_tongue: Tongue | None = None
        self._horn: Horn | None = None
        self._tell = tell
        self._changed = changed
        self._lost = lost
        self._news = threading.Condition()
        self._playing = threading.Lock()
        self._answers: deque[Answer] = deque()
        self._marks: dict[int, Piece] = {}
        self._mark = 0
        self._muted = 0
        self._epoch = 0
        self._open = False
        self._stirred = False
        self._closed = False
        self._was_unheard = False
        self._thread = threading.Thread(target=self._run, name="voice mouth", daemon=True)
        self._thread.start()

    @property
    def unheard(self) -> bool:
        """Whether words wait to be heard or are being heard."""
        with self._news:
            return self._has_words()

    def gate(self, opened: bool) -> None:
        """Let what waits be heard, or keep it back; what the loudspeaker has already goes on."""
        with self._news:
            self._open = opened
            self._stir()

    def say(self, text: str, number: int) -> None:
        """A chunk of the answer called `number`; dropped when that answer was silenced."""
        with self._news:
            if number > self._muted and text:
                self._answer(number).written.append(text)
                self._stir()

    def expect(self, number: int) -> None:
        """The answers before `number` have no more chunks."""
        with self._news:
            for answer in self._answers:
                answer.ended = answer.ended or answer.number < number
            self._stir()

    def end(self, number: int) -> bool:
        """The answer called `number` has no more chunks; once it was heard it is told as Spoken. False when
        it was silenced already."""
        with self._news:
            if number <= self._muted:
                return False
            self._answer(number).ended = True
            self._stir()
            return True

    def silence(self, number: int) -> None:
        """Stop the loudspeaker at once, drop all answers up to `number` and tell what was heard of them. The
        gate is closed afterwards."""
        played = self._stop()
        with self._news:
            stopped = [*self._answers]
            self._muted = max(self._muted, number, *(answer.number for answer in stopped))
            self._answers.clear()
            self._marks.clear()
            self._was_unheard = False
            for answer in stopped:
                answer.settle()
                self._tell(Spoken(answer.stopped(played), whole=False))

    def speak_with(self, tongue: Tongue) -> None:
        """Speak with these voices from the next clause on."""
        with self._news:
            unused, self._new_tongue = self._new_tongue, tongue
            self._stir()
        if unused is not None:
            unused.close()

    def play_on(self, horn: Horn | None) -> None:
        """Go on with another loudspeaker once the gate is opened again; clauses that the old one has not
        played to their end come again."""
        played = self._stop()
        with self._news:
            for answer in self._answers:
                answer.again(played)
            self._marks.clear()
            self._horn = horn
            self._stir()

    def close(self) -> None:
        """Be silent and end the thread; nothing is told afterwards."""
        with self._news:
            self._closed = True
            self._stir()
        self._stop()
        self._thread.join()
        for tongue in (self._tongue, self._new_tongue):
            if tongue is not None:
                tongue.close()

    def on_mark(self, mark: int, moment: Literal["begun", "ended"]) -> None:
        """A clause begins or ends to be heard; called by the loudspeaker."""
        with self._news:
            piece = self._marks.get(mark)
            if piece is None or self._closed:
                return
            if not piece.begun:
                piece.begun = True
                self._tell(Speaking(piece.clause.text, piece.clause.spoken, round(piece.seconds, 3)))
            if moment == "ended":
                piece.heard = True
                del self._marks[mark]
                self._stir()

    # --- inside ---------------------------------------------------------------------------------------

    def _stop(self) -> dict[int, float]:
        """Close the gate, stop the loudspeaker and what is being made for it; the seconds of each mark that
        were heard."""
        with self._news:
            self._open = False
            self._epoch += 1
        if (tongue := self._tongue) is not None:
            tongue.stop()
        with self._playing:
            return dict(self._horn.stop()) if self._horn is not None else {}

    def _stir(self) -> None:
        self._stirred = True
        self._news.notify_all()

    def _answer(self, number: int) -> Answer:
        for answer in self._answers:
            if answer.number == number:
                return answer
        self._answers.append(Answer(number))
        return self._answers[-1]

    def _has_words(self) -> bool:
        return any(not answer.silent for answer in self._answers)

    def _run(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._stirred)
                self._stirred = False
                if self._closed:
                    return
                ended = self._settle()
                ready = self._open and self._new_tongue is None
                piece, epoch = self._next() if ready else None, self._epoch
                changed = self._has_words() is not self._was_unheard
                self._was_unheard = self._has_words()
            if changed or ended:
                self._changed(ended)
            if piece is not None:
                self._make(piece, epoch)
            elif not ready:
                self._change_tongue()

    def _change_tongue(self) -> None:
        with self._news:
            new, self._new_tongue = self._new_tongue, None
        if new is None:
            return
        old, self._tongue = self._tongue, new
        if old is not None:
            old.close()
        new.warm()
        with self._news:
            self._stir()

    def _settle(self) -> bool:
        """Cut what was written, take over what was heard, and tell of answers that are over. Whether an
        answer has ended."""
        ended = False
        for answer in self._answers:
            ended = answer.cut() or ended
        while self._answers:
            first = self._answers[0]
            first.settle()
            if not first.done:
                break
            self._answers.popleft()
            self._tell(Spoken(first.heard, whole=True))
        return ended

    def _next(self) -> Piece | None:
        """The next clause to make sound of, unless enough of them wait for the loudspeaker."""
        if len(self._marks) > AHEAD or self._tongue is None:
            return None
        for answer in self._answers:
            while answer.waiting:
                self._mark += 1
                piece = Piece(answer.waiting.pop(0), self._mark)
                answer.pieces.append(piece)
                if piece.clause.spoken:
                    self._marks[piece.mark] = piece
                    return piece
                piece.heard = True
        return None

    def _make(self, piece: Piece, epoch: int) -> None:
        """Make sound of a clause and hand it to the loudspeaker, unless it is silenced meanwhile."""
        assert self._tongue is not None
        try:
            with contextlib.closing(self._sounds(self._tongue, piece.clause)) as sounds:
                for sound in sounds:
                    piece.seconds += sound.seconds
                    if not self._play(sound, piece.mark, epoch):
                        return
            with self._playing:
                if self._epoch == epoch and self._horn is not None and piece.seconds:
                    self._horn.end(piece.mark)
        except VoiceError as error:
            with self._news:
                self._open = False
            self._lost(error)
            return
        with self._news:
            piece.made = True
            if not piece.seconds:  # no voice can say it
                piece.heard = True
                self._marks.pop(piece.mark, None)
            self._stir()

    def _sounds(self, tongue: Tongue, clause: Clause) -> Generator[Sound, None, None]:
        yield from trimmed(tongue.speak(clause), pause_after(clause.text))

    def _play(self, sound: Sound, mark: int, epoch: int) -> bool:
        """Queue `sound`, waiting while the queue is full; False when the answer was silenced."""
        while True:
            with self._playing:
                if self._epoch != epoch:
                    return False
                if self._horn is None:
                    raise VoiceError("loudspeaker_missing", name="")
                if self._horn.play(sound.samples, sound.rate, mark):
                    return True
            with self._news:
                self._news.wait(0.1)
