"""How the tools that run programs report: what was printed, and in a sentence how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.messages import Text
from runtime.tools.tool import Failure, Ok, Result

if TYPE_CHECKING:
    from sandbox.shell import Ran


def reported(ran: Ran, timeout: float, *, memory_mb: int = 0, rest: str = "") -> Result:
    """A run as a result; `rest` says what became of the shell that was stopped, `memory_mb` how much memory
    it had. A program that fails is no failure of the tool: its code is for the model to judge."""
    note = _note(ran, timeout, memory_mb, rest)
    text = ran.output.rstrip("\n")
    text = f"{text}\n{note}".strip("\n") if note else text or "[It ended well and printed nothing.]"
    details = {"code": ran.code, "omitted": ran.omitted, "seconds": ran.seconds, "folder": ran.folder}
    if ran.stopped or ran.out_of_memory:
        return Failure("timeout" if ran.stopped == "time" else "error", text, details)
    return Ok((Text(text),), details)


def _note(ran: Ran, timeout: float, memory_mb: int, rest: str) -> str:
    if ran.out_of_memory and not memory_mb:
        return f"[The computer's memory was used up while it ran; it ended with {_code(ran.code)}.]"
    if ran.out_of_memory:
        return f"[It needed more than {memory_mb} MB of memory and was ended.]"
    if ran.stopped:
        why = f"after {timeout:g} seconds" if ran.stopped == "time" else "because its output had no end"
        after = _new_shell(ran) if ran.ended else rest
        return f"[It was stopped {why}.{' ' + after if after else ''}]"
    if ran.ended:
        return f"[The shell ended with {_code(ran.code)}. {_new_shell(ran)}]"
    return f"[It ended with {_code(ran.code)}.]" if ran.code else ""


def _new_shell(ran: Ran) -> str:
    return f"The next command gets a new shell in {ran.folder}; variables are gone."


def _code(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
