"""What fits which machine, how fast it is said to be, and which models are recommended: made-up machines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from models.bandwidth import Speeds
from models.catalogue import Catalogue, Entry, Variant
from models.fitness import (
    BRISK,
    Fitness,
    Machine,
    disk_free,
    layers_on,
    of_variant,
    offered,
    recommended,
    tokens_per_second,
)
from models.footprint import Shape, memory, of_header, of_shape, twice
from models.gguf import read_header
from models.graphics import Card, room_on
from models.hardware import Hardware
from resources.sentences import sentence

GB = 1 << 30
RATES = {"Q4_K": 15e9, "Q6_K": 15e9, "Q8_0": 18e9, "Q5_K": 12e9, "F16": 20e9, "MXFP4": 12e9}
CARD = Speeds(0.0, dict.fromkeys(RATES, 400000000000.0), 10e-6)


def machine(
    ram: float, cores: int = 4, bandwidth: float = 40e9, card: float = 0.0, disk: float = 500
) -> Machine:
    """One with `ram` GB, of which a quarter (at most 6 GB) is used by others, and a card with `card` GB."""
    free = ram - min(6.0, ram / 4)
    hardware = Hardware("made up", cores, cores, int(ram * GB), int(free * GB), frozenset())
    cards = (Card("card", int(0.95 * card * GB)),) if card else ()
    return Machine(
        hardware, cards, int(disk * GB), Speeds(bandwidth, RATES, 20e-6), {"card": CARD} if card else {}
    )


@pytest.fixture(scope="module")
def entries() -> tuple[Entry, ...]:
    return Catalogue.load().entries


def only(entries: tuple[Entry, ...], name: str) -> tuple[Entry, Variant]:
    entry = next(entry for entry in entries if entry.name == name)
    return entry, entry.variants[0]


def judged(entries: tuple[Entry, ...], name: str, there: Machine) -> Fitness:
    return of_variant(*only(entries, name), there)


@pytest.mark.parametrize(
    ("there", "first", "least"),
    [
        (machine(4, 2, 15e9), "qwen3.5-0.8b", 0),
        (machine(8, 4, 30e9), "qwen3-4b-2507", 0),
        (machine(16, 6, 45e9), "qwen3.5-9b", 0),
        (machine(32, 8, 60e9), "gpt-oss-20b", 0),
        (machine(64, 16, 80e9), "gemma-4-26b-a4b", 0),
        (machine(16, 6, 45e9, card=8), "qwen3.5-9b", 25),
        (machine(32, 8, 60e9, card=16), "qwen3.6-27b", 40),
        (machine(32, 8, 60e9, card=24), "qwen3.6-27b", 60),
    ],
    ids=["4", "8", "16", "32", "64", "card 8", "card 16", "card 24"],
)
def test_the_strongest_brisk_model_comes_first(
    there: Machine, first: str, least: int, entries: tuple[Entry, ...]
) -> None:
    picks = recommended(entries, there, "language")
    assert picks[0].entry.name == first, [
        (p.entry.name, p.fitness.verdict, round(p.fitness.tokens_per_second, 1)) for p in picks[:6]
    ]
    assert picks[0].fitness.verdict == "good"
    assert picks[0].fitness.tokens_per_second >= BRISK
    assert picks[0].fitness.gpu_layers >= least
    assert picks == recommended(tuple(reversed(entries)), there, "language")


def test_what_cannot_be_used_comes_last(entries: tuple[Entry, ...]) -> None:
    picks = recommended(entries, machine(8, 4, 30e9))
    usable = [pick.fitness.usable for pick in picks]
    assert usable == sorted(usable, reverse=True)
    assert not picks[-1].fitness.usable
    assert len(picks) == len(entries)
    brisk = [pick for pick in picks if pick.fitness.verdict == "good"]
    speeds = [not 0 < pick.fitness.tokens_per_second < BRISK for pick in brisk]
    assert speeds == sorted(speeds, reverse=True)


def test_every_kind_has_something_for_a_small_machine(entries: tuple[Entry, ...]) -> None:
    for kind in ("language", "vision", "embedding", "speech"):
        picks = recommended(entries, machine(4, 2, 15e9), kind)
        assert picks[0].fitness.verdict == "good", kind
        assert {pick.entry.kind for pick in picks} == {kind}


def test_a_larger_variant_is_taken_where_there_is_room(entries: tuple[Entry, ...]) -> None:
    four = [entry for entry in entries if entry.name == "qwen3-4b-2507"]
    assert recommended(four, machine(8, 4, 30e9))[0].variant.quantisation == "Q4_K_M"
    assert recommended(four, machine(64, 16, 80e9))[0].variant.quantisation == "Q8_0"


def test_too_large_tight_slow_and_no_disk_say_why(entries: tuple[Entry, ...]) -> None:
    found = {
        "too_large": judged(entries, "qwen3-32b", machine(16, 6, 45e9)),
        "slow": judged(entries, "qwen3-32b", machine(64, 8, 45e9)),
        "tight": judged(entries, "qwen3-8b", replace_memory(machine(16, 8, 60e9), 10.1)),
        "no_disk": judged(entries, "qwen3-8b", machine(32, 8, 60e9, disk=5)),
        "good": judged(entries, "qwen3-8b", machine(32, 8, 60e9)),
    }
    assert {name: fit.verdict for name, fit in found.items()} == {name: name for name in found}
    for name, fit in found.items():
        assert bool(fit.code) == (name != "good")
        if fit.code:
            text = sentence(fit.code, **fit.fields)
            assert "{" not in text
            assert fit.code not in text
    assert found["no_disk"].disk_needed > 5 * 10**9
    assert found["too_large"].window == 2048


def test_a_window_is_shortened_before_a_model_is_refused(entries: tuple[Entry, ...]) -> None:
    there = machine(16, 8, 60e9)
    whole = judged(entries, "gemma-3-12b", there)
    load = offered(*only(entries, "gemma-3-12b"))
    part = judged(entries, "gemma-3-12b", replace_memory(there, memory(load, 5000) / GB * 1.05))
    assert (whole.verdict, whole.window) in {("good", 8192), ("tight", 8192)} or whole.window < 8192
    assert part.verdict == "tight"
    assert part.code == "fit_short_window"
    assert 2048 <= part.window < 8192


def test_nothing_is_needed_of_the_disk_for_what_is_here(entries: tuple[Entry, ...]) -> None:
    full = machine(32, 8, 60e9, disk=0)
    entry, variant = only(entries, "qwen3-8b")
    assert of_variant(entry, variant, full).verdict == "no_disk"
    assert of_variant(entry, variant, full, here=True).verdict == "good"


def test_layers_go_to_the_card_until_it_is_full(entries: tuple[Entry, ...]) -> None:
    load = offered(*only(entries, "qwen3-14b"))
    sizes = [layers_on(load, (Card("card", size * GB),), 8192) for size in (0, 4, 8, 12, 16, 24)]
    assert sizes == sorted(sizes)
    assert sizes[0] == 0
    assert sizes[-1] == load.layers + 1
    assert room_on(()) == 0
    there = machine(32, 8, 60e9, card=12)
    speeds = [tokens_per_second(load, there, layers) for layers in (0, 20, load.layers + 1)]
    assert speeds[0] < speeds[1] < speeds[2]


def test_a_card_that_was_not_timed_is_taken_for_a_slow_one(entries: tuple[Entry, ...]) -> None:
    load = offered(*only(entries, "qwen3-8b"))
    there = machine(32, 8, 60e9, card=24)
    unknown = replace(there, card_speeds={})
    layers = load.layers + 1
    alone = tokens_per_second(load, there, 0)
    assert alone < tokens_per_second(load, unknown, layers) < tokens_per_second(load, there, layers)


def test_an_expert_model_is_quick_for_its_size(entries: tuple[Entry, ...]) -> None:
    there = machine(64, 8, 60e9)
    some = judged(entries, "qwen3-30b-a3b-2507", there)
    dense = judged(entries, "qwen3-32b", there)
    assert some.tokens_per_second > 4 * dense.tokens_per_second
    assert some.memory > dense.memory / 2


def test_embedding_and_speech_have_no_speed_but_a_size(entries: tuple[Entry, ...]) -> None:
    for name in ("bge-m3", "faster-whisper-small"):
        found = judged(entries, name, machine(8))
        assert found.tokens_per_second == 0
        assert found.verdict == "good"
        assert found.memory > 300 << 20


def test_more_cores_help_until_memory_is_the_limit() -> None:
    speeds = Speeds(40e9, RATES, 20e-6)
    rates = [speeds.rate("Q4_K", threads) for threads in (1, 2, 4, 8, 16, 64)]
    assert rates == sorted(rates)
    assert rates[0] == pytest.approx(15e9)
    assert rates[1] > 1.6 * rates[0]
    assert 0.97 * 40e9 < rates[-1] <= 40e9
    assert speeds.rate("IQ1_S") == pytest.approx(12e9)  # not timed: as the slowest
    assert Speeds(40e9).rate("Q4_K", 4) > 20e9


def test_shape_and_header_tell_the_same(weights: Path, entries: tuple[Entry, ...]) -> None:
    """The bundled model as the catalogue would describe it."""
    header = read_header(weights)
    entry, variant = only(entries, "qwen3-0.6b")
    assert entry.shape is not None
    shape = replace(
        entry.shape,
        layers=30,
        embedding=576,
        feed_forward=1536,
        heads=9,
        kv_heads=3,
        key=64,
        vocabulary=49152,
    )
    told = offered(
        replace(entry, shape=shape, window=8192, parameters=0.135, active=0.135),
        replace(variant, size=header.size),
    )
    real = of_header(header)
    assert memory(told, 4096) == pytest.approx(memory(real, 4096), rel=0.05)
    assert sum(told.reads.values()) == pytest.approx(sum(real.reads.values()), rel=0.05)


@pytest.mark.parametrize(
    ("shape", "size", "measured"),
    [
        (Shape(28, 1536, 8960, 12, 2, 128, 151936), 1117320768, 1806),
        (Shape(24, 896, 4864, 14, 2, 64, 151936), 491400064, 600),
    ],
    ids=["Qwen2.5 1.5B", "Qwen2.5 0.5B"],
)
def test_the_memory_told_from_a_shape_is_within_a_tenth_of_the_measured(
    shape: Shape, size: int, measured: int
) -> None:
    """Megabytes of a worker with a window of 2,048 tokens, measured on x86 with the files of these models."""
    load = of_shape(shape, size, "Q4_K_M", 32768)
    twofold = twice(load.matrices, "x86_64") - twice(load.matrices)
    assert (memory(load, 2048) + twofold) / (1 << 20) == pytest.approx(measured, rel=0.1)


def test_the_disk_is_that_of_the_nearest_folder(tmp_path: Path) -> None:
    assert disk_free(tmp_path) > 0
    assert disk_free(tmp_path / "not" / "yet" / "there") == pytest.approx(disk_free(tmp_path), rel=0.2)


def test_the_machine_is_looked_at_again_without_timing(tmp_path: Path) -> None:
    before = machine(8)
    after = before.again(tmp_path)
    assert after.speeds is before.speeds
    assert after.hardware.memory_total != before.hardware.memory_total
    assert after.disk_free == disk_free(tmp_path) or after.disk_free > 0
    assert (after.bandwidth, after.cores) == (40e9, after.hardware.usable_cores)


def replace_memory(there: Machine, free: float) -> Machine:
    return replace(there, hardware=replace(there.hardware, memory_available=int(free * GB)))
