"""One machine of the agent: its container started, watched, stopped and removed, never another's."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from sandbox import container
from sandbox.container import SPEC, MachineConfig
from sandbox.disk_watch import DiskWatch
from sandbox.engine import Engine, hang_up
from sandbox.errors import SandboxError
from sandbox.image import NAME, ImageBuilder

if TYPE_CHECKING:
    from sandbox.channel import Guest
    from sandbox.guest.peer import Operation

IDENTITY = "orion.identity"
"""The label of a volume with a random text: a new volume of the same name has another one."""

_MOMENTS = 10
_GOING = 10.0
"""Seconds until what another process began with the container is over."""

_UNTIL_COMPLETE = """
n=0
until [ -e /run/orion/complete ]; do
    [ $((n += 1)) -lt 80 ] || exit 1
    /bin/sleep 0.05
done
"""

_STOP = 2
"""Seconds the programs in the machine get to end; what counts is on /workspace, and written."""


@dataclass(frozen=True)
class Status:
    """What is known of a machine without touching it. Sizes in MB, `started` as the engine writes it;
    `workspace_mb` is what the engine itself counts on the volume, None where it does not."""

    phase: Literal["absent", "stopped", "running"]
    image: str
    image_present: bool
    container: str
    started: str
    exit_code: int
    out_of_memory: bool
    volume: str
    volume_present: bool
    workspace_mb: int | None
    engine: str
    host: str
    memory_mb: int
    cpus: float
    pids: int
    missing_limits: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "missing_limits": list(self.missing_limits)}


class Machine:
    """The container of `config` on `engine`. The caller closes the engine after `stop` or `leave`.

    `operations` are what the guest may ask of this side.
    """

    def __init__(
        self, engine: Engine, config: MachineConfig, operations: Mapping[str, Operation] | None = None
    ) -> None:
        self.engine = engine
        self.config = config
        self.guest: Guest | None = None
        self.volume_identity = ""
        self._operations = dict(operations or {})
        self._id = ""
        self._watch: DiskWatch | None = None

    async def start(self, told: Callable[[str], None] = lambda step: None) -> Guest:
        """Create or start the container and attach to it; `told` hears "creating", "starting", "attaching".

        A running container made from the same arguments is taken over as it is. Raises SandboxError
        image_missing, name_taken, start_failed, guest_failed and those of the engine.
        """
        return await self._start(told, again=True)

    async def _start(self, told: Callable[[str], None], *, again: bool) -> Guest:
        from sandbox.channel import attach

        thing = await self.up(told)
        await self.leave()
        told("attaching")
        self._watch = watch = DiskWatch(self.engine, thing, self.config.workspace_mb)
        try:
            self.guest = await attach(thing, self._operations)
            await watch.begun()
        except SandboxError as error:
            hang_up(error.__cause__ or error)
            await watch.close()
            if again and not await self._runs():  # it was ending as it was taken over
                return await self._start(told, again=False)
            raise
        return self.guest

    async def up(self, told: Callable[[str], None] = lambda step: None) -> Any:
        """The running container, created or started where it was not; nothing is attached."""
        host = await self.engine.info()
        arguments = container.create_arguments(self.config, await self._image(), host)
        self.volume_identity = await self.engine.call(lambda client: _volume(client, self.config))
        loop = asyncio.get_running_loop()

        def say(step: str) -> None:
            loop.call_soon_threadsafe(told, step)

        thing = await self.engine.call(lambda client: _running(client, self.config, arguments, say))
        self._id = thing.id
        return thing

    async def settled(self) -> bool:
        """Wait until the desktop stands complete, its panel included; False when that took too long."""
        command = ["/bin/sh", "-c", _UNTIL_COMPLETE]
        done = await self.engine.call(lambda client: client.containers.get(self._id).exec_run(command))
        return bool(done.exit_code == 0)

    async def leave(self) -> None:
        """Let go of the guest and leave the container running."""
        guest, self.guest = self.guest, None
        if guest is not None:
            await guest.close()
        if self._watch is not None:
            await self._watch.close()

    async def stop(self) -> None:
        """End the container and remove it; /workspace stays. Idempotent."""
        await self.leave()
        await self.engine.call(lambda client: _remove(client, self.config))

    async def reset(self) -> None:
        """Remove the container and everything on /workspace. Idempotent."""
        await self.stop()
        await self.engine.call(lambda client: _remove_volume(client, self.config))

    async def status(self) -> Status:
        """What is there now. Raises SandboxError only for faults of the engine."""
        host = await self.engine.info()
        image = self._name()
        present = await ImageBuilder().present(self.engine, image)
        seen = await self.engine.call(lambda client: _seen(client, self.config))
        volume = await self.engine.call(lambda client: _volume_seen(client, self.config))
        taken = None
        if volume is not None:
            with suppress(SandboxError):
                taken = await self.engine.call(lambda client: _taken(client, self.config))
        state = seen.attrs["State"] if seen is not None else {}
        return Status(
            phase="absent" if seen is None else "running" if state.get("Running") else "stopped",
            image=image,
            image_present=present,
            container=seen.short_id if seen is not None else "",
            started=str(state.get("StartedAt", "")),
            exit_code=int(state.get("ExitCode", 0)),
            out_of_memory=bool(state.get("OOMKilled")),
            volume=self.config.workspace,
            volume_present=volume is not None,
            workspace_mb=taken,
            engine=f"{host.get('OperatingSystem', '')}, {host.get('ServerVersion', '')}",
            host=self.engine.host,
            memory_mb=container.memory_mb(self.config, host),
            cpus=container.cpus(self.config, host),
            pids=self.config.pids,
            missing_limits=container.missing_limits(host),
        )

    async def logs(self, lines: int = 200) -> str:
        """The last lines that the machine's own programs wrote; empty where there is no container."""
        seen = await self.engine.call(lambda client: _seen(client, self.config))
        if seen is None:
            return ""
        written = await self.engine.call(lambda client: client.api.logs(seen.id, tail=lines))
        return bytes(written).decode("utf-8", "replace")

    async def wait_lost(self) -> SandboxError:
        """Wait until the guest is gone and say why: engine_gone, container_gone, container_out_of_memory,
        workspace_full, engine_disk_low or guest_gone."""
        guest = self.guest
        why = await guest.wait_lost() if guest is not None else "guest_ended"
        return await self.why_lost(why)

    async def why_lost(self, reason: str) -> SandboxError:
        """What took the guest away; the engine is asked first, then the container."""
        if (fault := await self.engine.fault()) is not None:
            return fault
        try:
            # The streams of a container that ends are cut before the engine knows that it has ended.
            for _moment in range(_MOMENTS):
                if not await self._runs():
                    break
                await asyncio.sleep(0.1)
            seen = await self.engine.call(lambda client: _seen(client, self.config))
        except SandboxError as error:
            return error
        state = seen.attrs["State"] if seen is not None else {}
        if self._watch is not None and self._watch.verdict is not None:
            return self._watch.verdict
        if seen is None or seen.id != self._id or not state.get("Running"):
            if state.get("OOMKilled"):
                return SandboxError("container_out_of_memory", memory_mb=self.config.memory_mb)
            return SandboxError("container_gone", exit_code=int(state.get("ExitCode", -1)))
        return SandboxError("guest_gone", reason=reason)

    async def _runs(self) -> bool:
        seen = await self.engine.call(lambda client: _seen(client, self.config))
        return seen is not None and seen.id == self._id and seen.status == "running"

    def _name(self) -> str:
        """The image by its content, so that a machine never runs the guest of another version."""
        return ImageBuilder().tag if self.config.image == NAME else self.config.image

    async def _image(self) -> str:
        name = self._name()
        if not await ImageBuilder().present(self.engine, name):
            raise SandboxError("image_missing", image=name)
        return name


