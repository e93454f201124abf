"""Reads the header of a GGUF file without trusting it, so that a broken file is an error and never a crash.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little-endian).
"""

from __future__ import annotations

import stat
import struct
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

from models import shards
from models.errors import EngineError

_SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_ARRAYS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9

_LOOKED_UP = ("token_embd", "per_layer_token_embd")
"""Beginnings of the names of tables of which a token takes one row."""

_MAX_TENSORS = 100_000
_MAX_ENTRIES = 100_000
_MAX_STRING = 64 * 1024 * 1024
_MAX_ARRAY = 16 * 1024 * 1024
"""Bytes of a list of numbers."""

_MAX_TEXTS = 4_000_000
"""In all lists together; vocabularies with their merges have a fifth of that."""

_LONGEST_NAME = 100
_MAX_HEADER = 128 * 1024 * 1024
_MAX_NUMBER = 1 << 50
"""Of what is counted: tokens, rows, numbers in a tensor."""

_LENGTH_AT = struct.Struct("<Q").unpack_from
_CHUNK = 1 << 20

TENSOR_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 36), 10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292), 16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50), 20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136), 24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8),
    28: ("F64", 1, 8), 29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17), 40: ("NVFP4", 64, 36),
}  # fmt: skip
"""ggml tensor type → name, values in a block, bytes of a block."""


@dataclass(frozen=True, slots=True)
class Header:
    """The facts of a model file. `metadata` holds scalars, strings and numeric arrays; arrays of strings
    (the vocabulary) are skipped and stand as their length. A split model has one header: the path and the
    metadata of its first part, the sums of all."""

    path: Path
    size: int
    version: int
    metadata: dict[str, Any]
    tensors: int
    tensor_bytes: int
    quantisation: str
    matrices: dict[str, int] = field(default_factory=dict)
    """Bytes of the matrices with a multiple of eight rows, by tensor type; without the tables of tokens."""
    types: dict[str, int] = field(default_factory=dict)
    """Bytes of all tensors, by tensor type."""
    parameters: int = 0
    """Numbers in all tensors."""
    seeing: int = 0
    """Tensors of a picture encoder."""
    experts: dict[str, int] = field(default_factory=dict)
    """Bytes of those matrices of which one token uses only a part, by tensor type."""
    table: dict[str, int] = field(default_factory=dict)
    """Bytes of the table of tokens, by tensor type."""
    output: bool = False
    """Whether there is an output of its own, so that the table of tokens is only looked up."""
    parts: tuple[Path, ...] = ()
    """The files of the model, in order; one unless it is split."""

    @property
    def architecture(self) -> str:
        return self.text("general.architecture")[:_LONGEST_NAME]

    @property
    def name(self) -> str:
        return self.text("general.name") or shards.stem_of(self.path)

    @property
    def chat_template(self) -> str:
        return self.text("tokenizer.chat_template")

    @property
    def context_length(self) -> int:
        return self.number("context_length")

    def text(self, key: str) -> str:
        """The text `key`, "" for anything else."""
        found = self.metadata.get(key, "")
        return found if isinstance(found, str) else ""

    def number(self, key: str, default: int = 0) -> int:
        """The whole number `<architecture>.<key>`; of an array, its largest; `default` for one that counts
        nothing."""
        value = self.metadata.get(f"{self.architecture}.{key}", default)
        if isinstance(value, array):
            value = max(value, default=default)
        return int(value) if isinstance(value, int | float) and 0 <= value <= _MAX_NUMBER else default


def read_header(path: Path) -> Header:
    """The checked header of `path`; of a split model all parts are read, whichever one is named.

    EngineError: model_file_missing, model_file_part_missing, model_file_part_misnamed, model_file_not_gguf
    (with a reason) or model_file_truncated (with the size there is and the size the header promises).
    """
    header = _read(path)
    count = header.metadata.get("split.count", 1)
    if count in (0, 1):
        return header
    part = shards.part_of(path)
    if part is None or part.count != count:
        raise EngineError(
            "model_file_part_misnamed", path=str(path), number=_announced(header, "no") + 1, count=str(count)
        )
    return _joined([header if number == part.number else _read(part.path(number)) for number in _order(part)])


