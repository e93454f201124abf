"""Changes the rate of a running sound, without clicks where its pieces meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import soxr

    from voice.sound import Samples


class Resampler:
    """One stream of mono sound from `source` to `target` samples a second, fed piece by piece.

    A piece may be of any length and the results joined are the whole sound; some 10 ms lag
    behind until `last`. Not for several threads at once.
    """

    def __init__(self, source: int, target: int) -> None:
        self._source = source
        self._target = target
        self._stream: soxr.ResampleStream | None = None

    def feed(self, samples: Samples, *, last: bool = False) -> Samples:
        """What `samples` adds to the result; with `last` also the rest, and the next piece begins anew."""
        if self._source == self._target:
            return samples
        if self._stream is None:
            import soxr

            self._stream = soxr.ResampleStream(self._source, self._target, 1, dtype="float32", quality="HQ")
        made: Samples = self._stream.resample_chunk(samples, last=last)
        if last:
            self._stream.clear()
        return made