# --- in threads of the engine ------------------------------------------------------------------------------


def _seen(client: Any, config: MachineConfig) -> Any:
    """The container of `config`, or None. Raises SandboxError name_taken when it is another's."""
    import docker.errors

    try:
        seen = client.containers.get(config.name)
    except docker.errors.NotFound:
        return None
    if not container.is_ours(seen.labels, config):
        raise SandboxError("name_taken", name=config.name)
    return seen


def _running(
    client: Any, config: MachineConfig, arguments: Mapping[str, Any], say: Callable[[str], None]
) -> Any:
    """The running container of `arguments`; another process may be at the same thing at the same time."""
    import docker.errors

    deadline = time.monotonic() + _GOING
    while True:
        seen = _seen(client, config)
        try:
            if seen is not None and _is_wanted(seen, arguments):
                seen.start()
                return seen
            _remove(client, config)
            say("creating")
            seen = client.containers.create(**arguments)
            say("starting")
            seen.start()
        except docker.errors.ImageNotFound as error:
            raise SandboxError("image_missing", image=arguments["image"]) from error
        except docker.errors.APIError as error:
            reason = " ".join(str(error.explanation or error).split())[-400:]
            if _passes(error) and time.monotonic() < deadline:
                time.sleep(0.05)  # between its making and its removal a container has a name and nothing else
                continue
            if "no space left" in reason.lower():
                raise SandboxError("engine_disk_full", reason=reason) from error
            raise SandboxError("start_failed", name=config.name, reason=reason) from error
        return seen


