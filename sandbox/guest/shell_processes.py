"""The processes of this container as /proc tells of them: who descends from whom, and their end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ROUNDS = 50
"""How often killing is repeated for what was born meanwhile."""


_COUNTERS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")


class Process(NamedTuple):
    """`born` is its start in clock ticks: together with the id it names one process for ever."""

    pid: int
    born: int
    parent: int
    session: int
    state: str


def table() -> dict[int, Process]:
    """Every process there is now, by id."""
    found: dict[int, Process] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                line = Path("/proc", name, "stat").read_bytes()
                fields = line[line.rindex(b")") + 2 :].split()
                found[int(name)] = Process(
                    int(name), int(fields[19]), int(fields[1]), int(fields[3]), fields[0].decode()
                )
    return found


def family(root: int) -> set[Process]:
    """What runs in the session of `root` or descends from it, without `root` itself."""
    processes = table()
    found: set[Process] = set()
    for process in processes.values():
        ancestor: Process | None = process
        for _ in range(len(processes)):
            if ancestor is None or ancestor.pid == 1:
                break
            if root in (ancestor.pid, ancestor.session):
                found.add(process)
                break
            ancestor = processes.get(ancestor.parent)
    return {process for process in found if process.pid != root and process.state != "Z"}


def ids(processes: Iterable[Process]) -> set[tuple[int, int]]:
    """What tells processes apart from later ones with the same number."""
    return {(process.pid, process.born) for process in processes}


def send(processes: Iterable[Process], number: signal.Signals) -> None:
    """Signal each of them that is still there and may be signalled."""
    for process in processes:
        with suppress(OSError):
            os.kill(process.pid, number)


def kill_family(root: int, spared: frozenset[tuple[int, int]] = frozenset()) -> None:
    """Kill the family of `root`, without itself and `spared`, until nothing of it is left that can be."""
    for _ in range(ROUNDS):
        left = [process for process in family(root) if (process.pid, process.born) not in spared]
        if not left:
            return
        send(left, signal.SIGSTOP)
        send(left, signal.SIGKILL)


def kill_newer(spared: frozenset[tuple[int, int]]) -> None:
    """Kill every process of this user that is not `spared` nor this one, however it came to be."""
    mine = os.getpid()
    for _ in range(ROUNDS):
        left = [
            process
            for process in table().values()
            if (process.pid, process.born) not in spared
            and process.pid not in (1, mine)
            and process.state != "Z"
            and _mine(process.pid)
        ]
        if not left:
            return
        send(left, signal.SIGSTOP)
        send(left, signal.SIGKILL)


def _mine(pid: int) -> bool:
    try:
        return Path("/proc", str(pid)).stat().st_uid == os.getuid()
    except OSError:
        return False


def killed_for_memory() -> int:
    """How often the kernel has killed a process of this container because its memory was used up."""
    for counter in _COUNTERS:
        with suppress(OSError, ValueError):
            for line in Path(counter).read_text().splitlines():
                name, _, value = line.partition(" ")
                if name == "oom_kill":
                    return int(value)
    return 0
