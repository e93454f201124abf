"""Notices whether the microphone hears the loudspeaker at all, as it does not with headphones.

An echo canceller that finds no echo takes the first second of a voice for one. So where the microphone stays
as quiet as ever while the loudspeaker speaks, what it hears is left as it is.
"""

from __future__ import annotations

QUIET_BLOCKS = 25
"""Blocks of 20 ms under a loud loudspeaker that have to be quiet, one after the other: half a second."""

TAKEN_BLOCKS = 50
"""Blocks of which the canceller has to take out most, one after the other: a second."""

REST_BLOCKS = 3000
"""Blocks after which a loudspeaker that is silent may be heard when it speaks again: a minute, in which
somebody may have turned it up."""

_CLOSE = 0.06
_MOST = 0.3
_RISE = 0.0005


class Coupling:
    """Fed with every block by one thread."""

    def __init__(self) -> None:
        self.coupled = True
        """Whether the loudspeaker may be heard."""
        self._floor = 1.0
        self._quiet = 0
        self._taken = 0
        self._rest = 0

    def doubt(self) -> None:
        """Somebody seems to speak over the loudspeaker. That may be its echo, since it was made louder or the
        headphones were put away: the microphone has to stay quiet under it once more."""
        self.coupled, self._quiet, self._taken = True, 0, 0

    def feed(self, level: float, cleaned: float, loud: bool) -> None:
        """The loudness (0 to 1) of a block before and after cleaning; `loud` is whether the loudspeaker was
        heard shortly before it."""
        self._floor = min(level, self._floor + _RISE)
        self._rest = 0 if loud else self._rest + 1
        if self._rest >= REST_BLOCKS:
            self.coupled, self._quiet = True, 0
        if not loud:
            return
        self._quiet = self._quiet + 1 if level <= self._floor + _CLOSE else 0
        self._taken = self._taken + 1 if level > cleaned + _MOST else 0
        if self._taken >= TAKEN_BLOCKS:
            self.coupled = True
        elif self._quiet >= QUIET_BLOCKS:
            self.coupled = False
