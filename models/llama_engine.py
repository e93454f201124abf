"""The engine over llama.cpp: one model, one live sequence, and a bounded pool of other sessions' states."""

from __future__ import annotations

import ctypes
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from models import hardware
from models.bindings import Library
from models.engine import Aborted, Prefilled, TemplateSource, Tick
from models.errors import EngineError
from models.fit import CHUNK, choose
from models.generation import LoadOptions, ModelInfo, Sampling
from models.gguf import read_header
from models.governor import Governor
from models.sampling import Sampler
from models.template import JOINT
from models.transcript import Transcript

_CONTROL = 3
"""The token type of a control token in the file's vocabulary."""

_SPM = 1
_ABORTED = 2
_BYTES_A_SECOND = 1e9
"""Weights that the slowest machine worth using reads in a second, when nothing else runs."""

_JOINT = JOINT.encode()


@dataclass(slots=True)
class _Saved:
    """The state of a session that is not the live one."""

    transcript: Transcript
    state: ctypes.Array[ctypes.c_char]


@dataclass(slots=True)
class _Loaded:
    """Native handles of a model; freed together."""

    model: Any
    context: Any
    vocab: Any
    memory: Any
    batch: Any
    template: TemplateSource
    window: int
    pool_limit: int
    decoding: Governor
    reading: Governor
    ends: set[int] = field(default_factory=set)
    pieces: dict[int, bytes] = field(default_factory=dict)


