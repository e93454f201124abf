"""One utterance, understood while it is spoken: words appear as they come, and at its end a tail is left.

All work is done in a thread of its own, which looks for speech in what was fed and reads it with the
recogniser in three ways. While somebody speaks, quick readings give the words so far; a reading cannot be
cancelled, so they take at most a quarter of the time and are left out where they take long. When speech
pauses, a thorough reading is made ahead: if nothing more is said, it is the final one. And a long utterance
is cut at its pauses: what was read thoroughly is kept as text, and its sound forgotten.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from voice.events import Partial
from voice.stt.heard import Heard, Part, joined
from voice.stt.reading import Reading, Wish
from voice.stt.samples import Centre
from voice.stt.silence import WINDOW, Activity
from voice.stt.stretch import BEFORE, Stretch, windows

if TYPE_CHECKING:
    from voice.sound import Block, Samples

_AHEAD = windows(0.2)
"""After a pause of so many windows a thorough reading is made ahead."""

_NEW = windows(0.4)
"""A quick reading needs so much speech that the last one had not heard."""

_QUICK = 0.5
"""Where readings take longer, no quick one is begun: it would be in the way of the end."""


class Reads(Protocol):
    """A recogniser (voice/stt/recogniser.py)."""

    @property
    def cost(self) -> float: ...
    def load(self) -> None: ...
    def activity(self) -> Activity: ...
    def decode(self, tokens: Sequence[int]) -> str: ...
    def read(
        self,
        samples: Samples,
        wish: Wish,
        hints: Sequence[str],
        speech: float,
        stop: Callable[[], bool] = ...,
    ) -> Reading | None: ...


class Utterance:
    """`feed` and `abandon` return at once; `finish` waits for the tail. Afterwards the thread has ended.

    `on_partial` is called in that thread with the text so far. `language` is a code, empty to find out;
    `hints` are names that may be said.
    """

    def __init__(
        self,
        recogniser: Reads,
        language: str = "",
        hints: Sequence[str] = (),
        on_partial: Callable[[Partial], None] = lambda partial: None,
    ) -> None:
        self._recogniser = recogniser
        self._hints = tuple(hints)
        self._on_partial = on_partial
        self._wish = Wish(language)
        self._fault: Exception | None = None
        self._changed = threading.Condition()
        self._fed: list[Samples] = []
        self._finishing = False
        self._abandoned = False
        self._centre = Centre()
        self._left: list[Samples] = []
        self._sound: list[Samples] = []
        self._passed = 0
        self._stretch = Stretch()
        self._parts: list[Part] = []
        self._last: tuple[int, ...] = ()
        self._ahead: Reading | None = None
        self._covered = 0
        self._seen = 0
        self._rested = 0.0
        self._thread = threading.Thread(target=self._run, name="voice words", daemon=True)
        self._thread.start()

    def feed(self, block: Block) -> None:
        """The next block; after `finish` or `abandon` it is left out."""
        with self._changed:
            if not (self._finishing or self._abandoned):
                self._fed.append(block.samples)
                self._changed.notify()

    def finish(self) -> Heard:
        """What was said, empty after `abandon`; raises VoiceError where the recogniser cannot be used."""
        with self._changed:
            self._finishing = True
            self._changed.notify()
        self._thread.join()
        if self._fault is not None:
            raise self._fault
        return Heard() if self._abandoned else joined(self._parts)

    def abandon(self) -> None:
        """Throw everything away; a reading under way ends by itself soon."""
        with self._changed:
            self._abandoned = True
            self._changed.notify()

    # --- in the utterance's thread ----------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._recogniser.load()
            activity = self._recogniser.activity()
            while (fed := self._next()) is not None:
                self._hear(activity, fed)
                if not self._finishing:
                    self._work()
            self._tail(activity)
        except Exception as fault:  # noqa: BLE001  (the edge of a thread: told by finish)
            self._fault = fault

    def _next(self) -> list[Samples] | None:
        """What was fed since; None when the utterance is over and all was taken."""
        with self._changed:
            self._changed.wait_for(lambda: self._fed or self._finishing or self._abandoned)
            if self._abandoned or not self._fed:
                return None
            fed, self._fed = self._fed, []
            return fed

    def _hear(self, activity: Activity, fed: Sequence[Samples]) -> None:
        """Take in sound and what of it is speech; sound before speech is forgotten."""
        import numpy as np

        joined_up = np.concatenate([*self._left, *(self._centre.clean(samples) for samples in fed)])
        whole = len(joined_up) // WINDOW * WINDOW
        self._left = [joined_up[whole:]]
        if not whole:
            return
        self._sound.extend(joined_up[:whole].reshape(-1, WINDOW))
        for probability in activity.probabilities(joined_up[:whole]):
            self._stretch.feed(float(probability))
            if cut := self._stretch.cut:
                self._keep(cut)
        silent = len(self._sound) - 2 * BEFORE
        if self._stretch.begin < 0 and silent > 0:
            self._forget(silent, self._stretch.parted(silent)[1])

    def _work(self) -> None:
        stretch = self._stretch
        if not stretch.heard or stretch.end <= self._covered:
            return
        if stretch.pause >= _AHEAD:
            found = self._read(stretch, self._wish)
            if found is not None:
                self._ahead, self._covered = found, stretch.end
                self._tell(found)
        elif stretch.end - max(self._seen, stretch.begin) >= _NEW and self._rested_enough():
            self._glance()

    def _rested_enough(self) -> bool:
        cost = self._recogniser.cost
        return cost <= _QUICK and time.monotonic() - self._rested >= 3 * cost

    def _glance(self) -> None:
        """A quick reading of the words so far."""
        seen = self._stretch.end
        found = self._read(self._stretch, replace(self._wish, quick=True))
        self._rested = time.monotonic()
        if found is not None:
            self._seen = seen
            self._tell(found)

    def _read(self, stretch: Stretch, wish: Wish) -> Reading | None:
        import numpy as np

        first, last = stretch.span
        sound = np.concatenate(self._sound[first:last])
        wish = replace(wish, until=stretch.until)
        return self._recogniser.read(sound, wish, self._hints, stretch.speech, lambda: self._over(wish))

    def _over(self, wish: Wish) -> bool:
        return self._abandoned or (self._finishing and wish.quick)

    def _keep(self, cut: int) -> None:
        """The words up to window `cut` are said; forget their sound."""
        ended, rest = self._stretch.parted(cut)
        found = self._ahead if ended.end <= self._covered else None
        if found is None and ended.heard:
            found = self._read(ended, self._wish)
        if found is not None:
            self._parts.append(ended.part(found, self._passed))
            if found.text and not self._wish.language:
                self._wish = Wish(found.language)
        self._forget(cut, rest)
        self._last = ()
        self._ahead, self._covered, self._seen = None, 0, 0

    def _forget(self, count: int, rest: Stretch) -> None:
        """Drop the first windows; `rest` is what is known of the others."""
        del self._sound[:count]
        self._passed += count
        self._stretch = rest

    def _tail(self, activity: Activity) -> None:
        import numpy as np

        if self._abandoned:
            return
        rest = sum(map(len, self._left))
        if rest:
            self._centre = Centre()
            self._hear(activity, [np.zeros(WINDOW - rest, np.float32)])
        self._keep(len(self._stretch.likely))

    def _tell(self, found: Reading) -> None:
        """The words so far; what a reading begins with as the one before did is stable."""
        same = takewhile(lambda pair: pair[0] == pair[1], zip(self._last, found.tokens, strict=False))
        agreed = self._recogniser.decode([token for token, _ in same]).strip()
        self._last = found.tokens
        text = " ".join(filter(None, (joined(self._parts).text, found.text)))
        if text:
            self._on_partial(Partial(text, len(text) - len(found.text) + min(len(agreed), len(found.text))))
