"""What the window may ask of the agent's computer; questions to the desk like its own methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

    from desktop.desk import Desk
    from desktop.live.frames import FrameBox
    from runtime.agent_computer import AgentComputer
    from runtime.assemble import Runtime
    from sandbox.screen import Frame, Screen

Plain = dict[str, Any]
Step = dict[str, Any]


class DeskComputer:
    """The desk's end of the one AgentComputer of the runtime. Lives on the runtime's loop; `listener` gets
    each event there, `pictured` is called when `frames` has something new. Frames are streamed only while
    somebody watches."""

    def __init__(
        self,
        runtime: Runtime,
        listener: Callable[[Any], None],
        frames: FrameBox | None,
        pictured: Callable[[], None],
    ) -> None:
        self._runtime = runtime
        self._listener = listener
        self._frames = frames
        self._pictured = pictured
        self._made: AgentComputer | None = None
        self._unsubscribe: list[Callable[[], None]] = []
        self._watching = False
        self._screen: Screen | None = None
        self._let_screen_go: Callable[[], None] = lambda: None
        self._building: asyncio.Task[None] | None = None
        self._steps: list[Step] = []
        self._steering = False

    @property
    def computer(self) -> AgentComputer:
        """The computer; listened to from the first use on."""
        if self._made is None:
            self._made = self._runtime.computer
            self._unsubscribe.append(self._made.subscribe(self._on_event))
        return self._made

    def tell(self) -> None:
        """Say to the listener how everything is now."""
        from runtime.computer_events import StateChanged

        self._listener(StateChanged(self.computer.state))
        self._listener(self.computer.wheel)

    def watch(self, on: bool) -> None:
        """Stream the screen from now on, or no longer."""
        self._watching = on
        self._follow()

    async def steer(self, steps: list[Step]) -> None:
        """The user's mouse and keys, in their order; a move that was overtaken by another is left out."""
        for step in steps:
            moves = len(self._steps) > 1 and all(one["do"] == "move" for one in (*self._steps[-2:], step))
            if moves:
                self._steps.pop()
            self._steps.append(step)
        if self._steering:
            return
        self._steering = True
        try:
            while self._steps:
                now, self._steps = self._steps, []
                await self.computer.user_input(now)
        finally:
            self._steering = False
            self._steps = []

    async def build(self) -> None:
        """Build the image and start the sandbox; `cancel_build` ends it, which is no error."""
        import asyncio  # here and not above: the first frame must not wait for it

        self._building = task = asyncio.create_task(self.computer.build())
        try:
            await asyncio.wait({task})
        finally:
            self._building = None
            task.cancel()
        if not task.cancelled():
            task.result()
            await self.computer.start()

    def cancel_build(self) -> None:
        """Leave off building."""
        if self._building is not None:
            self._building.cancel()

    def close(self) -> None:
        """Listen and watch no more; idempotent. The computer belongs to the runtime."""
        self._watching = False
        self._let_screen_go()
        self._screen, self._let_screen_go = None, lambda: None
        while self._unsubscribe:
            self._unsubscribe.pop()()
        self.cancel_build()

    def _on_event(self, event: Any) -> None:
        self._listener(event)
        if event.type == "state_changed":
            self._follow()

    def _follow(self) -> None:
        """Listen to the screen there is, which is another one after each start."""
        screen = self.computer.screen if self._watching else None
        if screen is self._screen:
            return
        self._let_screen_go()
        self._screen, self._let_screen_go = screen, lambda: None
        if screen is not None and self._frames is not None:
            self._frames.open(screen.width, screen.height)
            self._let_screen_go = screen.subscribe(self._on_frame)

    def _on_frame(self, frame: Frame) -> None:
        if self._frames is not None and self._frames.put(frame):
            self._pictured()


async def begin(desk: Desk) -> None:
    """Listen to the computer, and be told how it is."""
    desk.computer.tell()


async def watch(desk: Desk, on: bool) -> None:
    """Stream the screen while the pane can be seen."""
    desk.computer.watch(on)


async def remedy(desk: Desk, name: str) -> None:
    """Do what a state offers: build, start, retry, stop, restart, reset."""
    computer = desk.computer.computer
    if name == "build":
        await desk.computer.build()
    else:
        doing = {
            "start": computer.start,
            "retry": computer.start,
            "stop": computer.stop,
            "restart": computer.restart,
            "reset": computer.reset,
        }
        await doing[name]()


async def cancel_build(desk: Desk) -> None:
    """Leave off building."""
    desk.computer.cancel_build()


async def steer(desk: Desk, steps: list[Step]) -> None:
    """The user's own mouse and keys."""
    await desk.computer.steer(steps)


async def hand_back(desk: Desk, note: str) -> str:
    """Give the wheel back with a note; returns what the agent was told, "" where the wheel was not taken."""
    return await desk.computer.computer.hand_back(note)


async def pause(desk: Desk) -> None:
    """Let the agent wait after what it is doing."""
    await desk.computer.computer.pause()


async def resume(desk: Desk) -> None:
    """Let the agent go on."""
    await desk.computer.computer.resume()


async def step(desk: Desk) -> None:
    """Let the agent do one more action."""
    await desk.computer.computer.step()


async def copy_out(desk: Desk) -> str:
    """The text of the sandbox's clipboard."""
    return await desk.computer.computer.copy_out()


async def paste_in(desk: Desk, text: str) -> None:
    """Put a text into the sandbox's clipboard."""
    await desk.computer.computer.paste_in(text)
