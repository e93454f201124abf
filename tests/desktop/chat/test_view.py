"""The chat as its user sees it: rows from storage and from events, and what can be done with them."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from desktop.chat.gallery import ANSWER, DIFF, rows
from desktop.chat.hot import ActionButton, Reader
from desktop.chat.view import EXACT_TEXT, ChatView
from desktop.theme import DARK, LIGHT
from runtime import events as ev
from tests.desktop.chat.sample import Send, actions, answer, shown, tool, user


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def button(view: ChatView, index: int, name: str) -> ActionButton:
    view.canvas.focus_row(index)
    found = [one for one in view.canvas.hot.widgets(index) if isinstance(one, ActionButton)]
    return next(one for one in found if one.action.name == name)


# --- rows --------------------------------------------------------------------------------------------


def test_every_kind_of_stored_row_is_painted(view: ChatView) -> None:
    view.show_rows(rows())
    view.resize(800, view.canvas.content_height())
    picture = view.grab().toImage()
    assert picture.height() > 1000
    assert view.canvas.column.heights.total > 1000
    for index in range(len(view.canvas.rows)):
        assert view.canvas.column.heights[index] == view.canvas.layout_of(index).height


def test_the_same_turn_looks_the_same_live_and_stored(view: ChatView, send: Send) -> None:
    change = {"diff": DIFF, "files": ["a.md"], "change": "c"}
    send(
        ev.UserSaid("u1", "hi", "window"),
        ev.ThinkingStart(),
        ev.ThinkingChunk("hm"),
        ev.ThinkingComplete(2.0),
        ev.ToolStart("t1", "write_file", {"path": "notes/a.md"}, "low"),
        ev.ToolComplete("t1", "write_file", "", change, 1.0),
        ev.ResponseChunk("It is **done**."),
        ev.ResponseComplete("a1", "It is **done**.", True, "stop"),
        ev.Done("complete", 1, {}, 1.0, "m"),
    )
    live = [(shown(view, n), actions(view, n)) for n in range(len(view.canvas.rows))]
    stored = [user("hi"), answer("", reasoning="hm", thinking_seconds=2.0), tool(details=change)]
    view.show_rows([*stored, answer("It is **done**.")])
    assert [(shown(view, n), actions(view, n)) for n in range(len(view.canvas.rows))] == live


@pytest.mark.parametrize("seed", range(12))
def test_any_portions_stream_into_the_same_document(view: ChatView, send: Send, seed: int) -> None:
    text = (
        ANSWER
        + "\n\n[ref]: https://r.example\n\nsee [ref]\n\n```js\nlet a = 1\n\n"
        + "b()\n" * 150
        + "```\nend"
    )
    view.show_rows([answer(text)])
    wanted = [piece.ready().toHtml() for piece in view.canvas.layout_of(0).pieces]
    view.clear()
    chance, at = random.Random(seed), 0
    send(ev.UserSaid("u", "x", "w"))
    while at < len(text):
        size = chance.choice([1, 3, 20, 300])
        view.on_event(ev.Event(1, "s", "t", 1.0, ev.ResponseChunk(text[at : at + size])))
        if chance.random() < 0.2:
            view.canvas.flush()
            view.canvas.viewport().repaint()
        at += size
    send(ev.ResponseComplete("a", text, True, "stop"), ev.Done("complete", 1, {}, 1.0, "m"))
    pieces = view.canvas.layout_of(1).pieces
    assert [piece.ready().toHtml() for piece in pieces] == wanted


def test_finished_blocks_are_not_built_again(view: ChatView, send: Send) -> None:
    send(ev.UserSaid("u", "x", "w"), ev.ResponseChunk("first\n\nsecond\n\nthird"))
    first = view.canvas.layout_of(1).pieces[0].ready()
    send(ev.ResponseChunk(" goes on"))
    assert view.canvas.layout_of(1).pieces[0].ready() is first


def test_working_is_said_before_the_first_word(view: ChatView, send: Send) -> None:
    send(ev.UserSaid("u", "x", "w"), ev.ModelState("loading", "m"))
    assert view.canvas.layout_of(1).animated()
    send(ev.ResponseChunk("word"))
    assert len(view.canvas.rows) == 2


def test_a_thought_opens_and_closes(view: ChatView, send: Send) -> None:
    send(ev.ThinkingStart(), ev.ThinkingChunk("secret steps"), ev.ThinkingComplete(3.0))
    assert shown(view, 0) == ""
    button(view, 0, "toggle").click()
    assert shown(view, 0) == "secret steps"
    button(view, 0, "toggle").click()
    assert shown(view, 0) == ""


def test_a_card_opens_to_arguments_diff_and_result(view: ChatView) -> None:
    view.show_rows([tool(details={"diff": DIFF, "files": ["a.md"], "change": "c1"}, text="Wrote it.")])
    button(view, 0, "toggle").click()
    text = shown(view, 0)
    assert "path: notes/a.md" in text
    assert "+Write one line" in text
    assert "Wrote it." in text


def test_a_running_tool_shows_the_end_of_its_log(view: ChatView, send: Send) -> None:
    send(ev.ToolStart("t", "run", {}, "low"), ev.ToolChunk("t", "".join(f"line {n}\n" for n in range(50))))
    assert shown(view, 0).split("\n")[-1] == "line 49"
    assert "line 2\n" not in shown(view, 0)


def test_undo_is_offered_until_it_is_done(qtbot: QtBot, view: ChatView, send: Send) -> None:
    view.show_rows([tool(details={"files": ["a.md"], "change": "c1"})])
    with qtbot.waitSignal(view.undo_requested) as asked:
        button(view, 0, "undo").click()
    assert asked.args == ["c1"]
    send(ev.Undone("c1", ["a.md"]))
    assert "undo" not in actions(view, 0)


def test_an_interrupted_turn_can_be_continued(qtbot: QtBot, view: ChatView) -> None:
    view.show_rows(
        [
            answer("half", partial=True),
            {"kind": "notice", "code": "turn_interrupted", "fields": {}, "time": 1},
        ]
    )
    with qtbot.waitSignal(view.continue_requested):
        button(view, 1, "continue").click()


def test_an_error_can_be_tried_again(qtbot: QtBot, view: ChatView, send: Send) -> None:
    send(ev.ErrorRaised("some_code", {"path": "x"}, "user"))
    assert "some_code" in shown(view, 0)
    with qtbot.waitSignal(view.retry_requested):
        button(view, 0, "retry").click()


def test_only_the_last_answer_can_be_tried_again(view: ChatView, send: Send) -> None:
    view.show_rows([answer("one", 1)])
    assert "retry" in actions(view, 0)
    send(ev.UserSaid("u", "more", "w"), ev.ResponseComplete("b", "two", True, "stop"))
    assert "retry" not in actions(view, 0)
    assert "retry" in actions(view, 2)


# --- what the user does ------------------------------------------------------------------------------


def test_a_message_is_edited_in_place(qtbot: QtBot, view: ChatView) -> None:
    view.show_rows([user("old words")])
    button(view, 0, "edit").click()
    field = view._editor.field if view._editor else None
    assert field is not None
    field.setPlainText("new words")
    with qtbot.waitSignal(view.edit_requested) as asked:
        QTest.keyClick(field, Qt.Key.Key_Return)
    assert asked.args == ["u1", "new words"]
    assert view._editor is None


def test_a_conversation_is_branched(qtbot: QtBot, view: ChatView) -> None:
    view.show_rows([user("a"), answer("b")])
    with qtbot.waitSignal(view.fork_requested) as asked:
        button(view, 1, "fork").click()
    assert asked.args == ["a1"]


def test_copying_an_answer_gives_its_markdown(qtbot: QtBot, view: ChatView) -> None:
    view.show_rows([answer("**bold** `x`")])
    with qtbot.waitSignal(view.copy_done):
        button(view, 0, "copy").click()
    assert clipboard() == "**bold** `x`"


def test_an_answer_can_be_read_aloud(qtbot: QtBot, view: ChatView) -> None:
    view.show_rows([user("first"), answer("**bold** `x`")])
    assert "read" not in actions(view, 0)
    with qtbot.waitSignal(view.read_requested) as asked:
        button(view, 1, "read").click()
    assert asked.args == ["**bold** `x`"]


def test_the_unheard_rest_of_an_answer_is_marked_and_dimmed(view: ChatView, send: Send) -> None:
    text = "**Rain** falls from clouds. It is water.\n\nIt [ends](https://example.org) as a *river*."
    view.show_rows([answer(text)])
    whole = view.canvas.layout_of(0).height
    row = view.canvas.rows[0]
    send(ev.AnswerHeard(row.id, "**Rain** falls", False))
    pieces = view.canvas.layout_of(0).pieces
    assert [piece.spec.tone for piece in pieces] == ["text", "muted"]
    assert pieces[0].plain() == "Rain falls"
    assert pieces[1].plain().startswith("from clouds. It is water.")
    for piece, ink in zip(pieces, (LIGHT.text, LIGHT.muted), strict=True):
        used = [form.foreground().color() for form in piece.ready().allFormats() if form.isCharFormat()]
        assert ink in used
    assert view.canvas.layout_of(0).height > whole
    button(view, 0, "copy").click()
    assert clipboard() == text
    send(ev.AnswerHeard(row.id, text, True))
    assert [piece.spec.tone for piece in view.canvas.layout_of(0).pieces] == ["text"]


def test_copying_code_gives_all_of_it(view: ChatView) -> None:
    code = "\n".join(f"line {n}" for n in range(400))
    view.show_rows([answer(f"before\n\n```py\n{code}\n```\n\nafter")])
    assert actions(view, 0).count("code") == 1
    view.canvas.acted.emit(0, "code", "1")
    assert clipboard() == code


def test_the_keyboard_does_it_all(qtbot: QtBot, view: ChatView) -> None:
    view.show_rows([user("first"), tool(details={"change": "c9"}), answer("last")])
    view.canvas.clearFocus()
    view.canvas.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view.canvas, Qt.Key.Key_Home)
    assert view.canvas.focused == 0
    QTest.keyClick(view.canvas, Qt.Key.Key_C)
    assert clipboard() == "first"
    QTest.keyClick(view.canvas, Qt.Key.Key_Down)
    QTest.keyClick(view.canvas, Qt.Key.Key_Return)
    row = view.canvas.rows[1]
    assert row.open
    with qtbot.waitSignal(view.undo_requested) as asked:
        QTest.keyClick(view.canvas, Qt.Key.Key_U)
    assert asked.args == ["c9"]
    QTest.keyClick(view.canvas, Qt.Key.Key_End)
    assert view.canvas.focused == 2
    QTest.keyClick(view.canvas, Qt.Key.Key_Up)
    QTest.keyClick(view.canvas, Qt.Key.Key_Up)
    QTest.keyClick(view.canvas, Qt.Key.Key_E)
    assert view._editor is not None


def test_the_row_under_the_keyboard_has_real_widgets(view: ChatView) -> None:
    view.show_rows([answer("some [link](https://a.example) text")])
    view.canvas.clearFocus()
    view.canvas.setFocus(Qt.FocusReason.TabFocusReason)
    reader = next(one for one in view.canvas.hot.widgets(0) if isinstance(one, Reader))
    assert reader.toPlainText() == "some link text"
    QTest.keyClick(view.canvas, Qt.Key.Key_Tab)
    assert reader.hasFocus()
    QTest.keyClick(reader, Qt.Key.Key_Escape)
    assert view.canvas.hasFocus()
    view.canvas.focus_row(-1)
    assert view.canvas.hot.widgets(0) == []


def test_links_ask_to_be_opened(qtbot: QtBot, view: ChatView) -> None:
    view.show_rows([answer("[" + "x" * 60 + "](https://a.example)")])
    box = view.canvas.rect_of(0)
    piece = view.canvas.layout_of(0).pieces[0]
    point = box.topLeft() + QPoint(20, piece.y + 8)
    with qtbot.waitSignal(view.link_activated) as asked:
        QTest.mouseClick(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert asked.args == ["https://a.example"]


# --- states and looks --------------------------------------------------------------------------------


def test_an_empty_chat_offers_prompts(qtbot: QtBot, view: ChatView) -> None:
    view.show_placeholder("empty", "The model runs on this machine.")
    assert view.welcome.isVisible()
    assert view.welcome.words.text() == "The model runs on this machine."
    choices = [one for one in view.welcome.findChildren(QPushButton) if one.isVisible()]
    assert len(choices) == 3
    with qtbot.waitSignal(view.prompt_chosen) as chosen:
        choices[0].click()
    assert "rainbow" in chosen.args[0]


@pytest.mark.parametrize("kind", ["loading", "offline", "error"])
def test_other_states_offer_none(view: ChatView, kind: str) -> None:
    view.show_placeholder(kind, "Words.")  # type: ignore[arg-type]
    assert view.welcome.isVisible()
    assert not [one for one in view.welcome.findChildren(QPushButton) if one.isVisible()]
    assert not view.grab().isNull()


def test_the_first_event_ends_the_welcome(view: ChatView, send: Send) -> None:
    view.clear()
    assert view.welcome.isVisible()
    send(ev.UserSaid("u", "hi", "w"))
    assert view.canvas.isVisible()


def test_themes_and_text_sizes_are_worn_at_once(view: ChatView) -> None:
    view.show_rows(rows())
    before = view.canvas.column.heights.total
    view.set_theme(DARK)
    picture = view.grab().toImage()
    assert QColor(picture.pixel(2, 300)) == DARK.background
    view.set_text_scale(2.0)
    assert view.canvas.column.heights.total > before


def test_what_unicode_forbids_is_shown_and_copied_unchanged(view: ChatView) -> None:
    text = "a\x00b\ud800c"
    view.show_rows([user(text)])
    assert shown(view, 0) == "a␀b\ufffdc"
    view.canvas.acted.emit(0, "copy", "")
    data = QGuiApplication.clipboard().mimeData().data(EXACT_TEXT).data()
    assert bytes(data).decode("utf-16-le", "surrogatepass") == text
    assert clipboard() == "a\x00b\ufffdc"
