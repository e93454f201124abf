"""What was asked tips the scales between tools that a model likes about as much, and nothing else."""

from __future__ import annotations

import pytest

from models.leaning import Leaning

WEIGHTS = {'\n{"name": "find_song"': 0.0, '\n{"name": "find_songs_by"': -1.0, '\n{"name": "play"': -3.0}


def at(written: str) -> Leaning:
    leaning = Leaning(WEIGHTS)
    leaning.note(written.encode())
    return leaning


@pytest.mark.parametrize(
    ("written", "undecided"),
    [
        ("", True),
        ('\n{"name": "', True),
        ('\n{"name": "find_song', True),
        ('\n{"name": "find_songs', False),
        ('\n{"name": "find_song"', False),
        ('\n{"name": "p', False),
        ("[", False),
    ],
)
def test_it_is_undecided_as_long_as_names_of_different_weight_may_follow(
    written: str, undecided: bool
) -> None:
    assert at(written).undecided is undecided


def test_texts_of_one_weight_decide_nothing() -> None:
    assert not Leaning({"a": -1.0, "b": -1.0}).undecided
    assert not Leaning({}).undecided


@pytest.mark.parametrize(
    ("written", "piece", "gain"),
    [
        ("", "\n{", 0.0),
        ('\n{"name": ', '"pl', -3.0),
        ('\n{"name": "', "find", 0.0),
        ('\n{"name": "find_song', "s_", -1.0),
        ('\n{"name": "find_song', '",', 0.0),
        ('\n{"name": "', "write", None),
    ],
)
def test_a_piece_gains_what_speaks_for_the_best_text_it_leads_to(
    written: str, piece: str, gain: float | None
) -> None:
    assert at(written).gain(piece.encode()) == gain
