"""The ears: from the microphone, less the echo of the loudspeaker, to utterances.

The microphone is open while the child listens by itself and closed when it is told to listen no more;
otherwise it is open from the first press until IDLE seconds after the last use. Opening it with each press
takes only some 15 ms where it was measured, but people begin to speak while they press, and a device that
sleeps may take far longer; so it stays ready for a while, keeps nothing but the last 300 ms in memory, and
State.open tells that it is open.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from voice.coupling import Coupling
from voice.errors import VoiceError
from voice.events import Level, VoiceEvent
from voice.hearing import Hearing, Listening
from voice.likeness import Likeness
from voice.onset import BROKEN_ECHO, FRESH, OVER_ECHO, QUIET, Change, Onset
from voice.sound import RATE, Block, loudness

if TYPE_CHECKING:
    from voice.sound import Samples

HELD = 1500
"""Blocks that are kept for an utterance which has begun by itself, until it is listened to: 30 s."""

IDLE = 120.0
"""Seconds without use after which the microphone is closed."""

PREROLL = 15
"""Blocks before a press that belong to the utterance: 300 ms."""

ONSET_ROLL = 25
"""Blocks before the moment at which speech was noticed: 300 ms, and what noticing takes."""

ECHO = 0.4
"""Seconds after its sound in which a loudspeaker may still be heard in the room."""

LOUD, ROOM = 0.02, 0.25
"""The size of samples that a microphone should hear, and the seconds within which it does."""

TAKEN = 0.2
"""Loudness of which the canceller takes out more where nobody but the loudspeaker speaks (11 dB)."""

HINT = 0.1
"""Probability of speech that is enough where the microphone hears more than a copy of what is played."""

COPY = 0.7
"""Share of what is heard that is a copy of what the loudspeaker plays where nobody speaks over it."""

LATE = 0.05
"""Seconds by which the loudspeaker's sound must be known before what the microphone hears is judged."""

SETTLING = 0.8
"""Seconds from the begin of the loudspeaker's sound in which the canceller may leave some of it."""

WINDOW = 512
"""Samples of one probability of speech."""


class Source(Protocol):
    """A microphone (voice/microphone.py)."""

    def open(self) -> None: ...
    def close(self) -> None: ...


class Detector(Protocol):
    """Tells speech from other sound (voice/stt/silence.py)."""

    def probability(self, samples: Samples) -> float: ...
    def reset(self) -> None: ...


class Canceller(Protocol):
    """Takes the loudspeaker out of the microphone (voice/echo.py)."""

    def far(self, samples: Samples, time: float) -> None: ...
    def near(self, samples: Samples, time: float) -> Samples: ...


MakeSource = Callable[[Callable[[Block], None], Callable[[VoiceError], None]], Source]


@dataclass(frozen=True, slots=True)
class Report:
    """Where the ears report to; called in their threads, and returns at once.

    `tell` gets Level and Partial; `change` comes when somebody begins or ends to speak and no key tells it;
    `trouble` gets a fault of the microphone, and whether it is lost with it; `opened` comes when it was
    opened or closed.
    """

    tell: Callable[[VoiceEvent], None]
    change: Callable[[Change], None]
    trouble: Callable[[VoiceError, bool], None]
    opened: Callable[[], None]


