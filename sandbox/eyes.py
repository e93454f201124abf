"""Reads the text in a picture by a child process of its own, started when it is first needed."""

from __future__ import annotations

import asyncio
import json
import os
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.errors import SandboxError

LENGTH = struct.Struct(">I")
"""Before each message: its length. To the child go pictures (PNG), back come lists of lines as JSON."""

PATIENCE = 30.0
"""Seconds for one picture, the start of the child included."""
CLOSING = 2.0

_CREATION_FLAGS = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(
    subprocess, "CREATE_NEW_PROCESS_GROUP", 0
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in a picture, with the box around it in the picture's pixels; `score` from 0 to 1."""

    text: str
    x: int
    y: int
    width: int
    height: int
    score: float


class Eyes:
    """One reading child, run by `command` (this program's own `--worker ocr`). Used from one event loop;
    closed by its owner, after which it may be used again."""

    def __init__(self, command: Sequence[str], patience: float = PATIENCE) -> None:
        self._command = tuple(command)
        self._patience = patience
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    async def read(self, picture: bytes) -> list[Line]:
        """The lines in a PNG, from top to bottom. SandboxError eyes_failed(reason); the next call starts a
        new child."""
        async with self._turn:
            try:
                async with asyncio.timeout(self._patience):
                    return await self._ask(picture)
            except TimeoutError as error:
                await self.close()
                raise SandboxError("eyes_failed", reason="no answer in time") from error
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                await self.close()
                raise SandboxError("eyes_failed", reason=str(error) or "it ended") from error
            except asyncio.CancelledError:
                await self.close()
                raise

    async def close(self) -> None:
        """End the child; idempotent."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(CLOSING):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _ask(self, picture: bytes) -> list[Line]:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ},
                start_new_session=True,
                creationflags=_CREATION_FLAGS,
            )
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(LENGTH.pack(len(picture)) + picture)
        await stdin.drain()
        (length,) = LENGTH.unpack(await stdout.readexactly(LENGTH.size))
        found = json.loads(await stdout.readexactly(length))
        if "error" in found:
            raise ValueError(found["error"])
        return [Line(**line) for line in found["lines"]]
