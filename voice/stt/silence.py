"""Tells speech from silence and noise: before a recogniser is asked, and when it answers anyway."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice.errors import VoiceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voice.sound import Samples

WINDOW = 512
"""Samples of one probability: 32 ms."""

_CONTEXT = 64
_CELLS = 128
_AT_ONCE = 1024

REPEATS = 2.4
"""A text that compresses better than this says the same again and again."""

_UNHEARD = 0.6
_UNSURE = -0.9
_SURE = -0.45
_STOCK_SPEECH = 0.16
_STOCK_UNHEARD = 0.5
_STOCK = frozenset(
    (
        *(
            "you",
            "bye",
            "okay",
            "oh",
            "so",
            "thanks",
            "thank you",
            "thank you very much",
            "thank you so much",
        ),
        *("thank you for watching", "thanks for watching", "please subscribe", "subscribe", "the end"),
        *(
            "see you next time",
            "i'm sorry",
            "i don't know",
            "i can't do it",
            "i'm going to do it",
            "no no no",
        ),
    )
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


class Activity:
    """How likely each window of one stream is speech (Silero, which faster-whisper brings along).

    Used by one thread at a time. `load` (or the first use) reads the network, which `another` shares.
    """

    def __init__(self) -> None:
        self._network: Any = None

    def load(self) -> None:
        """Read the network once; raises VoiceError where its file or onnxruntime is not there."""
        if self._network is not None:
            return
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 4
        self._network = onnxruntime.InferenceSession(str(_network()), options, ["CPUExecutionProvider"])
        self.reset()

    def another(self) -> Activity:
        """A stream of its own over the same network."""
        self.load()
        made = Activity()
        made._network = self._network
        made.reset()
        return made

    def reset(self) -> None:
        """Forget what was heard."""
        import numpy as np

        self.load()
        self._state = (np.zeros((1, 1, _CELLS), np.float32), np.zeros((1, 1, _CELLS), np.float32))
        self._before = np.zeros(_CONTEXT, np.float32)

    def probability(self, samples: Samples) -> float:
        """The probability, 0 to 1, that the next WINDOW samples are speech."""
        return float(self.probabilities(samples)[0])

    def probabilities(self, samples: Samples) -> NDArray[np.float32]:
        """One for each window in `samples`, whose number is a multiple of WINDOW."""
        import numpy as np

        self.load()
        found = [np.zeros(0, np.float32)]
        for start in range(0, len(samples), WINDOW * _AT_ONCE):
            part = np.concatenate((self._before, samples[start : start + WINDOW * _AT_ONCE]))
            framed = np.lib.stride_tricks.sliding_window_view(part, WINDOW + _CONTEXT)[::WINDOW]
            fed = {"input": np.ascontiguousarray(framed), "h": self._state[0], "c": self._state[1]}
            likely, *self._state = self._network.run(None, fed)
            self._before = part[-_CONTEXT:]
            found.append(likely.reshape(-1))
        return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a text: `speech` are seconds that sounded like speech; `no_speech` (0 to 1) and
    `logprob` (mean of a token, at most 0) are the recogniser's own doubts.
    """

    speech: float
    no_speech: float
    logprob: float


def invented(text: str, evidence: Evidence) -> bool:
    """Whether `text` is what recognisers say when nothing was said.

    The judges have to agree: a text falls when the recogniser doubts both speech and words, when it says the
    same over and over, or when it is a stock phrase of subtitles and either judge has a small doubt.
    """
    words = _WORD.findall(text.lower())
    if not words or compression(text) > REPEATS:
        return True
    if evidence.no_speech > _UNHEARD and evidence.logprob < _SURE:
        return True
    if " ".join(words) in _STOCK:
        weak = evidence.speech < _STOCK_SPEECH or evidence.logprob < _UNSURE
        return weak or evidence.no_speech > _STOCK_UNHEARD
    return False


def compression(text: str) -> float:
    """How many times shorter `text` is when it is compressed; below 1 for most short ones."""
    written = text.encode()
    return len(written) / len(zlib.compress(written))


def _network() -> Path:
    package = find_spec("faster_whisper")
    places = package.submodule_search_locations if package is not None else None
    file = Path(next(iter(places or ()), "")) / "assets" / "silero_vad_v6.onnx"
    if not file.is_file():
        raise VoiceError("recogniser_unusable", path=str(file), reason="the file is not there")
    return file
