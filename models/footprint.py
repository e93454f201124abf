"""How many bytes a model takes while it works, told from the header of its file or from its shape alone."""

from __future__ import annotations

import platform
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from models.gguf import Header

CHUNK = 128
"""Prompt tokens evaluated at once; bounds the compute buffer and the time between two looks at a cancel."""

_WORKER_BYTES = 26 << 20
"""A worker without a model: what it does not share with the program that started it."""

_VOCABULARY_BYTES = 4 << 20, 330
"""The library's tables of tokens and merges, measured: always, and for each token."""

_REPACKED = {
    "x86": ("Q4_0", "Q4_K", "IQ4_NL", "MXFP4"),
    "arm": ("Q4_0", "Q4_K", "Q5_K", "Q6_K", "Q8_0", "IQ4_NL", "MXFP4"),
}
"""Tensor types of which the library makes a second copy in an order that suits the processor."""

_MIXTURES: dict[str, dict[str, float]] = {
    "Q2_K": {"Q2_K": 0.6, "Q3_K": 0.4},
    "Q3_K_M": {"Q3_K": 0.7, "Q4_K": 0.2, "Q6_K": 0.1},
    "Q4_0": {"Q4_0": 0.9, "Q6_K": 0.1},
    "Q4_K_M": {"Q4_K": 0.7, "Q6_K": 0.3},
    "Q4_K_S": {"Q4_K": 0.9, "Q6_K": 0.1},
    "Q5_K_M": {"Q5_K": 0.7, "Q6_K": 0.3},
    "Q6_K": {"Q6_K": 1.0},
    "Q8_0": {"Q8_0": 1.0},
    "MXFP4": {"MXFP4": 0.9, "Q8_0": 0.1},
    "F16": {"F16": 1.0},
    "BF16": {"BF16": 1.0},
}
"""How the bytes of a file's matrices are spread over tensor types, by the name of its quantisation."""

_TABLE_BITS = {
    "Q2_K": 3.4,
    "Q3_K_M": 3.4,
    "Q4_0": 4.5,
    "Q4_K_M": 4.5,
    "Q4_K_S": 4.5,
    "Q5_K_M": 5.5,
    "Q6_K": 6.6,
}
"""Bits of a number in the table of tokens where it is not the output too; 8.5 for other quantisations."""

_SUPER = 256
"""Numbers of a row that forms with a K are made of; rows of another length are stored in other forms."""

_ODD: dict[str, float] = {"Q5_0": 0.45, "Q8_0": 0.37, "Q6_K": 0.11, "Q4_K": 0.07}
"""The mixture Q4_K_M of a network whose width is no multiple of _SUPER."""

QUANTISATIONS = tuple(_MIXTURES)
"""The quantisations whose footprint can be told without the file."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The measures of a network. `attending` counts the layers that keep keys and values (0: all of them),
    `kv_heads` is that of each such layer, `key` the length of a head's key and value, `state` the bytes that
    other layers remember for a conversation, `tied` that the table of tokens is the output too."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "strict": True}

    layers: int
    embedding: int
    feed_forward: int
    heads: int
    kv_heads: int
    key: int
    vocabulary: int
    attending: int = 0
    state: int = 0
    tied: bool = False

    @property
    def kept(self) -> int:
        """Bytes of 16-bit keys and values of one token over all layers."""
        return 4 * (self.attending or self.layers) * self.kv_heads * self.key


@dataclass(frozen=True, slots=True)
class Load:
    """What there is to hold and to read of a model. Bytes: `kept` for a token's keys and values over all
    layers, `state` for a conversation, `weights` of the file, `matrices` of those the library may lay out
    anew and `reads` of those one token goes through (both by tensor type), `beside` of a projector."""

    layers: int
    embedding: int
    feed_forward: int
    heads: int
    vocabulary: int
    trained: int
    kept: int
    weights: int
    state: int = 0
    beside: int = 0
    matrices: Mapping[str, int] = field(default_factory=dict)
    reads: Mapping[str, int] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether this is a network whose speed and window can be told, and not a file of another kind."""
        return self.layers > 0


def of_header(header: Header, beside: int = 0) -> Load:
    """The load of a model file, with a projector of `beside` bytes."""
    return Load(
        layers=header.number("block_count"),
        embedding=header.number("embedding_length"),
        feed_forward=header.number("feed_forward_length"),
        heads=header.number("attention.head_count", 1),
        vocabulary=_vocabulary(header),
        trained=header.context_length,
        kept=kv_bytes_per_token(header),
        weights=header.tensor_bytes,
        state=_state_bytes(header),
        beside=beside,
        matrices=header.matrices,
        reads=_reads(header),
    )


