"""Writes a tiny projector file with random weights, through which the bundled model sees noise."""

from __future__ import annotations

import random
import struct
from array import array
from pathlib import Path
from typing import Any

from tests.models.gguf_file import tensor, text

EMBEDDING = 576
"""Of the bundled model."""

_SIDE, _PATCH, _WIDTH, _HEADS, _FEED = 32, 16, 64, 2, 128
POSITIONS = (_SIDE // _PATCH) ** 2


def _entry(key: str, value: Any) -> bytes:
    if isinstance(value, bool):
        return text(key) + struct.pack("<IB", 7, value)
    if isinstance(value, float):
        return text(key) + struct.pack("<If", 6, value)
    if isinstance(value, int):
        return text(key) + struct.pack("<II", 4, value)
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    return text(key) + struct.pack("<IIQ", 9, 6, len(value)) + struct.pack(f"<{len(value)}f", *value)


METADATA: dict[str, Any] = {
    "general.architecture": "clip",
    "general.name": "Tiny eye",
    "clip.has_vision_encoder": True,
    "clip.projector_type": "mlp",
    "clip.use_gelu": True,
    "clip.vision.image_size": _SIDE,
    "clip.vision.patch_size": _PATCH,
    "clip.vision.embedding_length": _WIDTH,
    "clip.vision.feed_forward_length": _FEED,
    "clip.vision.projection_dim": EMBEDDING,
    "clip.vision.attention.head_count": _HEADS,
    "clip.vision.attention.layer_norm_epsilon": 1e-5,
    "clip.vision.block_count": 2,
    "clip.vision.image_mean": [0.5, 0.5, 0.5],
    "clip.vision.image_std": [0.5, 0.5, 0.5],
}


def _tensors(embedding: int) -> dict[str, tuple[int, ...]]:
    """Names and sides, the fastest first."""
    found: dict[str, tuple[int, ...]] = {
        "v.patch_embd.weight": (_PATCH, _PATCH, 3, _WIDTH),
        "v.class_embd": (_WIDTH,),
        "v.position_embd.weight": (_WIDTH, POSITIONS + 1),
        "v.pre_ln.weight": (_WIDTH,),
        "v.pre_ln.bias": (_WIDTH,),
        "mm.0.weight": (_WIDTH, embedding),
        "mm.0.bias": (embedding,),
        "mm.2.weight": (embedding, embedding),
        "mm.2.bias": (embedding,),
    }
    for block in (0, 1):
        sides = {"attn_q": _WIDTH, "attn_k": _WIDTH, "attn_v": _WIDTH, "attn_out": _WIDTH, "ffn_up": _FEED}
        for name, rows in sides.items():
            found[f"v.blk.{block}.{name}.weight"] = (_WIDTH, rows)
            found[f"v.blk.{block}.{name}.bias"] = (rows,)
        found[f"v.blk.{block}.ffn_down.weight"] = (_FEED, _WIDTH)
        found[f"v.blk.{block}.ffn_down.bias"] = (_WIDTH,)
        for name in ("ln1", "ln2"):
            found[f"v.blk.{block}.{name}.weight"] = (_WIDTH,)
            found[f"v.blk.{block}.{name}.bias"] = (_WIDTH,)
    return found


def projector(path: Path, embedding: int = EMBEDDING) -> Path:
    """A llava projector of 1.5 MB for a model whose embeddings have `embedding` numbers."""
    chance = random.Random(1)
    table, data = b"", bytearray()
    sides = _tensors(embedding)
    for name, shape in sides.items():
        count = 1
        for side in shape:
            count *= side
        table += tensor(name, shape, 0, len(data))
        data += array("f", (chance.gauss(0, 0.05) for _ in range(count))).tobytes()
        data += b"\0" * (-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(sides), len(METADATA))
    head += b"".join(_entry(key, value) for key, value in METADATA.items()) + table
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)
    return path
