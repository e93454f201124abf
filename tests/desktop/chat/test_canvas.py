"""Scrolling, staying in place and staying light with very many and very long rows."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from desktop.chat.rows import UserRow
from desktop.chat.view import ChatView
from desktop.theme import DARK, LIGHT
from runtime import events as ev
from tests.desktop.chat.sample import Row, Send, actions, answer, shown, user


def many(count: int) -> list[Row]:
    made: list[Row] = []
    for n in range(count // 2):
        made += [
            user(f"Question {n}", n),
            answer(f"Answer **{n}**.\n\n- one\n- two\n\n```py\nx = {n}\n```", n),
        ]
    return made


def test_ten_thousand_rows_build_only_what_is_seen(view: ChatView) -> None:
    view.show_rows(many(10_000))
    assert not view.grab().isNull()
    assert len(view.canvas.rows) == 10_000
    assert 0 < len(view.canvas.documents) < 60
    assert 9_999 in view.canvas.seen()
    for step in range(30):
        view.canvas.verticalScrollBar().setValue(step * 9000)
        view.canvas.viewport().repaint()
    assert len(view.canvas.documents) <= view.canvas.documents.most


def test_the_end_stays_in_sight_while_the_user_is_there(view: ChatView, send: Send) -> None:
    view.show_rows(many(40))
    bar = view.canvas.verticalScrollBar()
    send(ev.UserSaid("u", "hi", "w"), ev.ResponseChunk("word\n\n" * 30))
    assert bar.value() == bar.maximum()
    assert not view.jump.isVisible()


def test_the_place_is_kept_once_the_user_scrolled_up(view: ChatView, send: Send) -> None:
    view.show_rows(many(40))
    bar = view.canvas.verticalScrollBar()
    bar.setValue(bar.maximum() - 700)
    send(ev.UserSaid("u", "hi", "w"))
    assert bar.value() == bar.maximum(), "what one says oneself is shown"
    bar.setValue(bar.maximum() - 700)
    place = bar.value()
    send(ev.ResponseChunk("word\n\n" * 30))
    assert bar.value() == place
    assert view.jump.isVisible()
    view.jump.click()
    assert bar.value() == bar.maximum()
    assert not view.jump.isVisible()


def test_other_colours_move_nothing_and_larger_type_is_measured_anew(view: ChatView) -> None:
    view.show_rows(many(400))
    canvas, bar = view.canvas, view.canvas.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    place, height = bar.value(), canvas.content_height()
    before = view.grab().toImage()
    view.set_theme(DARK)
    assert (bar.value(), canvas.content_height()) == (place, height)
    assert view.grab().toImage().pixelColor(3, 3) == DARK.background
    view.set_theme(LIGHT)
    assert view.grab().toImage() == before
    view.set_text_scale(1.5)
    assert canvas.content_height() > 1.2 * height


def test_scrolling_up_into_unseen_rows_does_not_jump(view: ChatView) -> None:
    view.show_rows(many(400))
    canvas, bar = view.canvas, view.canvas.verticalScrollBar()
    for _step in range(60):
        index = canvas.row_at(100)
        top = canvas.top_of(index)
        bar.setValue(bar.value() - 40)
        assert abs(canvas.top_of(index) - (top + 40)) <= 1


def test_resizing_keeps_the_row_at_the_top(view: ChatView) -> None:
    view.show_rows(many(400))
    bar = view.canvas.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    index = view.canvas.row_at(0)
    view.resize(500, 500)
    assert abs(view.canvas.row_at(0) - index) <= 1


def test_a_megabyte_is_folded_and_unfolds(view: ChatView) -> None:
    text = "some pasted line\n" * 62_000
    view.show_rows([user(text)])
    assert len(shown(view, 0)) < 4000
    assert "toggle" in actions(view, 0)
    view.canvas.acted.emit(0, "toggle", "")
    assert not view.grab().isNull()
    assert len(view.canvas.documents) < 20
    row = view.canvas.rows[0]
    assert isinstance(row, UserRow)
    view.canvas.selection.everything(1)
    assert view.canvas.selected_text() == text


def test_a_megabyte_in_one_line_is_shown(view: ChatView) -> None:
    view.show_rows([user("x" * 1_000_000)])
    view.canvas.acted.emit(0, "toggle", "")
    assert not view.grab().isNull()
    pieces = view.canvas.layout_of(0).pieces
    assert sum(len(piece.spec.text) for piece in pieces) == 1_000_000


def test_an_answer_of_ten_thousand_lines_is_shown(view: ChatView, send: Send) -> None:
    text = "line of an answer\n" * 10_000
    view.show_rows([answer(text)])
    assert not view.grab().isNull()
    assert len(view.canvas.documents) < 20
    view.canvas.verticalScrollBar().setValue(0)
    assert shown_first(view).startswith("line of an answer")


def shown_first(view: ChatView) -> str:
    return view.canvas.layout_of(0).pieces[0].ready().toPlainText()


# --- selection ---------------------------------------------------------------------------------------


def at(view: ChatView, index: int, piece: int, x: int) -> QPoint:
    where = view.canvas.layout_of(index).pieces[piece]
    return view.canvas.rect_of(index).topLeft() + QPoint(where.x + x, where.y + 8)


def drag(view: ChatView, start: QPoint, end: QPoint) -> None:
    port = view.canvas.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(port, (start + end) / 2)
    move(view, end)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=end)


def move(view: ChatView, point: QPoint) -> None:
    from PySide6.QtCore import QEvent, QPointF
    from PySide6.QtGui import QGuiApplication, QMouseEvent

    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    place = QPointF(point)
    event = QMouseEvent(
        QEvent.Type.MouseMove, place, view.canvas.viewport().mapToGlobal(place), left, left, none
    )
    QGuiApplication.sendEvent(view.canvas.viewport(), event)


def test_a_drag_across_rows_selects_across_them(view: ChatView) -> None:
    view.show_rows([user("the question"), answer("the **answer** is\n\nlong"), user("thanks", 2)])
    drag(view, at(view, 0, 0, 0), at(view, 2, 0, 400))
    text = view.canvas.selected_text()
    assert text.startswith("You:\nthe question")
    assert "Orion:\nthe **answer** is\n\nlong" in text
    assert text.endswith("You:\nthanks")


def test_a_drag_within_a_row_selects_what_is_seen(view: ChatView) -> None:
    view.show_rows([answer("the **answer** is\n\nlong\n")])
    drag(view, at(view, 0, 0, 0), at(view, 0, 1, 500))
    assert view.canvas.selected_text() == "the answer is\n\nlong"


def test_a_double_click_selects_a_word(view: ChatView) -> None:
    view.show_rows([answer("first second")])
    QTest.mouseDClick(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at(view, 0, 0, 10))
    assert view.canvas.selected_text() == "first"


def test_select_all_and_copy_give_the_conversation(view: ChatView) -> None:
    from PySide6.QtGui import QGuiApplication

    view.show_rows([user("one"), answer("two *2*")])
    view.canvas.setFocus()
    QTest.keyClick(view.canvas, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view.canvas, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "You:\none\n\nOrion:\ntwo *2*"
    QTest.keyClick(view.canvas, Qt.Key.Key_Escape)
    assert view.canvas.selection.empty


def test_a_selection_in_a_user_row_is_the_exact_text(view: ChatView) -> None:
    view.show_rows([user("a\x00b\ud800 end of it")])
    drag(view, at(view, 0, 0, 0), at(view, 0, 0, 600))
    assert view.canvas.selected_text() == "a\x00b\ud800 end of it"


def test_right_to_left_rows_are_painted_at_the_right(view: ChatView) -> None:
    view.show_rows([answer("שלום")])
    piece = view.canvas.layout_of(0).pieces[0]
    assert piece.caret(0).x() > piece.width * 0.8
