"""The machine as a compose file, for those who want to start and look at the container themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sandbox.container import MachineConfig, create_arguments

_HEAD = """\
# The agent's computer as a compose file. Orion itself never reads this file: it starts the same container
# through the engine's own interface. Build the image first (orion sandbox build), then: docker compose up -d
"""

_PORTS = """\
    # The container is on no network, so it has no ports. Orion forwards those of the setting sandbox.ports to
    # this machine only, through its own channel. Where that is not wanted, and programs in the container may
    # reach the network, remove network_mode above and choose from these:
    # ports:
    #   - "127.0.0.1:9090:9090"
    #   - "127.0.0.1:9091:9091"
    #   - "127.0.0.1:8888:8888"
    #   - "127.0.0.1:3100:3000"
    #   - "127.0.0.1:3001:3001"
"""


def compose(config: MachineConfig, image: str, host: Mapping[str, Any] | None = None) -> str:
    """The text of compose.yaml for the machine of `config` with `image`. `host` is what the engine says of
    its own machine (processors, limits), by default one that has everything."""
    made = create_arguments(config, image, host or {})
    lines = [_HEAD, f"name: {_text(config.name)}", "services:", "  desktop:"]
    plain = {
        "image": made["image"],
        "container_name": made["name"],
        "hostname": made["hostname"],
        "user": made["user"],
        "init": made["init"],
        "read_only": made["read_only"],
        "network_mode": made["network_mode"],
        "ipc": made["ipc_mode"],
        "restart": made["restart_policy"]["Name"],
        "shm_size": made["shm_size"],
        "pids_limit": made.get("pids_limit"),
        "mem_limit": made.get("mem_limit"),
        "memswap_limit": made.get("memswap_limit"),
        "cpus": made["nano_cpus"] / 1_000_000_000 if "nano_cpus" in made else None,
    }
    lines += [f"    {key}: {_text(value)}" for key, value in plain.items() if value is not None]
    lines += _list("cap_drop", made["cap_drop"])
    lines += _list("security_opt", [f"{option}:true" for option in made["security_opt"]])
    lines += _list("tmpfs", [f"{place}:{options}" for place, options in made["tmpfs"].items()])
    lines += _list("volumes", [f"workspace:{bind['bind']}" for bind in made["volumes"].values()])
    lines += _map("environment", made["environment"])
    lines += _map("labels", made["labels"])
    lines.append(_PORTS.rstrip("\n"))
    lines += ["volumes:", "  workspace:", f"    name: {_text(config.workspace)}"]
    lines += ["    labels:", '      orion: "1"', ""]
    return "\n".join(lines)


def _list(name: str, items: list[str]) -> list[str]:
    return [f"    {name}:", *(f"      - {_text(item)}" for item in items)]


def _map(name: str, items: Mapping[str, str]) -> list[str]:
    return [f"    {name}:", *(f"      {key}: {_text(value)}" for key, value in items.items())]


def _text(value: object) -> str:
    """A scalar of YAML: JSON's are all valid there."""
    return json.dumps(value)
