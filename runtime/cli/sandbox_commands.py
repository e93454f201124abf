"""What the commands of `orion sandbox` do, each with an engine of its own that it closes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from resources.translation import _
from runtime.cli.consent import agreed
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal, visible
from runtime.errors import OrionError
from runtime.machines import Machines, owner_of
from runtime.paths import find_home
from runtime.settings import Sandbox, load_settings
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from sandbox.engine import Engine
    from sandbox.machine import Machine, Status

T = TypeVar("T")

AUDIT = "computer_use_log.jsonl"

_PICTURE = (
    "import io, sys; from PIL import ImageGrab; b = io.BytesIO(); "
    "ImageGrab.grab(xdisplay=':0').save(b, 'PNG'); sys.stdout.buffer.write(b.getvalue())"
)
"""Run in the computer, so that the guest that a window uses meanwhile is left alone."""


def build(terminal: Terminal, base: str, network: str, *, as_json: bool) -> ExitCode:
    """Build the image and say its name. Ctrl-C stops it."""

    async def work(engine: Engine) -> str:
        from sandbox.image import ImageBuilder

        def told(line: str, part: float) -> None:
            terminal.status(f"{part:4.0%}  {line}")

        return await ImageBuilder().build(engine, base=base, network=network, told=told)

    terminal.note(_("The first time this fetches packages over the network and takes some minutes."))
    tag = done(_with_engine(work))
    terminal.clear()
    if as_json:
        terminal.answer(json.dumps({"image": tag}) + "\n")
    else:
        terminal.note(_("{image} is ready.").format(image=tag), "good")
    return ExitCode.OK


def start(terminal: Terminal, *, as_json: bool) -> ExitCode:
    """Start the computer and leave it running."""

    async def work(machine: Machine) -> Status:
        await machine.up()
        return await machine.status()

    return _told(terminal, done(with_machine(work)), as_json)


def stop(terminal: Terminal, *, as_json: bool) -> ExitCode:
    """Stop the computer and the one for code."""
    return _told(terminal, done(with_machine(_stopped)), as_json)


def restart(terminal: Terminal, *, as_json: bool) -> ExitCode:
    """Both, one after the other."""

    async def work(machine: Machine) -> Status:
        await _stopped(machine)
        await machine.up()
        return await machine.status()

    return _told(terminal, done(with_machine(work)), as_json)


def status(terminal: Terminal, *, as_json: bool) -> ExitCode:
    """Print what is there."""

    async def work(machine: Machine) -> Status:
        return await machine.status()

    return _told(terminal, done(with_machine(work)), as_json)


def reset(terminal: Terminal, *, yes: bool, as_json: bool) -> ExitCode:
    """Remove the computer and its workspace, once the user has confirmed it."""
    if not yes and not _confirmed(terminal):
        terminal.note(_("Nothing was removed."))
        return ExitCode.APPROVAL

    async def work(machine: Machine) -> Status:
        await _stopped(machine)
        await machine.reset()
        return await machine.status()

    return _told(terminal, done(with_machine(work)), as_json)


def logs(terminal: Terminal, lines: int, *, as_json: bool) -> ExitCode:
    """Print the last lines, without power over the terminal."""

    async def work(machine: Machine) -> str:
        return await machine.logs(lines)

    text = done(with_machine(work))
    if as_json:
        terminal.answer(json.dumps({"lines": text.splitlines()}) + "\n")
    else:
        terminal.answer(visible(text) if terminal.out_tty else text)
        terminal.end_answer()
    return ExitCode.OK


def screenshot(terminal: Terminal, output: Path, *, as_json: bool) -> ExitCode:
    """Write the screen of the running computer to a new file. Raises OrionError."""
    if output.exists():
        raise OrionError("cli_file_exists", path=str(output))

    async def work(machine: Machine) -> bytes:
        command = ["/usr/bin/python3", "-I", "-c", _PICTURE]
        return await run_inside(machine, command)

    picture = done(with_machine(work))
    try:
        with output.open("xb") as file:
            file.write(picture)
    except FileExistsError:
        raise OrionError("cli_file_exists", path=str(output)) from None
    except OSError as error:
        raise OrionError("cli_file_unwritable", path=str(output), reason=error.strerror or "") from error
    if as_json:
        terminal.answer(json.dumps({"path": str(output), "bytes": len(picture)}) + "\n")
    else:
        terminal.note(_("Written to {file}.").format(file=str(output)), "good")
    return ExitCode.OK


def verify_log(terminal: Terminal, file: Path | None, *, as_json: bool) -> ExitCode:
    """Check the chain of the record; FAILED names the first line that does not fit."""
    from sandbox.audit import verify

    place = file or find_home().audit / AUDIT
    if not place.exists():
        raise OrionError("cli_file_unreadable", path=str(place), reason=_("it does not exist"))
    found = verify(place)
    if as_json:
        terminal.answer(json.dumps({"path": str(place), **asdict(found)}) + "\n")
    elif found.ok:
        terminal.note(
            _("{count} records, and none was changed: {file}").format(count=found.records, file=str(place)),
            "good",
        )
    else:
        where = _("in line {line}").format(line=found.broken_line) if found.broken_line else _("at its end")
        told = _("The record {file} was changed {where}: {reason}.")
        terminal.note(told.format(file=place, where=where, reason=found.reason), "bad")
    return ExitCode.OK if found.ok else ExitCode.FAILED


def compose(terminal: Terminal, output: Path | None) -> ExitCode:
    """Print the compose file or write it to a new file; no engine is needed for it."""
    from sandbox.compose import compose as text_of

    here = {"NCPU": os.cpu_count()}
    text = text_of(machines().config(desktop=True), "orion-sandbox:latest", here)
    if output is None:
        terminal.answer(text)
        return ExitCode.OK
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise OrionError("cli_file_exists", path=str(output)) from None
    except OSError as error:
        raise OrionError("cli_file_unwritable", path=str(output), reason=error.strerror or "") from error
    terminal.note(_("Written to {file}.").format(file=str(output)), "good")
    return ExitCode.OK


# --- the machine ----------------------------------------------------------------------------------------


def settings() -> Sandbox:
    """The section of the user's settings."""
    return load_settings(find_home().settings_file).sandbox


