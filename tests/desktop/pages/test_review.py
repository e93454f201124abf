"""What the sandbox changed is shown by file and by part, and decided with the mouse or the keys alone."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from desktop.pages.review import ReviewPage
from desktop.theme import DARK, LIGHT
from runtime.errors import OrionError
from tests.desktop.doubles import RecordingBridge

Row = dict[str, Any]
CTRL = Qt.KeyboardModifier.ControlModifier


def row(path: str, **changes: Any) -> Row:
    made: Row = {
        "path": path,
        "kind": "modified",
        "before": f"old {path}",
        "after": f"new {path}",
        "source": "",
        "size": 12,
        "executable": False,
        "conflict": False,
        "runs": ["r1"],
        "added": 2,
        "removed": 1,
    }
    return made | changes


def found(*rows: Row, **changes: Any) -> Row:
    return {"proposals": list(rows), "left_out": [], "undo": None, "open": [], "runs": []} | changes


def hunk(number: int) -> Row:
    text = f" same\n-old {number}\n+new {number}\n+++ more"
    return {"head": f"@@ -{number},1 +{number},2 @@", "text": text, "added": 2, "removed": 1}


def detail(shown: Row, hunks: int = 2, **changes: Any) -> Row:
    plain = {name: value for name, value in shown.items() if name not in ("added", "removed")}
    return plain | {"hunks": [hunk(10 * n + 1) for n in range(hunks)], "text": "", "form": "text"} | changes


ROWS = (row("a.py"), row("notes/b.md", kind="created", before=None), row("c.txt", conflict=True))


@pytest.fixture
def bridge() -> RecordingBridge:
    made = RecordingBridge()
    made.answers["review"] = found(*ROWS)
    made.answers["review_detail"] = lambda path: detail(next(one for one in ROWS if one["path"] == path))
    return made


@pytest.fixture
def page(qtbot: QtBot, bridge: RecordingBridge) -> ReviewPage:
    made = ReviewPage(bridge, LIGHT)
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    bridge.settle()
    return made


def words(page: ReviewPage) -> str:
    return "\n".join(one.text() for one in page.findChildren(QLabel) if one.isVisible())


def push(page: ReviewPage, name: str) -> None:
    next(one for one in page.diff.findChildren(QPushButton) if one.text() == name and one.isVisible()).click()


def test_files_are_listed_with_what_happened_and_the_first_is_shown(page: ReviewPage) -> None:
    texts = [page.files.item(number).text() for number in range(page.files.count())]
    assert texts == [
        "a.py\nchanged   +2 −1",
        "notes/b.md\nnew   +2 −1",
        "c.txt\nin conflict: you changed it too",
    ]
    assert page.diff.path == "a.py"
    assert [box.text() for box in page.diff.boxes] == ["Lines 1–2   +2 −1", "Lines 11–12   +2 −1"]
    assert page.diff.findChildren(QPlainTextEdit)[0].toPlainText().startswith(" same\n-old 1")
    assert page.total.text() == "3 files wait, 1 in conflict"


def test_one_key_applies_all_and_another_takes_it_back(page: ReviewPage, bridge: RecordingBridge) -> None:
    bridge.answers["review_apply"] = found(
        ROWS[2], undo={"id": "d1", "kind": "apply", "count": 2}, open=["d1"]
    )
    bridge.answers["review_take_back"] = found(*ROWS)
    QTest.keyClick(page.files, Qt.Key.Key_Return, CTRL)
    QTest.keyClick(page.files, Qt.Key.Key_Return, CTRL)
    assert bridge.names().count("review_apply") == 1
    assert bridge.last("review_apply")[0] == [
        {"path": "a.py", "before": "old a.py", "after": "new a.py", "hunks": None},
        {"path": "notes/b.md", "before": None, "after": "new notes/b.md", "hunks": None},
    ]
    bridge.settle()
    assert "2 files in your folder were changed." in words(page)
    QTest.keyClick(page.files, Qt.Key.Key_Z, CTRL)
    bridge.settle()
    assert bridge.last("review_take_back") == ("d1",)
    assert not page.message.isVisible()
    assert page.files.count() == 3


def test_parts_are_chosen_by_the_keys_alone(page: ReviewPage, bridge: RecordingBridge) -> None:
    bridge.answers["review_reject"] = found(*ROWS)
    page.files.setFocus()
    QTest.keyClick(page.files, Qt.Key.Key_Down)
    bridge.settle()
    QTest.keyClick(page.files, Qt.Key.Key_Space)
    QTest.keyClick(page.files, Qt.Key.Key_Up)
    bridge.settle()
    QTest.keyClick(page.files, Qt.Key.Key_Right)
    opener = page.diff.focusWidget()
    assert isinstance(opener, QPushButton)
    page.diff.boxes[0].setFocus()
    QTest.keyClick(page.diff.boxes[0], Qt.Key.Key_Space)
    assert not page.diff.whole.isChecked()
    assert page.files.item(0).checkState() == Qt.CheckState.PartiallyChecked
    assert page.reject.text() == "Reject from 1 file"
    QTest.keyClick(page.diff.boxes[0], Qt.Key.Key_Escape)
    assert page.files.hasFocus()
    QTest.keyClick(page.files, Qt.Key.Key_Backspace, CTRL)
    assert bridge.last("review_reject")[0] == [
        {"path": "a.py", "before": "old a.py", "after": "new a.py", "hunks": [1]}
    ]


def test_the_whole_file_box_turns_all_parts_and_the_list(page: ReviewPage) -> None:
    page.diff.whole.click()
    assert not any(box.isChecked() for box in page.diff.boxes)
    assert page.files.item(0).checkState() == Qt.CheckState.Unchecked
    page.diff.boxes[1].click()
    page.diff.boxes[0].click()
    assert page.diff.whole.isChecked()
    assert page.files.chosen["a.py"] is None


def test_more_parts_than_are_drawn_stay_chosen(page: ReviewPage, bridge: RecordingBridge) -> None:
    bridge.answers["review_detail"] = lambda path: detail(ROWS[0], hunks=100)
    page.refresh()
    bridge.settle()
    assert len(page.diff.boxes) == 60
    page.diff.boxes[5].click()
    page.diff.boxes[6].click()
    push(page, "Show 40 more parts")
    assert len(page.diff.boxes) == 100
    assert page.files.chosen["a.py"] == set(range(100)) - {5, 6}


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("Keep mine", "review_reject"),
        ("Put the sandbox's beside it", "review_keep_beside"),
        ("Take parts of it…", "review_compare"),
    ],
)
def test_a_conflict_offers_ways_out_and_is_never_part_of_all(
    page: ReviewPage, bridge: RecordingBridge, name: str, asked: str
) -> None:
    bridge.answers[asked] = found()
    page.files.setCurrentRow(2)
    bridge.settle()
    assert "yours is not overwritten" in words(page)
    assert page.diff.boxes == []
    push(page, name)
    bridge.settle()
    assert asked in bridge.names()
    assert "Nothing waits for your decision." in words(page)


def test_a_refused_decision_says_why_and_shows_the_list_as_it_is(
    page: ReviewPage, bridge: RecordingBridge
) -> None:
    bridge.answers["review_apply"] = OrionError("review_changed", path="a.py")
    bridge.answers["review"] = found(ROWS[0])
    page.apply.click()
    bridge.settle()
    assert "a.py has changed since it was shown" in words(page)
    assert page.files.count() == 1
    assert page.apply.isEnabled()


def test_a_choice_stays_when_another_file_comes_and_goes_when_its_own_changes(
    page: ReviewPage, bridge: RecordingBridge
) -> None:
    page.diff.boxes[0].click()
    bridge.answers["review"] = found(*ROWS, row("d.txt"))
    page.refresh()
    bridge.settle()
    assert page.files.chosen["a.py"] == {1}
    bridge.answers["review"] = found(row("a.py", after="newer"))
    page.refresh()
    bridge.settle()
    assert page.files.chosen["a.py"] is None


def test_what_goes_as_a_whole_and_what_is_left_out_is_told(qtbot: QtBot, bridge: RecordingBridge) -> None:
    binary = row("d.bin", added=None, removed=None, size=5000)
    out = [{"path": f"l{number}", "code": "sync_link"} for number in range(9)]
    bridge.answers["review"] = found(binary, left_out=out)
    bridge.answers["review_detail"] = lambda _path: detail(binary, hunks=0, form="binary")
    page = ReviewPage(bridge, DARK)
    qtbot.addWidget(page)
    page.show()
    assert "Looking at what the agent changed" in words(page)
    bridge.settle()
    assert page.files.item(0).text() == "d.bin\nchanged"
    assert "This is not text; it goes as a whole (5000 bytes)." in words(page)
    assert "l0 in the sandbox is a link" in words(page)
    assert "1 more is left out." in words(page)


def test_a_file_is_opened_by_its_button(page: ReviewPage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.open_requested) as opened:
        push(page, "Open mine")
    assert opened.args == ["a.py"]


def test_the_list_can_be_asked_again_when_it_could_not_be_had(qtbot: QtBot, bridge: RecordingBridge) -> None:
    bridge.answers["review"] = OrionError("review_damaged", path="copy.json")
    page = ReviewPage(bridge, LIGHT)
    qtbot.addWidget(page)
    page.show()
    bridge.settle()
    assert "copy.json, cannot be read" in words(page)
    bridge.answers["review"] = found(*ROWS)
    page.refresh()
    bridge.settle()
    assert page.files.count() == 3


def test_a_name_that_is_not_unicode_is_shown_and_decided_on(qtbot: QtBot, bridge: RecordingBridge) -> None:
    odd = row("caf\udce9.txt")
    bridge.answers["review"] = found(odd, left_out=[{"path": "x\u202ey", "code": "sync_name"}])
    bridge.answers["review_detail"] = lambda _path: detail(odd)
    page = ReviewPage(bridge, LIGHT)
    qtbot.addWidget(page)
    page.show()
    bridge.settle()
    assert page.files.item(0).text().startswith("caf\\udce9.txt\n")
    assert "x\\u202ey in the sandbox" in words(page)
    page.diff.boxes[0].click()
    page.apply.click()
    assert bridge.last("review_apply")[0][0]["path"] == "caf\udce9.txt"
    assert bridge.last("review_apply")[0][0]["hunks"] == [1]


def test_a_whole_run_is_undone_from_a_menu(page: ReviewPage, bridge: RecordingBridge) -> None:
    assert not page.runs.isVisible()
    bridge.answers["review"] = found(*ROWS, runs=[{"id": "r9", "time": 0.0, "files": 3}])
    bridge.answers["review_undo_run"] = found() | {"undone": 3}
    page.refresh()
    bridge.settle()
    menu = page.runs.menu()
    menu.aboutToShow.emit()
    (action,) = menu.actions()
    assert action.text().endswith(", 3 files")
    action.trigger()
    bridge.settle()
    assert bridge.last("review_undo_run") == ("r9",)
    assert "3 files are as they were before." in words(page)
    assert not page.undo.isVisible()


@pytest.mark.parametrize(("path", "marked"), [("SOUL.md", True), ("user.MD", True), ("notes/SOUL.md", False)])
def test_what_every_chat_is_told_is_marked(
    qtbot: QtBot, bridge: RecordingBridge, path: str, marked: bool
) -> None:
    bridge.answers["review"] = found(row(path))
    bridge.answers["review_detail"] = lambda _path: detail(row(path))
    page = ReviewPage(bridge, LIGHT)
    qtbot.addWidget(page)
    page.show()
    bridge.settle()
    item = page.files.item(0)
    assert ("told in every chat" in item.text()) is marked
    assert ("told in every chat" in item.data(Qt.ItemDataRole.AccessibleTextRole)) is marked
    assert ("Every later chat is told" in words(page)) is marked
