"""Nothing is approved by accident, and what is approved is what was shown."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QRadioButton
from pytestqt.qtbot import QtBot

from desktop.approval import ApprovalPanel
from desktop.theme import DARK, LIGHT
from tests.desktop.doubles import asked


@pytest.fixture
def panel(qtbot: QtBot) -> ApprovalPanel:
    made = ApprovalPanel(LIGHT)
    qtbot.addWidget(made)
    made.resize(700, 400)
    return made


def ready(qtbot: QtBot, panel: ApprovalPanel) -> None:
    qtbot.waitUntil(panel.approve.isEnabled)


def test_it_shows_what_would_be_done(panel: ApprovalPanel) -> None:
    panel.set_pending([asked()])
    assert panel.isVisible()
    assert panel.summary.text() == "Write notes/hello.md"
    assert panel.risk.text() == "Medium risk"
    assert "+Hello" in panel.detail.toPlainText()


def test_without_a_diff_the_exact_arguments_are_shown(panel: ApprovalPanel) -> None:
    panel.set_pending([asked(preview="", risk="high")])
    assert json.dumps("notes/hello.md") in panel.detail.toPlainText()
    assert panel.risk.property("tone") == "high"


def test_a_diff_that_changes_nothing_gives_way_to_the_arguments(panel: ApprovalPanel) -> None:
    panel.set_pending([asked(preview="--- a/notes/hello.md\n+++ b/notes/hello.md\n")])
    assert json.dumps("notes/hello.md") in panel.detail.toPlainText()


def test_nothing_hides_in_what_would_be_done(panel: ApprovalPanel) -> None:
    panel.set_pending([asked(preview="echo \u202etxt.x\u2066\r\tls\n\u200brm x")])
    assert panel.detail.toPlainText() == "echo \\u202etxt.x\\u2066\\r\tls\n\\u200brm x"


def test_its_buttons_show_in_the_lowest_window(panel: ApprovalPanel) -> None:
    panel.set_pending([asked(preview="\n".join(f"+line {n}" for n in range(500)))])
    panel.fit(480)
    assert panel.sizeHint().height() <= 260
    panel.fit(1200)
    assert 260 < panel.sizeHint().height() < 700


def test_the_first_half_second_approves_nothing(qtbot: QtBot, panel: ApprovalPanel) -> None:
    panel.set_pending([asked()])
    with qtbot.assertNotEmitted(panel.answered):
        panel.on_approve()
        panel.approve.click()
    assert not panel.approve.isEnabled()
    ready(qtbot, panel)
    with qtbot.waitSignal(panel.answered) as answered:
        panel.on_approve()
    assert answered.args == ["a1", "approve", "once", None]
    assert panel.isHidden()


def test_enter_alone_never_approves(qtbot: QtBot, panel: ApprovalPanel) -> None:
    panel.set_pending([asked()])
    ready(qtbot, panel)
    panel.approve.setFocus()
    with qtbot.assertNotEmitted(panel.answered):
        QTest.keyClick(panel.approve, Qt.Key.Key_Return)
        QTest.keyClick(panel.approve, Qt.Key.Key_Enter)
        QTest.keyClick(panel, Qt.Key.Key_Return)


def test_denying_needs_no_waiting(qtbot: QtBot, panel: ApprovalPanel) -> None:
    panel.set_pending([asked()])
    with qtbot.waitSignal(panel.answered) as answered:
        panel.on_deny()
    assert answered.args == ["a1", "deny", "once", None]


def test_durations_are_those_on_offer_and_say_their_rule(qtbot: QtBot, panel: ApprovalPanel) -> None:
    panel.set_pending([asked()])
    choices = panel.trusts.findChildren(QRadioButton)
    assert [choice.text() for choice in choices] == ["Only this once", "This chat"]
    assert choices[0].isChecked()
    assert "exactly this call" in panel.rule.text()
    choices[1].setChecked(True)
    assert "write_file below notes/" in panel.rule.text()
    assert panel.rule.isVisible()
    ready(qtbot, panel)
    with qtbot.waitSignal(panel.answered) as answered:
        panel.on_approve()
    assert answered.args == ["a1", "approve", "session", None]


def test_a_high_risk_offers_no_duration(panel: ApprovalPanel) -> None:
    panel.set_pending([asked(risk="high", rules={"once": ""})])
    assert panel.trusts.isHidden()


def test_edited_arguments_are_checked_and_sent(qtbot: QtBot, panel: ApprovalPanel) -> None:
    panel.set_pending([asked()])
    ready(qtbot, panel)
    panel.on_edit()
    panel.editor.setPlainText('{"path": ')
    assert not panel.approve.isEnabled()
    assert "not valid JSON" in panel.fault.text()
    panel.editor.setPlainText("[1]")
    assert "JSON object" in panel.fault.text()
    with qtbot.assertNotEmitted(panel.answered):
        panel.on_approve()
    panel.editor.setPlainText('{"path": "other.md", "text": "Hello"}')
    with qtbot.waitSignal(panel.answered) as answered:
        panel.on_approve()
    assert answered.args == ["a1", "edit", "once", {"path": "other.md", "text": "Hello"}]


def test_an_edit_that_changes_nothing_is_an_approval(qtbot: QtBot, panel: ApprovalPanel) -> None:
    panel.set_pending([asked()])
    ready(qtbot, panel)
    panel.on_edit()
    with qtbot.waitSignal(panel.answered) as answered:
        panel.on_approve()
    assert answered.args == ["a1", "approve", "once", None]


def test_several_come_one_after_the_other(qtbot: QtBot, panel: ApprovalPanel) -> None:
    questions = [asked("a1"), asked("a2", summary="Write other.md."), asked("a3")]
    panel.set_pending(questions)
    assert panel.waiting.text() == "2 more wait"
    panel.on_deny()
    panel.set_pending(questions)
    assert panel.summary.text() == "Write other.md: notes/hello.md"
    assert panel.waiting.text() == "1 more waits"
    with qtbot.assertNotEmitted(panel.answered):
        panel.on_approve()


def test_an_answer_from_elsewhere_hides_it(panel: ApprovalPanel) -> None:
    panel.set_pending([asked()])
    panel.set_pending([])
    assert panel.isHidden()


def test_a_refused_answer_is_asked_again(panel: ApprovalPanel) -> None:
    panel.set_pending([asked()])
    panel.on_deny()
    panel.answer_failed("a1", [asked()])
    assert panel.isVisible()


def test_the_theme_may_change_while_it_asks(panel: ApprovalPanel) -> None:
    panel.set_pending([asked()])
    panel.set_theme(DARK)
    assert "+Hello" in panel.detail.toPlainText()


def test_why_it_can_be_allowed_only_once_is_said(panel: ApprovalPanel) -> None:
    panel.set_pending([asked(rules={"once": "exactly this call"}, why_once="once_outside_text")])
    assert not panel.why_once.isHidden()
    assert "text from outside" in panel.why_once.text()
    assert panel.trusts.isHidden()
    panel.set_pending([asked(id="other")])
    assert panel.why_once.isHidden()
