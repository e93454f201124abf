"""How fast this machine goes through memory and through weights: measured a few times, then kept."""

from __future__ import annotations

import ctypes
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from models import hardware
from models.graphics import Card
from models.worker_process import default_command

VERSION = 1
FILE = "bandwidth.json"

_BYTES, _LEAST = 192 << 20, 8 << 20
"""What all threads compare at a time, more than the caches of nearly all processors, and each at least."""

_OFTEN = 3
"""How many measurements there are before the best of them is what this machine does."""

_ROUNDS, _PATIENCE = 8, 0.4
_CHILD_SECONDS = 30.0

_SHARPNESS = 3
"""How abruptly threads that compute together meet the limit of memory: the power in the mean of both."""

_CARELESS = 0.6
"""Part of the memory's speed that kernels are taken to reach where they could not be timed."""


@dataclass(frozen=True, slots=True)
class Speeds:
    """Of one device. `bandwidth` is what memory yields to all cores in bytes a second (0: not known), `rates`
    the bytes of weights by tensor type that one thread alone, or a card as a whole, goes through in a second,
    and `layer` the seconds of everything in a layer but its large matrices."""

    bandwidth: float
    rates: Mapping[str, float] = field(default_factory=dict)
    layer: float = 0.0

    def rate(self, kind: str, threads: int = 1) -> float:
        """Bytes of weights of the tensor type `kind` that so many threads go through in a second; a type that
        was not timed counts as the slowest."""
        slowest = min(self.rates.values(), default=_CARELESS * self.bandwidth / threads)
        alone = threads * self.rates.get(kind, slowest)
        if self.bandwidth <= 0 or alone <= 0:
            return max(alone, self.bandwidth, 1.0)
        shared = (1 - 1 / threads) * self.bandwidth**-_SHARPNESS
        joined = float((alone**-_SHARPNESS + shared) ** (-1 / _SHARPNESS))
        return min(joined, max(self.bandwidth, alone / threads))


UNTIMED = Speeds(200e9)
"""A card that could not be timed is taken for one of the slowest that have memory of their own."""


@dataclass(frozen=True, slots=True)
class Timed:
    """What was found of this machine: its processor, and cards by their names."""

    processor: Speeds
    cards: Mapping[str, Speeds] = field(default_factory=dict)


def timed(cache: Path, command: Sequence[str] = (), memory: Callable[[int], float] | None = None) -> Timed:
    """The speeds of this machine, the best of what was measured when it was asked for the first _OFTEN times:
    other work may have disturbed one. Measuring takes about three seconds; the result is kept in
    `cache`/bandwidth.json for this processor, number of cores and engine. Blocks; to be called in a thread.

    `command` starts the child that times the kernels; where it fails, memory's speed alone has to do, and
    nothing is stored. `memory` tells what so many threads read in a second (`streamed`).
    """
    path, name = cache / FILE, _name()
    times, stored = _stored(path, name)
    if stored is not None and times >= _OFTEN:
        return stored
    found = _measured(command or _child(), memory or streamed)
    if not found.processor.rates:
        return stored or found
    best = _best(stored, found) if stored else found
    _store(path, name, times + 1, best)
    return best


def _measured(command: Sequence[str], memory: Callable[[int], float]) -> Timed:
    bandwidth = max(memory(count) for count in {1, hardware.usable_cores()})
    try:
        first, *others = _devices(command)
        cards = {str(row["name"]): _card(row) for row in others}
        return Timed(_speeds(first, bandwidth), cards)
    except (ValueError, KeyError, TypeError):
        return Timed(Speeds(bandwidth))


def _best(one: Timed, other: Timed) -> Timed:
    """The faster of both, place by place, for the cards of `other`."""
    cards = {name: _faster(one.cards.get(name, speeds), speeds) for name, speeds in other.cards.items()}
    return Timed(_faster(one.processor, other.processor), cards)


def _faster(one: Speeds, other: Speeds) -> Speeds:
    rates = {
        kind: max(one.rates.get(kind, 0.0), other.rates.get(kind, 0.0)) for kind in {*one.rates, *other.rates}
    }
    return Speeds(max(one.bandwidth, other.bandwidth), rates, min(one.layer, other.layer))


