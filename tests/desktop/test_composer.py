"""Writing, attaching, sending and stopping."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.composer import Composer
from desktop.theme import LIGHT


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    made = Composer(LIGHT)
    qtbot.addWidget(made)
    made.resize(600, 200)
    made.set_ready(True)
    made.show()
    return made


def paste(composer: Composer, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    composer.editor.insertFromMimeData(data)


def test_enter_sends_and_the_words_stay_until_they_are_taken(qtbot: QtBot, composer: Composer) -> None:
    QTest.keyClicks(composer.editor, "hello")
    with qtbot.waitSignal(composer.submitted) as sent:
        QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent.args == ["hello", []]
    assert composer.text() == "hello"
    composer.accepted()
    assert composer.text() == ""


def test_shift_enter_is_a_new_line_and_the_field_grows(qtbot: QtBot, composer: Composer) -> None:
    low = composer.editor.height()
    with qtbot.assertNotEmitted(composer.submitted):
        for _line in range(4):
            QTest.keyClick(composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert composer.text() == "\n\n\n\n"
    assert composer.editor.height() > 2 * low
    for _line in range(40):
        QTest.keyClick(composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert composer.editor.height() < 12 * low


def test_nothing_is_sent_when_empty_or_before_there_is_a_session(qtbot: QtBot, composer: Composer) -> None:
    with qtbot.assertNotEmitted(composer.submitted):
        QTest.keyClick(composer.editor, Qt.Key.Key_Return)
        QTest.keyClicks(composer.editor, "   ")
        QTest.keyClick(composer.editor, Qt.Key.Key_Return)
        composer.set_ready(False)
        QTest.keyClicks(composer.editor, "early words")
        QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert not composer.action.isEnabled()
    assert "early words" in composer.text()


def test_the_button_stops_while_it_works_and_sends_when_words_are_written(
    qtbot: QtBot, composer: Composer
) -> None:
    composer.set_busy(True)
    assert composer.action.accessibleName() == "Stop (Esc)"
    with qtbot.waitSignal(composer.stop_requested):
        composer.action.click()
    QTest.keyClicks(composer.editor, "and also")
    with qtbot.waitSignal(composer.submitted) as sent:
        composer.action.click()
    assert sent.args == ["and also", []]


def test_a_queued_message_is_shown_until_the_turn_ends(composer: Composer) -> None:
    composer.set_busy(True)
    composer.set_queued("and  also\nthis")
    assert composer.queued.text() == "Queued: and also this"
    assert composer.queued.isVisible()
    composer.set_busy(False)
    assert not composer.queued.isVisible()


def test_escape_is_passed_on(qtbot: QtBot, composer: Composer) -> None:
    with qtbot.waitSignal(composer.escaped):
        QTest.keyClick(composer.editor, Qt.Key.Key_Escape)


def test_control_enter_sends_nothing(qtbot: QtBot, composer: Composer) -> None:
    QTest.keyClicks(composer.editor, "x")
    with qtbot.assertNotEmitted(composer.submitted):
        QTest.keyClick(composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def test_a_megabyte_pasted_becomes_an_attachment(qtbot: QtBot, composer: Composer) -> None:
    text = "0123456789abcdef" * 65_536
    paste(composer, text)
    assert composer.text() == ""
    assert composer.chips.isVisible()
    with qtbot.waitSignal(composer.submitted) as sent:
        composer.submit()
    assert sent.args is not None
    assert text in sent.args[0]


def test_odd_characters_are_sent_as_they_are(qtbot: QtBot, composer: Composer) -> None:
    text = "hard\u00a0space line\u2028separator nul\0 \u202eright \U0001f600 e\u0301"
    paste(composer, text)
    with qtbot.waitSignal(composer.submitted) as sent:
        composer.submit()
    assert sent.args == [text, []]


def test_short_pastes_stay_in_the_text(composer: Composer) -> None:
    paste(composer, "a\tb\nc")
    assert composer.text() == "a\tb\nc"
    assert composer.attachments == []


def test_dropped_files_are_attached_and_can_be_removed(composer: Composer, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("remember")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "notes.txt"))])
    assert composer.editor.canInsertFromMimeData(data)
    composer.editor.insertFromMimeData(data)
    assert [one.name for one in composer.attachments] == ["notes.txt"]
    chip = composer.chips.findChildren(type(composer.attach))[0]
    assert chip.accessibleName() == "Remove notes.txt"
    chip.click()
    assert composer.attachments == []
    assert not composer.chips.isVisible()


def test_a_picture_for_a_blind_model_is_refused_in_a_sentence(qtbot: QtBot, composer: Composer) -> None:
    picture = QImage(4, 4, QImage.Format.Format_RGB32)
    data = QMimeData()
    data.setImageData(picture)
    with qtbot.waitSignal(composer.trouble) as trouble:
        composer.editor.insertFromMimeData(data)
    assert trouble.args is not None
    assert trouble.args[0] == "attachment_image_unseen"
    composer.set_images_allowed(True)
    composer.editor.insertFromMimeData(data)
    assert composer.attachments[0].media_type == "image/png"
    assert composer.action.isEnabled()


def test_a_draft_comes_and_goes_without_being_reported(qtbot: QtBot, composer: Composer) -> None:
    with qtbot.assertNotEmitted(composer.draft_changed):
        composer.set_draft("half a thought")
    assert composer.text() == "half a thought"
    assert composer.action.isEnabled()
    with qtbot.waitSignal(composer.draft_changed) as changed:
        QTest.keyClick(composer.editor, Qt.Key.Key_S)
    assert changed.args == ["half a thoughts"]


def test_autonomy_is_shown_and_chosen(qtbot: QtBot, composer: Composer) -> None:
    composer.set_autonomy("semi")
    assert composer.autonomy.text() == "Asks first"
    menu = composer.autonomy.menu()
    menu.aboutToShow.emit()
    assert [action.isChecked() for action in menu.actions()] == [True, False]
    with qtbot.waitSignal(composer.autonomy_chosen) as chosen:
        menu.actions()[1].trigger()
    assert chosen.args == ["auto"]
    composer.set_autonomy("auto")
    assert composer.autonomy.text() == "Works alone"
