"""Lets a model see: pictures become tokens of its own through the projector file that belongs to it.

In a prompt a picture stands as a mark with its hash. Among the tokens each position of a picture is one
negative number made of that hash, so that a prompt with the same picture in the same place shares its memory.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.bindings import Library
from models.engine import Aborted
from models.errors import EngineError
from models.native import Native, complaint

MARK = "\ufdd2"
"""What a caller writes where a picture belongs; a noncharacter that no text keeps (see `free_of_marks`)."""

_NAMED = re.compile(MARK.encode() + rb"([0-9a-f]{64})")
_ABORTED = 2


def free_of_marks(text: str) -> str:
    """`text` without anything that would be taken for a picture."""
    return text.replace(MARK, "\ufffd")


def name_marks(prompt: str, pictures: Sequence[bytes]) -> str:
    """`prompt` with the hash of each picture after its mark, in order; marks without a picture go."""
    pieces = prompt.split(MARK)
    names = [MARK + hashlib.sha256(picture).hexdigest() for picture in pictures]
    names += [""] * (len(pieces) - 1 - len(names))
    return pieces[0] + "".join(name + piece for name, piece in zip(names, pieces[1:], strict=False))


def split(text: bytes) -> list[tuple[bytes, str]]:
    """`text` in pieces, each with the hash of the picture that follows it ("" after the last)."""
    pieces = _NAMED.split(text)
    names = [name.decode() for name in pieces[1::2]]
    return list(zip(pieces[::2], [*names, ""], strict=True))


class Pictures:
    """The projector of the model `native`. `close` frees it, before the model."""

    def __init__(self, library: Library, native: Native, path: Path, threads: int, on_card: bool) -> None:
        """EngineError projector_unusable if the file is none, or not one for this model."""
        self._library = library
        self._native = native
        self._api: Any = importlib.import_module("llama_cpp.mtmd_cpp")
        parameters = self._api.mtmd_context_params_default()
        parameters.use_gpu, parameters.n_threads, parameters.print_timings = on_card, threads, False
        parameters.warmup = False
        name = str(path).encode(sys.getfilesystemencoding())
        self._context = self._api.mtmd_init_from_file(name, native.model, parameters)
        if not self._context or not self._api.mtmd_support_vision(self._context):
            if self._context:
                self._api.mtmd_free(self._context)
            raise EngineError("projector_unusable", path=str(path), reason=complaint(library))
        self._chunks: dict[int, Any] = {}
        self._tokens: dict[str, list[int]] = {}

    def tokens(self, name: str, picture: bytes) -> list[int]:
        """What stands for `picture` (an encoded file) with the hash `name`: the model's own marks around it,
        and negative numbers. EngineError picture_unreadable."""
        if name not in self._tokens:
            self._tokens[name] = self._read(name, picture)
        return self._tokens[name]

    def evaluate(self, tokens: list[int], start: int) -> int:
        """Evaluate the picture that begins at `start`; the position after it. EngineError or Aborted."""
        chunk, native = self._chunks[tokens[start]], self._native
        end = start + int(self._api.mtmd_input_chunk_get_n_pos(chunk))
        if self._api.mtmd_decode_use_non_causal(self._context, chunk):
            size = int(self._api.mtmd_input_chunk_get_n_tokens(chunk))
            if size > native.chunk:
                raise EngineError("picture_too_large", tokens=size, batch=native.chunk)
        reached = ctypes.c_int32(start)
        code = self._api.mtmd_helper_eval_chunk_single(
            self._context, native.context, chunk, start, 0, native.chunk, False, ctypes.byref(reached)
        )
        if code == _ABORTED:
            raise Aborted
        if code:
            reason = f"{complaint(self._library)} (code {code})"
            raise EngineError("model_evaluation_failed", reason=reason)
        return end

    def close(self) -> None:
        """Free the projector and what is kept of pictures; to be called once."""
        for chunk in self._chunks.values():
            self._api.mtmd_input_chunk_free(chunk)
        self._api.mtmd_free(self._context)

    def _read(self, name: str, picture: bytes) -> list[int]:
        api = self._api
        data = (ctypes.c_uint8 * len(picture)).from_buffer_copy(picture)
        bitmap = api.mtmd_helper_bitmap_init_from_buf(self._context, data, len(picture), False)
        if not bitmap:
            raise EngineError("picture_unreadable", reason=complaint(self._library))
        chunks = api.mtmd_input_chunks_init()
        try:
            marker = api.mtmd_default_marker()
            asked = api.mtmd_input_text(marker, len(marker), False, True)
            bitmaps = (ctypes.c_void_p * 1)(bitmap)
            if api.mtmd_tokenize(self._context, chunks, ctypes.byref(asked), bitmaps, 1):
                raise EngineError("picture_unreadable", reason=complaint(self._library))
            found: list[int] = []
            for at in range(api.mtmd_input_chunks_size(chunks)):
                found += self._chunk(f"{name} {at}", api.mtmd_input_chunks_get(chunks, at))
            return found
        finally:
            api.mtmd_input_chunks_free(chunks)
            api.mtmd_bitmap_free(bitmap)

    def _chunk(self, name: str, chunk: Any) -> list[int]:
        api = self._api
        if api.mtmd_input_chunk_get_type(chunk) == api.MTMD_INPUT_CHUNK_TYPE_TEXT:
            count = ctypes.c_size_t()
            words = api.mtmd_input_chunk_get_tokens_text(chunk, ctypes.byref(count))
            return list(words[: count.value])
        number = -1 - int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % 0x7FFFFFFF
        if number not in self._chunks:
            self._chunks[number] = api.mtmd_input_chunk_copy(chunk)
        return [number] * int(api.mtmd_input_chunk_get_n_pos(chunk))
