"""The painter keeps every character, wherever the stream is cut."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from runtime.cli.painter import Painter
from runtime.cli.terminal import ANSI, visible

MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# ",
            "- ",
            "1. ",
            "> ",
            "```",
            "```py",
            "~~~",
            "\n",
            "**",
            "*",
            "`",
            "a",
            "word ",
            "表",
            "  ",
            "|",
            "\x1b[2J",
            "\r\n",
        ]
    ),
    max_size=40,
).map("".join)


def painted(text: str, width: int = 0, *, colour: bool = True, cuts: list[int] | None = None) -> str:
    painter = Painter(width, colour=colour)
    edges = [0, *sorted(cut for cut in cuts or [] if cut <= len(text)), len(text)]
    pieces = [painter.feed(text[start:end]) for start, end in pairwise(edges)]
    return "".join(pieces) + painter.finish()


@given(MARKDOWN)
def test_without_width_only_colours_are_added(text: str) -> None:
    assert ANSI.sub("", painted(text)) == visible(text)
    assert painted(text, colour=False) == visible(text)


@given(MARKDOWN, st.lists(st.integers(0, 80)), st.sampled_from([0, 10, 40]))
def test_any_cut_paints_the_same(text: str, cuts: list[int], width: int) -> None:
    whole, cut = painted(text, width), painted(text, width, cuts=cuts)
    assert _styles(whole) == _styles(cut)


def _styles(text: str) -> list[tuple[str, str]]:
    """Each character with the colour it has; where colour codes are set does not matter."""
    found, colour = [], ""
    for code, character in re.findall(r"\x1b\[([0-9;]*)m|(.)", text, re.DOTALL):
        if character:
            found.append((colour, character))
        else:
            colour = code
    return found


@given(MARKDOWN)
def test_breaks_change_only_blanks(text: str) -> None:
    def words(shown: str) -> str:
        return "".join(shown.split())

    assert words(ANSI.sub("", painted(text, 20))) == words(visible(text))


def test_prose_is_broken_between_words_and_indented_under_its_item() -> None:
    assert painted("one two three", 8, colour=False) == "one two\nthree"
    assert painted("- one two three", 9, colour=False) == "- one two\n  three"


def test_code_is_never_broken() -> None:
    code = "```\nsome long line of code\n```\n"
    assert painted(code, 8, colour=False) == code


def test_marks_are_coloured_as_they_stream() -> None:
    painter = Painter(80)
    assert painter.feed("**bold** ") == "\x1b[2m**\x1b[0m\x1b[1mbold\x1b[0m\x1b[2m**\x1b[0m"
    assert painter.feed("x ") == " x"


def test_two_to_the_power_is_not_bold() -> None:
    assert painted("2 ** 3 ") == "2 ** 3 "


def test_escapes_of_the_model_have_no_power() -> None:
    assert painted("\x1b[2Jhi\x07", colour=False) == "\\x1b[2Jhi\\x07"


def test_a_megabyte_without_a_line_end_is_painted() -> None:
    text = "x" * 300_000 + "`" * 300_000
    assert painted(text, 80, colour=False) == text
