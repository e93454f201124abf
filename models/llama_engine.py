"""The engine over llama.cpp: one model, text to tokens, and their evaluation."""

from __future__ import annotations

import ctypes
import hashlib
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from models import graphics, hardware
from models.bindings import Library
from models.embedding import Embedder
from models.engine import Aborted, Prefilled, TemplateSource, Tick
from models.errors import EngineError
from models.fit import choose
from models.footprint import CHUNK
from models.generation import LoadOptions, ModelInfo, Sampling
from models.gguf import Header, read_header
from models.native import Native, Shape, complaint, open_native
from models.pictures import MARK, Pictures, name_marks, split
from models.sampling import Sampler
from models.state_store import StateStore, fingerprint
from models.template import JOINT
from models.warm_memory import WarmMemory

_ABORTED = 2
PICTURE_GUESS = 576
"""Tokens that a picture is counted as before it is read."""

_JOINT = JOINT.encode()


class LlamaEngine:
    """Implements models.engine.Engine. EngineError from the constructor if this machine cannot run it."""

    def __init__(self) -> None:
        self._library = Library()
        self._api = self._library.api
        self._loaded: Native | None = None
        self._warm: WarmMemory | None = None
        self._name = ""
        self._pictures: Pictures | None = None
        self._shown: dict[str, bytes] = {}
        self._embedder: Embedder | None = None
        self._sampler: Sampler | None = None
        self._flag = ctypes.create_string_buffer(2)

    # --- loading ------------------------------------------------------------------------------------

    def load(self, options: LoadOptions, progress: Callable[[float], bool]) -> ModelInfo:
        self.park()
        self.close()
        header = read_header(Path(options.path))
        threads = options.threads or hardware.usable_cores()
        there = graphics.cards(self._api) if options.gpu_layers else ()
        batch = options.batch or (graphics.CARD_BATCH if there or options.projector else CHUNK)
        room = (options.ram_limit or hardware.memory_available()) + graphics.beyond(there)
        room -= _size(options.projector)
        fit = choose(header, options.window, options.window_cap, room, batch)
        on_card = graphics.layers(header, fit.window, options.gpu_layers, there)
        shape = Shape(fit.window, batch, threads, on_card)
        self._loaded = open_native(self._library, header, shape, self._flag, progress)
        self._warm = WarmMemory(self._loaded, options.pool_limit, self._store(options, header, shape))
        self._name = header.name
        if options.projector:
            projector = Path(options.projector)
            self._pictures = Pictures(self._library, self._loaded, projector, threads, bool(on_card))
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
            gpu_layers=on_card,
            sees=self._pictures is not None,
            cards=", ".join(card.name for card in there),
            gpu_build=bool(self._api.llama_supports_gpu_offload()),
        )

    def _store(self, options: LoadOptions, header: Header, shape: Shape) -> StateStore | None:
        """Where states of this model lie; they depend on the engine's build and the layout of its cache."""
        if not options.state_folder or options.state_limit <= 0:
            return None
        facts = (self._library.version, self._api.LLAMA_STATE_SEQ_VERSION, "f16", bool(shape.gpu_layers))
        name = fingerprint(header.parts, *facts)
        return StateStore(Path(options.state_folder), options.state_limit, name)

    def embed(self, options: LoadOptions, texts: list[str], tick: Tick) -> list[list[float]]:
        if self._embedder is None or self._embedder.options != options:
            if self._embedder is not None:
                self._embedder.close()
                self._embedder = None
            self._embedder = Embedder(self._library, options, self._flag)
        return self._embedder.embed(texts, tick)

    # --- text and tokens ----------------------------------------------------------------------------

    def template(self) -> TemplateSource:
        return self._need().template

    def count(self, prompt: str) -> int:
        text = name_marks(prompt, ()).encode("utf-8", "replace")
        known = self._memory().transcript  # whosever it is: only what it has not in common is tokenised
        tokens = known.plan(text, self._tokenise, self._is_control)
        return len(tokens) + PICTURE_GUESS * prompt.count(MARK)

    def _tokenise(self, text: bytes, first: bool) -> list[int]:
        """Control texts become their tokens; JOINT separates what must not be read as one."""
        loaded, api = self._need(), self._api
        begin = loaded.template.bos.encode()
        add = first and api.llama_vocab_get_add_bos(loaded.vocab) and not (begin and text.startswith(begin))
        tokens: list[int] = []
        for passage, picture in split(text):
            for piece in passage.split(_JOINT):
                room = len(piece) + 16
                found = (ctypes.c_int32 * room)()
                count = api.llama_tokenize(loaded.vocab, piece, len(piece), found, room, bool(add), True)
                tokens += found[: max(0, count)]
                add = False
            if picture in self._shown and self._pictures is not None:
                tokens += self._pictures.tokens(picture, self._shown[picture])
        return tokens

    def _is_control(self, token: int) -> bool:
        loaded = self._need()
        return token < 0 or bool(self._api.llama_vocab_is_control(loaded.vocab, token))

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

    def prefill(
        self,
        session: str,
        prompt: str,
        tick: Tick,
        *,
        private: bool = False,
        pictures: Sequence[bytes] = (),
    ) -> Prefilled:
        loaded, warm = self._need(), self._memory()
        if pictures and self._pictures is None:
            raise EngineError("model_sees_no_pictures", model=self._name)
        self._shown = {hashlib.sha256(picture).hexdigest(): picture for picture in pictures}
        text = name_marks(prompt, pictures).encode("utf-8", "replace")
        tokens = warm.known(session).plan(text, self._tokenise, self._is_control)
        if len(tokens) >= loaded.window:
            raise EngineError("context_overflow", prompt_tokens=len(tokens), window=loaded.window)
        if not tokens:
            raise EngineError("model_evaluation_failed", reason="the prompt is empty")
        warm.activate(session, private)
        known = warm.transcript
        shared = min(known.common(tokens), len(tokens) - 1)
        while shared and tokens[shared] < 0 and tokens[shared - 1] == tokens[shared]:
            shared -= 1  # a picture is evaluated as a whole
        shared = warm.forget_from(shared)
        known.restart(text, tokens, shared)
        tick(shared, len(tokens))
        stops = [at for at, token in enumerate(tokens) if token < 0] if pictures else []
        while known.held < len(tokens):
            known.held = self._advance(tokens, known.held, stops)
            tick(known.held, len(tokens))
        return Prefilled(len(tokens), shared)

    def _advance(self, tokens: list[int], start: int, stops: list[int]) -> int:
        """Evaluate the batch or the picture that begins at `start`; the position after it. `stops` are the
        places of pictures."""
        if self._pictures is not None and tokens[start] < 0:
            try:
                return self._pictures.evaluate(tokens, start)
            except Aborted:
                self._broke_off(_ABORTED)
        after = bisect_left(stops, start)
        end = min(
            start + self._need().chunk, stops[after] if after < len(stops) else len(tokens), len(tokens)
        )
        self._evaluate(tokens[start:end], start, last=end == len(tokens))
        return end

    def evict(self, session: str) -> None:
        if self._warm is not None:
            self._warm.evict(session)

    def park(self) -> None:
        if self._warm is not None:
            self._warm.park()

    # --- evaluating ---------------------------------------------------------------------------------

    def decode(self, sampling: Sampling) -> Iterator[bytes]:
        loaded, api = self._need(), self._api
        transcript, batch, context = self._memory().transcript, loaded.batch, loaded.context
        pieces, ends, window = loaded.pieces, loaded.ends, loaded.window
        evaluate = api.llama_decode
        note, now = loaded.decoding.note, time.perf_counter
        sampler = self._sampler = Sampler(api, sampling, loaded.vocab, transcript.tokens)
        sample = sampler.sample
        batch.n_tokens, batch.logits[0] = 1, 1
        chosen, place = batch.token, batch.pos
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
                chosen[0], place[0] = token, transcript.held
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

    def constrain(self, grammar: str, weights: Mapping[str, float]) -> bool:
        return self._sampler is not None and self._sampler.constrain(grammar, weights)

    def room(self) -> int:
        return self._need().window - self._memory().transcript.held

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
        warm = self._memory()
        held = self._api.llama_memory_seq_pos_max(self._need().memory, 0) + 1
        warm.transcript.held = min(warm.transcript.held, held)
        if held > warm.transcript.held:
            warm.transcript.held = warm.cut(warm.transcript.held)
        if code == _ABORTED:
            raise Aborted
        raise EngineError("model_evaluation_failed", reason=f"{complaint(self._library)} (code {code})")

    def abort(self) -> None:
        self._flag[0] = b"\1"

    def resume(self) -> None:
        self._flag[0] = b"\0"

    def close(self) -> None:
        loaded, self._loaded, self._warm = self._loaded, None, None
        pictures, self._pictures, self._shown = self._pictures, None, {}
        if pictures:
            pictures.close()
        if loaded:
            loaded.close()

    def _memory(self) -> WarmMemory:
        if self._warm is None:
            raise EngineError("model_load_failed", path="", reason="no model is loaded")
        return self._warm

    def _need(self) -> Native:
        if self._loaded is None:
            raise EngineError("model_load_failed", path="", reason="no model is loaded")
        return self._loaded


def _size(path: str) -> int:
    """Bytes of the file at `path`; 0 where there is none."""
    return Path(path).stat().st_size if path and Path(path).is_file() else 0