def machines() -> Machines:
    """The computer as settings and environment want it; nothing is started."""
    chosen = settings()
    return Machines(lambda: chosen, dict, owner=owner_of(find_home().root))


def done(work: Awaitable[T]) -> T:
    """The result of `work` on a loop of its own; a SandboxError becomes an OrionError with its code."""

    async def all_of_it() -> T:
        return await work

    try:
        return asyncio.run(all_of_it())
    except SandboxError as error:
        raise OrionError(error.code, fault="user", **error.fields) from error


async def with_machine(work: Callable[[Machine], Awaitable[T]]) -> T:
    """What `work` makes of the desktop's machine."""

    async def on(engine: Engine) -> T:
        from sandbox.machine import Machine

        return await work(Machine(engine, machines().config(desktop=True)))

    return await _with_engine(on)


async def run_inside(machine: Machine, command: list[str]) -> bytes:
    """What `command` writes in the running computer. Raises SandboxError `not_running`, `start_failed`."""
    name = machine.config.name
    if (await machine.status()).phase != "running":
        raise SandboxError("not_running", name=name)
    result = await machine.engine.call(
        lambda client: client.containers.get(name).exec_run(command, demux=True)
    )
    code, (out, err) = result
    if code != 0:
        reason = bytes(err or b"").decode("utf-8", "replace").strip()[-300:]
        raise SandboxError("command_failed", command=command[0], reason=reason)
    return bytes(out or b"")


async def _with_engine(work: Callable[[Engine], Awaitable[T]]) -> T:
    async with _engine() as engine:
        return await work(engine)


@asynccontextmanager
async def _engine() -> AsyncIterator[Engine]:
    from sandbox.engine import Engine

    engine = await Engine.find(settings().host)
    try:
        yield engine
    finally:
        await engine.close()


async def _stopped(machine: Machine) -> Status:
    from sandbox.container import code_machine
    from sandbox.machine import Machine

    await Machine(machine.engine, code_machine(machine.config)).stop()
    await machine.stop()
    return await machine.status()


def _told(terminal: Terminal, found: Status, as_json: bool) -> ExitCode:
    if as_json:
        terminal.answer(json.dumps(found.as_dict(), indent=2) + "\n")
        return ExitCode.OK
    phases = {"absent": _("not started"), "stopped": _("ended by itself"), "running": _("running")}
    limits = _("{memory} MB, {cpus} processors, {pids} processes")
    rows = [
        (_("computer"), phases[found.phase]),
        (_("container"), found.container),
        (_("started"), found.started if found.phase == "running" else ""),
        (_("exit code"), str(found.exit_code) if found.phase == "stopped" else ""),
        (_("image"), found.image if found.image_present else _("not built; orion sandbox build")),
        (_("workspace"), found.volume if found.volume_present else _("empty")),
        (
            _("it takes"),
            "" if found.workspace_mb is None else _("{count} MB").format(count=found.workspace_mb),
        ),
        (_("limits"), limits.format(memory=found.memory_mb, cpus=f"{found.cpus:g}", pids=found.pids)),
        (_("not limited"), ", ".join(found.missing_limits)),
        (_("engine"), f"{found.engine}, {found.host}"),
    ]
    shown = [(title, value) for title, value in rows if value]
    longest = max(len(title) for title, _value in shown)
    for title, value in shown:
        terminal.answer(f"{title:<{longest}}  {visible(value)}\n")
    return ExitCode.OK


def _confirmed(terminal: Terminal) -> bool:
    """Whether the person at the keyboard typed yes. Raises `cli_reset_unconfirmed` where nobody is there."""
    told = _("Remove the computer with everything on its /workspace? Your own files stay.")
    return agreed(terminal, told, OrionError("cli_reset_unconfirmed"))