def of_shape(shape: Shape, size: int, quantisation: str, window: int, share: float = 1.0) -> Load:
    """The load of a file of `size` bytes in one of QUANTISATIONS, of which one token goes through the part
    `share` (of a mixture of experts), trained for a `window`."""
    table = shape.vocabulary * shape.embedding * _TABLE_BITS.get(quantisation, 8.5) / 8
    inner = max(0.0, size - table)
    odd = quantisation == "Q4_K_M" and shape.embedding % _SUPER
    mixture = _ODD if odd else _MIXTURES[quantisation]
    passed = size if shape.tied else inner
    return Load(
        layers=shape.layers,
        embedding=shape.embedding,
        feed_forward=shape.feed_forward,
        heads=shape.heads,
        vocabulary=shape.vocabulary,
        trained=window,
        kept=shape.kept,
        weights=size,
        state=shape.state,
        matrices={kind: int(inner * part) for kind, part in mixture.items()},
        reads={kind: int(passed * share * part) for kind, part in mixture.items()},
    )


def memory(load: Load, window: int, batch: int = CHUNK) -> int:
    """Bytes that the worker will occupy when a context of `window` tokens is full and `batch` tokens are
    evaluated at once."""
    always, each = _VOCABULARY_BYTES
    row = 8 * load.embedding + 3 * load.feed_forward
    weights = load.weights + twice(load.matrices) + load.beside + load.state
    return (
        _WORKER_BYTES
        + weights
        + always
        + each * load.vocabulary
        + 4 * batch * row
        + window * bytes_per_window_token(load, batch)
    )


def bytes_per_window_token(load: Load, batch: int = CHUNK) -> int:
    """Keys, values and a column of the attention scores of one batch."""
    return load.kept + 4 * batch * (1 + load.heads)


def twice(matrices: Mapping[str, int], machine: str = "") -> int:
    """Bytes of `matrices` that stand in memory twice on `machine` (this one if empty)."""
    family = "arm" if (machine or platform.machine()).lower() in ("arm64", "aarch64") else "x86"
    return sum(matrices.get(kind, 0) for kind in _REPACKED[family])


def kv_bytes_per_token(header: Header) -> int:
    """Bytes of 16-bit keys and values that one token occupies over all layers."""
    layers, heads = header.number("block_count"), max(1, header.number("attention.head_count", 1))
    width = header.number("embedding_length") // heads
    key = header.number("attention.key_length", width)
    value = header.number("attention.value_length", width)
    per_layer = header.metadata.get(f"{header.architecture}.attention.head_count_kv")
    if isinstance(per_layer, array) and per_layer.typecode not in "fd":
        return 2 * sum(per_layer) * (key + value)
    each = header.number("attention.head_count_kv") or heads
    return 2 * _attending(header, layers) * each * (key + value)


def _vocabulary(header: Header) -> int:
    """How many tokens there are; a list of texts stands as its length."""
    told = header.metadata.get("tokenizer.ggml.tokens", 0)
    return told if isinstance(told, int) else 0


def _attending(header: Header, layers: int) -> int:
    """Of `layers`, those that keep keys and values of their own."""
    interval = header.number("full_attention_interval")
    return (layers // interval if interval else layers) - header.number("attention.shared_kv_layers")


def _state_bytes(header: Header) -> int:
    """What recurrent layers remember, in 32-bit numbers."""
    inner, size = header.number("ssm.inner_size"), header.number("ssm.state_size")
    layers, interval = header.number("block_count"), header.number("full_attention_interval")
    recurrent = layers - layers // interval if interval else layers
    ahead = max(0, header.number("ssm.conv_kernel") - 1)
    return 4 * recurrent * inner * (size + ahead) if inner else 0


def _reads(header: Header) -> dict[str, int]:
    """Of a mixture of experts the part of the experts that are asked; the table of tokens only where it is
    the output too."""
    experts, used = header.number("expert_count"), header.number("expert_used_count")
    idle = 1 - used / experts if experts and used else 0.0
    found = {kind: size - int(idle * header.experts.get(kind, 0)) for kind, size in header.matrices.items()}
    for kind, size in {} if header.output else header.table.items():
        found[kind] = found.get(kind, 0) + size
    return found
