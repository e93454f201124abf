"""Amounts are told as people write them."""

from __future__ import annotations

import pytest

from runtime.amounts import dollars, priced, size


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0.0, "$0.00"),
        (0.00001, "<$0.0001"),
        (0.00042, "$0.0004"),
        (0.0512, "$0.0512"),
        (0.04, "$0.04"),
        (0.5, "$0.50"),
        (1234.5, "$1,234.50"),
    ],
)
def test_amounts_are_written_for_people(amount: float, shown: str) -> None:
    assert dollars(amount) == shown


def test_what_is_not_known_is_never_shown_as_nothing() -> None:
    figures = {"calls": 2, "cost": 0.5, "unknown": 0}
    assert priced(figures, local=True) == "free"
    assert priced(figures, local=False) == "$0.50"
    assert priced(figures | {"unknown": 1}, local=False) == "at least $0.50"
    assert priced(figures | {"unknown": 2, "cost": 0.0}, local=False) == "unknown"


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (250_000, "250 kB"), (3 * 10**12, "3000 GB")],
)
def test_a_number_of_bytes_is_readable(count: int, shown: str) -> None:
    assert size(count) == shown
