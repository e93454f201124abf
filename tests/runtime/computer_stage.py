"""A machine without an engine: real peers, a real folder as its workspace, a screen painted by the test."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.agent_computer import AgentComputer
from runtime.assemble import Runtime
from runtime.computer_events import ComputerEvent, StateChanged
from runtime.events import ToolFailed
from runtime.machines import Makers
from runtime.session import Session
from sandbox.container import MachineConfig
from sandbox.errors import SandboxError
from sandbox.guest.files import Files
from sandbox.guest.peer import Call, Operation, Peer, PeerError
from sandbox.screen import Screen
from tests.runtime.scripted_house import Steps, Watch, call, talking
from tests.sandbox.guest.pairs import pair

WIDTH, HEIGHT = 1280, 800
SAY: dict[str, Any] = {"say": "Done."}
CLICK = call("computer", action="left_click", coordinate=[10, 20])
TOOLS = ["bash", "browser", "computer", "computer_elements", "echo", "str_replace_based_edit_tool"]


@dataclass
class Desk:
    """What the guest of a stage did and how it answers. While `held` is clear, actions hang; `page` is what
    the browser says."""

    folder: Path
    acts: list[dict[str, Any]] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    page: str = "Page: test"
    clipboard: str = ""
    let_go: int = 0

    def operations(self) -> dict[str, Operation]:
        files = Files(str(self.folder))
        return {
            "input.act": self.on_act,
            "pointer": self.on_pointer,
            "screen.picture": self.on_picture,
            "clipboard.read": self.on_read,
            "clipboard.write": self.on_write,
            "browser.do": self.on_browser,
            "files.list": files.list,
            "files.look": files.look,
            "files.get": files.get,
            "files.put": files.put,
            "files.remove": files.remove,
            "files.make_folder": files.make_folder,
        }

    async def on_act(self, call: Call) -> dict[str, Any]:
        if call.arguments["steps"] == [{"do": "let_go"}]:
            self.let_go += 1
            return {"pointer": [1, 2]}
        self.acts.append(dict(call.arguments))
        self.begun.set()
        if call.arguments.get("settle") is None:
            return {"pointer": [1, 2]}
        await self.held.wait()
        told = {"settled": True, "seconds": 0.01, "region_changed": 0.5, "screen_changed": 0.1}
        return told | {"touched": True, "pointer": [1, 2]}

    async def on_pointer(self, call: Call) -> dict[str, Any]:
        return {"x": 1, "y": 2}

    async def on_picture(self, call: Call) -> dict[str, Any]:
        from PIL import Image

        size = tuple(call.arguments.get("size") or (WIDTH, HEIGHT))
        packed = io.BytesIO()
        kind = str(call.arguments.get("form", "png"))
        Image.new("RGB", (int(size[0]), int(size[1])), (len(self.acts) % 256, 80, 80)).save(packed, kind)
        await call.send(packed.getvalue())
        await call.finish()
        return {}

    async def on_read(self, call: Call) -> dict[str, Any]:
        return {"text": self.clipboard}

    async def on_write(self, call: Call) -> dict[str, Any]:
        self.clipboard = str(call.arguments["text"])
        return {}

    async def on_browser(self, call: Call) -> dict[str, Any]:
        self.acts.append(dict(call.arguments))
        if "refuse" in str(call.arguments.get("url", "")):
            raise PeerError("browser", "It could not be opened.")
        return {"text": self.page}


@dataclass
class StageGuest:
    """What AgentComputer uses of a Guest."""

    control: Peer
    bulk: Peer
    screen: Screen
    closing: AsyncExitStack

    async def close(self) -> None:
        await self.screen.close()
        await self.closing.aclose()


class StageMachine:
    """A machine over `desk`; `failing` is raised by the next start, `lose` takes it away."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.guest: StageGuest | None = None
        self.volume_identity = "stage"
        self.failing: SandboxError | None = None
        self.broken = False
        self.starts = self.stops = self.resets = 0
        self.config: MachineConfig | None = None
        self.starting = asyncio.Event()
        self.may_start = asyncio.Event()
        self.may_start.set()
        self.may_build = asyncio.Event()
        self.may_build.set()
        self.stopped = asyncio.Event()
        self._lost: asyncio.Future[SandboxError] | None = None

    async def start(self, told: Callable[[str], None] = lambda line: None) -> StageGuest:
        self.starts += 1
        self.starting.set()
        told("starting")
        await self.may_start.wait()
        if self.failing is not None:
            failing, self.failing = self.failing, None
            raise failing
        broken, self.broken = self.broken, False
        assert not broken
        stack = AsyncExitStack()
        operations = self.desk.operations()
        control, _ = await stack.enter_async_context(pair(guest=operations))
        bulk, _ = await stack.enter_async_context(pair(guest=operations))
        self._lost = asyncio.get_running_loop().create_future()
        self.guest = StageGuest(control, bulk, Screen(bulk, WIDTH, HEIGHT), stack)
        return self.guest

    async def settled(self) -> bool:
        return True

    async def wait_lost(self) -> SandboxError:
        assert self._lost is not None
        return await asyncio.shield(self._lost)

    def lose(self, code: str = "guest_gone") -> None:
        """The machine is gone: its streams end, and `wait_lost` says why."""
        assert self.guest is not None
        assert self._lost is not None
        self.guest.control.close()
        self.guest.bulk.close()
        self._lost.set_result(SandboxError(code, reason="test"))

    async def leave(self) -> None:
        guest, self.guest = self.guest, None
        if guest is not None:
            await guest.close()

    async def stop(self) -> None:
        self.stops += 1
        await self.leave()
        self.stopped.set()

    async def reset(self) -> None:
        self.resets += 1
        await self.stop()


