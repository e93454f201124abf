"""The compose file says the same as the arguments, in the form that compose reads."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from ruamel.yaml import YAML

from sandbox.compose import compose
from sandbox.container import MachineConfig, code_machine, create_arguments

SCALARS: dict[str, type | tuple[type, ...]] = {
    "image": str,
    "container_name": str,
    "hostname": str,
    "user": str,
    "init": bool,
    "read_only": bool,
    "network_mode": str,
    "ipc": str,
    "restart": str,
    "shm_size": (str, int),
    "pids_limit": int,
    "mem_limit": (str, int),
    "memswap_limit": (str, int),
    "cpus": (int, float, str),
}
"""Members of a service in the compose specification, with what each may be."""

LISTS = {"cap_drop", "security_opt", "tmpfs", "volumes"}
MAPS = {"environment", "labels"}


def _read(config: MachineConfig) -> dict[str, Any]:
    read: dict[str, Any] = YAML(typ="safe").load(io.StringIO(compose(config, "orion-sandbox:latest")))
    return read


@pytest.mark.parametrize("config", [MachineConfig(), code_machine(MachineConfig()), MachineConfig(name="x")])
def test_every_member_is_one_of_the_specification(config: MachineConfig) -> None:
    read = _read(config)
    assert set(read) == {"name", "services", "volumes"}
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", read["name"])
    (service,) = read["services"].values()
    for key, value in service.items():
        if key in LISTS:
            assert all(isinstance(item, str) for item in value)
            assert len(set(value)) == len(value)
        elif key in MAPS:
            assert all(isinstance(item, str) for item in [*value, *value.values()])
        else:
            assert isinstance(value, SCALARS[key]), key
    (volume,) = read["volumes"].values()
    assert set(volume) == {"name", "labels"}


def test_the_wall_is_the_same_as_that_of_the_program() -> None:
    config = MachineConfig()
    (service,) = _read(config)["services"].values()
    made = create_arguments(config, "orion-sandbox:latest", {})
    assert service["network_mode"] == made["network_mode"] == "none"
    assert service["cap_drop"] == made["cap_drop"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert service["mem_limit"] == made["mem_limit"]
    assert service["pids_limit"] == made["pids_limit"]
    assert service["cpus"] * 1e9 == made["nano_cpus"]
    assert {line.partition(":")[0]: line.partition(":")[2] for line in service["tmpfs"]} == made["tmpfs"]
    assert service["environment"] == made["environment"]
    assert "ports" not in service


def test_the_ports_are_offered_and_closed() -> None:
    text = compose(MachineConfig(), "orion-sandbox:latest")
    for port in ("9090:9090", "9091:9091", "8888:8888", "3100:3000", "3001:3001"):
        assert f'    #   - "127.0.0.1:{port}"' in text


def test_a_host_with_fewer_processors_is_asked_for_no_more() -> None:
    text = compose(MachineConfig(), "orion-sandbox:latest", {"NCPU": 2})
    assert "cpus: 2.0" in text
