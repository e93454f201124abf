"""Find in chat finds what is seen, in every row, in both directions."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.chat.view import ChatView
from tests.desktop.chat.sample import answer, tool, user


def selected(view: ChatView) -> tuple[int, str]:
    return view.canvas.selection.ends[0].row, view.canvas.selected_text()


def test_matches_are_walked_and_wrap_around(view: ChatView) -> None:
    view.show_rows([user("Needle one"), answer("a needle and a needle"), user("none", 2)])
    seen = []
    for _step in range(4):
        assert view.find_text("needle")
        seen.append((*selected(view), view.canvas.selection.ends[0].position))
    assert [one[0] for one in seen] == [0, 1, 1, 0]
    assert [one[1].lower() for one in seen] == ["needle"] * 4
    assert view.find_text("needle", forward=False)
    assert selected(view)[0] == 1


def test_text_split_by_markup_is_found(view: ChatView) -> None:
    view.show_rows([answer("a **hid**den word")])
    assert view.find_text("hidden")
    assert selected(view) == (0, "hidden")


def test_markup_itself_is_not_found(view: ChatView) -> None:
    view.show_rows([answer("some **bold** text")])
    assert not view.find_text("**")
    assert not view.find_text("absent")


def test_a_match_in_a_closed_card_opens_it(view: ChatView) -> None:
    view.show_rows([tool(text="the buried treasure"), tool(id="t2", text="nothing")])
    assert view.find_text("treasure")
    assert view.canvas.rows[0].open
    assert not view.canvas.rows[1].open


def test_a_match_far_away_is_scrolled_to(view: ChatView) -> None:
    view.show_rows([user(f"row number {n}", n) for n in range(3000)])
    assert view.find_text("number 1234")
    assert 1234 in view.canvas.seen()


def test_the_bar_searches_while_one_types(view: ChatView) -> None:
    view.show_rows([user("alpha beta alpha")])
    view.open_find()
    assert view.find_bar.isVisible()
    QTest.keyClicks(view.find_bar.field, "alpha")
    assert view.find_bar.told.text() == "2 matches"
    first = view.canvas.selection.ends
    QTest.keyClick(view.find_bar.field, Qt.Key.Key_Return)
    assert view.canvas.selection.ends > first
    QTest.keyClicks(view.find_bar.field, "zzz")
    assert view.find_bar.told.text() == "No match"
    QTest.keyClick(view.find_bar.field, Qt.Key.Key_Escape)
    assert not view.find_bar.isVisible()
