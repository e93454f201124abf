"""Splits a GGUF file into parts as llama.cpp's gguf-split does, for the tests of several rooms."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from models.gguf import TENSOR_TYPES
from tests.models.gguf_file import tensor, text

_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_ALIGNMENT = 32


@dataclass(frozen=True, slots=True)
class Tensor:
    name: str
    sides: tuple[int, ...]
    kind: int
    data: memoryview


def split(source: Path, folder: Path, count: int, *, name: str = "", bare_first: bool = False) -> list[Path]:
    """`source` in `count` parts in `folder`; all metadata are in the first, which has no tensors if
    `bare_first`."""
    entries, metadata, tensors = _parsed(source.read_bytes())
    folder.mkdir(parents=True, exist_ok=True)
    shares = count - bare_first
    each = -(-len(tensors) // shares)
    lots = [tensors[at * each : (at + 1) * each] for at in range(shares)]
    made: list[Path] = []
    for number, lot in enumerate([[], *lots] if bare_first else lots):
        told = text("split.no") + struct.pack("<IH", 2, number)
        told += text("split.count") + struct.pack("<IH", 2, count)
        told += text("split.tensors.count") + struct.pack("<Ii", 5, len(tensors))
        head = (
            struct.pack("<QQ", len(lot), 3 if number else entries + 3) + (b"" if number else metadata) + told
        )
        path = folder / f"{name or source.stem}-{number + 1:05}-of-{count:05}.gguf"
        path.write_bytes(_whole(head, lot))
        made.append(path)
    return made


def _whole(head: bytes, tensors: list[Tensor]) -> bytes:
    table, data = b"", bytearray()
    for one in tensors:
        table += tensor(one.name, one.sides, one.kind, len(data))
        data += one.data
        data += b"\0" * (-len(data) % _ALIGNMENT)
    start = b"GGUF" + struct.pack("<I", 3) + head + table
    return start + b"\0" * (-len(start) % _ALIGNMENT) + data


def _parsed(data: bytes) -> tuple[int, bytes, list[Tensor]]:
    """(number of entries, the entries as they stand in the file, the tensors)."""
    count, entries = struct.unpack_from("<QQ", data, 8)
    at = 24
    for _ in range(entries):
        at = _text(data, at)[1]
        at = _value(data, at + 4, struct.unpack_from("<I", data, at)[0])
    metadata = data[24:at]
    rows: list[tuple[str, tuple[int, ...], int, int]] = []
    for _ in range(count):
        name, at = _text(data, at)
        (dimensions,) = struct.unpack_from("<I", data, at)
        sides = struct.unpack_from(f"<{dimensions}Q", data, at + 4)
        kind, offset = struct.unpack_from("<IQ", data, at + 4 + 8 * dimensions)
        rows.append((name, sides, kind, offset))
        at += 16 + 8 * dimensions
    start, view = -(-at // _ALIGNMENT) * _ALIGNMENT, memoryview(data)
    tensors: list[Tensor] = []
    for name, sides, kind, offset in rows:
        _, block, size = TENSOR_TYPES[kind]
        values = 1
        for side in sides:
            values *= side
        begin = start + offset
        tensors.append(Tensor(name, sides, kind, view[begin : begin + values // block * size]))
    return entries, metadata, tensors


def _text(data: bytes, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, at)
    return data[at + 8 : at + 8 + length].decode("utf-8", "replace"), at + 8 + length


def _value(data: bytes, at: int, kind: int) -> int:
    """Where the value of type `kind` at `at` ends."""
    if kind == 8:
        return _text(data, at)[1]
    if kind != 9:
        return at + _SIZES[kind]
    inner, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if inner != 8:
        return int(at + count * _SIZES[inner])
    for _ in range(count):
        at = _text(data, at)[1]
    return at
