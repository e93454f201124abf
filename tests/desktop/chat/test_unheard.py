"""Wherever the speaking of an answer is interrupted, no mark of Markdown is left in sight."""

from __future__ import annotations

import pytest

from desktop.chat.unheard import divided


@pytest.mark.parametrize(
    ("heard", "rest", "drawn", "dimmed"),
    [
        ("plain words", " go on.", "plain words", " go on."),
        ("a **bold", " thing** here.", "a **bold**", "**thing** here."),
        ("a **very *bold", " thing* it** is.", "a **very *bold***", "***thing* it** is."),
        ("a **bold** and", " more **too**.", "a **bold** and", " more **too**."),
        ("run `make", " check` now.", "run `make`", "`check` now."),
        ("with `**` inside", " it.", "with `**` inside", " it."),
        (
            "see [the",
            " page](https://a.example/b) there.",
            "see [the](https://a.example/b)",
            "[page](https://a.example/b) there.",
        ),
        ("2 * 3", " * 4 is.", "2 * 3", " * 4 is."),
        ("never **closed", " at all.\n\nHere** no.", "never **closed", " at all.\n\nHere** no."),
        ("some_name and", " other_name.", "some_name and", " other_name."),
        ("not \\*bold", " at all*.", "not \\*bold", " at all*."),
        ("```py\nx = 1", "\ny = 2\n```\nDone.", "```py\nx = 1\n```", "```py\ny = 2\n```\nDone."),
        ("```\nx\n```\nThen **so", " it** is.", "```\nx\n```\nThen **so**", "**it** is."),
    ],
)
def test_a_mark_that_spans_the_cut_is_closed_and_opened_again(
    heard: str, rest: str, drawn: str, dimmed: str
) -> None:
    assert divided(heard, rest) == (drawn, dimmed)


@pytest.mark.parametrize(
    ("heard", "rest", "dimmed"),
    [
        ("This is answer number", " 4. Once upon a time.", " 4\\. Once upon a time."),
        ("It takes 2", " - 3 days.", " \\- 3 days."),
        ("I like C", " # and more.", " \\# and more."),
        ("Buy:\n", "1. Milk\n2. Bread", "1. Milk\n2. Bread"),
        ("Two facts.", "\n\n- One\n- Two", "\n\n- One\n- Two"),
        ("It costs", " 4.50 in all.", " 4.50 in all."),
    ],
)
def test_only_what_stood_at_the_beginning_of_a_line_begins_a_list(heard: str, rest: str, dimmed: str) -> None:
    assert divided(heard, rest) == (heard, dimmed)