def _passes(error: Any) -> bool:
    """Whether an engine's error is of a container that another process makes or removes just now; Podman has
    no number for that."""
    return error.status_code in (404, 409) or "already in use" in str(error.explanation)


def _is_wanted(seen: Any, arguments: Mapping[str, Any]) -> bool:
    alive = seen.status in ("created", "running")
    return alive and seen.labels.get(SPEC) == arguments["labels"][SPEC]


def _remove(client: Any, config: MachineConfig) -> None:
    """Remove the container and wait until it is gone, whoever removes it."""
    import docker.errors

    deadline = time.monotonic() + _GOING
    while (seen := _seen(client, config)) is not None:
        try:
            if seen.status == "running":
                seen.stop(timeout=_STOP)
            seen.remove(force=True)
        except docker.errors.NotFound:
            return
        except docker.errors.APIError as error:
            if not _passes(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _volume_seen(client: Any, config: MachineConfig) -> Any:
    import docker.errors

    try:
        seen = client.volumes.get(config.workspace)
    except docker.errors.NotFound:
        return None
    if not container.is_ours(seen.attrs.get("Labels") or {}, config):
        raise SandboxError("name_taken", name=config.workspace)
    return seen


def _taken(client: Any, config: MachineConfig) -> int | None:
    """MB on the volume; nothing that runs in the machine has a say in it."""
    for found in client.df()["Volumes"] or []:
        size = int((found.get("UsageData") or {}).get("Size", -1))
        if found["Name"] == config.workspace and size >= 0:
            return -(-size // (1 << 20))
    return None


def _volume(client: Any, config: MachineConfig) -> str:
    """Make the volume where it is not there; returns its identity."""
    seen = _volume_seen(client, config)
    if seen is None:
        marks = {**container.labels(config), IDENTITY: secrets.token_hex(16)}
        client.volumes.create(name=config.workspace, labels=marks)
        seen = client.volumes.get(config.workspace)
    return str((seen.attrs.get("Labels") or {}).get(IDENTITY) or seen.attrs.get("CreatedAt", ""))


def _remove_volume(client: Any, config: MachineConfig) -> None:
    import docker.errors

    seen = _volume_seen(client, config)
    if seen is None:
        return
    try:
        seen.remove(force=True)
    except docker.errors.NotFound:
        return
    except docker.errors.APIError as error:
        if error.status_code == 409:
            raise SandboxError("volume_in_use", name=config.workspace) from error
        raise
