"""Names of keys are read as models and people write them."""

from __future__ import annotations

import pytest

from sandbox.guest.keys import UNICODE, UnknownKey, character_of, chords, of_character, symbol

CONTROL, SHIFT, ALT, SUPER = 0xFFE3, 0xFFE1, 0xFFE9, 0xFFEB
RETURN, PAGE_DOWN, ESCAPE = 0xFF0D, 0xFF56, 0xFF1B


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a", [(ord("a"),)]),
        ("A", [(ord("A"),)]),
        ("ctrl+s", [(CONTROL, ord("s"))]),
        ("CTRL+SHIFT+T", [(CONTROL, SHIFT, ord("t"))]),
        ("ctrl+S", [(CONTROL, ord("s"))]),
        ("Control_L+s", [(CONTROL, ord("s"))]),
        ("cmd+c", [(SUPER, ord("c"))]),
        ("win", [(SUPER,)]),
        ("super", [(SUPER,)]),
        ("alt+Tab", [(ALT, 0xFF09)]),
        ("Return", [(RETURN,)]),
        ("enter", [(RETURN,)]),
        ("ENTER", [(RETURN,)]),
        ("KP_Enter", [(0xFF8D,)]),
        ("Page_Down", [(PAGE_DOWN,)]),
        ("pagedown", [(PAGE_DOWN,)]),
        ("PageDown", [(PAGE_DOWN,)]),
        ("page-down", [(PAGE_DOWN,)]),
        ("esc", [(ESCAPE,)]),
        ("F5", [(0xFFC2,)]),
        ("f12", [(0xFFC9,)]),
        ("BackSpace", [(0xFF08,)]),
        ("backspace", [(0xFF08,)]),
        ("ctrl+a Delete", [(CONTROL, ord("a")), (0xFFFF,)]),
        ("Up Up Down", [(0xFF52,), (0xFF52,), (0xFF54,)]),
        ("+", [(ord("+"),)]),
        ("ctrl++", [(CONTROL, ord("+"))]),
        ("ctrl+plus", [(CONTROL, ord("+"))]),
        ("ctrl+-", [(CONTROL, ord("-"))]),
        ("ctrl+minus", [(CONTROL, ord("-"))]),
        (" ", [(0x20,)]),
        ("space", [(0x20,)]),
        ("ctrl+space", [(CONTROL, 0x20)]),
        ("slash", [(ord("/"),)]),
        ("ö", [(0xF6,)]),
        ("U20AC", [(UNICODE + 0x20AC,)]),
        ("U+1F600", [(UNICODE + 0x1F600,)]),
        ("€", [(UNICODE + 0x20AC,)]),
        ("XF86AudioMute", [(0x1008FF12,)]),
        ("ISO_Level3_Shift", [(0xFE03,)]),
    ],
)
def test_names_and_aliases(written: str, meant: list[tuple[int, ...]]) -> None:
    assert chords(written) == meant


@pytest.mark.parametrize("written", ["", "nokey", "ctrl+nokey", "ctrl+", "U+110000", "\x01"])
def test_what_is_no_key_is_said_by_name(written: str) -> None:
    if written == "ctrl+":  # a plus sign, held with ctrl
        assert chords(written) == [(CONTROL, ord("+"))]
        return
    with pytest.raises(UnknownKey):
        chords(written)


def test_characters_have_symbols_and_come_back() -> None:
    for character in "aZ ~é€漢😀\u200d\ufe0f\u0301שم":
        assert character_of(of_character(character)) == character


def test_line_ends_are_return_and_controls_have_no_key() -> None:
    assert of_character("\n") == of_character("\r") == RETURN
    assert symbol("\t") == of_character("\t") == 0xFF09
    for character in ("\x01", "\x85", "\ud800"):
        with pytest.raises(UnknownKey):
            of_character(character)
