"""Bounded output loses nothing that fits, tells what it leaves out, and cuts no character in two."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sandbox.guest.shell_output import Output

TEXT = st.text(alphabet="aé文🙂\n", max_size=400)


def fed(data: bytes, limit: int, size: int) -> tuple[bytes, bytes, Output]:
    """What went out at once, what at the end."""
    output, early = Output(limit), b""
    for start in range(0, len(data), size):
        output.feed(data[start : start + size])
        early += output.take()
    return early, output.rest(), output


@given(st.binary(max_size=500), st.integers(1, 50))
def test_what_fits_passes_unchanged(data: bytes, size: int) -> None:
    early, late, output = fed(data, 500, size)
    assert early + late == data
    assert (output.total, output.omitted, output.flooded) == (len(data), 0, False)


@given(TEXT, st.integers(8, 100), st.integers(1, 50))
def test_of_more_the_beginning_and_the_end_are_kept_whole(text: str, limit: int, size: int) -> None:
    data = text.encode()
    early, late, output = fed(data, limit, size)
    whole = (early + late).decode()
    if len(data) <= limit:
        assert whole == text
        return
    head, told, tail = re.split(r"\n\[… (\d+) bytes left out …\]\n", whole)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head.encode()) + int(told) + len(tail.encode()) == len(data)
    assert len(head.encode()) + len(tail.encode()) <= limit
    assert output.flooded


def test_the_beginning_goes_out_as_it_comes() -> None:
    output = Output(100)
    output.feed(b"a" * 30)
    assert output.take() == b"a" * 30
    assert output.take() == b""
    output.feed(b"b" * 200)
    assert output.take() == b"b" * 20
    assert output.rest() == "\n[… 130 bytes left out …]\n".encode() + b"b" * 50


def test_endless_output_takes_no_more_memory() -> None:
    output = Output(1_000)
    for _ in range(10_000):
        output.feed(b"x" * 1_000)
    assert output.total == 10_000_000
    assert len(output._tail) < 3_000
