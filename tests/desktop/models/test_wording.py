"""Rows of the shelf in plain words."""

from __future__ import annotations

import pytest

from desktop.models import wording
from tests.desktop.models import rows


@pytest.mark.parametrize(
    ("fit", "words", "tone"),
    [
        (rows.fit(), "Runs well here, about 14 words a second", "good"),
        (rows.fit(tokens_per_second=0), "Runs well here", "good"),
        (rows.fit("slow", tokens_per_second=1.4), "Runs here, but slowly, about 1 word a second", "careful"),
        (
            rows.fit("slow", tokens_per_second=0.5),
            "Runs here, but slowly, less than a word a second",
            "careful",
        ),
        (
            rows.fit("tight", memory=5_500_000_000, tokens_per_second=0),
            "Just fits: takes 5.5 GB of 6.0 GB free memory",
            "careful",
        ),
        (rows.fit("too_large", memory=9_000_000_000), "Needs 9.0 GB of memory; 6.0 GB are free", "bad"),
        (
            rows.fit("no_disk", disk_needed=5_000_000_000, disk_free=2_000_000_000),
            "Needs 5.0 GB on the disk; 2.0 GB are free",
            "bad",
        ),
        (None, "", "none"),
    ],
)
def test_how_a_model_fits_is_one_plain_sentence(fit: rows.Row | None, words: str, tone: str) -> None:
    assert wording.fit_words(fit) == words
    assert wording.fit_tone(fit) == tone


def test_the_figures_behind_it_are_told_on_request() -> None:
    assert wording.fit_details(rows.fit()).splitlines() == [
        "Memory: about 4.0 GB of 6.0 GB that are free",
        "Speed: about 19 tokens a second",
        "Window: 8k tokens",
    ]
    assert wording.fit_details(None) == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (20, "less than a minute left"),
        (61, "1 minute left"),
        (1200, "20 minutes left"),
        (7500, "2 h 5 min left"),
        (200_000, "more than a day left"),
    ],
)
def test_time_is_told_as_one_would_say_it(seconds: float | None, words: str) -> None:
    assert wording.time_words(seconds) == words


def test_sizes_of_models_are_told_as_makers_do() -> None:
    assert wording.parameters(0.135) == "135M parameters"
    assert wording.parameters(4.0) == "4B parameters"
    assert wording.parameters(0) == ""
    assert wording.download_size(rows.variant(about=True)) == "about 2.5 GB"


def test_a_result_says_what_was_measured() -> None:
    exam = rows.exam()
    told = wording.score_words("tools", exam["scores"]["tools"], exam)
    assert told.splitlines()[0] == "Tools: 3 of 10 right: failed."
    assert "Speed: 21 tokens a second." in wording.score_words("speed", exam["scores"]["speed"], exam)
    left = wording.score_words("json", rows.score("not_taken", 0, 0), exam)
    assert left.startswith("JSON: not taken.")


def test_an_exam_that_was_cut_short_condemns_nobody() -> None:
    cut = rows.score("not_taken", 0, 11, code="exam_time_up")
    scores = {"speed": rows.score("passed", 2, 2), "instructions": cut}
    told = wording.exam_words(rows.exam(roles=[], scores=scores))
    assert "No role earned so far" in told
    assert "cut short" in told
    failed = {"instructions": rows.score("failed", 1, 14)}
    assert "Not good enough for any role" in wording.exam_words(rows.exam(roles=[], scores=failed))
    assert "cut short" not in wording.exam_words(rows.exam())


def test_a_short_fact_is_never_broken() -> None:
    told = wording.facts("98.4 MB", "", "keeps 8k tokens in view")
    assert told == "98.4\u00a0MB\u00a0\u00a0·  keeps 8k tokens in view"
