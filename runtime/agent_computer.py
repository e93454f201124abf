"""The one computer of this process that the agent works on: who works with it, and who has its wheel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, TypeVar

from resources.translation import _
from runtime.computer_audit import ComputerAudit
from runtime.computer_events import (
    ActionSeen,
    ClipboardCopied,
    ComputerEvent,
    ComputerState,
    ReviewChanged,
    StateChanged,
    WheelChanged,
)
from runtime.computer_life import KNOWN, ComputerLife, as_orion
from runtime.errors import OrionError
from runtime.hands import Hands
from runtime.hosts_wanted import HostsWanted
from runtime.interruptible import Interruptible
from runtime.machines import Machines, Makers, eyes, owner_of
from runtime.messages import JsonObject
from runtime.surroundings import Place, Surroundings
from runtime.wheel import Wheel

if TYPE_CHECKING:
    from runtime.review import Review
    from runtime.session import Session
    from sandbox.actions import ActionEvent
    from sandbox.channel import Guest
    from sandbox.computer import Computer
    from sandbox.screen import Screen

__all__ = ["AgentComputer", "Place", "Surroundings"]

T = TypeVar("T")

SETTLING = 20.0
"""Seconds that collecting the agent's changes may take before it is stopped."""

COLLECTING = 600.0
"""Seconds that it may take at the end of a turn, when nobody waits for it."""


