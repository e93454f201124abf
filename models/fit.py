"""Chooses a context length with which a model fits into memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from models import footprint
from models.errors import EngineError
from models.footprint import CHUNK
from models.gguf import Header, read_header
from models.library import ModelFile

SMALLEST = 512
"""The shortest context that is ever suggested."""

STEP = 256
"""Context lengths are multiples of this many tokens."""

COMFORTABLE = 2048
"""Tokens below which a window is not chosen without being asked: an agent with tools hardly works in it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The chosen window (tokens) and the bytes it is predicted to take."""

    window: int
    predicted: int


def predict(header: Header, window: int, batch: int = CHUNK) -> int:
    """Bytes that the worker will occupy when a context of `window` tokens is full and `batch` tokens are
    evaluated at once."""
    return footprint.memory(footprint.of_header(header), window, batch)


def choose(header: Header, wanted: int, cap: int, available: int, batch: int = CHUNK) -> Fit:
    """A window for `header` within `available` bytes.

    `wanted` 0 takes the trained context, at most `cap`, shortened to what fits but not below COMFORTABLE;
    any other value is taken as it is (at most the trained context). EngineError model_too_large names the
    need, what there is and the longest context that would fit (0: not even the smallest).
    """
    trained = header.context_length or cap
    target = min(trained, wanted or cap)
    fitting = longest(footprint.of_header(header), target, available, batch)
    if fitting < min(target, COMFORTABLE) or (wanted and fitting < target):
        raise EngineError(
            "model_too_large",
            path=str(header.path),
            needed_mb=_mb(predict(header, target, batch)),
            available_mb=_mb(available),
            window=target,
            suggested_window=fitting if fitting >= min(target, SMALLEST) else 0,
        )
    return Fit(fitting, predict(header, fitting, batch))


def largest_fitting(files: Iterable[ModelFile], available: int, window: int) -> ModelFile | None:
    """The largest of `files` that can answer within `available` bytes; `window` as in the settings."""
    for file in sorted(files, key=lambda file: -file.size):
        if file.kind == "language" and not file.error and file.size < available and file.context:
            header = read_header(file.path)
            if predict(header, min(header.context_length, window, COMFORTABLE)) <= available:
                return file
    return None


def longest(load: footprint.Load, target: int, available: int, batch: int = CHUNK) -> int:
    """The longest window up to `target` with which `load` fits into `available` bytes; 0 where none does."""
    if footprint.memory(load, target, batch) <= available:
        return target
    each = max(1, footprint.bytes_per_window_token(load, batch))
    return max(0, min(target, (available - footprint.memory(load, 0, batch)) // each // STEP * STEP))


def _mb(amount: int) -> int:
    return -(-amount // (1 << 20))
