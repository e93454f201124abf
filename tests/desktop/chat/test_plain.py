"""Text that Qt cannot show is made visible without moving a position."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from desktop.chat.plain import cut, units, visible, without_surrogates


def test_nul_and_lone_surrogates_are_shown_as_signs() -> None:
    assert visible("a\x00b\ud800c\x7f") == "a␀b\ufffdc␡"


def test_ordinary_text_is_left_alone() -> None:
    text = "line\n\ttab – ürün 漢字 😀 שלום"
    assert visible(text) is text


@given(st.text(alphabet=st.characters(min_codepoint=0, max_codepoint=0x10FFFF)))
def test_lengths_are_kept(text: str) -> None:
    assert units(visible(text)) == units(text)


def test_a_cut_counts_as_qt_does() -> None:
    assert cut("a😀b\ud83dc", 1, 3) == "😀"
    assert cut("a😀b\ud83dc", 3, 6) == "b\ud83dc"


def test_text_for_other_programs_has_no_surrogates() -> None:
    assert without_surrogates("a\udc00b") == "a\ufffdb"
