"""Turns texts into vectors with a model of its own beside the one that answers."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

from models import hardware
from models.bindings import Library
from models.engine import Aborted, Tick
from models.errors import EngineError
from models.fit import choose
from models.generation import LoadOptions
from models.gguf import read_header
from models.native import Shape, complaint, make_interruptible, open_model

WINDOW = 2048
"""Tokens of a text that count, unless the model was trained for fewer or the options name another number."""

_ABORTED = 2


class Embedder:
    """One embedding model. Used from one thread; `close` frees it. `flag` interrupts as in open_native."""

    def __init__(self, library: Library, options: LoadOptions, flag: Any) -> None:
        """Load the model. EngineError as for any model, model_embeds_not for one that only ranks texts."""
        self.options = options
        self._library = library
        self._api = api = library.api
        header = read_header(Path(options.path))
        self._name = header.name
        room = options.ram_limit or hardware.memory_available()
        wanted = min(options.window or WINDOW, header.context_length or WINDOW)
        self._window = choose(header, wanted, WINDOW, room).window
        shape = Shape(self._window, self._window, options.threads or hardware.usable_cores())
        self._model = open_model(library, str(header.path), shape, lambda fraction: True)
        self._context = self._open(shape, api.LLAMA_POOLING_TYPE_UNSPECIFIED)
        if api.llama_pooling_type(self._context) == api.LLAMA_POOLING_TYPE_NONE:  # a model made for chat
            api.llama_free(self._context)
            self._context = self._open(shape, api.LLAMA_POOLING_TYPE_MEAN)
        if api.llama_pooling_type(self._context) == api.LLAMA_POOLING_TYPE_RANK:
            self.close()
            raise EngineError("model_embeds_not", model=self._name)
        make_interruptible(api, self._context, flag)
        self._vocab = api.llama_model_get_vocab(self._model)
        self._size = int(api.llama_model_n_embd(self._model))
        self._batch = api.llama_batch_init(self._window, 0, 1)

    def embed(self, texts: list[str], tick: Tick) -> list[list[float]]:
        """A vector of length 1 for each text, pooled as the model says; mean where it says nothing. Of a text
        longer than the window only the beginning counts. EngineError or Aborted."""
        found: list[list[float]] = []
        for done, text in enumerate(texts):
            tick(done, len(texts))
            found.append(self._vector(text.encode("utf-8", "replace")))
        return found

    def close(self) -> None:
        """Free the model; to be called once."""
        if hasattr(self, "_batch"):
            self._api.llama_batch_free(self._batch)
        self._api.llama_free(self._context)
        self._api.llama_model_free(self._model)

    def _open(self, shape: Shape, pooling: int) -> Any:
        parameters = self._api.llama_context_default_params()
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = shape.window
        parameters.n_threads = parameters.n_threads_batch = shape.threads
        parameters.n_seq_max = 1
        parameters.embeddings = True
        parameters.pooling_type = pooling
        parameters.no_perf = True
        context = self._api.llama_init_from_model(self._model, parameters)
        if not context:
            self._api.llama_model_free(self._model)
            raise EngineError("worker_out_of_memory", model=self._name, reason=complaint(self._library))
        return context

    def _tokens(self, text: bytes) -> list[int]:
        room = len(text) + 16
        found = (ctypes.c_int32 * room)()
        count = self._api.llama_tokenize(self._vocab, text, len(text), found, room, True, False)
        tokens = found[: max(0, count)]
        if len(tokens) > self._window:
            # The last token of an encoder closes the text; it stays.
            tokens = [*tokens[: self._window - 1], tokens[-1]]
        return tokens or [max(0, self._api.llama_vocab_bos(self._vocab))]

    def _vector(self, text: bytes) -> list[float]:
        api, batch, tokens = self._api, self._batch, self._tokens(text)
        memory = api.llama_get_memory(self._context)
        if memory:
            api.llama_memory_clear(memory, True)
        batch.n_tokens = len(tokens)
        for at, token in enumerate(tokens):
            batch.token[at], batch.pos[at], batch.logits[at] = token, at, 1
            batch.n_seq_id[at], batch.seq_id[at][0] = 1, 0
        code = api.llama_decode(self._context, batch)
        if code == _ABORTED:
            raise Aborted
        pooled = api.llama_get_embeddings_seq(self._context, 0) if not code else None
        if not pooled:
            reason = f"{complaint(self._library)} (code {code})"
            raise EngineError("model_evaluation_failed", reason=reason)
        vector = pooled[: self._size]
        length = math.sqrt(math.fsum(value * value for value in vector))
        if not math.isfinite(length) or length == 0:
            raise EngineError("model_evaluation_failed", reason="the vector is not a finite one")
        return [value / length for value in vector]
