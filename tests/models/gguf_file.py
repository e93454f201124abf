"""Writes small GGUF files, whole and broken, for the tests of this room."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, value: Any) -> bytes:
    """A metadata entry: text, whole number, list of whole numbers or list of texts."""
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value, int):
        return text(key) + struct.pack("<II", 4, value)
    if value and isinstance(value[0], str):
        return text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    return text(key) + struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)


def tensor(name: str, shape: tuple[int, ...], kind: int, offset: int) -> bytes:
    sizes = struct.pack(f"<{len(shape)}Q", *shape)
    return text(name) + struct.pack("<I", len(shape)) + sizes + struct.pack("<IQ", kind, offset)


METADATA: dict[str, Any] = {
    "general.architecture": "llama",
    "general.name": "Tiny",
    "llama.context_length": 4096,
    "llama.block_count": 2,
    "llama.embedding_length": 64,
    "llama.feed_forward_length": 128,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ["a", "b", "c"],
    "tokenizer.ggml.token_type": [1, 1, 3],
    "tokenizer.chat_template": "{{ messages }}",
}


def header(
    metadata: dict[str, Any] = METADATA,
    tensors: tuple[bytes, ...] = (),
    version: int = 3,
    counts: tuple[int, int] | None = None,
) -> bytes:
    announced = counts or (len(tensors), len(metadata))
    start = b"GGUF" + struct.pack("<IQQ", version, *announced)
    return start + b"".join(entry(key, value) for key, value in metadata.items()) + b"".join(tensors)


def whole(path: Path, metadata: dict[str, Any] = METADATA) -> Path:
    """A file with one F32 tensor of 64 × 2 and one Q4_0 tensor of 64 values."""
    data = header(metadata, (tensor("a", (64, 2), 0, 0), tensor("b", (64,), 2, 512)))
    data += b"\0" * (-len(data) % 32) + b"\1" * (512 + 36)
    path.write_bytes(data)
    return path
