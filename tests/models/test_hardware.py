"""The look at the machine agrees with the machine."""

from __future__ import annotations

import platform

import psutil

from models.hardware import (
    NEEDED,
    cpu_flags,
    look,
    memory_available,
    missing_features,
    oom_kills,
    usable_cores,
)


def test_the_machine_is_seen() -> None:
    machine = look()
    assert 1 <= usable_cores() <= machine.physical_cores <= (psutil.cpu_count() or 1)
    assert 0 < machine.memory_available <= machine.memory_total <= psutil.virtual_memory().total
    assert memory_available() > 0
    assert oom_kills() >= 0


def test_missing_features_are_named() -> None:
    if platform.machine() != "x86_64":
        assert missing_features() == []
        return
    assert missing_features(cpu_flags()) == []
    assert missing_features(frozenset({"sse4_2", "fma", "f16c"})) == ["avx2", "bmi2"]
    assert missing_features(frozenset(NEEDED)) == []
    assert missing_features(frozenset()) == []