class AgentComputer:
    """The computer. Made by `Runtime.computer`, closed by the runtime, used from its loop only.

    Nothing starts before `start`, `build` or `ready`. One session works with it at a time, one action after
    the other; frames are streamed only while someone has subscribed to `screen`.
    """

    def __init__(self, around: Surroundings, makers: Makers | None = None) -> None:
        self._around = around
        self.hosts = HostsWanted(around, lambda: self._wheel.session, self._emit)
        owner = owner_of(around.home.root)
        self._machines = Machines(lambda: around.sandbox, self.hosts.operations, makers, owner)
        self._life = ComputerLife(
            self._machines,
            around.home.root / "sandbox.lock",
            around.door,
            told=lambda state: self._emit(StateChanged(state)),
            came=self._came,
            gone=self._gone,
        )
        self._listeners: list[Callable[[ComputerEvent], None]] = []
        self.audit = ComputerAudit(around.home.audit)
        self._eyes = eyes()
        self._computer: Computer | None = None
        self._review: Review | None = None
        self._wheel = Wheel()
        self._acting = asyncio.Lock()
        self._actions = Interruptible()
        self._hands = Hands(self, self._wheel, self._actions)
        self._turn: asyncio.Task[None] | None = None
        self._pushed = False
        self._idle: asyncio.TimerHandle | None = None
        self._stopping: asyncio.Task[None] | None = None

    # --- what it is ---------------------------------------------------------------------------------

    @property
    def state(self) -> ComputerState:
        return self._life.state

    @property
    def guest(self) -> Guest | None:
        """The desktop's guest while the computer runs."""
        return self._machines.guest if self.state.phase == "running" else None

    @property
    def screen(self) -> Screen | None:
        """Its screen while it runs; another object after each start (StateChanged tells)."""
        guest = self.guest
        return guest.screen if guest is not None else None

    @property
    def wheel(self) -> WheelChanged:
        """Who has the wheel now, as the event that told it."""
        session = self.worker
        if session is None:
            return WheelChanged(self._wheel.holder, self._wheel.session, paused=False)
        return WheelChanged(
            self._wheel.holder, self._wheel.session, session.paused, stepping=session.stepping
        )

    @property
    def worker(self) -> Session | None:
        """The session that works with it."""
        return self._around.working(self._wheel.session) if self._wheel.session else None

    @property
    def review(self) -> Review:
        """What the agent changed in its copy of the workspace; one object for the life of this one."""
        if self._review is None:
            from runtime.review import Review

            self._review = Review(
                self._around.workspace,
                self._around.home.changes,
                name=self._machines.config(desktop=True).name,
                told=lambda session, pending: self._emit(ReviewChanged(session, pending, self.review.newest)),
            )
        return self._review

    def subscribe(self, listener: Callable[[ComputerEvent], None]) -> Callable[[], None]:
        """Call `listener` with every event on the loop's thread; returns what ends that. While anyone
        listens, the computer is not stopped for being idle."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)
            self._rest()

        return unsubscribe

    # --- its life -----------------------------------------------------------------------------------

    async def build(self) -> None:
        """Make the image, minutes long; the state tells how far it is. Raises OrionError as it fails."""
        await self._life.build()

    async def start(self) -> None:
        """Start what is not running; those who ask meanwhile wait for the same start. Raises OrionError with
        the code that the state then has."""
        await self._life.start()
        self._rest()

    async def stop(self) -> None:
        """Stop it; what runs on it fails with one sentence. What the agent changed is collected before."""
        await self._collect(seconds=SETTLING)
        await self._life.stop(OrionError("computer_stopped"))

    async def restart(self) -> None:
        """Stop it and start it anew. Raises as `start`."""
        await self.stop()
        await self.start()

    async def reset(self) -> None:
        """Remove the containers and all that is in them, changes that were not collected included. Raises
        OrionError."""
        await self._life.reset()

    async def close(self) -> None:
        """Collect what the agent changed and stop everything, within bounds; idempotent."""
        if self._idle is not None:
            self._idle.cancel()
        if self._stopping is not None:
            await asyncio.wait([self._stopping], timeout=SETTLING)
        if self._turn is not None:
            await asyncio.wait([self._turn], timeout=SETTLING)
            self._turn.cancel()
            with suppress(asyncio.CancelledError):
                await self._turn
        await self.hosts.close()
        await self._life.close()
        await self._eyes.close()

    # --- for tools ----------------------------------------------------------------------------------

    def outdated(self) -> None:
        """The user's folder has changed: the next action brings the copy in the computer up to date first."""
        self._pushed = False

    async def ready(self, session: str) -> Computer:
        """The running computer, taken by `session`, with the workspace in it.

        Raises OrionError: `computer_in_use` (title) where another session works with it, or the code of what
        keeps it from running; an image that is missing is not built here.
        """
        self._hold(session)
        await self._life.start()
        if not self._pushed:
            await asyncio.gather(self._push(), self._settle())
            self._pushed = True
        if self._computer is None:
            raise await self.gone()
        return self._computer

    async def run(
        self,
        session: str,
        action: Callable[[Place], Awaitable[T]],
        *,
        where: Literal["desktop", "code"] = "desktop",
        yields: bool = True,
        log: JsonObject | None = None,
    ) -> T:
        """What `action` returns, run when no other runs; `log` ({call, action, arguments}) is entered into
        the audit log before, for what is no action of `place.computer`, which enters its own.

        It is cancelled where the machine is lost, and with `yields` where the user takes the wheel. Raises
        OrionError as `ready`, `wheel_taken`, or with the code of the loss; what `action` itself raises goes
        through, except the errors of the sandbox room, which become ours.
        """
        from sandbox.guest.peer import PeerGone

        async with self._acting:
            if self._wheel.holder == "user" and yields:
                raise OrionError("wheel_taken")
            computer = await self.ready(session)
            try:
                if log is not None:
                    await self.audit.enter("agent", session=session, **log)
                place = await self._place(computer, where)
                return await self._actions.run(action(place), yields=yields)
            except PeerGone as error:
                if where == "code":
                    await self._stop_code()
                    raise OrionError("computer_lost", fault="tool") from error
                raise await self.gone() from error
            except KNOWN as error:
                raise as_orion(error) from error

    async def _place(self, computer: Computer, where: Literal["desktop", "code"]) -> Place:
        if where == "code":
            return Place(await self._machines.code(), None)
        guest = self.guest
        if guest is None:
            raise await self.gone()
        return Place(guest, computer)

    # --- the user's hands ---------------------------------------------------------------------------

    async def user_input(self, steps: Sequence[JsonObject]) -> None:
        """The user's own mouse and keys; see Hands."""
        await self._hands.act(steps)
        self._rest()

    async def take_wheel(self) -> None:
        """Let the session that works wait, and end its mouse and keys; nothing where none works."""
        await self._hands.take()

    async def hand_back(self, note: str = "") -> str:
        """Give the wheel back; what the agent is told, "" where the user had not the wheel. See Hands."""
        return await self._hands.back(note)

    async def pause(self) -> None:
        """Let the running action finish and no other begin."""
        self._hands.pause()

    async def resume(self) -> None:
        """Go on after `pause`; where the user has the wheel, the same as `hand_back`."""
        await self._hands.back("")

    async def step(self) -> None:
        """Let exactly one more action of a paused session through."""
        self._hands.step()

    async def copy_out(self) -> str:
        """The text of its clipboard, for the user's. Raises OrionError where the computer does not run."""
        text = await self._hands.copy_out()
        self._emit(ClipboardCopied(text))
        return text

    async def paste_in(self, text: str) -> None:
        """Put the user's text into its clipboard. Raises as `copy_out`."""
        await self._hands.paste_in(text)

    # --- inside -------------------------------------------------------------------------------------

    def told_wheel(self) -> None:
        """Tell who has the wheel."""
        self._emit(self.wheel)

    async def gone(self) -> OrionError:
        """Why nothing can be done on it."""
        return await self._life.lost()

    def _emit(self, event: ComputerEvent) -> None:
        for listener in list(self._listeners):
            listener(event)

    def _hold(self, session: str) -> None:
        """Let `session` be the one that works until its turn ends. Raises OrionError `computer_in_use`."""
        if self._turn is not None and not self._turn.done():
            if self._wheel.session == session:
                return
            title = other.title if (other := self.worker) is not None else ""
            raise OrionError("computer_in_use", title=title or _("another chat"))
        self._wheel.give(session)
        self._pushed = False
        self._turn = asyncio.create_task(self._until_idle(session), name="turn on the computer")
        self.told_wheel()

    async def _until_idle(self, session: str) -> None:
        """Wait for the turn's end; then collect what it changed and let the wheel go."""
        worker = self._around.working(session)
        turn = worker.turn if worker is not None else ""
        if worker is not None:
            await worker.idle()
        self.hosts.ended()
        await self._collect(turn, COLLECTING)
        await self._hands.let_go()
        if worker is not None and worker.paused:
            worker.resume()
        self._wheel.give("")
        self.told_wheel()
        self._rest()
        await self._stop_code()

    async def _stop_code(self) -> None:
        """End the machine for code; one that is gone already is none."""
        with suppress(*KNOWN):
            await self._machines.stop_code()

    async def _push(self) -> None:
        """Bring the workspace into the computer. Raises OrionError."""
        try:
            await self.review.push()
        except KNOWN as error:
            raise as_orion(error) from error

    async def _settle(self) -> None:
        with suppress(*KNOWN):
            await self._machines.settled()

    async def _collect(self, turn: str = "", seconds: float = SETTLING) -> None:
        """Collect what the agent changed, within bounds: a computer that goes meanwhile or does not answer
        keeps it in its volume, and can always be stopped."""
        from sandbox.guest.peer import PeerError, PeerGone

        if self.guest is not None:
            with suppress(*KNOWN, PeerGone, PeerError):
                async with asyncio.timeout(seconds):
                    await self.review.collect(self._wheel.session, turn)

    def _came(self, guest: Guest) -> None:
        from runtime.guest_copy import guest_copy
        from sandbox.computer import Computer
        from sandbox.files import GuestFiles

        self._computer = Computer(guest, self.audit.log, self._seen, self._eyes)
        self._pushed = False
        self.review.attach(guest_copy(GuestFiles(guest.bulk)), self._machines.identity)

    def _gone(self, why: OrionError) -> None:
        self._computer = None
        if self._review is not None:
            self._review.detach()
        self._actions.end(why)

    def _seen(self, event: ActionEvent) -> None:
        self._emit(
            ActionSeen(
                session=self._wheel.session,
                id=event.id,
                phase=event.phase,
                action=event.action,
                summary=event.summary,
                point=event.point,
                verdict=event.verdict,
                seconds=event.seconds,
                time=event.time,
            )
        )
        if self.wheel.paused:  # the one step was taken
            self.told_wheel()

    def _rest(self) -> None:
        """Stop the computer after a while in which nobody works with it or watches."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        minutes = self._around.sandbox.idle_minutes
        if self.state.phase == "running" and minutes and not self._listeners and not self._wheel.session:
            self._idle = asyncio.get_running_loop().call_later(minutes * 60, self._sleep)

    def _sleep(self) -> None:
        self._stopping = asyncio.create_task(self._slept(), name="stop of the idle computer")

    async def _slept(self) -> None:
        with suppress(OrionError):
            await self.stop()
