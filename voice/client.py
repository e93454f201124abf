"""The voice child as a door sees it: orders go out as small frames, events come back, and a dead child is
replaced."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import assert_never

from voice.config import VoiceConfig
from voice.errors import Field
from voice.events import Devices, Final, Level, Partial, Speaking, Spoken, State, Trouble, VoiceEvent
from voice.frames import HEAD, BrokenFrame, Edge, Frame, Touch, encode, event_of, length, parsed

RESTARTS = 3
"""How often in a row a child that ended by itself is replaced."""

SETTLED = 300.0
"""Seconds after which a child that lives clears that count."""

SILENCE = 30.0
"""Seconds without any frame after which a child is taken for hung; its beat comes far more often."""

DEPART = 3.0
"""Seconds that a child has to end after its stdin closed."""

FULL = 256 * 1024
"""Bytes that may wait for the child; with more, chunks of the answer are dropped."""

_ENDING = 1.0
"""Seconds in which a child that has closed its pipe should be gone."""

_STDERR_KEPT = 16 * 1024
_CHATTER = ("ALSA lib ", "Cannot connect to server", "jack server", "JackShm")
"""How lines of sound libraries begin that say nothing about the end of a process."""
_SECRET = re.compile(r"(?i)(_api_key|_token|_secret|_password)$|^ORION_KEY_")
_CREATION_FLAGS = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(
    subprocess, "CREATE_NEW_PROCESS_GROUP", 0
)


def default_command() -> tuple[str, ...]:
    """How this program starts its own voice child, from source or frozen."""
    if getattr(sys, "frozen", False):
        return (sys.executable, "--worker", "voice")
    launch = Path(__file__).resolve().parent.parent / "desktop" / "launch.py"
    return (sys.executable, str(launch), "--worker", "voice")


class VoiceClient:
    """One voice child at a time, used from one asyncio loop, in which `on_event` is called.

    Orders return at once and are nothing while no child runs. A child that ends by itself is told in one
    Trouble and replaced, at most RESTARTS times in a row; what it left open is closed by an empty Final and
    by a Spoken with what was surely heard. An *answer* is what is said between `expect` (or the first `say`
    after an end) and `end_of_answer`. Once it was interrupted or hushed its further chunks are dropped until
    the next `expect` or `end_of_answer`.
    """

    def __init__(self, command: Sequence[str], on_event: Callable[[VoiceEvent], None]) -> None:
        self._command = tuple(command)
        self._on_event = on_event
        self._config = VoiceConfig()
        self._process: asyncio.subprocess.Process | None = None
        self._life: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._deaths = 0
        self._answer = 0
        self._answering = False
        self._ledger = _Ledger()

    @property
    def pid(self) -> int:
        """The child's process id, 0 while none runs."""
        return self._process.pid if self._process is not None else 0

    async def start(self, config: VoiceConfig) -> None:
        """Start the child, or only configure the one that runs; returns when the process is there, and orders
        may be given from then on. A child that cannot be started is a Trouble."""
        self._config = config
        if self._life is not None and not self._life.done():
            self.configure(config)
            return
        self._closing.clear()
        self._deaths = 0
        started = asyncio.Event()
        self._life = asyncio.create_task(self._live(started), name="voice child")
        await started.wait()

    async def close(self) -> None:
        """End the child; idempotent. No event comes after it."""
        self._closing.set()
        life = self._life
        if self._process is not None:
            self._hang_up(self._process)
        if life is None:
            return
        done, _ = await asyncio.wait([life], timeout=DEPART)
        if not done:
            _kill(self._process)
        await life
        self._life = None

    def configure(self, config: VoiceConfig) -> None:
        """Hand the child a new configuration; what is being heard or said goes on."""
        self._config = config
        self._send({"t": "configure", "config": config.to_json()})

    def press(self) -> None:
        """The key goes down: listen, and be silent."""
        self._touch("press")

    def release(self) -> None:
        """The key comes up: what was said becomes a Final."""
        self._touch("release")

    def cancel(self) -> None:
        """Throw the utterance away; its Final is empty."""
        self._touch("cancel")

    def hush(self) -> None:
        """Stop speaking at once and expect no more of this answer."""
        self._touch("hush")

    def say(self, text: str) -> None:
        """A chunk of the answer as it streams (Markdown)."""
        if not self._answering:
            self._answer, self._answering = self._answer + 1, True
        self._send({"t": "say", "text": text, "answer": self._answer})

    def end_of_answer(self) -> None:
        """Everything of this answer was said to `say`; once it is heard, a Spoken comes."""
        if not self._answering:
            self._answer += 1
        self._answering = False
        self._edge("end")

    def expect(self) -> None:
        """The agent works on the last Final, in a turn of its own or in the running one; what is said from
        now on answers it. What was said before, and not hushed, is still spoken first."""
        self._answer, self._answering = self._answer + 1, True
        self._edge("expect")

    # --- the child's life -----------------------------------------------------------------------------

    async def _live(self, started: asyncio.Event) -> None:
        """Run one child after the other until closed, or until too many died."""
        loop = asyncio.get_running_loop()
        try:
            while not self._closing.is_set():
                born = loop.time()
                trouble = await self._run_one(started)
                if self._closing.is_set():
                    return
                self._deaths = 1 if loop.time() - born > SETTLED else self._deaths + 1
                for event in self._ledger.close():
                    self._on_event(event)
                if self._deaths > RESTARTS:
                    self._on_event(Trouble("voice_gave_up", {"times": self._deaths} | trouble.fields))
                    return
                self._on_event(trouble)
        finally:
            started.set()

    async def _run_one(self, started: asyncio.Event) -> Trouble:
        """The whole life of one child, and what to say of its end."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(),
                start_new_session=True,  # a Ctrl-C in a terminal reaches only the program
                creationflags=_CREATION_FLAGS,
            )
        except OSError as error:
            return Trouble("voice_child_ended", {"reason": str(error)})
        self._process = process
        words = bytearray()
        drain = asyncio.create_task(_drain(process.stderr, words))
        self.configure(self._config)
        started.set()
        if self._closing.is_set():
            self._hang_up(process)
        reason = "given up"
        try:
            reason = await self._listen(process)
        finally:
            self._hang_up(process)
            if not reason:  # it ends by itself: to kill it now would lose the status with which it did
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), _ENDING)
            if reason or not self._closing.is_set():
                _kill(process)
            await process.wait()
            self._process = None
            await drain
        return Trouble("voice_child_ended", {"reason": reason or _reason(process.returncode or 0, words)})

    async def _listen(self, process: asyncio.subprocess.Process) -> str:
        """Hand on events until the child ends; why it has to end, or "" when it ended by itself."""
        stream = process.stdout
        assert stream is not None
        try:
            while True:
                async with asyncio.timeout(SILENCE):
                    head = await stream.readexactly(HEAD.size)
                    frame = parsed(await stream.readexactly(length(head)))
                if frame["t"] in ("meter", "told", "trouble"):
                    event = event_of(frame)
                    if not self._closing.is_set():
                        self._ledger.note(event)
                        self._on_event(event)
        except (asyncio.IncompleteReadError, ConnectionError):
            return ""
        except TimeoutError:
            return f"no sign of life for {SILENCE:g} seconds"
        except BrokenFrame as error:
            return str(error)

    # --- orders ---------------------------------------------------------------------------------------

    def _touch(self, touch: Touch) -> None:
        self._send({"t": "key", "do": touch, "answer": self._answer})

    def _edge(self, edge: Edge) -> None:
        self._send({"t": "answer", "do": edge, "answer": self._answer})

    def _send(self, frame: Frame) -> None:
        """Write without waiting; a chunk of the answer is dropped when the child does not read."""
        stdin = self._process.stdin if self._process is not None else None
        if stdin is None or stdin.is_closing():
            return
        if frame["t"] == "say" and stdin.transport.get_write_buffer_size() > FULL:
            return
        stdin.write(encode(frame))

    def _hang_up(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is not None:
            process.stdin.close()


class _Ledger:
    """What the child has begun and not ended, so that its death can close it."""

    def __init__(self) -> None:
        self._listening = False
        self._speaking: list[str] = []
        self._answering = False

    def note(self, event: VoiceEvent) -> None:
        """Keep account of an event of the child."""
        match event:
            case State(state):
                self._listening = self._listening or state in ("hearing", "interrupted")
                self._answering = self._answering or state == "speaking"
            case Final():
                self._listening = False
            case Speaking(text):
                self._speaking.append(text)
            case Spoken():
                self._speaking, self._answering = [], False
            case Level() | Partial() | Trouble() | Devices():
                pass
            case unknown:
                assert_never(unknown)

    def close(self) -> list[VoiceEvent]:
        """The events that end everything; the clause that was under way counts as not heard."""
        events: list[VoiceEvent] = []
        if self._listening:
            events.append(Final(""))
        if self._answering or self._speaking:
            events.append(Spoken("".join(self._speaking[:-1]), whole=False))
        self._listening, self._answering, self._speaking = False, False, []
        return [*events, State("idle")]


async def _drain(stream: asyncio.StreamReader | None, kept: bytearray) -> None:
    assert stream is not None
    while piece := await stream.read(65536):
        kept += piece
        del kept[:-_STDERR_KEPT]


def _kill(process: asyncio.subprocess.Process | None) -> None:
    if process is not None and process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()


def _reason(status: int, words: bytearray) -> Field:
    """Why a child with this exit status and these last words on stderr ended, in a few words."""
    how = f"exit code {status}"
    if status < 0:
        names = {number.value: number.name for number in signal.Signals}
        how = names.get(-status, f"signal {-status}")
    said = [line.strip() for line in bytes(words).decode("utf-8", "replace").splitlines()]
    lines = [line for line in said if line and not line.startswith(_CHATTER)]
    return f"{how}: {lines[-1][:200]}" if lines else how


def _environment() -> dict[str, str]:
    """The child's environment: without keys of services, which are none of its business; a frozen program's
    library path is put back to what the user had."""
    environment = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        original = environment.pop(f"{name}_ORIG", None)
        if original is not None:
            environment[name] = original
        elif getattr(sys, "frozen", False):
            environment.pop(name, None)
    return environment
