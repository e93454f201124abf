"""The graphics cards that the library at hand can compute on, and how many layers of a model go there."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from models.footprint import kv_bytes_per_token
from models.gguf import Header

CARD_BATCH = 512
"""Tokens of a prompt that a card evaluates at once."""

KINDS = (1, 2)
"""ggml_backend_dev_type of cards with memory of their own and of those that share it (ggml-backend.h)."""

_INTEGRATED = 2

_PART = 0.9
"""Part of a card's free memory that a model may take."""

_WORK_BYTES = 300 << 20
"""What computing takes on a card beside weights, keys and values."""


@dataclass(frozen=True, slots=True)
class Card:
    """A device with its free memory in bytes. Memory that is `shared` is the machine's own."""

    name: str
    free: int
    shared: bool = False


def cards(api: Any) -> tuple[Card, ...]:
    """The cards that the bindings module `api` can use; none with a build for the processor alone."""
    if not api.llama_supports_gpu_offload():
        return ()
    count = native_function(api, "ggml_backend_dev_count", ctypes.c_size_t)
    get = native_function(api, "ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
    kind = native_function(api, "ggml_backend_dev_type", ctypes.c_int, ctypes.c_void_p)
    name = native_function(api, "ggml_backend_dev_description", ctypes.c_char_p, ctypes.c_void_p)
    size = ctypes.POINTER(ctypes.c_size_t)
    memory = native_function(api, "ggml_backend_dev_memory", None, ctypes.c_void_p, size, size)
    found: list[Card] = []
    for at in range(count()):
        device = get(at)
        sort = kind(device)
        if sort in KINDS:
            free, total = ctypes.c_size_t(), ctypes.c_size_t()
            memory(device, ctypes.byref(free), ctypes.byref(total))
            title = (name(device) or b"").decode("utf-8", "replace")
            found.append(Card(title, int(free.value), is_shared(sort)))
    return tuple(found)


def layers(header: Header, window: int, asked: int, there: tuple[Card, ...]) -> int:
    """How many layers go to the cards `there`: what is `asked`, or for -1 as many as fit; none without one.
    The output counts as one more than the blocks."""
    blocks = header.number("block_count")
    if not there or not blocks:
        return 0
    if asked >= 0:
        return min(asked, blocks + 1)
    room = room_on(there)
    each = header.tensor_bytes // (blocks + 1) + window * kv_bytes_per_token(header) // blocks
    return max(0, min(blocks + 1, room // max(1, each)))


def room_on(there: tuple[Card, ...]) -> int:
    """Bytes of the cards `there` for weights, keys and values."""
    return max(0, usable(there) - _WORK_BYTES) if there else 0


def beyond(there: tuple[Card, ...]) -> int:
    """Bytes that the cards `there` have beside the machine's memory, as far as a model may take them."""
    return usable(tuple(card for card in there if not card.shared))


def is_shared(kind: int) -> bool:
    """Whether a device of this ggml_backend_dev_type computes in the machine's own memory, as all of Apple's
    do."""
    return kind == _INTEGRATED or sys.platform == "darwin"


def usable(there: tuple[Card, ...]) -> int:
    """Bytes of all cards that a model may take."""
    return int(_PART * sum(card.free for card in there))


def native_function(api: Any, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A function of ggml by name. The symbols of the libraries that libllama needs are reached through it,
    but not on Windows, where the bindings of ggml are asked."""
    try:
        found = getattr(api._lib, name)
    except AttributeError:
        from llama_cpp import _ggml

        found = getattr(_ggml.libggml, name)
    found.restype, found.argtypes = result, list(arguments)
    return found  # type: ignore[no-any-return]
