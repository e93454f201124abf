"""The wall as it is asked for: every argument that keeps the machine in."""

from __future__ import annotations

import pytest

from sandbox.container import (
    SPEC,
    MachineConfig,
    code_machine,
    cpus,
    create_arguments,
    memory_mb,
    missing_limits,
)
from sandbox.errors import SandboxError

HOST = {"NCPU": 8, "MemTotal": 16 << 30}


def test_the_container_can_do_as_little_as_possible() -> None:
    made = create_arguments(MachineConfig(), "image", HOST)
    assert made["network_mode"] == "none"
    assert made["cap_drop"] == ["ALL"]
    assert made["security_opt"] == ["no-new-privileges"]
    assert made["read_only"] is True
    assert made["privileged"] is False
    assert made["user"] == "1000:1000"
    assert made["ipc_mode"] == "private"
    assert made["init"] is False
    assert made["use_config_proxy"] is False
    assert made["pids_limit"] == 512
    assert made["mem_limit"] == made["memswap_limit"] == 4096 << 20
    assert made["nano_cpus"] == 4_000_000_000
    assert "devices" not in made
    assert "cap_add" not in made
    assert "ports" not in made


def test_only_the_workspace_outlives_the_container_and_all_else_is_sized() -> None:
    made = create_arguments(MachineConfig(volume="mine"), "image", HOST)
    assert made["volumes"] == {"mine": {"bind": "/workspace", "mode": "rw"}}
    assert set(made["tmpfs"]) == {"/tmp", "/home/orion", "/var/tmp", "/run"}
    for options in made["tmpfs"].values():
        assert {"nosuid", "nodev"} <= set(options.split(","))
        assert "size=" in options


def test_code_runs_within_a_smaller_limit_on_the_same_workspace() -> None:
    config = MachineConfig(name="mine", labels={"a": "b"})
    small = code_machine(config)
    made = create_arguments(small, "image", HOST)
    assert made["name"] == "mine-code"
    assert made["mem_limit"] == 512 << 20
    assert made["nano_cpus"] == 1_000_000_000
    assert made["pids_limit"] == 128
    assert made["volumes"] == create_arguments(config, "image", HOST)["volumes"]
    assert made["labels"]["a"] == "b"
    assert "DISPLAY" not in made["environment"]


def test_a_small_host_caps_the_limits() -> None:
    tiny = {"NCPU": 2, "MemTotal": 2 << 30}
    assert cpus(MachineConfig(), tiny) == 2
    assert memory_mb(MachineConfig(), tiny) == 1536
    assert cpus(MachineConfig(cpus=1.5), tiny) == 1.5
    assert memory_mb(MachineConfig(), {}) == 4096


def test_processors_that_an_engine_cannot_limit_are_named_and_left_out() -> None:
    rootless = {**HOST, "SwapLimit": False, "CpuCfsQuota": False}
    made = create_arguments(MachineConfig(), "image", rootless)
    assert "nano_cpus" not in made
    assert "memswap_limit" not in made
    assert made["mem_limit"]
    assert missing_limits(rootless) == ("cpus",)
    assert missing_limits(HOST) == ()


@pytest.mark.parametrize(("limit", "named"), [("MemoryLimit", "memory"), ("PidsLimit", "processes")])
def test_without_a_limit_that_protects_the_host_there_is_no_machine(limit: str, named: str) -> None:
    with pytest.raises(SandboxError) as refused:
        create_arguments(MachineConfig(), "image", {**HOST, limit: False})
    assert refused.value.code == "limits_missing"
    assert refused.value.fields["limits"] == named


def test_podman_is_asked_for_the_same_in_its_own_words() -> None:
    made = create_arguments(MachineConfig(), "image", {**HOST, "BuildahVersion": "1.28.2"})
    plain = create_arguments(MachineConfig(), "image", HOST)
    assert set(made["tmpfs"]) == set(plain["tmpfs"])
    for place, options in made["tmpfs"].items():
        assert options.split(",")[-2:] == ["U", "notmpcopyup"]
        assert options.split(",")[:-2] == plain["tmpfs"][place].split(",")[:-2]


def test_other_arguments_are_another_machine() -> None:
    specs = {
        create_arguments(config, image, HOST)["labels"][SPEC]
        for config, image in [
            (MachineConfig(), "a"),
            (MachineConfig(), "b"),
            (MachineConfig(memory_mb=1024), "a"),
            (MachineConfig(screen=(1920, 1080)), "a"),
            (MachineConfig(desktop=False), "a"),
        ]
    }
    assert len(specs) == 5
    assert create_arguments(MachineConfig(), "a", HOST) == create_arguments(MachineConfig(), "a", HOST)
