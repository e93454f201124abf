"""What the user does with the agent's computer: their own mouse, keys and clipboard, and the wheel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from resources.translation import _
from runtime.computer_life import KNOWN
from runtime.errors import OrionError
from runtime.interruptible import Interruptible
from runtime.messages import JsonObject
from runtime.pictures import as_image
from runtime.wheel import Wheel
from sandbox.guest.peer import PeerError, PeerGone

if TYPE_CHECKING:
    from runtime.agent_computer import AgentComputer

AT_ONCE, PATIENCE = 0.4, 10.0
"""Seconds for listing the files: while the user's first click waits, and when the wheel is handed back."""

SEEING = 5.0
"""Seconds for what the wheel does not wait for: a picture of the screen, and that keys are let go of."""

TROUBLE = (*KNOWN, PeerError, PeerGone)
"""What may go wrong where the guest is asked for something that can be done without."""


class Hands:
    """The user's side of `computer`, one thing after the other. Made and used by AgentComputer."""

    def __init__(self, computer: AgentComputer, wheel: Wheel, actions: Interruptible) -> None:
        self._computer = computer
        self._wheel = wheel
        self._actions = actions
        self._turn = asyncio.Lock()
        self._listed = False

    async def act(self, steps: Sequence[JsonObject]) -> None:
        """Steps of the operation `input.act`; the first take the wheel from a session that works. Raises
        OrionError where the computer does not run."""
        async with self._turn:
            await self._take()
            self._wheel.doings.take(steps)
            await self._ask("input.act", steps=list(steps), settle=None, region=None)

    async def take(self) -> None:
        """Let the session that works wait, and end its mouse and keys; nothing where none works."""
        async with self._turn:
            await self._take()

    async def _take(self) -> None:
        session = self._computer.worker
        if self._wheel.holder == "user" or session is None or not session.busy:
            return
        self._wheel.take()
        session.pause(_("You took the wheel."))
        self._actions.end(OrionError("wheel_taken"), all_=False)
        self._computer.told_wheel()
        await self.let_go()
        self._wheel.before = await self._picture()
        found = await self._fingerprints(AT_ONCE)
        self._listed, self._wheel.files = found is not None, found or {}
        await self._computer.audit.enter("user", "take_wheel", {}, session=self._wheel.session)

    async def back(self, note: str) -> str:
        """Give the wheel back: the session hears what the user did, which is returned, sees the screen before
        and after, and goes on. Without the wheel it only lets a paused session go on: \"\"."""
        async with self._turn:
            session, text = self._computer.worker, ""
            if self._wheel.holder != "user":
                if session is not None:
                    session.resume(note)
            else:
                pictures = [found for found in (self._wheel.before, await self._picture()) if found]
                files = await self._fingerprints(PATIENCE) if self._listed else None
                after = self._wheel.files if files is None else files
                text = self._wheel.account(note, after, len(pictures))
                did = asdict(self._wheel.doings)
                await self._computer.audit.enter("user", "hand_back", did, session=self._wheel.session)
                self._wheel.give(self._wheel.session)
                if session is not None:
                    session.resume(text, tuple(as_image(picture) for picture in pictures))
            self._computer.told_wheel()
            return text

    def pause(self) -> None:
        """Let the running action of the session finish and no other begin."""
        if (session := self._computer.worker) is not None:
            session.pause(_("You paused it."))
            self._computer.told_wheel()

    def step(self) -> None:
        """Let one more action of the paused session through; nothing while the user has the wheel."""
        session = self._computer.worker
        if session is not None and self._wheel.holder != "user":
            session.step()
            self._computer.told_wheel()

    async def copy_out(self) -> str:
        """The text of its clipboard. Raises OrionError where the computer does not run."""
        return str((await self._ask("clipboard.read")).get("text", ""))

    async def paste_in(self, text: str) -> None:
        """Put `text` into its clipboard. Raises as `copy_out`."""
        await self._ask("clipboard.write", text=text)

    async def let_go(self) -> None:
        """Let go of every key and button that the agent holds down."""
        if self._computer.guest is not None:
            with suppress(*TROUBLE):
                async with asyncio.timeout(SEEING):
                    await self._ask("input.act", steps=[{"do": "let_go"}], settle=None, region=None)

    async def _ask(self, op: str, **arguments: object) -> JsonObject:
        guest = self._computer.guest
        if guest is None:
            raise await self._computer.gone()
        answer: Awaitable[JsonObject] = guest.control.call(op, **arguments)
        try:
            return await answer
        except PeerGone as error:
            raise await self._computer.gone() from error
        except PeerError as error:
            raise OrionError("computer_refused", fault="tool", reason=error.text) from error

    async def _fingerprints(self, seconds: float) -> dict[str, str] | None:
        """The files in the computer, or None where they cannot be had in that time."""
        found: dict[str, str] | None = None
        with suppress(*TROUBLE):
            async with asyncio.timeout(seconds):
                found = await self._computer.review.fingerprints()
        return found

    async def _picture(self) -> bytes | None:
        picture: bytes | None = None
        if (screen := self._computer.screen) is not None:
            with suppress(*TROUBLE):
                async with asyncio.timeout(SEEING):
                    picture = await screen.picture(form="jpeg")
        return picture
