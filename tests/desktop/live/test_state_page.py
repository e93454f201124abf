"""Every state of the sandbox has words, a way on, and a place for the keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.live.state_page import StatePage
from desktop.theme import DARK, LIGHT
from runtime.computer_events import ComputerState, Phase

WAYS: dict[Phase, list[str]] = {
    "off": ["start"],
    "unavailable": ["retry"],
    "no_image": ["build"],
    "building": [],
    "starting": ["stop"],
    "lost": ["retry", "reset"],
    "stopping": [],
}


@pytest.fixture
def page(qtbot: QtBot) -> StatePage:
    made = StatePage(LIGHT)
    qtbot.addWidget(made)
    made.resize(460, 520)
    made.show()
    return made


@pytest.mark.parametrize("phase", list(WAYS))
def test_every_state_says_what_it_is_and_what_can_be_done(page: StatePage, phase: Phase) -> None:
    page.show_state(ComputerState(phase))
    assert page.title.text()
    assert page.words.text()
    assert list(page.buttons) == WAYS[phase]
    assert page.cancel.isVisible() == (phase == "building")
    assert page.progress.isVisible() == (phase in ("building", "starting", "stopping"))


def test_a_fault_is_said_in_its_sentence_and_nothing_else_is_harmed(page: StatePage) -> None:
    page.show_state(ComputerState("lost", "computer_stopped"))
    assert "computer_stopped" not in page.words.text()
    assert page.rest.isVisible()
    assert page.buttons["retry"].text() == "Start again"
    page.show_state(ComputerState("unavailable", "computer_stopped"))
    assert page.buttons["retry"].text() == "Check again"


def test_forbidden_offers_nothing(page: StatePage) -> None:
    page.show_state(ComputerState("off", "sandbox_off"))
    assert page.buttons == {}


def test_progress_of_a_build(page: StatePage, qtbot: QtBot) -> None:
    page.show_state(ComputerState("building"))
    assert page.progress.maximum() == 0
    page.show_state(ComputerState("building", detail="Step 3 of 9", progress=0.4))
    assert (page.progress.maximum(), page.progress.value(), page.detail.text()) == (100, 40, "Step 3 of 9")
    with qtbot.waitSignal(page.cancelled):
        page.cancel.click()


def test_the_keyboard_follows_what_can_be_done(page: StatePage, qtbot: QtBot) -> None:
    qtbot.waitActive(page)
    page.show_state(ComputerState("no_image"))
    page.take_keyboard()
    build = page.buttons["build"]
    assert build.hasFocus()
    with qtbot.waitSignal(page.asked) as asked:
        QTest.keyClick(build, Qt.Key.Key_Space)
    assert asked.args == ["build"]
    page.show_state(ComputerState("building"))
    assert page.cancel.hasFocus()
    page.show_state(ComputerState("lost"))
    page.take_keyboard()
    assert page.buttons["retry"].hasFocus()


def test_buttons_stay_while_only_the_progress_changes(page: StatePage) -> None:
    page.show_state(ComputerState("starting"))
    stop = page.buttons["stop"]
    page.show_state(ComputerState("starting", detail="Waiting for the desktop"))
    assert page.buttons["stop"] is stop
    page.set_theme(DARK)
