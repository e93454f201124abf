"""A text becomes the bytes of a sound file, a clause at a time."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from voice.clauses import Clause, Clauses
from voice.errors import VoiceError
from voice.resample import Resampler
from voice.services.encoding import RATE, Encoder
from voice.services.speakers import Speakers
from voice.services.tempo import shares, stretched

if TYPE_CHECKING:
    from voice.sound import Samples

_PORTION = 400
"""Characters that are cut into clauses at once, so that a long text is heard as soon as a short one."""

_CODE = re.compile(r"^[ \t]*(?:```|~~~).*$|^[ \t]+", re.MULTILINE)
"""Lines that fence code, and the white space that indents it."""

log = logging.getLogger("orion.voice")


class Recital:
    """The bytes of `text`, read by `voice` at `speed` times its pace, as a file of the format `name` (Steps).

    A step says one clause whole, so that several texts can take turns with one voice; what has no sound gives
    no bytes. The last step raises VoiceError when nothing of the text could be said.
    """

    def __init__(self, speakers: Speakers, text: str, voice: str, speed: float, name: str) -> None:
        spoken, self._tempo = shares(speed)
        self._speaker = speakers.speaker(voice, spoken, self._failed)
        self._clauses = _clauses(text)
        self._encoder = Encoder(name)
        self._evenly = _Evenly()
        self._trouble: VoiceError | None = None
        self._heard = False
        self._ended = False

    def __next__(self) -> bytes:
        if self._ended:
            raise StopIteration
        clause = next(self._clauses, None)
        return self._end() if clause is None else self._say(clause)

    def close(self) -> None:
        """Stop reading."""
        self._ended = True
        self._encoder.close()

    def _say(self, clause: Clause) -> bytes:
        if not clause.spoken:
            return b""
        pieces = []
        for sound in self._speaker.speak(clause):
            self._heard = True
            samples = stretched(sound.samples, self._tempo, sound.rate)
            pieces.append(self._encoder.add(self._evenly.add(samples, sound.rate)))
        return b"".join(pieces)

    def _failed(self, trouble: VoiceError) -> None:
        self._trouble = trouble
        log.warning("a voice failed: %s", trouble)

    def _end(self) -> bytes:
        self._ended = True
        if not self._heard:
            self._encoder.close()
            raise self._trouble or VoiceError("speech_nothing_to_say")
        return self._encoder.add(self._evenly.end()) + self._encoder.close()


class _Evenly:
    """Brings what voices of any rate say to RATE, without a seam between the pieces."""

    def __init__(self) -> None:
        self._rate = RATE
        self._resampler = Resampler(RATE, RATE)

    def add(self, samples: Samples, rate: int) -> Samples:
        """`samples` at RATE, less the few that have to wait for the next piece."""
        if rate == self._rate:
            return self._resampler.feed(samples)
        import numpy as np

        left = self.end()
        self._rate, self._resampler = rate, Resampler(rate, RATE)
        return np.concatenate((left, self._resampler.feed(samples)))

    def end(self) -> Samples:
        """What still waited."""
        import numpy as np

        return self._resampler.feed(np.zeros(0, np.float32), last=True)


def _clauses(text: str) -> Iterator[Clause]:
    """The clauses of a plain text, of which every word is read: what would be a block of code is no block."""
    plain, cutter = _CODE.sub("", text), Clauses()
    for start in range(0, len(plain), _PORTION):
        yield from cutter.add(plain[start : start + _PORTION])
    yield from cutter.end()
