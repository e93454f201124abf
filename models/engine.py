"""What a worker needs from an inference library; the only face of it that the rest of the house sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from models.generation import LoadOptions, ModelInfo, Sampling

Tick = Callable[[int, int], None]
"""Told (done, total) prompt tokens between chunks."""


class Aborted(Exception):
    """The work was interrupted by `Engine.abort`; the engine stays usable."""


@dataclass(frozen=True, slots=True)
class Prefilled:
    """A prompt is in the model's memory; `cached` of its `tokens` were there before."""

    tokens: int
    cached: int


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """The chat template of the model file and what it refers to; `controls` are the texts that steer a
    model (turn markers), which no message may smuggle in."""

    text: str
    bos: str
    eos: str
    controls: tuple[str, ...]


class Engine(Protocol):
    """One loaded model with a warm memory per session. Used from one thread, except `abort`."""

    def load(self, options: LoadOptions, progress: Callable[[float], bool]) -> ModelInfo:
        """Load a model in place of the present one; `progress` (0–1) returns whether to go on. EngineError
        if it cannot be done, Aborted if `progress` said no."""
        ...

    def template(self) -> TemplateSource: ...

    def count(self, prompt: str) -> int:
        """How many tokens `prompt` (a rendered template) has."""
        ...

    def prefill(
        self,
        session: str,
        prompt: str,
        tick: Tick,
        *,
        private: bool = False,
        pictures: Sequence[bytes] = (),
    ) -> Prefilled:
        """Bring `prompt` into the memory of `session`, evaluating only what differs from what it holds; that
        of a `private` one is never written to disk. Each models.pictures.MARK in it stands for one of
        `pictures` (encoded files), in order. Raises EngineError (context_overflow,
        model_evaluation_failed) or Aborted."""
        ...

    def decode(self, sampling: Sampling) -> Iterator[bytes]:
        """Continue the session last prefilled, one token's bytes at a time, until the model ends or the
        window is full (`room` is then 0). Raises EngineError or Aborted."""
        ...

    def constrain(self, grammar: str, weights: Mapping[str, float]) -> bool:
        """Allow only what `grammar` (GBNF, start symbol root) derives from the next token of the running
        decode on; false, and nothing changes, if it cannot be used. `weights` (models.leaning.Leaning) are
        added to the logits where the reply goes on with one of these texts."""
        ...

    def room(self) -> int:
        """Tokens that still fit into the window of the session last prefilled."""
        ...

    def embed(self, options: LoadOptions, texts: list[str], tick: Tick) -> list[list[float]]:
        """A vector of length 1 for each text, by the model of `options`, which is loaded beside the other and
        stays until another one is asked. EngineError or Aborted."""
        ...

    def evict(self, session: str) -> None:
        """Forget the memory of `session`; unknown ones are ignored."""
        ...

    def park(self) -> None:
        """Write the memory of all sessions to where it is found again: the engine is about to end."""
        ...

    def abort(self) -> None:
        """Interrupt the running prefill or decode within one operation; callable from any thread."""
        ...

    def resume(self) -> None:
        """Take back an `abort` before new work."""
        ...

    def close(self) -> None:
        """Free the model; idempotent."""
        ...