def _order(part: shards.Part) -> range:
    return range(1, part.count + 1)


def _read(path: Path) -> Header:
    """The header of one file."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise EngineError("model_file_not_gguf", path=str(path), reason="it is no ordinary file")
        with path.open("rb") as file:
            return _Reader(path, status.st_size, file).header()
    except (FileNotFoundError, IsADirectoryError, ValueError) as error:
        part = shards.part_of(path)
        if part is not None and part.count > 1:
            raise shards.missing(path, part.number, part.count) from error
        raise EngineError("model_file_missing", path=str(path)) from error
    except OSError as error:
        raise EngineError("model_load_failed", path=str(path), reason=str(error)) from error


def _joined(headers: list[Header]) -> Header:
    """The header of a split model from those of its parts, in order."""
    first = headers[0]
    for number, header in enumerate(headers):
        if (_announced(header, "no"), _announced(header, "count")) != (number, len(headers)):
            reason = f"it does not say that it is part {number + 1} of {len(headers)}"
            raise EngineError("model_file_not_gguf", path=str(header.path), reason=reason)
    tensors, promised = sum(header.tensors for header in headers), _announced(first, "tensors.count")
    if tensors != promised:
        reason = f"its parts hold {tensors} tensors and should hold {promised}"
        raise EngineError("model_file_not_gguf", path=str(first.path), reason=reason)
    types = _summed(header.types for header in headers)
    return replace(
        first,
        size=sum(header.size for header in headers),
        tensors=tensors,
        tensor_bytes=sum(header.tensor_bytes for header in headers),
        quantisation=_commonest(types),
        matrices=_summed(header.matrices for header in headers),
        types=types,
        parameters=sum(header.parameters for header in headers),
        seeing=sum(header.seeing for header in headers),
        experts=_summed(header.experts for header in headers),
        table=_summed(header.table for header in headers),
        output=any(header.output for header in headers),
        parts=tuple(header.path for header in headers),
    )


def _announced(header: Header, key: str) -> int:
    found = header.metadata.get(f"split.{key}", -1)
    return found if isinstance(found, int) else -1


def _summed(tables: Iterable[dict[str, int]]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for table in tables:
        found.update(table)
    return dict(found)


def _commonest(types: dict[str, int]) -> str:
    return max(types, key=lambda name: types[name], default="")


@dataclass(slots=True)
class _Reader:
    path: Path
    size: int
    file: BinaryIO
    position: int = 0
    buffer: bytes = b""
    at: int = 0
    texts: int = 0
    types: dict[str, int] = field(default_factory=dict)
    matrices: dict[str, int] = field(default_factory=dict)
    parameters: int = 0
    seeing: int = 0
    experts: dict[str, int] = field(default_factory=dict)
    table_of_tokens: dict[str, int] = field(default_factory=dict)
    output: bool = False

    def header(self) -> Header:
        if self.size < 24 or self.take(4) != b"GGUF":
            raise self.foreign("it does not start with the letters GGUF" if self.size >= 4 else "it is empty")
        version = self.scalar("<I")
        if version not in (2, 3):
            raise self.foreign(f"version {version} of the format is not known")
        tensors, entries = self.scalar("<Q"), self.scalar("<Q")
        if tensors > _MAX_TENSORS or entries > _MAX_ENTRIES:
            raise self.foreign(f"its header announces {tensors} tensors and {entries} entries")
        metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = self.string()
            metadata[key] = self.value(self.scalar("<I"), key)
        end = self.table(tensors)
        alignment = metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1 or alignment > 1 << 20:
            raise self.foreign("its alignment makes no sense")
        start = -(-self.position // alignment) * alignment
        if start + end > self.size:
            raise EngineError(
                "model_file_truncated", path=str(self.path), size=self.size, expected=start + end
            )
        if self.parameters > _MAX_NUMBER:
            raise self.foreign("its tensors have more numbers than those of any model")
        return Header(
            path=self.path,
            size=self.size,
            version=version,
            metadata=metadata,
            tensors=tensors,
            tensor_bytes=end,
            quantisation=_commonest(self.types),
            matrices=self.matrices,
            types=self.types,
            parameters=self.parameters,
            seeing=self.seeing,
            experts=self.experts,
            table=self.table_of_tokens,
            output=self.output,
            parts=(self.path,),
        )

    def table(self, count: int) -> int:
        """Read the tensor table; the end of the last tensor, counted from the start of the data."""
        end = 0
        for _ in range(count):
            tensor = self.string()
            dimensions = self.scalar("<I")
            if dimensions > 8:
                raise self.foreign(f"a tensor has {dimensions} dimensions")
            sides = [self.scalar("<Q") for _ in range(dimensions)]
            values = prod(sides)
            kind, offset = self.scalar("<I"), self.scalar("<Q")
            name, block, block_bytes = TENSOR_TYPES.get(kind, (f"type {kind}", 1, 0))
            bytes_ = -(-values // block) * block_bytes
            self.types[name] = self.types.get(name, 0) + bytes_
            self.parameters += values
            self.seeing += tensor.startswith(("v.", "mm."))
            if tensor == "token_embd.weight":
                self.table_of_tokens[name] = bytes_
            elif dimensions > 1 and sides[1] % 8 == 0 and not tensor.startswith(_LOOKED_UP):
                self.matrices[name] = self.matrices.get(name, 0) + bytes_
                if "_exps." in tensor:
                    self.experts[name] = self.experts.get(name, 0) + bytes_
            self.output = self.output or tensor == "output.weight"
            end = max(end, offset + bytes_)
        return end

    def value(self, kind: int, key: str) -> Any:
        if kind in _SCALARS:
            return self.scalar(_SCALARS[kind])
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            return self.array(key)
        raise self.foreign(f"the entry {key[:80]} has the unknown type {kind}")

    def array(self, key: str) -> Any:
        kind, count = self.scalar("<I"), self.scalar("<Q")
        if kind == _STRING:
            if count * 8 > self.size:
                raise self.cut()
            self.texts += count
            if self.texts > _MAX_TEXTS:
                raise self.foreign(f"its header lists {self.texts} texts")
            self.skip(count)
            return count
        if kind not in _ARRAYS:
            raise self.foreign(f"the entry {key[:80]} is a list of the unknown type {kind}")
        values = array(_ARRAYS[kind])
        if count * values.itemsize > self.size:
            raise self.cut()
        if count * values.itemsize > _MAX_ARRAY:
            raise self.foreign(f"its header holds a list of {count} numbers")
        values.frombytes(self.take(count * values.itemsize))
        return values

    def skip(self, count: int) -> None:
        """Pass over so many texts: a vocabulary has hundreds of thousands, so this costs no call for each."""
        while count:
            buffer, at, whole = self.buffer, self.at, len(self.buffer) - 8
            while count and at <= whole:
                length = _LENGTH_AT(buffer, at)[0]
                after = at + 8 + length
                if length > _MAX_STRING or after > whole + 8:
                    break
                at, count = after, count - 1
            self.position += at - self.at
            self.at = at
            if self.position > _MAX_HEADER:
                raise self.long()
            if count:
                self.take(self.length())
                count -= 1

    def scalar(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def length(self) -> int:
        length = int.from_bytes(self.take(8), "little")
        if length > _MAX_STRING:
            raise self.foreign(f"its header holds a text of {length} bytes")
        return length

    def string(self) -> str:
        return self.take(self.length()).decode("utf-8", "replace")

    def take(self, count: int) -> bytes:
        piece = self.buffer[self.at : self.at + count]
        if len(piece) < count:
            rest = self.buffer[self.at :]
            self.buffer = rest + self.file.read(max(_CHUNK, count - len(rest)))
            self.at = 0
            piece = self.buffer[:count]
            if len(piece) < count:
                raise self.cut()
        self.at += count
        self.position += count
        if self.position > _MAX_HEADER:
            raise self.long()
        return piece

    def foreign(self, reason: str) -> EngineError:
        return EngineError("model_file_not_gguf", path=str(self.path), reason=reason)

    def long(self) -> EngineError:
        """The header goes on for longer than that of any model, of which all would be kept in memory."""
        return self.foreign(f"its header has more than {_MAX_HEADER >> 20} MB")

    def cut(self) -> EngineError:
        """The header itself runs past the end of the file."""
        return EngineError(
            "model_file_truncated", path=str(self.path), size=self.size, expected=self.size + 1
        )
