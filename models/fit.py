"""Predicts how much memory a model takes, and chooses a context length that fits."""

from __future__ import annotations

import platform
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from models.errors import EngineError
from models.gguf import Header, read_header
from models.library import ModelFile

CHUNK = 128
"""Prompt tokens evaluated at once; bounds the compute buffer and the time between two looks at a cancel."""

SMALLEST = 512
"""The shortest context that is ever suggested."""

STEP = 256
"""Context lengths are multiples of this many tokens."""

_WORKER_BYTES = 26 << 20
"""A worker without a model: what it does not share with the program that started it."""

_VOCABULARY_BYTES = 4 << 20, 330
"""The library's tables of tokens and merges, measured: always, and for each token."""

_REPACKED = {
    "x86": ("Q4_0", "Q4_K", "IQ4_NL"),
    "arm": ("Q4_0", "Q4_K", "Q5_K", "Q6_K", "Q8_0", "IQ4_NL"),
}
"""Tensor types of which the library makes a second copy in an order that suits the processor."""

_COMFORTABLE = 2048
"""Tokens below which a window is not chosen without being asked: an agent with tools hardly works in it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The chosen window (tokens) and the bytes it is predicted to take."""

    window: int
    predicted: int


def kv_bytes_per_token(header: Header) -> int:
    """Bytes of 16-bit keys and values that one token occupies over all layers."""
    layers, heads = header.number("block_count"), max(1, header.number("attention.head_count", 1))
    width = header.number("embedding_length") // heads
    key = header.number("attention.key_length", width)
    value = header.number("attention.value_length", width)
    per_layer = header.metadata.get(f"{header.architecture}.attention.head_count_kv")
    kv_heads = sum(per_layer) if isinstance(per_layer, array) else layers * int(per_layer or heads)
    return 2 * kv_heads * (key + value)


def repacked_bytes(header: Header, machine: str = "") -> int:
    """Bytes of weights that stand in memory twice on `machine` (this one if empty)."""
    family = "arm" if (machine or platform.machine()).lower() in ("arm64", "aarch64") else "x86"
    return sum(header.matrices.get(kind, 0) for kind in _REPACKED[family])


def predict(header: Header, window: int, batch: int = CHUNK) -> int:
    """Bytes that the worker will occupy when a context of `window` tokens is full and `batch` tokens are
    evaluated at once."""
    tokens = int(header.metadata.get("tokenizer.ggml.tokens", 0))
    always, each = _VOCABULARY_BYTES
    row = 8 * header.number("embedding_length") + 3 * header.number("feed_forward_length")
    weights = header.tensor_bytes + repacked_bytes(header)
    return (
        _WORKER_BYTES
        + weights
        + always
        + each * tokens
        + 4 * batch * row
        + window * _bytes_per_window_token(header, batch)
    )


def choose(header: Header, wanted: int, cap: int, available: int, batch: int = CHUNK) -> Fit:
    """A window for `header` within `available` bytes.

    `wanted` 0 takes the trained context, at most `cap`, shortened to what fits but not below _COMFORTABLE;
    any other value is taken as it is (at most the trained context). EngineError model_too_large names the
    need, what there is and the longest context that would fit (0: not even the smallest).
    """
    trained = header.context_length or cap
    target = min(trained, wanted or cap)
    fitting = _longest(header, target, available, batch)
    if fitting < min(target, _COMFORTABLE) or (wanted and fitting < target):
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
        if not file.error and file.size < available and file.context:
            header = read_header(file.path)
            if predict(header, min(header.context_length, window, _COMFORTABLE)) <= available:
                return file
    return None


def _longest(header: Header, target: int, available: int, batch: int) -> int:
    if predict(header, target, batch) <= available:
        return target
    room = (available - predict(header, 0, batch)) // max(1, _bytes_per_window_token(header, batch))
    return max(0, min(target, room // STEP * STEP))


def _bytes_per_window_token(header: Header, batch: int) -> int:
    """Keys, values and a column of the attention scores of one batch."""
    return kv_bytes_per_token(header) + 4 * batch * (1 + header.number("attention.head_count", 1))


def _mb(amount: int) -> int:
    return -(-amount // (1 << 20))
