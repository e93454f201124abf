"""Whether the microphone hears the loudspeaker is told from loudness alone."""

from __future__ import annotations

from voice.coupling import QUIET_BLOCKS, REST_BLOCKS, TAKEN_BLOCKS, Coupling


def fed(*stretches: tuple[int, float, float, bool]) -> bool:
    """Feed so many blocks of (level, cleaned, loudspeaker) each, and say whether they are coupled."""
    coupling = Coupling()
    for count, *block in stretches:
        for _ in range(count):
            coupling.feed(*block)  # type: ignore[arg-type]
    return coupling.coupled


def test_at_first_the_loudspeaker_may_be_heard() -> None:
    assert fed()
    assert fed((500, 0.05, 0.05, False))


def test_a_quiet_microphone_under_a_loud_loudspeaker_does_not_hear_it() -> None:
    assert fed((50, 0.05, 0.05, False), (QUIET_BLOCKS - 1, 0.05, 0.0, True))
    assert not fed((50, 0.05, 0.05, False), (QUIET_BLOCKS, 0.08, 0.0, True))


def test_an_echo_keeps_them_coupled_also_a_soft_one() -> None:
    assert fed((50, 0.05, 0.05, False), *[(20, 0.3, 0.0, True), (10, 0.05, 0.0, True)] * 20)


def test_somebody_who_speaks_over_headphones_does_not_couple_them() -> None:
    assert not fed(
        (50, 0.05, 0.05, False), (QUIET_BLOCKS, 0.05, 0.0, True), (TAKEN_BLOCKS - 1, 0.6, 0.0, True)
    )


def test_an_echo_that_comes_later_couples_them_again() -> None:
    assert fed((50, 0.05, 0.05, False), (QUIET_BLOCKS, 0.05, 0.0, True), (TAKEN_BLOCKS, 0.6, 0.0, True))


def test_a_doubt_couples_them_until_the_microphone_is_quiet_once_more() -> None:
    coupling, told = Coupling(), []
    for block in range(2 * QUIET_BLOCKS):
        if block == QUIET_BLOCKS:
            coupling.doubt()
        coupling.feed(0.05, 0.0, True)
        told.append(coupling.coupled)
    assert told == 2 * [*[True] * (QUIET_BLOCKS - 1), False]


def test_a_noisy_room_is_no_echo() -> None:
    assert not fed((100, 0.3, 0.3, False), (QUIET_BLOCKS, 0.33, 0.3, True))


def test_after_a_rest_the_loudspeaker_may_be_heard_again() -> None:
    quiet = (QUIET_BLOCKS, 0.05, 0.0, True)
    assert not fed((50, 0.05, 0.05, False), quiet, (REST_BLOCKS - 1, 0.05, 0.05, False))
    assert fed((50, 0.05, 0.05, False), quiet, (REST_BLOCKS, 0.05, 0.05, False))
