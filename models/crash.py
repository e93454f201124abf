"""Reads from a dead worker's exit status and last words why it died."""

from __future__ import annotations

import signal
import sys

from models.errors import EngineError

_MEMORY = ("std::bad_alloc", "failed to allocate", "out of memory", "cannot allocate memory", "MemoryError")
_TELLING = ("GGML_ASSERT", "GGML_ABORT", "terminate called", "what():", "Error", "error", "failed")

_WINDOWS = {0xC0000005: "ACCESS_VIOLATION", 0xC000001D: "ILLEGAL_INSTRUCTION", 0xC0000409: "ABORT"}
_WINDOWS_NO_MEMORY = 0xC0000017


def cause_of_death(status: int, words: bytes, model: str, *, killed_for_memory: bool) -> EngineError:
    """The error for a worker that ended with `status` (negative: a signal) after writing `words` to stderr.

    `killed_for_memory`: the system has killed a process for want of memory meanwhile.
    """
    text = words.decode("utf-8", "replace")
    last = _last_line(text)
    code = status & 0xFFFFFFFF
    if any(sign in text for sign in _MEMORY) or code == _WINDOWS_NO_MEMORY:
        return EngineError("worker_out_of_memory", model=model, reason=last)
    if status == -getattr(signal, "SIGKILL", 9):
        if killed_for_memory:
            return EngineError("worker_out_of_memory", model=model, reason="the system ended it")
        return EngineError("worker_killed", model=model)
    if status in (-signal.SIGTERM, -signal.SIGINT):
        return EngineError("worker_killed", model=model)
    return EngineError("worker_crashed", model=model, how=_how(status, code), detail=last)


def _how(status: int, code: int) -> str:
    if status < 0:
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"
    if sys.platform == "win32" and code in _WINDOWS:
        return _WINDOWS[code]
    return f"exit code {status}"


def _last_line(text: str) -> str:
    """The most telling of the last lines, shortened; "" if it said nothing."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if any(sign in line for sign in _TELLING)]
    return (telling or lines or [""])[-1][:300]
