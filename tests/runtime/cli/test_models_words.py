"""What the terminal says of models in a few words."""

from __future__ import annotations

import pytest

from runtime.cli.models_words import examined


@pytest.mark.parametrize(
    ("badges", "code", "words"),
    [
        (["tools", "json"], "exam_time_up", "examined: tools, json"),
        ([], "exam_time_up", "exam cut short, no badges so far"),
        ([], "", "examined, no badges"),
    ],
)
def test_an_exam_cut_short_does_not_sound_like_a_failed_one(badges: list[str], code: str, words: str) -> None:
    assert examined({"badges": badges, "scores": {"json": {"code": code}}}) == words


def test_a_model_that_sat_no_exam() -> None:
    assert examined(None) == "not examined"
