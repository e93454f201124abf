"""A worker without a model, whose engine misbehaves as the first argument says."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from models.engine import Prefilled, TemplateSource, Tick
from models.errors import EngineError
from models.generation import LoadOptions, ModelInfo, Sampling
from models.worker import run

WORDS = {
    "plain": [b"Hello", b" world", b"!"],
    "split": [bytes([byte]) for byte in "héllo 🙂 wörld".encode()],
    "broken": [b"ok ", b"\xf0\x9f", b"."],
    "reasoning": [b"<th", b"ink>\nhm", b"m\n</thi", b"nk>\n\n42"],
}


class FakeEngine:
    """Implements models.engine.Engine without a model."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._stopped = threading.Event()

    def load(self, options: LoadOptions, progress: Callable[[float], bool]) -> ModelInfo:
        if self._mode == "unloadable":
            raise EngineError("model_load_failed", path=options.path, reason="it is a fake")
        if self._mode == "memory":
            raise MemoryError
        if self._mode == "bad_alloc":
            sys.stderr.write("terminate called after throwing an instance of 'std::bad_alloc'\n")
            sys.stderr.flush()
            os.abort()
        progress(1.0)
        return ModelInfo(options.path, "fake", "fake", "F32", 1, 1000, 1000, 1, 1, False)

    def template(self) -> TemplateSource:
        return TemplateSource("{% for m in messages %}{{ m.content }}\n{% endfor %}", "", "", ())

    def count(self, prompt: str) -> int:
        return len(prompt.split())

    def prefill(
        self,
        session: str,
        prompt: str,
        tick: Tick,
        *,
        private: bool = False,
        pictures: Sequence[bytes] = (),
    ) -> Prefilled:
        tick(0, 10)
        if self._mode == "assert":
            sys.stderr.write("x" * 200_000 + "\nggml.c:12: GGML_ASSERT(n > 0) failed\n")
            sys.stderr.flush()
            os.abort()
        if self._mode == "segfault":
            ctypes.string_at(0)
        tick(10, 10)
        return Prefilled(10, 0)

    def decode(self, sampling: Sampling) -> Iterator[bytes]:
        yield from WORDS.get(self._mode, [b"word "])
        if self._mode == "stuck":
            self._stopped.wait()
        if self._mode == "disobedient":
            threading.Event().wait()
        if self._mode == "noisy":
            os.write(1, b"a native library says hello\n" * 100)
        if self._mode == "stopped":
            os.kill(os.getpid(), signal.SIGSTOP)
        if self._mode == "endless":
            while True:
                yield b"word "

    def constrain(self, grammar: str, weights: Mapping[str, float]) -> bool:
        return False

    def room(self) -> int:
        return 500

    def embed(self, options: LoadOptions, texts: list[str], tick: Tick) -> list[list[float]]:
        return [[1.0] for _ in texts]

    def evict(self, session: str) -> None:
        """Nothing is kept."""

    def park(self) -> None:
        """Nothing is stored."""

    def abort(self) -> None:
        self._stopped.set()

    def resume(self) -> None:
        self._stopped.clear()

    def close(self) -> None:
        """Nothing to free."""


def make(mode: str) -> FakeEngine:
    if mode == "no-cpu":
        raise EngineError("cpu_features_missing", features="avx2")
    if mode == "dies-at-start":
        sys.stderr.write("ImportError: nothing here\n")
        sys.exit(3)
    return FakeEngine(mode)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    sys.exit(run(lambda: make(sys.argv[1])))
