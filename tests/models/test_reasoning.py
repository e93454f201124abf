"""Reasoning is told apart from the answer at every cut of the stream."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.reasoning import PAIRS, ReasoningSplitter, opened_by


def split(pieces: list[str], opening: str = "") -> tuple[str, str]:
    """(reasoning, answer) of a reply that comes in `pieces`."""
    splitter = ReasoningSplitter(opening)
    spans = [span for piece in pieces for span in splitter.feed(piece)] + splitter.finish()
    assert all(text for _, text in spans)
    parts = {kind: "".join(text for of, text in spans if of == kind) for kind in ("reasoning", "text")}
    return parts["reasoning"], parts["text"]


MARKS = [mark for pair in PAIRS for mark in pair]

REPLIES = [
    ("<think>\nhm, hm\n</think>\n\nForty-two.", "hm, hm", "Forty-two."),
    ("  <think></think>Yes", "", "Yes"),
    ("<think>a</think>\n<think>b</think>\nYes", "ab", "Yes"),
    ("<think>never closed\n", "never closed", ""),
    ("<thi", "", "<thi"),
    ("\n\nplain, with  space \n", "", "\n\nplain, with  space \n"),
    ("In HTML, <think>x</think> is no tag.", "", "In HTML, <think>x</think> is no tag."),
    ("<think>a < b </thin k></think>c", "a < b </thin k>", "c"),
    ("[THINK]x y[/THINK] z", "x y", "z"),
    ("<|START_THINKING|>t<|END_THINKING|><|START_RESPONSE|>r", "t", "r"),
    ("<|channel|>analysis<|message|>t<|end|><|start|>assistant<|channel|>final<|message|>r", "t", "r"),
    ("<|channel|>final<|message|>r", "", "r"),
    ("", "", ""),
    ("   ", "", "   "),
]


@pytest.mark.parametrize(("reply", "reasoning", "answer"), REPLIES)
def test_known_forms_at_every_single_cut_and_letter_by_letter(
    reply: str, reasoning: str, answer: str
) -> None:
    assert split([reply]) == (reasoning, answer)
    assert split(list(reply)) == (reasoning, answer)
    for cut in range(len(reply) + 1):
        assert split([reply[:cut], reply[cut:]]) == (reasoning, answer)


@given(
    st.sampled_from(["", *(opening for opening, _ in PAIRS)]),
    st.lists(
        st.sampled_from([*MARKS, " ", "\n", "a", "<", "</", "think>", "|>"]),
        max_size=12,
    ).map("".join),
    st.lists(st.integers(0, 200), max_size=8),
)
def test_the_cuts_of_a_stream_change_nothing(opening: str, reply: str, cuts: list[int]) -> None:
    places = sorted({0, len(reply), *(cut for cut in cuts if cut < len(reply))})
    pieces = [reply[a:b] for a, b in pairwise(places)]
    assert split(pieces, opening) == split([reply], opening)


@pytest.mark.parametrize(("opening", "closing"), PAIRS)
def test_a_prompt_may_open_the_reasoning(opening: str, closing: str) -> None:
    assert opened_by(f"user: hello\nassistant: {opening}\n") == opening
    assert opened_by(f"{opening}\n\n{closing}\n\n") == ""
    assert split([f"hm\n{closing}\n\nYes"], opening) == ("hm", "Yes")


def test_text_is_not_held_back_once_the_answer_has_begun() -> None:
    splitter = ReasoningSplitter()
    assert splitter.feed("Hello") == [("text", "Hello")]
    assert splitter.feed(" <think") == [("text", " <think")]
    assert splitter.finish() == []
