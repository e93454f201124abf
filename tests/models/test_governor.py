"""Fewer threads are used while the machine is busy, and all of them again when it is quiet."""

from __future__ import annotations

from models.governor import Governor


def work(governor: Governor, cost: dict[int, float], times: int) -> list[int]:
    """Threads used for each of `times` tokens, whose seconds depend on the threads."""
    used = []
    for _ in range(times):
        used.append(governor.threads)
        governor.note(cost[governor.threads])
    return used


QUIET = {1: 0.02, 2: 0.011, 4: 0.006}
BUSY = {1: 0.03, 2: 1.0, 4: 2.0}


def test_a_quiet_machine_keeps_its_threads() -> None:
    governor = Governor(4, ceiling=0.1)
    assert set(work(governor, QUIET, 500)) == {4}


def test_a_machine_that_becomes_busy_is_left_alone_within_a_few_tokens() -> None:
    governor = Governor(4, ceiling=0.1)
    work(governor, QUIET, 50)
    used = work(governor, BUSY, 12)
    assert used[-1] == 1
    assert used.count(4) + used.count(2) < 8


def test_a_machine_that_is_busy_from_the_start_is_known_by_the_ceiling() -> None:
    assert work(Governor(2, ceiling=0.1), BUSY, 10)[3:] == [1] * 7
    assert set(work(Governor(2), BUSY, 10)) == {2}


def test_all_threads_come_back_when_it_is_quiet_again() -> None:
    governor = Governor(4, ceiling=0.1)
    work(governor, BUSY, 20)
    assert work(governor, QUIET, 600)[-1] == 4


def test_while_it_stays_busy_more_threads_are_tried_ever_more_rarely() -> None:
    governor = Governor(2, ceiling=0.1)
    used = work(governor, BUSY, 4000)
    tries = [at for at, threads in enumerate(used) if threads == 2][2:]
    assert len(tries) < 10
    assert tries[-1] - tries[-2] > 3 * (tries[1] - tries[0])


def test_one_governor_tells_another() -> None:
    one, other = Governor(4, ceiling=0.1), Governor(4, ceiling=0.1)
    work(one, BUSY, 3)
    other.follow(one)
    assert other.threads == one.threads < 4
    other.threads = 4
    other.follow(one)
    assert other.threads == 4
