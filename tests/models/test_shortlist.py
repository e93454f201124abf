"""Under a grammar the likeliest allowed token is chosen, and none where the likeliest are all refused."""

from __future__ import annotations

import ctypes

import pytest

from models.shortlist import Shortlist
from tests.models.test_sampling import LONGEST, PIECES, Library


@pytest.mark.parametrize(
    ("allowed", "found"), [(b"2|a", b"a"), (b"0|2", b"0"), (b"2", b"2"), (b"none", b"")], ids=str
)
def test_the_choice(allowed: bytes, found: bytes) -> None:
    library = Library(1, 4, 5, 2, 4.5, 3)
    library.allowed = allowed
    shortlist = Shortlist(library, LONGEST)
    for _ in range(2):
        token = shortlist.choose(None, "grammar", ["greedy"])
        assert (PIECES[token] if token >= 0 else b"") == found
    shortlist.close()


def test_the_likeliest_come_first_and_follow_the_evaluation() -> None:
    library = Library(1, 4, 5, 2, 4.5, 3)
    shortlist = Shortlist(library, LONGEST)
    assert shortlist.likeliest(None, 3) == [2, 4, 1]
    library.logits = (ctypes.c_float * LONGEST)(9, 0, 0, 0, 0, 1)
    assert shortlist.likeliest(None, 2) == [0, 5]
    assert len(shortlist.likeliest(None, 100)) == LONGEST
    shortlist.close()
