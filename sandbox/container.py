"""The wall: with which arguments the container of a machine is made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox import guidance
from sandbox.errors import SandboxError

LABEL = "orion"
SPEC = "orion.spec"
OWNER = "orion.owner"
VOLUME = "orion-sandbox-workspace"
USER = "1000:1000"
RELAY = "http://127.0.0.1:3128"

FENCED = ("/usr/bin/python3", "-I", "-S", "/opt/orion/sandbox/guest/fence.py")
"""Before a command that runs inside: what stands before the fence, every program there can get at."""

_OWN = {False: "uid=1000,gid=1000", True: "U,notmpcopyup"}
"""What gives a tmpfs to the user and leaves it empty: as Docker says it, and (True) as Podman does."""

_VITAL = ("memory", "processes")
"""Without these limits what runs in the machine can bring its host down."""

_RICH = {"/tmp": 1024, "/home/orion": 1024, "/var/tmp": 256, "/run": 64}
_POOR = {"/tmp": 128, "/home/orion": 128, "/var/tmp": 32, "/run": 16}


@dataclass(frozen=True)
class MachineConfig:
    """What a machine may use. `memory_mb` and `cpus` are capped by what the engine's host has.

    A machine without `desktop` only runs code. `volume` is what lies at /workspace, by default one that all
    machines of this user share, and `workspace_mb` how large that may grow while somebody is attached.
    `owner` is whose it all is, where several share an engine: what another's name is on is left alone.
    """

    name: str = "orion-sandbox"
    image: str = "orion-sandbox"
    memory_mb: int = 4096
    cpus: float = 4.0
    pids: int = 512
    screen: tuple[int, int] = (1280, 800)
    volume: str = ""
    workspace_mb: int = 10_240
    labels: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""
    desktop: bool = True

    @property
    def workspace(self) -> str:
        """The name of the volume at /workspace."""
        return self.volume or VOLUME


def code_machine(config: MachineConfig) -> MachineConfig:
    """The smaller machine that runs code beside that of `config`, on the same /workspace."""
    return MachineConfig(
        name=f"{config.name}-code",
        image=config.image,
        memory_mb=512,
        cpus=1.0,
        pids=128,
        volume=config.workspace,
        workspace_mb=config.workspace_mb,
        labels=config.labels,
        owner=config.owner,
        desktop=False,
    )


def labels(config: MachineConfig) -> dict[str, str]:
    """The labels of everything that belongs to a machine; nothing without them is ever touched."""
    return {**config.labels, LABEL: "1", OWNER: config.owner}


def is_ours(found: Mapping[str, str], config: MachineConfig) -> bool:
    """Whether something with the labels `found` is a machine's, and of the owner of `config` where both name
    one."""
    owner = found.get(OWNER, "")
    return found.get(LABEL) == "1" and (not owner or not config.owner or owner == config.owner)


def create_arguments(config: MachineConfig, image: str, host: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of docker-py's `containers.create`; `host` is what the engine says of its machine.

    No network, no capability, no new privilege, the engine's own seccomp profile, a root that cannot be
    written; all that can is sized memory and the volume. A limit of processors that the engine cannot keep is
    left out and named by `missing_limits`; SandboxError limits_missing for one that protects the host.
    """
    if lacking := [name for name in missing_limits(host) if name in _VITAL]:
        raise SandboxError("limits_missing", limits=", ".join(lacking), steps=guidance.delegating())
    memory = memory_mb(config, host) * 1024 * 1024
    arguments: dict[str, Any] = {
        "name": config.name,
        "image": image,
        "hostname": "orion",
        "user": USER,
        "detach": True,
        "init": False,  # the engine's own would stand before the fence
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "privileged": False,
        "read_only": True,
        "ipc_mode": "private",
        "tmpfs": _tmpfs(config.desktop, podman=is_podman(host)),
        "shm_size": "512m" if config.desktop else "64m",
        "volumes": {config.workspace: {"bind": "/workspace", "mode": "rw"}},
        "environment": _environment(config),
        "log_config": {"type": "json-file", "config": {"max-size": "1m", "max-file": "2"}},
        "restart_policy": {"Name": "no"},
        # Else docker-py hands on the proxies of the user's own Docker settings, passwords included.
        "use_config_proxy": False,
        "oom_kill_disable": False,
        "pids_limit": config.pids,
        "mem_limit": memory,
    }
    if host.get("SwapLimit", True):
        arguments["memswap_limit"] = memory
    if host.get("CpuCfsQuota", True):
        arguments["nano_cpus"] = int(cpus(config, host) * 1_000_000_000)
    spec = hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()[:16]
    arguments["labels"] = {**labels(config), SPEC: spec}
    return arguments


def cpus(config: MachineConfig, host: Mapping[str, Any]) -> float:
    """Processors the machine gets: an engine refuses more than its host has."""
    return min(config.cpus, float(host.get("NCPU") or config.cpus))


def memory_mb(config: MachineConfig, host: Mapping[str, Any]) -> int:
    """Megabytes the machine gets: at most three quarters of the host's."""
    total = int(host.get("MemTotal") or 0) // (1024 * 1024)
    return min(config.memory_mb, total * 3 // 4) if total else config.memory_mb


def is_podman(host: Mapping[str, Any]) -> bool:
    """Whether the engine that says `host` of itself is Podman: only that names what it builds images with."""
    return "BuildahVersion" in host


def missing_limits(host: Mapping[str, Any]) -> tuple[str, ...]:
    """The limits that the engine cannot keep (rootless engines without delegated control groups)."""
    names = {"MemoryLimit": "memory", "CpuCfsQuota": "cpus", "PidsLimit": "processes"}
    return tuple(name for key, name in names.items() if not host.get(key, True))


def _environment(config: MachineConfig) -> dict[str, str]:
    """Where programs find the screen, and the relay of the guest, the only way out of the machine."""
    width, height = config.screen
    relay = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), RELAY)
    nearby = dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1")
    screen = {"DISPLAY": ":0", "ORION_SCREEN": "/run/orion/screen", "ORION_SIZE": f"{width}x{height}"}
    return {
        **relay,
        **nearby,
        "ORION_DESKTOP": str(int(config.desktop)),
        **(screen if config.desktop else {}),
    }


def _tmpfs(desktop: bool, *, podman: bool) -> dict[str, str]:
    sizes = _RICH if desktop else _POOR
    shared = {"/tmp", "/var/tmp"}
    own = _OWN[podman]
    return {
        place: f"rw,nosuid,nodev,exec,size={size}m,mode={'1777' if place in shared else '0755'},{own}"
        for place, size in sizes.items()
    }
