"""Lets what was asked have a say in which tool's name a reply goes on with, where the model hardly minds."""

from __future__ import annotations

from collections.abc import Mapping


class Leaning:
    """Follows a reply from where its calls began. `weights` are the texts with which it may go on and how far
    the question speaks for each, in nats (a difference of logits)."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = {text.encode(): weight for text, weight in weights.items()}
        self._written = b""

    @property
    def undecided(self) -> bool:
        """Whether texts of different weight are still possible."""
        return len({weight for text, weight in self._weights.items() if self._goes_on(text)}) > 1

    def note(self, piece: bytes) -> None:
        """The reply went on with `piece`."""
        self._written += piece

    def gain(self, piece: bytes) -> float | None:
        """What the question adds to the logit of `piece`; None where no text goes on with it."""
        written = self._written + piece
        found = [
            weight
            for text, weight in self._weights.items()
            if self._goes_on(text) and (text.startswith(written) or written.startswith(text))
        ]
        return max(found, default=None)

    def _goes_on(self, text: bytes) -> bool:
        return len(text) > len(self._written) and text.startswith(self._written)
