"""Draws random texts from a grammar with llama.cpp's own sampler over the bundled model's vocabulary."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from models.bindings import Library


class Vocabulary:
    """A model file opened for its vocabulary alone; close it with `opened`."""

    def __init__(self, path: Path) -> None:
        self._bindings = Library()
        self._library: Any = self._bindings.api
        options = self._library.llama_model_default_params()
        options.vocab_only = True
        self._model = self._library.llama_model_load_from_file(str(path).encode(), options)
        assert self._model
        self.vocab = self._library.llama_model_get_vocab(self._model)
        self.size = self._library.llama_vocab_n_tokens(self.vocab)
        self.pieces = [self._piece(token) for token in range(self.size)]
        ends = [bool(self._library.llama_vocab_is_eog(self.vocab, token)) for token in range(self.size)]
        usable = [
            token
            for token, piece in enumerate(self.pieces)
            if ends[token] or (piece.isascii() and len(piece) < 5 and b"\x00" not in piece)
        ]
        self._tokens = np.array(usable[:: max(1, len(usable) // 4000)] + self._single(usable), dtype=np.int32)
        self._ends = np.array([ends[token] for token in self._tokens])
        lively = [self.pieces[token][:1] in (b'"', b"}", b"]", b",", b":") for token in self._tokens]
        self._liking = np.where(lively, 4.0, 0.0).astype(np.float32)

    def close(self) -> None:
        """Free the model."""
        self._library.llama_model_free(self._model)

    def accepts(self, grammar: str) -> bool:
        """Whether llama.cpp's parser takes the grammar."""
        sampler = self._library.llama_sampler_init_grammar(self.vocab, grammar.encode(), b"root")
        if sampler:
            self._library.llama_sampler_free(sampler)
        return bool(sampler)

    def draw(self, grammar: str, seed: int, limit: int = 400) -> tuple[str, bool]:
        """A random text of the grammar that likes to end, and whether it ended within `limit` tokens."""
        library, chance = self._library, random.Random(seed)
        sampler = library.llama_sampler_init_grammar(self.vocab, grammar.encode(), b"root")
        assert sampler, grammar
        noise = np.random.default_rng(seed)
        kind = np.dtype([("id", "i4"), ("logit", "f4"), ("p", "f4")])
        written = b""
        ended = False
        try:
            for _ in range(limit):
                data = np.zeros(len(self._tokens), kind)
                data["id"] = self._tokens
                data["logit"] = noise.gumbel(size=len(data)) + self._liking * chance.random() * 2
                data["logit"][self._ends] += 8
                pointer = data.ctypes.data_as(ctypes.POINTER(library.llama_token_data))
                array = library.llama_token_data_array(pointer, len(data), -1, False)
                library.llama_sampler_apply(sampler, ctypes.byref(array))
                best = int(np.argmax(data["logit"]))
                token = int(data["id"][best])
                assert np.isfinite(data["logit"][best]), written
                if self._ends[best]:
                    ended = True
                    break
                library.llama_sampler_accept(sampler, token)
                written += self.pieces[token]
        finally:
            library.llama_sampler_free(sampler)
        return written.decode("utf-8", "replace"), ended

    def _single(self, usable: list[int]) -> list[int]:
        """The tokens of one character and those that end a reply."""
        return [token for token in usable if len(self.pieces[token]) == 1 or not self.pieces[token]] + [
            token for token in usable if self._library.llama_vocab_is_eog(self.vocab, token)
        ]

    def _piece(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(256)
        size = self._library.llama_token_to_piece(self.vocab, token, buffer, 256, 0, True)
        return buffer.raw[: max(size, 0)]


@contextmanager
def opened(path: Path) -> Iterator[Vocabulary]:
    """A vocabulary that is closed at the end."""
    vocabulary = Vocabulary(path)
    try:
        yield vocabulary
    finally:
        vocabulary.close()
