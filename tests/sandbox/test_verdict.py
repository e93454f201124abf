"""What changed decides the verdict, and a spot without effect is not clicked forever."""

from __future__ import annotations

import pytest

from sandbox.verdict import Measured, Spots, judge, told


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (Measured(region=0.2, screen=0.01), "confirmed"),
        (Measured(touched=True), "confirmed"),
        (Measured(), "no_change"),
        (Measured(screen=0.1, elsewhere=(5, 5, 300, 200)), "unclear"),
        (Measured(screen=0.00002, elsewhere=(600, 300, 2, 18)), "no_change"),
    ],
)
def test_verdicts(measured: Measured, verdict: str) -> None:
    assert judge(measured) == verdict


def test_an_answer_of_the_guest_is_read() -> None:
    answer = {"settled": False, "region_changed": 0.5, "screen_changed": 0.25, "touched": True}
    assert Measured.of(answer | {"elsewhere": [1, 2, 3, 4]}) == Measured(False, 0.5, 0.25, True, (1, 2, 3, 4))
    assert Measured.of({}) == Measured()


def test_sentences_say_what_happened() -> None:
    what = "The left click at (3, 4)"
    assert told(what, "no_change", Measured(), None) == "The left click at (3, 4) changed nothing near it."
    elsewhere = Measured(elsewhere=(10, 20, 30, 40))
    assert "between (10, 20) and (40, 60)" in told(what, "unclear", elsewhere, (10, 20, 30, 40))
    assert told(what, "confirmed", Measured(settled=False), None).endswith("The screen is still changing.")


def test_the_same_spot_is_refused_after_three_clicks_without_effect() -> None:
    spots = Spots()
    assert [spots.clicked("left_click", (50, 50), "no_change") for _ in range(3)] == [1, 2, 3]
    assert spots.refused("left_click", (55, 45))
    assert not spots.refused("right_click", (50, 50))
    assert not spots.refused("left_click", (90, 50))
    spots.moved_on()
    assert not spots.refused("left_click", (50, 50))


def test_an_effect_or_another_spot_begins_anew() -> None:
    spots = Spots()
    spots.clicked("left_click", (50, 50), "no_change")
    assert spots.clicked("left_click", (50, 50), "confirmed") == 0
    assert spots.clicked("left_click", (50, 50), "no_change") == 1
    assert spots.clicked("left_click", (400, 50), "no_change") == 1
