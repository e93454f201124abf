"""Opens a model file with llama.cpp and holds the native handles that belong together."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from models.bindings import Library
from models.engine import Aborted, TemplateSource
from models.errors import EngineError
from models.gguf import Header
from models.governor import Governor

_CONTROL = 3
"""The token type of a control token in the file's vocabulary."""

_BYTES_A_SECOND = 1e9
"""Weights that the slowest machine worth using reads in a second, when nothing else runs."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a model is opened: tokens of context, tokens of one batch, threads, layers on a graphics card."""

    window: int
    batch: int
    threads: int
    gpu_layers: int = 0


@dataclass(slots=True)
class Native:
    """The handles of one opened model; freed together by `close`."""

    library: Library
    model: Any
    context: Any
    vocab: Any
    memory: Any
    batch: Any
    template: TemplateSource
    window: int
    chunk: int
    decoding: Governor
    reading: Governor
    ends: set[int] = field(default_factory=set)
    pieces: dict[int, bytes] = field(default_factory=dict)

    def close(self) -> None:
        """Free everything; to be called once."""
        api = self.library.api
        api.llama_batch_free(self.batch)
        api.llama_free(self.context)
        api.llama_model_free(self.model)


def open_native(
    library: Library, header: Header, shape: Shape, flag: Any, progress: Callable[[float], bool]
) -> Native:
    """Open the file of `header`. The first byte of `flag` stops computations while it is not zero.

    EngineError model_load_failed or worker_out_of_memory; Aborted when `progress` says so.
    """
    api = library.api
    model = open_model(library, str(header.path), shape, progress)
    context = open_context(api, model, shape)
    if not context:
        api.llama_model_free(model)
        raise EngineError("worker_out_of_memory", model=header.name, reason=complaint(library))
    make_interruptible(api, context, flag)
    vocab = api.llama_model_get_vocab(model)
    return Native(
        library=library,
        model=model,
        context=context,
        vocab=vocab,
        memory=api.llama_get_memory(context),
        batch=_batch(api, shape.batch),
        template=_template(api, header, vocab),
        window=min(shape.window, int(api.llama_n_ctx(context))),
        chunk=shape.batch,
        decoding=Governor(shape.threads, header.tensor_bytes / _BYTES_A_SECOND),
        reading=Governor(shape.threads, header.tensor_bytes / (8 * _BYTES_A_SECOND), patience=1),
    )


def complaint(library: Library) -> str:
    """The last thing the native library complained of."""
    return library.complaints[-1] if library.complaints else "the library gave no reason"


def open_model(library: Library, path: str, shape: Shape, progress: Callable[[float], bool]) -> Any:
    """The handle of the weights in `path`; the caller frees it. EngineError model_load_failed or Aborted."""
    api = library.api
    stopped = False

    def on_progress(fraction: float, _data: Any) -> bool:
        nonlocal stopped
        stopped = not progress(fraction)
        return not stopped

    parameters = api.llama_model_default_params()
    parameters.n_gpu_layers = shape.gpu_layers
    callback = api.llama_progress_callback(on_progress)
    parameters.progress_callback = callback
    model = api.llama_model_load_from_file(path.encode(sys.getfilesystemencoding()), parameters)
    if stopped:
        raise Aborted
    if not model:
        raise EngineError("model_load_failed", path=path, reason=complaint(library))
    return model


def open_context(api: Any, model: Any, shape: Shape) -> Any:
    """A context of `model` with one sequence, to be freed by the caller; null where memory is short."""
    parameters = api.llama_context_default_params()
    parameters.n_ctx = shape.window
    parameters.n_batch = parameters.n_ubatch = shape.batch
    parameters.n_seq_max = 1
    parameters.n_threads = parameters.n_threads_batch = shape.threads
    parameters.no_perf = True
    # On a processor, flash attention makes decoding slower: 54 against 32 ms a token at 4,096 tokens.
    parameters.flash_attn_type = (
        api.LLAMA_FLASH_ATTN_TYPE_AUTO if shape.gpu_layers else api.LLAMA_FLASH_ATTN_TYPE_DISABLED
    )
    return api.llama_init_from_model(model, parameters)


def _batch(api: Any, room: int) -> Any:
    batch = api.llama_batch_init(room, 0, 1)
    for at in range(room):
        batch.n_seq_id[at], batch.seq_id[at][0], batch.logits[at] = 1, 0, 0
    return batch


def make_interruptible(api: Any, context: Any, flag: Any) -> None:
    """Let `flag` stop a running computation. The library asks a C function before every operation; a
    Python one would take the interpreter lock each time, so strlen of a flag byte answers instead."""
    library = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
    asked = ctypes.cast(library.strlen, api.ggml_abort_callback)
    flag[0] = b"\0"
    api.llama_set_abort_callback(context, asked, ctypes.cast(flag, ctypes.c_void_p))


def _template(api: Any, header: Header, vocab: Any) -> TemplateSource:
    types = header.metadata.get("tokenizer.ggml.token_type")
    controls = [token for token, kind in enumerate(types or ()) if kind == _CONTROL]
    texts = (api.llama_vocab_get_text(vocab, token) or b"" for token in controls)
    return TemplateSource(
        text=header.chat_template,
        bos=_text_of(api, vocab, api.llama_vocab_bos(vocab)),
        eos=_text_of(api, vocab, api.llama_vocab_eos(vocab)),
        controls=tuple(text.decode("utf-8", "replace") for text in texts),
    )


def _text_of(api: Any, vocab: Any, token: int) -> str:
    text = api.llama_vocab_get_text(vocab, token) if token >= 0 else b""
    return (text or b"").decode("utf-8", "replace")
