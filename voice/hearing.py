"""Utterances from their first block until they are understood, in order, in a thread of their own."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from voice.errors import VoiceError
from voice.events import Final
from voice.sound import BLOCK, RATE, Block

TAIL = 2.0
"""Seconds after the end in which what was captured before it may still come in from the device, which takes
so long on a very busy machine. What comes later ends the wait."""


class Heard(Protocol):
    """What was said (voice/stt/recogniser.py); the text is empty when nothing was."""

    @property
    def text(self) -> str: ...
    @property
    def language(self) -> str: ...


class Listening(Protocol):
    """What makes words of one utterance (voice/stt/utterance.py); `feed` may come until `finish` or `abandon`
    is called, and `abandon` at any time."""

    def feed(self, block: Block) -> None: ...
    def finish(self) -> Heard: ...
    def abandon(self) -> None: ...


@dataclass(slots=True, eq=False)
class _Utterance:
    """One utterance; `words` is None where nothing can be understood. Blocks belong to it until the one that
    was captured at `until`; then it is `complete`."""

    words: Listening | None
    by_key: bool
    overheard: bool
    blocks: int = 0
    until: float = math.inf
    complete: threading.Event = field(default_factory=threading.Event)
    dropped: bool = False


class Hearing:
    """At most one utterance is open, while earlier ones are being understood. Its owner closes it.

    `final` gets every utterance once, and whether it was thrown away; `trouble` what kept it from being
    understood. `feed` is called by the microphone's thread, `silent` by whoever closed it, the rest by one
    other; all return at once.
    """

    def __init__(self, final: Callable[[Final, bool], None], trouble: Callable[[VoiceError], None]) -> None:
        self._final = final
        self._trouble = trouble
        self._lock = threading.Lock()
        self._open: _Utterance | None = None
        self._flows = False
        self._receiving: list[_Utterance] = []
        self._pending: list[_Utterance] = []
        self._queue: queue.SimpleQueue[_Utterance | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._understand, name="voice understanding", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """Whether an utterance is under way."""
        return self._open is not None

    @property
    def by_key(self) -> bool:
        """Whether one is under way that the key began or took over."""
        return self._open is not None and self._open.by_key

    def take_over(self) -> None:
        """The utterance under way belongs to the key from now on."""
        if self._open is not None:
            self._open.by_key = True

    def begin(self, words: Listening | None, recent: Iterable[Block], *, by_key: bool) -> None:
        """Open an utterance that began with the blocks `recent`."""
        begun = _Utterance(words, by_key, overheard=not by_key)
        with self._lock:
            for block in recent:
                begun.blocks += 1
                if words is not None:
                    words.feed(block)
            self._open, self._flows = begun, True
            self._receiving.append(begun)

    def feed(self, block: Block) -> None:
        """The next block, for whatever it belongs to."""
        with self._lock:
            self._flows = True
            for said in [*self._receiving]:
                if block.time >= said.until:
                    self._receiving.remove(said)
                    said.complete.set()
                    continue
                said.blocks += 1
                if said.words is not None:
                    said.words.feed(block)

    def silent(self) -> None:
        """No block comes any more, until one does or an utterance begins: none is waited for."""
        with self._lock:
            self._flows = False
            for said in self._receiving:
                if said.until < math.inf:
                    said.complete.set()

    def finish(self) -> None:
        """The utterance is over now; it is reported when it is understood."""
        with self._lock:
            said, self._open = self._open, None
            if said is None:
                return
            said.until = time.monotonic()
            if not self._flows:
                said.complete.set()
            self._pending.append(said)
        self._queue.put(said)

    def abandon(self) -> None:
        """Throw away the utterance under way, or else all that are being understood."""
        with self._lock:
            dropped = [said for said in self._pending if not said.dropped]
            if self._open is not None:
                dropped, self._open = [self._open], None
            for said in dropped:
                said.dropped = True
            self._receiving = [said for said in self._receiving if not said.dropped]
        for said in dropped:
            said.complete.set()
            if said.words is not None:
                said.words.abandon()
            self._final(Final("", hands_free=not said.by_key, overheard=said.overheard), True)

    def close(self) -> None:
        """Drop what is not understood yet, untold, and end the thread."""
        with self._lock:
            left = [*self._pending, *([self._open] if self._open is not None else [])]
            for said in left:
                said.dropped = True
            self._receiving, self._open = [], None
        for said in left:
            said.complete.set()
            if said.words is not None:
                said.words.abandon()
        self._queue.put(None)
        self._thread.join()

    def _understand(self) -> None:
        while (said := self._queue.get()) is not None:
            said.complete.wait(TAIL)
            with self._lock:
                self._receiving = [other for other in self._receiving if other is not said]
            final = self._words(said)
            with self._lock:
                self._pending.remove(said)
                dropped = said.dropped
            if not dropped:
                self._final(final, False)

    def _words(self, said: _Utterance) -> Final:
        seconds = round(said.blocks * BLOCK / RATE, 2)
        if said.words is None or said.dropped:
            return Final("", "", seconds, not said.by_key, said.overheard)
        try:
            heard = said.words.finish()
        except VoiceError as error:
            self._trouble(error)
            return Final("", "", seconds, not said.by_key, said.overheard)
        return Final(heard.text, heard.language, seconds, not said.by_key, said.overheard)
