"""The shells of a running machine, as the host uses them through its guest."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sandbox.errors import SandboxError
from sandbox.guest.peer import Peer, PeerError

LIMIT = 100_000
TIMEOUT = 120.0
PIECE = 1 << 16

OVER = 4_096
"""Bytes that may come beyond the limit: the line that tells of what was left out, and cut characters."""

Stopped = Literal["", "time", "output"]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command went. `output` is what came of both its outputs, with a line where `omitted` bytes are
    left out; bytes that are not UTF-8 are replaced. `code` is its exit code, or minus the signal that ended
    it. `stopped` says why it was stopped: it took too long, or printed without end. `ended`: the shell itself
    is gone, and the next command gets a new one in `folder`. `out_of_memory`: there was too little of it."""

    output: str
    code: int
    stopped: Stopped = ""
    omitted: int = 0
    ended: bool = False
    folder: str = ""
    out_of_memory: bool = False
    seconds: float = 0.0


def _nobody(text: str) -> None:
    del text


class GuestShell:
    """Runs commands in the machine of `control`. Raises SandboxError, and PeerGone when the machine is lost;
    a run that is cancelled stops its command."""

    def __init__(self, control: Peer) -> None:
        self._peer = control

    async def run(
        self,
        command: str,
        *,
        session: str = "",
        timeout: float = TIMEOUT,
        limit: int = LIMIT,
        told: Callable[[str], None] = _nobody,
    ) -> Ran:
        """Run `command` in the bash of `session`, which keeps folder and variables from one to the next.

        `told` gets the output as it comes, of a long one its beginning and at last its end. After `timeout`
        seconds the command is stopped with all it started; the shell lives on where that is possible.
        """
        asked = {"session": session, "timeout": timeout, "limit": limit}
        return await self._streamed("shell.run", command, asked, told)

    async def restart(self, session: str = "") -> None:
        """End the bash of `session` with everything it started."""
        try:
            await self._peer.call("shell.restart", session=session)
        except PeerError as error:
            raise _fault(error) from error

    async def execute(
        self,
        code: str,
        language: Literal["python", "bash"],
        *,
        timeout: float = TIMEOUT,
        limit: int = LIMIT,
        told: Callable[[str], None] = _nobody,
    ) -> Ran:
        """Run `code` once, in a process of its own that begins in /workspace and that nothing outlives in a
        machine without a desktop."""
        asked = {"language": language, "timeout": timeout, "limit": limit}
        return await self._streamed("process.run", code, asked, told)

    async def _streamed(self, op: str, text: str, asked: dict[str, Any], told: Callable[[str], None]) -> Ran:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        heard: list[str] = []
        room = int(asked["limit"]) + OVER

        def on_bytes(data: bytes, last: bool) -> None:
            piece = decoder.decode(data, last)
            if piece:
                heard.append(piece)
                told(piece)

        try:
            data = memoryview(text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise SandboxError("code_not_text") from error
        try:
            async with await self._peer.open(op, **asked) as call:
                for start in range(0, len(data), PIECE):
                    await call.send(bytes(data[start : start + PIECE]))
                await call.finish()
                while output := await call.receive():
                    room -= len(output)
                    if room < 0:  # the guest keeps to the limit; whatever took its place is not believed
                        raise PeerError("garbage", "it printed more than was asked for")
                    on_bytes(output, False)
                on_bytes(b"", True)
                return _ran("".join(heard), await call.result())
        except PeerError as error:
            raise _fault(error) from error


def _ran(output: str, result: dict[str, Any]) -> Ran:
    stopped = str(result.get("stopped", ""))
    try:
        return Ran(
            output=output,
            code=int(result.get("code", 0)),
            stopped="time" if stopped == "time" else "output" if stopped else "",
            omitted=int(result.get("omitted", 0)),
            ended=bool(result.get("ended")),
            folder=str(result.get("folder", ""))[:4_096],
            out_of_memory=bool(result.get("out_of_memory")),
            seconds=float(result.get("seconds", 0.0)),
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise PeerError("garbage", "a result that cannot be read") from error


def _fault(error: PeerError) -> SandboxError:
    if error.code in ("not_text", "too_large"):
        return SandboxError("code_not_text")
    return SandboxError("shell_start_failed", reason=error.text or error.code)
