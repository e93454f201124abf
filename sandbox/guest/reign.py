"""One guest at a time: what a guest started ends with it, or when the next guest begins."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

TAG = "ORION_GUEST"
"""Variable in the environment of a guest and of all it starts: the guest's folder, `|` and its token."""

GRACE = 1.0
"""Seconds between the request to end and the end by force."""


def begin(tag: str) -> None:
    """End every process of other guests of the same folder that is older than this one.

    Of two guests that began in the same tick of the clock one goes; what another guest had started by then is
    older, since a guest takes many ticks to come up.
    """
    mine, folder = _born(os.getpid()), tag.partition("|")[0]

    def older(pid: int, found: str) -> bool:
        if found == tag or found.partition("|")[0] != folder:
            return False
        born = _born(pid)
        return born < mine or (born == mine and (found < tag or not _is_guest(pid)))

    _end(older)


def end(tag: str) -> None:
    """End every process of this guest but itself."""
    _end(lambda _, found: found == tag)


def _end(chosen: Callable[[int, str], bool]) -> None:
    before = time.monotonic() + GRACE
    sent = signal.SIGTERM
    while found := [pid for pid, tag in tagged() if pid != os.getpid() and chosen(pid, tag)]:
        for pid in found:
            try:
                os.kill(pid, sent)
            except ProcessLookupError:
                continue
        if time.monotonic() > before:
            if sent == signal.SIGKILL:
                return
            sent, before = signal.SIGKILL, before + GRACE
        time.sleep(0.02)


def tagged() -> list[tuple[int, str]]:
    """Processes of this user that a guest of this machine started, with their tag; zombies are not among
    them, and neither are those of containers in it."""
    found = []
    here = os.readlink("/proc/self/ns/pid")
    name = TAG.encode() + b"="
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            if os.readlink(f"/proc/{entry}/ns/pid") != here:
                continue
            with open(f"/proc/{entry}/environ", "rb") as file:
                tags = [item for item in file.read().split(b"\0") if item.startswith(name)]
        except OSError:
            continue
        found += [(int(entry), tag[len(name) :].decode("ascii", "replace")) for tag in tags[:1]]
    return found


def _born(pid: int) -> int:
    """When a process began, in ticks since the machine did; 0 where it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError):
        return 0


def _is_guest(pid: int) -> bool:
    """Whether a process is a guest itself, not one that a guest started."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"sandbox.guest" in file.read().split(b"\0")
    except OSError:
        return False