def streamed(threads: int, size: int = 0) -> float:
    """Bytes a second that so many threads read: the second best of some rounds, since what else runs here can
    only slow one down and a clock may slip once. Of one thread its own time is taken. `size` are the bytes of
    each thread."""
    compare = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None).memcmp
    compare.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    half = (size or max(_LEAST, _BYTES // threads)) // 2
    pairs = [(ctypes.create_string_buffer(half), ctypes.create_string_buffer(half)) for _ in range(threads)]
    for pair in pairs:
        for buffer in pair:
            ctypes.memset(buffer, 1, half)  # pages that were never written to are all one page
    found: list[float] = []
    clock = time.thread_time if threads == 1 and sys.platform != "win32" else time.perf_counter
    until = time.monotonic() + _PATIENCE
    while len(found) < _ROUNDS and (len(found) < 2 or time.monotonic() < until):
        begin = clock()
        if threads == 1:
            compare(*pairs[0], half)
        else:
            _together(compare, pairs, half)
        found.append(2 * half * threads / (clock() - begin))
    return sorted(found)[-2]


def _together(compare: Any, pairs: Sequence[tuple[Any, Any]], half: int) -> None:
    workers = [threading.Thread(target=compare, args=(*pair, half)) for pair in pairs]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def cards_now(command: Sequence[str] = ()) -> tuple[Card, ...]:
    """The cards with what is free on them now. Blocks for a fraction of a second."""
    rows = [row for row in _devices((*(command or _child()), "list")) if row.get("card")]
    return tuple(Card(str(row["name"]), int(row["free"]), bool(row.get("shared"))) for row in rows)


def _child() -> tuple[str, ...]:
    return (*default_command()[:-1], "kernels")


def _devices(command: Sequence[str]) -> list[dict[str, Any]]:
    """What the child says of the processor and the cards; nothing where it fails."""
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        done = subprocess.run(
            list(command), capture_output=True, timeout=_CHILD_SECONDS, check=True, creationflags=flags
        )
        told = json.loads(done.stdout)
        return list(told["devices"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return []


def _speeds(row: Mapping[str, Any], bandwidth: float) -> Speeds:
    """ValueError, KeyError or TypeError for a row that is not as it should be."""
    rates = {str(kind): float(rate) for kind, rate in dict(row["rates"]).items()}
    found = Speeds(float(bandwidth), rates, float(row["layer"]))
    if not rates or min(*rates.values(), found.layer + 1e-12, found.bandwidth + 1e-12) <= 0:
        raise ValueError("a speed is not more than nothing")
    return found


def _card(row: Mapping[str, Any]) -> Speeds:
    try:
        return _speeds(row, 0.0)
    except ValueError:
        return UNTIMED


def _name() -> str:
    """What the speeds depend on."""
    facts = (platform.machine(), hardware.processor_name(), hardware.usable_cores(), _engine())
    return " | ".join(map(str, facts))


def _engine() -> str:
    """The release of the engine and the bytes of its libraries, which tell one build from another."""
    try:
        found = importlib.metadata.distribution("llama-cpp-python")
    except importlib.metadata.PackageNotFoundError:
        return ""
    folder = Path(str(found.locate_file("llama_cpp/lib")))
    size = sum(file.stat().st_size for file in folder.glob("*")) if folder.is_dir() else 0
    return f"{found.version} {size}"


def _stored(path: Path, name: str) -> tuple[int, Timed | None]:
    """How often this machine was measured with this engine, and what was found; a file of another version or
    form is not used."""
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["version"] != VERSION or data["machine"] != name:
            return 0, None
        processor, cards = data["processor"], dict(data["cards"])
        return int(data["times"]), Timed(
            _speeds(processor, processor["bandwidth"]), {str(card): _kept(row) for card, row in cards.items()}
        )
    except (OSError, ValueError, KeyError, TypeError):
        return 0, None


def _kept(row: Mapping[str, Any]) -> Speeds:
    return _speeds(row, row["bandwidth"]) if row["rates"] else UNTIMED


def _store(path: Path, name: str, times: int, found: Timed) -> None:
    """Keep what was measured; where the disk refuses, it is measured again at the next start."""
    data = {"version": VERSION, "machine": name, "times": times, **asdict(found)}
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink()