class Ears:
    """Listen on order, or by themselves. Their owner closes them.

    `source` makes a microphone that calls back with blocks and a fault. `detector` and `canceller` are set
    when they are loaded. The methods are called in one thread and return at once, but for `far`, which is the
    loudspeaker's, and `close`, which takes the time that a device takes.
    """

    def __init__(self, source: MakeSource, hearing: Hearing, report: Report) -> None:
        self.detector: Detector | None = None
        self.canceller: Canceller | None = None
        self.spoke = 0.0
        """When speech was last heard, by time.monotonic."""
        self._source = source
        self._hearing = hearing
        self._report = report
        self._hands_free = False
        self._lock = threading.Lock()
        self._recent: deque[Block] = deque()
        self._roll = PREROLL
        self._onset = Onset()
        self._window: list[Samples] = []
        self._coupling = Coupling()
        self._likeness = Likeness()
        self._far_until = 0.0
        self._far_end = 0.0
        self._loud = (0.0, 0.0)
        self._used = 0.0
        self._is_near = True
        self._even = False
        self._microphone: Source | None = None
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="voice ears", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """Whether the microphone is open."""
        return self._microphone is not None

    @property
    def attentive(self) -> bool:
        """Whether they listen by themselves, and can."""
        return self._hands_free and self.is_open and self.detector is not None

    def listen(self, words: Callable[[], Listening | None], *, by_key: bool) -> None:
        """Begin an utterance with what was heard just before; `words` makes what will understand it. One that
        is under way goes on instead, and belongs to the key where that was pressed."""
        self._used = self.spoke = time.monotonic()
        self._work.put(self._open)
        if self._hearing.is_open:
            if by_key:
                self._hearing.take_over()
            return
        made = words()
        with self._lock:
            self._hearing.begin(made, self._recent, by_key=by_key)
            self._roll = self._calm_roll

    def rest(self) -> None:
        """No utterance is under way any more."""
        self._used = time.monotonic()
        with self._lock:
            self._onset.reset()
            self._roll = self._calm_roll

    def set_source(self, source: MakeSource) -> None:
        """Use another microphone from now on."""
        self._source = source
        self.moved()
        self._work.put(self._change)

    def set_hands_free(self, on: bool) -> None:
        """Listen by themselves, or no more: then the microphone is closed, unless the key is held."""
        self._used = time.monotonic()
        with self._lock:
            self._hands_free = on
            self._onset.reset()
            self._roll = self._calm_roll
        self._work.put(self._open if on else self._close_unneeded)

    def tick(self) -> None:
        """Close a microphone that has not been used for long; called now and then."""
        if self.is_open and not self._needed and time.monotonic() - self._used > IDLE:
            self._work.put(self._close_unneeded)

    def lose(self) -> None:
        """The microphone is gone: let go of it."""
        self._work.put(self._close)

    def close(self) -> None:
        """Close the microphone and end the thread."""
        self._work.put(self._close)
        self._work.put(None)
        self._thread.join()

    def far(self, samples: Samples, moment: float) -> None:
        """What the loudspeaker plays from `moment` on; called in its thread."""
        if self.canceller is None:
            return
        self.canceller.far(samples, moment)
        self._likeness.far(samples, moment)
        peak = float(abs(samples).max()) if len(samples) else 0.0
        end = moment + len(samples) / RATE
        self._far_end = end
        if peak > 0.0:
            self._far_until = end + ECHO
        if peak > LOUD:
            begun = moment if moment > self._loud[1] else self._loud[0]
            self._loud = (begun, end + ROOM)

    def moved(self) -> None:
        """Devices came or went: the loudspeaker may be heard again."""
        self._coupling = Coupling()

    # --- in the microphone's thread ---------------------------------------------------------------------

    def _heard(self, block: Block) -> None:
        block, over_echo = self._cleaned(block)
        self._even = not self._even
        if self._even:
            self._report.tell(Level(round(block.level, 3)))
        with self._lock:
            self._recent.append(block)
            while len(self._recent) > self._roll:
                self._recent.popleft()
            self._hearing.feed(block)
            change = self._changed(block, over_echo)
            if change == "onset" and not self._hearing.is_open:
                self._roll = HELD
        if change is not None:
            self._report.change(change)

    def _cleaned(self, block: Block) -> tuple[Block, bool]:
        """The block without what the loudspeaker adds, and whether it may add anything. The canceller hears
        every block, because it learns the room from what comes without a gap."""
        if self.canceller is None:
            return block, False
        self._likeness.near(block.samples, block.time)
        samples = self.canceller.near(block.samples, block.time)
        cleaned = Block(samples, block.time, loudness(samples))
        begun, end = self._loud
        self._coupling.feed(block.level, cleaned.level, begun <= block.time < end)
        over_echo = self._coupling.coupled and block.time < self._far_until
        self._is_near = cleaned.level >= block.level - TAKEN
        return (cleaned if over_echo else block), over_echo

    def _changed(self, block: Block, over_echo: bool) -> Change | None:
        """Whether somebody began or ended to speak, where no key tells it."""
        if self.detector is None or not self._needed:
            return None
        self._window.append(block.samples)
        if sum(map(len, self._window)) < WINDOW:
            return None
        import numpy as np

        joined = np.concatenate(self._window)
        self._window = [joined[WINDOW:]]
        probability = self.detector.probability(joined[:WINDOW])
        if probability > 0.5:
            self.spoke = block.time
        if not self._hands_free or self._hearing.by_key:
            return None
        asked = QUIET
        if over_echo:
            asked = FRESH if block.time - self._loud[0] < SETTLING else OVER_ECHO
        if over_echo and self._likeness.is_broken(self._is_late(block)) and probability >= HINT:
            probability, asked = 1.0, BROKEN_ECHO
        change = self._onset.feed(probability, block.level, asked, over_echo and self._is_near)
        if change == "onset" and over_echo and (self._is_late(block) or self._likeness.share > COPY):
            self._onset.withdraw()
            return None
        if change == "onset" and self._loud[0] <= block.time < self._loud[1]:
            self._coupling.doubt()
        return change

    def _is_late(self, block: Block) -> bool:
        """Whether it is not known yet what is played while this is heard."""
        return self._far_end < block.time - LATE

    @property
    def _calm_roll(self) -> int:
        """How many blocks are kept while nobody speaks."""
        return ONSET_ROLL if self._hands_free else PREROLL

    @property
    def _needed(self) -> bool:
        return self._hands_free or self._hearing.is_open

    def _trouble(self, error: VoiceError) -> None:
        self._report.trouble(error, error.code == "microphone_gone")

    # --- in the ears' own thread ------------------------------------------------------------------------

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            was = self.is_open
            work()
            if self.is_open is not was:
                self._report.opened()

    def _open(self) -> None:
        if self._microphone is not None:
            return
        microphone = self._source(self._heard, self._trouble)
        try:
            microphone.open()
        except VoiceError as error:
            self._hearing.silent()
            self._report.trouble(error, True)
        else:
            self._microphone = microphone

    def _close(self) -> None:
        if self._microphone is not None:
            self._microphone.close()
            self._microphone = None
        self._hearing.silent()
        with self._lock:
            self._recent.clear()
            self._window = []

    def _close_unneeded(self) -> None:
        if not self._needed:
            self._close()

    def _change(self) -> None:
        if self._microphone is not None or self._needed:
            self._close()
            self._open()
