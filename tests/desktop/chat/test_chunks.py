"""However text arrives, it is cut in the same places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.chat.chunks import MAX_LINE, MAX_LINES, Cutter, chunks, references

SAMPLE = (
    "# T\n\nhello *x*\n- a\n- b\n\n  para\n\n```py\nx=1\n\n\ny=2\n```\nafter"
    "\n\n1. a\n\n   ```js\n   z\n\n   w\n   ```"
    "\n\n2. b\n\n> q\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n~~~\nopen"
)


def test_a_fence_is_a_chunk_of_its_own() -> None:
    found = chunks("before\n```py\nx = 1\n\ny = 2\n```\nafter")
    assert [(one.kind, one.text, one.language) for one in found] == [
        ("prose", "before", ""),
        ("code", "x = 1\n\ny = 2", "py"),
        ("prose", "after", ""),
    ]


def test_a_fence_that_never_closes_holds_the_rest() -> None:
    assert [one.text for one in chunks("a\n\n```\nb\n\nc\n")] == ["a", "b\n\nc"]


def test_a_list_with_code_and_blank_lines_stays_together() -> None:
    assert len([one for one in chunks(SAMPLE) if "1. a" in one.text and "2. b" in one.text]) == 1


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60))
def test_any_portions_give_the_same_chunks(sizes: list[int]) -> None:
    cutter, at = Cutter(), 0
    while at < len(SAMPLE):
        size = sizes[at % len(sizes)]
        cutter.feed(SAMPLE[at : at + size])
        cutter.open()
        at += size
    assert cutter.all() == chunks(SAMPLE)


@given(st.text(alphabet="ab`~-> #|\n1.[]*$ "), st.integers(1, 7))
def test_any_text_gives_the_same_chunks(text: str, size: int) -> None:
    cutter = Cutter()
    for at in range(0, len(text), size):
        cutter.feed(text[at : at + size])
    assert cutter.all() == chunks(text)


@pytest.mark.parametrize("text", ["x" * 50_000, "line\n" * 2000, "```\n" + "x\n" * 2000, "- a\n" * 3000])
def test_no_chunk_grows_without_bound(text: str) -> None:
    found = chunks(text)
    assert all(len(one.text) <= MAX_LINES * MAX_LINE for one in found)
    assert all(one.text.count("\n") < MAX_LINES for one in found)
    assert len(found) > 10
    assert all(one.follows for one in found[1:])


def test_a_cut_line_loses_nothing() -> None:
    text = "```\n" + "x" * 10_000 + "\nend\n```"
    found = chunks(text)
    whole = "".join(("" if one.glued or not n else "\n") + one.text for n, one in enumerate(found))
    assert whole == "x" * 10_000 + "\nend"


def test_reference_definitions_are_found() -> None:
    assert references("See [a].\n\n[a]: https://a.example\n") == "[a]: https://a.example"
    assert references("nothing [here]") == ""