class LlamaEngine:
    """Implements models.engine.Engine. EngineError from the constructor if this machine cannot run it.

    Switching sessions copies the state of the live one into the pool (13 ms for 160 MB, measured) instead of
    keeping several sequences in one context, where the attention of each would run over the cells of all.
    """

    def __init__(self) -> None:
        self._library = Library()
        self._api = self._library.api
        self._loaded: _Loaded | None = None
        self._live = ""
        self._transcript = Transcript()
        self._pool: OrderedDict[str, _Saved] = OrderedDict()
        self._flag = ctypes.create_string_buffer(2)
        self._sampler: Sampler | None = None

    # --- loading ------------------------------------------------------------------------------------

    def load(self, options: LoadOptions, progress: Callable[[float], bool]) -> ModelInfo:
        self.close()
        header = read_header(Path(options.path))
        threads = options.threads or hardware.usable_cores()
        fit = choose(
            header, options.window, options.window_cap, options.ram_limit or hardware.memory_available()
        )
        api = self._api
        model = self._open_model(options.path, progress)
        context = self._open_context(model, fit.window, threads)
        if not context:
            api.llama_model_free(model)
            raise EngineError("worker_out_of_memory", model=header.name, reason=self._complaint())
        vocab = api.llama_model_get_vocab(model)
        self._loaded = _Loaded(
            model=model,
            context=context,
            vocab=vocab,
            memory=api.llama_get_memory(context),
            batch=self._batch(),
            template=self._template(
                header.chat_template, vocab, header.metadata.get("tokenizer.ggml.token_type")
            ),
            window=min(fit.window, int(api.llama_n_ctx(context))),
            pool_limit=options.pool_limit,
            decoding=Governor(threads, header.tensor_bytes / _BYTES_A_SECOND),
            reading=Governor(threads, header.tensor_bytes / (8 * _BYTES_A_SECOND), patience=1),
        )
        self._interruptible(context)
        return ModelInfo(
            path=options.path,
            name=header.name,
            architecture=header.architecture,
            quantisation=header.quantisation,
            size=header.size,
            window=self._loaded.window,
            trained_window=header.context_length,
            threads=threads,
            predicted_bytes=fit.predicted,
            tools_in_template=False,
        )

    def _open_model(self, path: str, progress: Callable[[float], bool]) -> Any:
        api = self._api

        stopped = False

        def on_progress(fraction: float, _data: Any) -> bool:
            nonlocal stopped
            stopped = not progress(fraction)
            return not stopped

        parameters = api.llama_model_default_params()
        parameters.n_gpu_layers = 0
        callback = api.llama_progress_callback(on_progress)
        parameters.progress_callback = callback
        model = api.llama_model_load_from_file(path.encode(sys.getfilesystemencoding()), parameters)
        if stopped:
            raise Aborted
        if not model:
            raise EngineError("model_load_failed", path=path, reason=self._complaint())
        return model

    def _open_context(self, model: Any, window: int, threads: int) -> Any:
        api = self._api
        parameters = api.llama_context_default_params()
        parameters.n_ctx = window
        parameters.n_batch = parameters.n_ubatch = CHUNK
        parameters.n_seq_max = 1
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.no_perf = True
        # On a processor, flash attention makes decoding slower: 54 against 32 ms a token at 4,096 tokens.
        parameters.flash_attn_type = api.LLAMA_FLASH_ATTN_TYPE_DISABLED
        return api.llama_init_from_model(model, parameters)

    def _batch(self) -> Any:
        batch = self._api.llama_batch_init(CHUNK, 0, 1)
        for at in range(CHUNK):
            batch.n_seq_id[at], batch.seq_id[at][0], batch.logits[at] = 1, 0, 0
        return batch

    def _interruptible(self, context: Any) -> None:
        """Let `abort` stop a running computation. The library asks a C function before every operation; a
        Python one would take the interpreter lock each time, so strlen of a flag byte answers instead."""
        library = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
        asked = ctypes.cast(library.strlen, self._api.ggml_abort_callback)
        self._flag[0] = b"\0"
        self._api.llama_set_abort_callback(context, asked, ctypes.cast(self._flag, ctypes.c_void_p))

    def _template(self, source: str, vocab: Any, types: Any) -> TemplateSource:
        api = self._api
        controls = [token for token, kind in enumerate(types or ()) if kind == _CONTROL]
        texts = (api.llama_vocab_get_text(vocab, token) or b"" for token in controls)
        return TemplateSource(
            text=source,
            bos=self._text_of(vocab, api.llama_vocab_bos(vocab)),
            eos=self._text_of(vocab, api.llama_vocab_eos(vocab)),
            controls=tuple(text.decode("utf-8", "replace") for text in texts),
        )

    def _text_of(self, vocab: Any, token: int) -> str:
        text = self._api.llama_vocab_get_text(vocab, token) if token >= 0 else b""
        return (text or b"").decode("utf-8", "replace")

    def _complaint(self) -> str:
        return self._library.complaints[-1] if self._library.complaints else "the library gave no reason"

    # --- text and tokens ----------------------------------------------------------------------------

    def template(self) -> TemplateSource:
        return self._need().template

    def count(self, prompt: str) -> int:
        return len(self._tokenise(prompt.encode("utf-8", "replace"), True))

    def _tokenise(self, text: bytes, first: bool) -> list[int]:
        """Control texts become their tokens; JOINT separates what must not be read as one."""
        loaded, api = self._need(), self._api
        begin = loaded.template.bos.encode()
        add = first and api.llama_vocab_get_add_bos(loaded.vocab) and not (begin and text.startswith(begin))
        tokens: list[int] = []
        for piece in text.split(_JOINT):
            room = len(piece) + 16
            found = (ctypes.c_int32 * room)()
            count = api.llama_tokenize(loaded.vocab, piece, len(piece), found, room, bool(add), True)
            tokens += found[: max(0, count)]
            add = False
        return tokens

    def _is_control(self, token: int) -> bool:
        loaded = self._need()
        return bool(self._api.llama_vocab_is_control(loaded.vocab, token))

    def _learn(self, token: int) -> bytes:
        """The bytes of a token seen for the first time; notes whether it ends a reply."""
        loaded, api = self._need(), self._api
        if api.llama_vocab_is_eog(loaded.vocab, token):
            loaded.ends.add(token)
        room = 256
        while True:
            buffer = ctypes.create_string_buffer(room)
            size = api.llama_token_to_piece(loaded.vocab, token, buffer, room, 0, True)
            if size >= 0:
                loaded.pieces[token] = buffer.raw[:size]
                return loaded.pieces[token]
            room = -size

    # --- the memory of sessions ---------------------------------------------------------------------

    def prefill(self, session: str, prompt: str, tick: Tick) -> Prefilled:
        loaded = self._need()
        text = prompt.encode("utf-8", "replace")
        known = self._known(session)
        tokens = known.plan(text, self._tokenise, self._is_control)
        if len(tokens) >= loaded.window:
            raise EngineError("context_overflow", prompt_tokens=len(tokens), window=loaded.window)
        if not tokens:
            raise EngineError("model_evaluation_failed", reason="the prompt is empty")
        self._activate(session)
        known = self._transcript
        shared = self._forget_from(min(known.common(tokens), len(tokens) - 1))
        known.restart(text, tokens, shared)
        tick(shared, len(tokens))
        for start in range(shared, len(tokens), CHUNK):
            piece = tokens[start : start + CHUNK]
            self._evaluate(piece, start, last=start + CHUNK >= len(tokens))
            known.held = start + len(piece)
            tick(known.held, len(tokens))
        return Prefilled(len(tokens), shared)

    def _known(self, session: str) -> Transcript:
        if session == self._live:
            return self._transcript
        saved = self._pool.get(session)
        return saved.transcript if saved else Transcript()

    def _activate(self, session: str) -> None:
        """Make `session` the live one: the present one goes to the pool, an earlier state comes back."""
        if session == self._live:
            return
        loaded, api = self._need(), self._api
        saved = self._pool.pop(session, None)
        self._save_live()
        api.llama_memory_clear(loaded.memory, False)
        self._live, self._transcript = session, saved.transcript if saved else Transcript()
        if saved and not api.llama_state_seq_set_data(
            loaded.context, ctypes.cast(saved.state, ctypes.POINTER(ctypes.c_uint8)), len(saved.state), 0
        ):
            api.llama_memory_clear(loaded.memory, False)
            self._transcript.held = 0

    def _save_live(self) -> None:
        loaded, api = self._need(), self._api
        if not self._live or not self._transcript.held:
            return
        size = api.llama_state_seq_get_size(loaded.context, 0)
        if size > loaded.pool_limit:
            return
        while (
            self._pool and size + sum(len(saved.state) for saved in self._pool.values()) > loaded.pool_limit
        ):
            self._pool.popitem(last=False)
        state = ctypes.create_string_buffer(size)
        pointer = ctypes.cast(state, ctypes.POINTER(ctypes.c_uint8))
        if api.llama_state_seq_get_data(loaded.context, pointer, size, 0) == size:
            self._pool[self._live] = _Saved(self._transcript, state)

    def _forget_from(self, position: int) -> int:
        """Drop what the live sequence holds from `position` on; a memory that cannot forget a part (recurrent
        models) forgets all. How many tokens remain."""
        loaded, api = self._need(), self._api
        if position >= self._transcript.held:
            return position
        if position and api.llama_memory_seq_rm(loaded.memory, 0, position, -1):
            return position
        api.llama_memory_clear(loaded.memory, False)
        return 0

    def evict(self, session: str) -> None:
        self._pool.pop(session, None)
        if session == self._live and self._loaded:
            self._api.llama_memory_clear(self._loaded.memory, False)
            self._live, self._transcript = "", Transcript()

    # --- evaluating ---------------------------------------------------------------------------------

    def decode(self, sampling: Sampling) -> Iterator[bytes]:
        loaded, api = self._need(), self._api
        transcript, batch, context = self._transcript, loaded.batch, loaded.context
        pieces, ends, window = loaded.pieces, loaded.ends, loaded.window
        evaluate = api.llama_decode
        note, now = loaded.decoding.note, time.perf_counter
        sampler = self._sampler = Sampler(api, sampling, loaded.vocab, transcript.tokens)
        sample = sampler.sample
        batch.n_tokens, batch.logits[0] = 1, 1
        try:
            while True:
                token = sample(context)
                piece = pieces.get(token)
                if piece is None:
                    piece = self._learn(token)
                if token in ends:
                    return
                yield piece
                if transcript.held >= window:
                    return
                batch.token[0], batch.pos[0] = token, transcript.held
                begin = now()
                code = evaluate(context, batch)
                if code:
                    self._broke_off(code)
                if note(now() - begin):
                    self._set_threads()
                transcript.append(token, piece)
        finally:
            batch.logits[0] = 0
            sampler.close()
            self._sampler = None

    def constrain(self, grammar: str) -> bool:
        return self._sampler is not None and self._sampler.constrain(grammar)

    def room(self) -> int:
        return self._need().window - self._transcript.held

    def _evaluate(self, tokens: list[int], start: int, *, last: bool) -> None:
        loaded = self._need()
        batch = loaded.batch
        batch.n_tokens = len(tokens)
        for at, token in enumerate(tokens):
            batch.token[at] = token
            batch.pos[at] = start + at
        batch.logits[len(tokens) - 1] = last
        begin = time.perf_counter()
        code = self._api.llama_decode(loaded.context, batch)
        batch.logits[len(tokens) - 1] = 0
        if code:
            self._broke_off(code)
        if loaded.reading.note(time.perf_counter() - begin, len(tokens)):
            self._set_threads()

    def _set_threads(self) -> None:
        loaded = self._need()
        loaded.reading.follow(loaded.decoding)
        loaded.decoding.follow(loaded.reading)
        self._api.llama_set_n_threads(loaded.context, loaded.decoding.threads, loaded.reading.threads)

    def _broke_off(self, code: int) -> None:
        """Bring transcript and memory back in step after a failed evaluation, then raise."""
        loaded = self._need()
        held = self._api.llama_memory_seq_pos_max(loaded.memory, 0) + 1
        self._transcript.held = min(self._transcript.held, held)
        if held > self._transcript.held:
            self._transcript.held = self._forget_from(self._transcript.held)
        if code == _ABORTED:
            raise Aborted
        raise EngineError("model_evaluation_failed", reason=f"{self._complaint()} (code {code})")

    def abort(self) -> None:
        self._flag[0] = b"\1"

    def resume(self) -> None:
        self._flag[0] = b"\0"

    def close(self) -> None:
        loaded, self._loaded = self._loaded, None
        self._pool.clear()
        self._live, self._transcript = "", Transcript()
        if loaded:
            self._api.llama_batch_free(loaded.batch)
            self._api.llama_free(loaded.context)
            self._api.llama_model_free(loaded.model)

    def _need(self) -> _Loaded:
        if self._loaded is None:
            raise EngineError("model_load_failed", path="", reason="no model is loaded")
        return self._loaded
