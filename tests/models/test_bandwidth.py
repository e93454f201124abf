"""The speeds of this machine are measured once, kept, and measured again where they do not hold any more."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from models.bandwidth import FILE, UNTIMED, Timed, cards_now, streamed, timed
from models.graphics import Card
from models.kernels import VERSION

PROCESSOR = {"name": "p", "card": False, "free": 1, "rates": {"Q4_K": 5e9, "Q8_0": 6e9}, "layer": 1e-5}
CARD = {"name": "c", "card": True, "free": 7, "rates": {"Q4_K": 9e10}, "layer": 2e-6}


def child(told: Any, folder: Path) -> tuple[str, ...]:
    """A child that says `told`, and leaves a trace each time it is asked."""
    text = json.dumps({"version": VERSION, "devices": told}) if isinstance(told, list) else told
    program = f"open({str(folder / 'asked')!r}, 'a').write('x'); print({text!r})"
    return (sys.executable, "-c", program)


def memory(threads: int) -> float:
    return threads * 1e10


def asked(folder: Path) -> int:
    return len((folder / "asked").read_text()) if (folder / "asked").exists() else 0


def test_what_the_child_says_is_kept(tmp_path: Path) -> None:
    command = child([PROCESSOR, CARD], tmp_path)
    first = timed(tmp_path / "cache", command, memory)
    assert first.processor.rates == {"Q4_K": 5e9, "Q8_0": 6e9}
    assert first.processor.bandwidth >= 1e10
    assert first.cards["c"].rate("Q4_K") == 9e10
    for _ in range(4):
        assert timed(tmp_path / "cache", command, memory) == first
    assert asked(tmp_path) == 3
    assert cards_now(command) == (Card("c", 7),)


def test_a_card_that_cannot_be_timed_is_a_slow_one_and_two_alike_are_two(tmp_path: Path) -> None:
    command = child([PROCESSOR, CARD | {"rates": {}}, CARD | {"shared": True}], tmp_path)
    untimed = child([PROCESSOR, CARD | {"rates": {}}], tmp_path)
    for _ in range(5):
        assert timed(tmp_path, untimed, memory).cards == {"c": UNTIMED}
    assert cards_now(command) == (Card("c", 7), Card("c", 7, shared=True))


def test_the_best_of_some_measurements_counts(tmp_path: Path) -> None:
    fast = {"rates": {"Q4_K": 9e9, "Q6_K": 1e9}, "layer": 3e-6}
    timed(tmp_path, child([PROCESSOR, CARD], tmp_path), memory)
    timed(tmp_path, child([PROCESSOR | fast, CARD | fast], tmp_path), lambda threads: 5e9)
    timed(tmp_path, child("broken", tmp_path), memory)
    found = timed(tmp_path, child([PROCESSOR, CARD | {"rates": {}}], tmp_path), memory)
    assert found.processor.rates == {"Q4_K": 9e9, "Q8_0": 6e9, "Q6_K": 1e9}
    assert found.processor.layer == 3e-6
    assert found.processor.bandwidth >= 1e10
    assert found.cards["c"].rates == {"Q4_K": 9e10, "Q6_K": 1e9}
    assert timed(tmp_path, child([], tmp_path), memory) == found


def test_a_stored_file_that_does_not_hold_is_made_anew(tmp_path: Path) -> None:
    command = child([PROCESSOR], tmp_path)
    timed(tmp_path, command, memory)
    path = tmp_path / FILE
    data = json.loads(path.read_text())
    for count, text in enumerate(
        (
            json.dumps(data | {"machine": "another"}),
            json.dumps(data | {"version": 0}),
            json.dumps(data | {"processor": 3}),
            json.dumps({**data, "processor": {**data["processor"], "rates": {"Q4_K": "fast"}}}),
            "[]",
            "{",
            "",
        ),
        start=2,
    ):
        path.write_text(text)
        assert timed(tmp_path, command, memory).processor.rates == PROCESSOR["rates"]
        assert asked(tmp_path) == count
        assert json.loads(path.read_text())["machine"] == data["machine"]


def test_without_the_child_memory_alone_has_to_do(tmp_path: Path) -> None:
    wrong = (
        (sys.executable, "-c", "raise SystemExit(3)"),
        (str(tmp_path / "nothing"),),
        child("no JSON", tmp_path),
        child([], tmp_path),
        child([{"name": "p"}], tmp_path),
        child([PROCESSOR | {"rates": {"Q4_K": -1.0}}], tmp_path),
    )
    for command in wrong:
        found = timed(tmp_path / "cache", command, memory)
        assert found.cards == {}
        assert not found.processor.rates
        assert found.processor.rate("Q4_K", 2) > 0
        assert not (tmp_path / "cache" / FILE).exists()


def test_a_disk_that_refuses_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = timed(tmp_path / "file" / "cache", child([PROCESSOR], tmp_path), memory)
    assert isinstance(found, Timed)
    assert found.processor.rates == PROCESSOR["rates"]


def test_memory_is_read_at_a_plausible_rate() -> None:
    assert 1e8 < streamed(1, 8 << 20) < 1e13
    assert 1e8 < streamed(2, 8 << 20) < 1e13
