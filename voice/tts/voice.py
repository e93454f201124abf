"""What every voice is: a name, the languages it can say, and text turned into sound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ANY = "*"
"""Stands among `Voice.languages` for a voice that says every language."""


@dataclass(frozen=True)
class Sound:
    """A stretch of speech: mono float32 in [-1, 1] at `rate` samples a second.

    `words` is how many whitespace-separated words of the text have been said completely when this
    stretch ends, counted from the text's beginning; None when the voice cannot tell.
    """

    samples: NDArray[np.float32]
    rate: int
    words: int | None = None

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.samples) / self.rate


class Voice(Protocol):
    """One voice of one engine. It is used by one thread at a time; `close` may come from another one.

    `name` is unique among all voices and is what VoiceConfig.voice names. `languages` are two-letter
    codes, or ANY.
    """

    @property
    def name(self) -> str: ...

    @property
    def languages(self) -> tuple[str, ...]: ...

    def load(self) -> None:
        """Make ready what `speak` needs on this machine; nothing is sent anywhere. May raise VoiceError."""
        ...

    def speak(self, text: str, rate: float) -> Iterator[Sound]:
        """The sound of `text`, as it is made; `rate` is a factor, 1 as recorded. Loads what it needs.

        Raises VoiceError when the voice cannot go on, also after some sound was given. Closing the
        iterator stops the work.
        """
        ...

    def stop(self) -> None:
        """Break off `speak` from another thread: its iterator ends soon, without an error."""
        ...

    def close(self) -> None:
        """Give back processes and memory; may be called twice. A closed voice speaks no more."""
        ...