class StageEngine:
    async def close(self) -> None:
        return None


def makers(
    machine: StageMachine, code: StageMachine | None = None, *, engine: SandboxError | None = None
) -> Makers:
    """The edge to Docker, with `machine`, and `code` for code, behind it; `engine` is raised where one is
    looked for."""

    async def find(host: str) -> StageEngine:
        del host
        if engine is not None:
            raise engine
        return StageEngine()

    def made(_engine: Any, config: MachineConfig, operations: Mapping[str, Any]) -> StageMachine:
        del operations
        found = machine if config.desktop or code is None else code
        found.config = config
        return found

    async def build(_engine: Any, told: Callable[[str, float], None]) -> str:
        told("step", 0.5)
        await machine.may_build.wait()
        return "image"

    return Makers(find, made, build)


class Seen:
    """A watcher of the computer that lets a test wait for an event."""

    def __init__(self, computer: AgentComputer, patience: float = 20.0) -> None:
        self.patience = patience
        self.events: list[ComputerEvent] = []
        self._arrived = asyncio.Event()
        self.stop = computer.subscribe(self._take)

    def _take(self, event: ComputerEvent) -> None:
        self.events.append(event)
        self._arrived.set()

    @property
    def phases(self) -> list[str]:
        """The phases gone through, each once in a row."""
        found = [event.state.phase for event in self.events if isinstance(event, StateChanged)]
        return [phase for place, phase in enumerate(found) if place == 0 or found[place - 1] != phase]

    async def until(self, holds: Callable[[ComputerEvent], bool]) -> Any:
        """The first event for which `holds` is true, as soon as there is one."""
        async with asyncio.timeout(self.patience):
            while True:
                for event in self.events:
                    if holds(event):
                        return event
                self._arrived.clear()
                await self._arrived.wait()


@dataclass
class Stage:
    """A runtime with one open session and a computer over a stage machine."""

    runtime: Runtime
    session: Session
    watch: Watch
    machine: StageMachine
    code: StageMachine
    computer: AgentComputer
    seen: Seen

    @property
    def desk(self) -> Desk:
        return self.machine.desk

    async def done(self) -> Any:
        """Until the turn and what follows it on the computer are over."""
        found = await self.watch.until("done")
        await self.seen.until(lambda event: event.type == "wheel_changed" and event.holder == "nobody")
        return found


@asynccontextmanager
async def staged(home: Path, steps: Steps, *, autonomy: str = "auto", **changes: Any) -> AsyncIterator[Stage]:
    """A session that plays `steps` with the tools of the computer."""
    folder = home / "guest"
    folder.mkdir(parents=True)
    async with talking(home, steps, **{"allowed_tools": TOOLS} | changes) as (runtime, session, watch):
        await session.use(autonomy="auto" if autonomy == "auto" else "semi")
        desk = Desk(folder)
        desk.held.set()
        machine, code = StageMachine(desk), StageMachine(desk)
        computer = AgentComputer(runtime, makers(machine, code))
        runtime.__dict__["computer"] = computer
        yield Stage(runtime, session, watch, machine, code, computer, Seen(computer))


def failures(stage: Stage) -> list[ToolFailed]:
    """The calls that failed so far."""
    return stage.watch.of("tool_call_failed")


async def acted(stage: Stage, count: int) -> None:
    """Until the guest has been asked for `count` actions."""
    async with asyncio.timeout(20):
        while len(stage.desk.acts) < count:
            stage.desk.begun.clear()
            await stage.desk.begun.wait()
