"""The clipboard of the sandbox, read and written as text."""

from __future__ import annotations

import asyncio
from typing import Any

from sandbox.guest.call import Call, PeerError
from sandbox.guest.desk import GuestDesk
from sandbox.guest.peer import Operation

PATIENCE = 3.0
"""Seconds for the program that owns the clipboard to give it out."""
MOST = 4_000_000
"""Bytes of a clipboard; more is cut off."""


def operations(desk: GuestDesk) -> dict[str, Operation]:
    """`clipboard.read` → {text} and `clipboard.write` {text} → {}; PeerError("clipboard_unusable")."""
    del desk

    async def on_read(call: Call) -> dict[str, Any]:
        del call
        output = await _xclip("-o", "-target", "UTF8_STRING")
        return {"text": output[:MOST].decode("utf-8", "replace")}

    async def on_write(call: Call) -> dict[str, Any]:
        text = str(call.arguments.get("text") or "")
        await _xclip("-i", given=text.encode("utf-8", "replace"))
        return {}

    return {"clipboard.read": on_read, "clipboard.write": on_write}


async def _xclip(*arguments: str, given: bytes | None = None) -> bytes:
    """Run xclip. When it writes, it stays behind as the owner of the clipboard until another program takes
    it, so its output is no pipe: that would never end."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *("xclip", "-selection", "clipboard", *arguments),
            stdin=nothing if given is None else pipe,
            stdout=pipe if given is None else nothing,
            stderr=nothing,
        )
    except OSError as error:
        raise PeerError("clipboard_unusable", str(error)) from error
    try:
        async with asyncio.timeout(PATIENCE):
            output, _none = await process.communicate(given)
    except TimeoutError as error:
        raise PeerError("clipboard_unusable", "its owner does not answer") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output or b""
