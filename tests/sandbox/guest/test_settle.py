"""Stillness: what changes counts, what blinks and spins does not hold it up."""

from __future__ import annotations

from sandbox.guest.settle import SPAN, Area, Stillness

SIZE = (1280, 800)
BUTTON: Area = (100, 100, 180, 130)
CARET: Area = (600, 300, 602, 318)
SPINNER: Area = (900, 500, 932, 532)


def still(longest: float = 3.0) -> Stillness:
    return Stillness(10.0, SIZE, 0.06, longest)


def ends(found: Stillness, now: float) -> float:
    """When it is still, if nothing more changes."""
    return now + found.patience(now)


def test_without_any_change_the_first_sign_is_waited_for() -> None:
    found = still()
    assert abs(ends(found, 10.0) - 10.3) < 1e-9
    assert found.settled


def test_after_a_change_it_is_still_when_nothing_follows() -> None:
    found = still()
    found.saw(10.02, [BUTTON])
    assert abs(ends(found, 10.02) - 10.08) < 1e-9
    found.saw(10.05, [(0, 0, 1280, 800)])
    assert abs(ends(found, 10.05) - 10.11) < 1e-9
    assert found.touched(BUTTON)


def test_a_change_before_the_last_step_leaves_its_effect_some_time() -> None:
    found = still()
    found.saw(10.01, [BUTTON])
    found.start = 10.5
    assert abs(ends(found, 10.5) - 10.56) < 1e-9


def test_what_never_ends_is_given_up_and_said() -> None:
    found = still(longest=1.0)
    now = 10.0
    while found.patience(now) > 0:
        now += 0.04
        found.saw(now, [(0, 0, 1280, 800)])
    assert not found.settled
    assert now < 11.1


def test_a_spinner_holds_it_up_only_until_it_is_known() -> None:
    found = still()
    now = 10.0
    while found.patience(now) > 0:
        now += 0.03
        found.saw(now, [SPINNER])
    assert found.settled
    assert SPAN <= now - 10.0 < 0.6
    assert found.moving == [SPINNER]
    assert not found.touched(SPINNER)
    known = Stillness(20.0, SIZE, quiet=0.06, restless=found.moving)
    known.saw(20.01, [SPINNER])
    known.saw(20.02, [BUTTON])
    assert abs(ends(known, 20.02) - 20.08) < 1e-9


def test_a_page_that_loads_beside_a_spinner_is_waited_for() -> None:
    found = still()
    now = 10.0
    for _ in range(20):
        now += 0.03
        found.saw(now, [SPINNER])
    now += 0.01
    found.saw(now, [(0, 100, 1280, 400)])
    assert abs(ends(found, now) - (now + 0.06)) < 1e-9


def test_a_blinking_caret_is_no_reason_to_wait() -> None:
    found = still()
    found.saw(10.05, [CARET])
    assert ends(found, 10.05) <= 10.12


def test_text_that_grows_along_a_line_is_not_taken_for_a_spinner_at_once() -> None:
    found = still()
    now = 10.0
    for letter in range(10):
        now += 0.03
        found.saw(now, [(100 + letter * 9, 200, 109 + letter * 9, 218)])
    assert found.patience(now) > 0
    assert found.moving == []
