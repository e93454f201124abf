"""MP3 that is decoded while it arrives, with libsndfile, which only reads whole files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATE = 24_000
_TAG = b"ID3\x03\x00\x00\x00\x00\x00\x0a" + bytes(10)
"""An empty ID3v2 tag (id3.org/id3v2.3.0). Without one in front libsndfile 1.2.2 does not always know MP3 in
memory for what it is."""

_FIRST = 1_440
_GROWTH = 1.4


class GrowingMp3:
    """Mono MP3 of RATE samples a second, given in pieces.

    What has arrived is decoded anew whenever it has grown by two fifths, so all decoding together costs
    about three times the last one (1 ms for 5 s of speech), and the first quarter of a second comes at once.
    """

    def __init__(self) -> None:
        import numpy as np

        self.samples: NDArray[np.float32] = np.zeros(0, np.float32)
        self.rate = RATE
        self._data = bytearray(_TAG)
        self._due = _FIRST + len(_TAG)

    def add(self, data: bytes) -> None:
        """Take the next bytes; `samples` may grow, what it had stays as it was."""
        self._data += data
        if len(self._data) >= self._due:
            self._decode()
            self._due = int(len(self._data) * _GROWTH)

    def end(self) -> None:
        """No more bytes come: decode all there is. Like `add`, a ValueError where it is no MP3."""
        if len(self._data) > len(_TAG):
            self._decode()

    def _decode(self) -> None:
        import soundfile

        try:
            samples, rate = soundfile.read(io.BytesIO(self._data), dtype="float32", always_2d=True)
        except soundfile.LibsndfileError as error:
            raise ValueError(str(error)) from error
        if len(samples) > len(self.samples):
            self.samples, self.rate = samples[:, 0].copy(), rate
