"""What this machine offers to an inference engine: cores, memory and processor features."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NEEDED = ("sse4_2", "avx2", "fma", "f16c", "bmi2")
"""x86 features that the bundled build of llama.cpp uses without asking."""

_WINDOWS_FEATURES = {38: "sse4_2", 40: "avx2"}
"""Numbers of IsProcessorFeaturePresent (winnt.h); it knows no more of NEEDED than these."""

_DARWIN = {"sse4.2": "sse4_2", "avx2": "avx2", "fma": "fma", "f16c": "f16c", "bmi2": "bmi2"}


@dataclass(frozen=True, slots=True)
class Hardware:
    """A look at the machine. Memory is in bytes; `flags` are lower-case processor features."""

    processor: str
    physical_cores: int
    usable_cores: int
    memory_total: int
    memory_available: int
    flags: frozenset[str]


def look() -> Hardware:
    """The machine as it is now."""
    import psutil

    memory = psutil.virtual_memory()
    total, available = _container_memory(int(memory.total), int(memory.available))
    return Hardware(
        processor=processor_name(),
        physical_cores=psutil.cpu_count(logical=False) or os.cpu_count() or 1,
        usable_cores=usable_cores(),
        memory_total=total,
        memory_available=available,
        flags=cpu_flags(),
    )


def processor_name() -> str:
    """What the maker calls the processor; the architecture where the system does not say."""
    found = ""
    if platform.system() == "Linux":
        found = _line_of(Path("/proc/cpuinfo"), "model name")
    elif platform.system() == "Darwin":
        found = _sysctl("machdep.cpu.brand_string").strip()
    return found or platform.processor() or platform.machine()


def memory_available() -> int:
    """Bytes a new process may take without swapping, a container's limit included."""
    import psutil

    memory = psutil.virtual_memory()
    return _container_memory(int(memory.total), int(memory.available))[1]


def usable_cores() -> int:
    """Physical cores this process may run on: affinity and a container's quota included; at least 1."""
    import psutil

    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = min(cores, len(os.sched_getaffinity(0)))
    quota = _first_line("/sys/fs/cgroup/cpu.max").split()
    if len(quota) == 2 and quota[0].isdigit() and int(quota[1]):
        cores = min(cores, max(1, int(quota[0]) // int(quota[1])))
    return max(1, cores)


def missing_features(flags: frozenset[str] | None = None) -> list[str]:
    """The features of NEEDED this processor lacks; empty on other architectures or when none can be read."""
    if platform.machine().lower() not in ("x86_64", "amd64", "i686"):
        return []
    known = cpu_flags() if flags is None else flags
    needed = NEEDED if sys.platform != "win32" else tuple(_WINDOWS_FEATURES.values())
    return [name for name in needed if name not in known] if known else []


def cpu_flags() -> frozenset[str]:
    """Processor features as the operating system reports them; empty when it does not."""
    match platform.system():
        case "Linux":
            return _linux_flags(Path("/proc/cpuinfo"))
        case "Windows":
            return _windows_flags()
        case "Darwin":
            return _darwin_flags()
        case _:
            return frozenset()


def oom_kills() -> int:
    """How often this system has killed a process for want of memory; 0 where it does not say."""
    try:
        with Path("/proc/vmstat").open(encoding="ascii") as lines:
            return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
    except OSError:
        return 0


def _linux_flags(cpuinfo: Path) -> frozenset[str]:
    return frozenset(_line_of(cpuinfo, "flags").split())


def _line_of(cpuinfo: Path, name: str) -> str:
    """What stands behind the first `name` of the file; empty where it does not stand there."""
    try:
        with cpuinfo.open(encoding="utf-8", errors="replace") as lines:
            return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
    except OSError:
        return ""


def _windows_flags() -> frozenset[str]:
    import ctypes

    windll: Any = getattr(ctypes, "windll")  # noqa: B009 - exists on Windows only
    present = windll.kernel32.IsProcessorFeaturePresent
    return frozenset(name for number, name in _WINDOWS_FEATURES.items() if present(number))


def _darwin_flags() -> frozenset[str]:
    told = _sysctl("machdep.cpu.features", "machdep.cpu.leaf7_features")
    words = {word.lower() for word in told.split()}
    return frozenset(_DARWIN.get(word, word) for word in words)


def _sysctl(*names: str) -> str:
    import subprocess

    command = ["/usr/sbin/sysctl", "-n", *names]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _container_memory(total: int, available: int) -> tuple[int, int]:
    limit = _first_line("/sys/fs/cgroup/memory.max")
    if not limit.isdigit() or int(limit) >= total:
        return total, available
    used = _first_line("/sys/fs/cgroup/memory.current")
    free = int(limit) - int(used) if used.isdigit() else int(limit)
    return int(limit), max(0, min(available, free))


def _first_line(path: str) -> str:
    try:
        with Path(path).open(encoding="ascii") as lines:
            return lines.readline().strip()
    except OSError:
        return ""
