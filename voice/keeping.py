"""Keeps the sound of utterances as WAV files, where the user asked for that."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from voice.errors import VoiceError
from voice.hearing import Heard, Listening
from voice.sound import RATE, Block

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Kept:
    """A Listening that also writes what it was fed into `folder`, which is the user's alone where this makes
    it, under the local time at which it began.

    Utterances that are thrown away or hold no words are not kept. `trouble` gets the fault of a folder that
    cannot be written.
    """

    def __init__(self, words: Listening, folder: str, trouble: Callable[[VoiceError], None]) -> None:
        self._words = words
        self._folder = Path(folder)
        self._trouble = trouble
        self._began = datetime.now().astimezone()
        self._pieces: list[NDArray[np.int16]] = []

    def feed(self, block: Block) -> None:
        """The next block."""
        import numpy as np

        self._pieces.append((np.clip(block.samples, -1.0, 1.0) * 32767.0).astype(np.int16))
        self._words.feed(block)

    def finish(self) -> Heard:
        """What was said, once it is also in a file."""
        heard = self._words.finish()
        if heard.text and self._pieces:
            self._write()
        return heard

    def abandon(self) -> None:
        """Keep nothing."""
        self._words.abandon()

    def _write(self) -> None:
        import numpy as np
        import soundfile

        name = self._began.strftime("%Y-%m-%d %H.%M.%S.%f")[:-3] + ".wav"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            soundfile.write(self._folder / name, np.concatenate(self._pieces), RATE, subtype="PCM_16")
        except (OSError, soundfile.SoundFileError) as error:
            path, reason = str(self._folder), str(error)
            self._trouble(VoiceError("recording_unwritable", path=path, reason=reason))
