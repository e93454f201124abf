"""What is seen of the voice in the window."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtTest import QTest

from runtime.conversation_events import Asking, Draft
from runtime.events import ApprovalReceived
from tests.desktop.stage import Stage
from tests.desktop.voice_stage import hold, let_go, look, say, spoken_text
from voice import events as ev


def test_the_words_stay_until_they_are_understood(stage: Stage) -> None:
    hold(stage)
    say(stage, ev.State("hearing", open=True), ev.Partial("what is", 4))
    let_go(stage)
    say(stage, ev.State("idle", open=True))
    assert look(stage) == "thinking"
    assert spoken_text(stage) == "what is"
    say(stage, ev.Final("What is rain?"))
    assert look(stage) == "idle"
    assert spoken_text(stage) == ""


def test_words_that_are_not_sent_at_once_are_written_and_answered_aloud(stage: Stage) -> None:
    composer = stage.window.composer
    hold(stage)
    assert stage.bridge.last("press") == (False,)
    let_go(stage)
    say(stage, ev.Final("What is rain?"), Draft("What is rain?"))
    assert composer.text() == "What is rain?"
    QTest.keyClicks(composer.editor, " Briefly.")
    composer.submit()
    assert stage.bridge.last("send") == ("What is rain? Briefly.",)
    stage.bridge.settle()
    assert composer.text() == ""
    QTest.keyClicks(composer.editor, "typed")
    composer.submit()
    assert stage.bridge.last("submit")[1] == "typed"


def test_what_is_said_beside_something_typed_joins_it_and_waits(stage: Stage) -> None:
    composer = stage.window.composer
    QTest.keyClicks(composer.editor, "In French:")
    hold(stage)
    assert stage.bridge.last("press") == (True,)
    let_go(stage)
    say(stage, ev.Final("good morning"), Draft("good morning"))
    assert composer.text() == "In French: good morning"
    composer.editor.undo()
    assert composer.text() == "In French:"


def test_a_question_says_what_to_answer(stage: Stage) -> None:
    editor = stage.window.composer.editor
    say(stage, Asking("a1", "yes, write notes", False))
    assert "yes, write notes" in editor.placeholderText()
    stage.happen(ApprovalReceived("a1", "approve", "once", "voice"))
    assert editor.placeholderText() == "Write a message"
    say(stage, Asking("a1", "yes, write notes", False))
    say(stage, Asking("a1", "", True))
    assert editor.placeholderText() == "Write a message"


def test_what_is_said_aloud_is_shown_until_it_ends(stage: Stage) -> None:
    captions = stage.window.captions
    say(stage, ev.State("speaking"), ev.Speaking("**Rain** falls.", "Rain falls.", 1.0))
    assert captions.isVisible()
    assert look(stage) == "speaking"
    captions.stop.click()
    assert captions.isHidden()
    assert stage.bridge.names()[-1] == "hush"
    say(stage, ev.Speaking("More.", "More.", 1.0), ev.Spoken("**Rain**", False), ev.State("idle"))
    assert captions.isHidden()
    assert look(stage) == "idle"


def test_an_utterance_without_words_is_told(stage: Stage) -> None:
    hold(stage)
    say(stage, ev.State("hearing", open=True))
    let_go(stage)
    say(stage, ev.Final("", "", 2.0), ev.State("idle"))
    assert stage.window.toast.text.text() == "Nothing was understood."


def test_why_nothing_was_understood_stays_in_sight(stage: Stage) -> None:
    hold(stage)
    say(stage, ev.State("hearing", open=True))
    let_go(stage)
    say(stage, ev.Trouble("recogniser_unusable", {"path": "there", "reason": "it is not there"}))
    say(stage, ev.Final("", "", 2.0), ev.State("idle"))
    assert stage.window.toast.text.text().startswith("The recogniser in there cannot be used")
    hold(stage)
    let_go(stage)
    say(stage, ev.Final("", "", 2.0), ev.State("idle"))
    assert stage.window.toast.text.text() == "Nothing was understood."


def test_trouble_is_one_sentence_and_typing_goes_on(stage: Stage) -> None:
    hold(stage)
    say(stage, ev.Trouble("microphone_missing", {"name": "", "reason": "no device"}), ev.State("idle"))
    assert stage.window.toast.isVisible()
    assert stage.window.toast.buttons[0].text() == "Voice settings"
    assert look(stage) == "unavailable"
    assert stage.window.composer.voice.accessibleName().startswith("No microphone is connected")
    QTest.keyClicks(stage.window.composer.editor, "typing goes on")
    let_go(stage)
    say(stage, ev.Devices((("usb", "A headset"),), ()))
    assert look(stage) == "idle"
    assert stage.window.composer.text() == "typing goes on"


@pytest.mark.parametrize("kind", ["microphone", "loudspeaker"])
def test_a_fault_that_is_over_is_taken_back_and_nothing_else(stage: Stage, kind: str) -> None:
    toast, one = stage.window.toast, (("usb", "A headset"),)
    gone = ev.Trouble(f"{kind}_gone", {"name": "A headset"})
    there, away = ev.Devices(one, one), ev.Devices(*(((), one) if kind == "microphone" else (one, ())))
    say(stage, gone, there)
    assert toast.isVisible()
    say(stage, away)
    assert toast.isVisible()
    say(stage, there)
    assert toast.isHidden()
    say(stage, gone, away)
    toast.say("Something else.")
    say(stage, there)
    assert toast.isVisible()


def test_the_open_microphone_is_shown_and_its_end(stage: Stage) -> None:
    mark = stage.window.status.microphone
    say(stage, ev.State("idle", open=True))
    assert mark.isVisible()
    say(stage, ev.State("idle"))
    assert mark.isHidden()


@pytest.mark.parametrize("stray", [object(), None, "text"])
def test_events_of_another_kind_are_left_alone(stage: Stage, stray: Any) -> None:
    stage.bridge.spoke.emit(stray)
    assert look(stage) == "idle"
