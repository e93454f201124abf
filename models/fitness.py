"""Tells whether a model suits this machine before it is fetched: memory, cards, disk, and tokens a second."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from models import bandwidth, footprint, hardware
from models.bandwidth import UNTIMED, Speeds
from models.catalogue import Entry, Kind, Variant
from models.errors import Field
from models.fit import COMFORTABLE, longest
from models.footprint import Load
from models.graphics import CARD_BATCH, Card, beyond, room_on

Verdict = Literal["good", "tight", "slow", "too_large", "no_disk"]

WINDOW = 8192
"""Tokens of a conversation for which a model is judged, unless it was trained for fewer."""

SLOW = 4.0
"""Tokens a second below which one waits for every sentence; people read at about five."""

BRISK = 8.0
"""Tokens a second that a recommended model has at least."""

_ROOMY = 0.9
"""Part of the free memory beyond which a model leaves too little for everything else."""

_RESERVE = 512 << 20
"""Bytes of the disk that stay free."""

_LAYER = 3.3
"""A layer of a real model against the timed one, measured; both wait for the same processor."""

_SPOKEN = 512
"""Tokens of a conversation, of which keys and values are read, for which a speed is told."""

_OTHER_MEMORY = 1.4, 200 << 20
"""What a model of another kind, such as a recogniser of speech, takes: times its files, and more."""

_ORDER: tuple[Verdict, ...] = ("good", "tight", "slow", "no_disk", "too_large")


@dataclass(frozen=True, slots=True)
class Machine:
    """What a model may have here. Cards with their free bytes; `disk_free` of the disk where models lie."""

    hardware: hardware.Hardware
    cards: tuple[Card, ...]
    disk_free: int
    speeds: Speeds
    card_speeds: Mapping[str, Speeds] = field(default_factory=dict)

    @classmethod
    def look(cls, folder: Path, cache: Path) -> Machine:
        """This machine; `folder` is where models lie, speeds are kept in `cache`. Blocks, about three seconds
        the first few times; to be called in a thread."""
        timed = bandwidth.timed(cache)
        cards = bandwidth.cards_now() if timed.cards else ()
        return cls(hardware.look(), cards, disk_free(folder), timed.processor, timed.cards)

    def again(self, folder: Path) -> Machine:
        """The same with the memory and the disk that are free now. Fast; cards are not asked again."""
        return replace(self, hardware=hardware.look(), disk_free=disk_free(folder))

    @property
    def bandwidth(self) -> float:
        """Bytes of memory a second."""
        return self.speeds.bandwidth

    @property
    def cores(self) -> int:
        return self.hardware.usable_cores


@dataclass(frozen=True, slots=True)
class Fitness:
    """How a model suits a machine. `memory` is what it takes with a context of `window` tokens, `available`
    what there is, cards included; `tokens_per_second` at the beginning of a conversation, 0 for one that
    writes none. `gpu_layers` go to cards. `code` is empty, or says with `fields` what is in the way."""

    verdict: Verdict
    memory: int
    available: int
    tokens_per_second: float
    window: int
    gpu_layers: int
    disk_free: int
    disk_needed: int
    code: str = ""
    fields: Mapping[str, Field] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        return self.verdict in ("good", "tight", "slow")


@dataclass(frozen=True, slots=True)
class Pick:
    """An entry of the catalogue with the variant of it that suits best."""

    entry: Entry
    variant: Variant
    fitness: Fitness


def fitness(load: Load, machine: Machine, window: int = WINDOW, disk_needed: int = 0) -> Fitness:
    """How `load` suits `machine`, with up to `window` tokens of context and `disk_needed` bytes to fetch."""
    batch = CARD_BATCH if machine.cards or load.beside else footprint.CHUNK
    available = machine.hardware.memory_available + beyond(machine.cards)
    target = min(window, load.trained or window)
    fitting = longest(load, target, available, batch) if load.known else target
    small = fitting < min(target, COMFORTABLE)
    chosen = min(target, COMFORTABLE) if small else fitting
    memory = _memory(load, chosen, batch)
    layers = layers_on(load, machine.cards, chosen)
    speed = tokens_per_second(load, machine, layers)
    found = Fitness("good", memory, available, speed, chosen, layers, machine.disk_free, disk_needed)
    if small or memory > available:
        return _judged(found, "too_large", "fit_too_large")
    if disk_needed and machine.disk_free < disk_needed + _RESERVE:
        return _judged(found, "no_disk", "fit_no_disk")
    if load.known and 0 < speed < SLOW:
        return _judged(found, "slow", "fit_slow")
    if fitting < target:
        return _judged(found, "tight", "fit_short_window")
    if memory > _ROOMY * available:
        return _judged(found, "tight", "fit_tight")
    return found


def offered(entry: Entry, variant: Variant) -> Load:
    """The load of a variant of the catalogue."""
    beside = entry.projector.size if entry.projector else 0
    if entry.shape is None:
        return Load(0, 0, 0, 0, 0, entry.window, 0, variant.size, beside=beside)
    share = entry.active / entry.parameters
    load = footprint.of_shape(entry.shape, variant.size, variant.quantisation, entry.window, share)
    reads = {} if entry.kind == "embedding" else load.reads  # it writes nothing
    return replace(load, beside=beside, reads=reads)


def recommended(entries: Iterable[Entry], machine: Machine, kind: Kind | Literal[""] = "") -> list[Pick]:
    """Every entry of `kind` with its best variant, best first: the strongest of those that are good and
    brisk, then the others, at the end what cannot be used here. The same machine gives the same order."""
    picks = [_pick(entry, machine) for entry in entries if kind in ("", entry.kind)]
    return sorted(picks, key=lambda pick: (*_place(pick.fitness), -pick.entry.strength, pick.entry.name))


def tokens_per_second(load: Load, machine: Machine, layers: int = 0) -> float:
    """Tokens a second with `layers` on the cards (the output counts as one more than the blocks): what one
    token goes through, over how fast that goes; 0 where it is not known."""
    if not load.known or not load.reads:
        return 0.0
    there = min(1.0, layers / (load.layers + 1))
    seconds = (1 - there) * _seconds(load, machine.speeds, machine.cores)
    if there:
        named = [machine.card_speeds.get(card.name, UNTIMED) for card in machine.cards]
        seconds += there * _seconds(load, min(named, key=lambda speeds: speeds.rate("Q4_K")), 1)
    return 1 / seconds if seconds else 0.0


def layers_on(load: Load, cards: tuple[Card, ...], window: int) -> int:
    """How many layers of `load` the cards take, the output counted as one more."""
    if not load.known or not cards:
        return 0
    each = load.weights // (load.layers + 1) + window * load.kept // load.layers
    return max(0, min(load.layers + 1, (room_on(cards) - load.beside) // max(1, each)))


def disk_free(folder: Path) -> int:
    """Bytes free where `folder` is or will be; 0 where that cannot be told."""
    for place in (folder, *folder.parents):
        if place.exists():
            try:
                return shutil.disk_usage(place).free
            except OSError:
                return 0
    return 0


def _memory(load: Load, window: int, batch: int) -> int:
    if not load.known:
        times, more = _OTHER_MEMORY
        return int(times * load.weights) + more
    return footprint.memory(load, window, batch)


def _seconds(load: Load, speeds: Speeds, threads: int) -> float:
    """Of one token: its weights, its keys and values, and what every layer costs whatever its size."""
    weights = sum(size / speeds.rate(kind, threads) for kind, size in load.reads.items())
    kept = (_SPOKEN * load.kept + load.state) / speeds.rate("F16", threads)
    return weights + kept + load.layers * _LAYER * speeds.layer


def _judged(found: Fitness, verdict: Verdict, code: str) -> Fitness:
    fields: dict[str, Field] = {
        "needed_mb": -(-found.memory >> 20),
        "available_mb": found.available >> 20,
        "window": found.window,
        "speed": round(found.tokens_per_second, 1),
        "disk_needed_mb": found.disk_needed >> 20,
        "disk_free_mb": found.disk_free >> 20,
    }
    return replace(found, verdict=verdict, code=code, fields=fields)


def _pick(entry: Entry, machine: Machine) -> Pick:
    """The finest variant among those that suit best."""
    picks = [Pick(entry, variant, of_variant(entry, variant, machine)) for variant in entry.variants]
    return min(picks, key=lambda pick: (*_place(pick.fitness), -pick.variant.size))


def of_variant(entry: Entry, variant: Variant, machine: Machine, here: bool = False) -> Fitness:
    """How a variant suits `machine`; `here` says that it needs not be fetched."""
    needed = 0 if here else variant.size + (entry.projector.size if entry.projector else 0)
    return fitness(offered(entry, variant), machine, disk_needed=needed)


def _place(found: Fitness) -> tuple[int, bool]:
    brisk = found.tokens_per_second >= BRISK or not found.tokens_per_second
    return _ORDER.index(found.verdict), not brisk
