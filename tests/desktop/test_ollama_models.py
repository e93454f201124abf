"""The models of an Ollama server in the window: seen, fetched with a bar, stopped, deleted once agreed to."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFrame, QVBoxLayout
from pytestqt.qtbot import QtBot

from desktop.ollama_models import OllamaModels, add_models
from runtime.errors import OrionError
from runtime.ollama_shelf import Download
from tests.desktop.doubles import RecordingBridge

ADDRESS = "http://127.0.0.1:11434"
GEMMA = {"name": "gemma:2b", "size": 1_700_000_000, "parameters": "3B"}
QWEN = {"name": "qwen3:8b", "size": 5_200_000_000, "parameters": "8.2B"}


def step(step: int, **changes: Any) -> dict[str, Any]:
    """A download as the desk tells it."""
    return Download("qwen3:8b", step, **changes).as_dict()


@pytest.fixture
def bridge() -> RecordingBridge:
    made = RecordingBridge()
    made.answers |= {"ollama_models": [GEMMA], "ollama_step": {}}
    return made


def shown(qtbot: QtBot, bridge: RecordingBridge) -> OllamaModels:
    made = OllamaModels(bridge, ADDRESS)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    bridge.settle()
    return made


def test_models_are_listed_with_their_size(qtbot: QtBot, bridge: RecordingBridge) -> None:
    part = shown(qtbot, bridge)
    assert bridge.last("ollama_models") == (ADDRESS,)
    assert list(part.deletes) == ["gemma:2b"]
    assert part.deletes["gemma:2b"].accessibleName() == "Delete gemma:2b"
    assert not part.told.isVisible()
    assert not part.fetch.isEnabled()


def test_an_empty_server_says_what_to_do(qtbot: QtBot, bridge: RecordingBridge) -> None:
    bridge.answers["ollama_models"] = []
    part = shown(qtbot, bridge)
    assert "No model yet. Name one below" in part.told.text()
    assert part.field.isVisible()


def test_a_server_that_does_not_run_is_said_to_be_started_and_asked_again(
    qtbot: QtBot, bridge: RecordingBridge
) -> None:
    bridge.answers["ollama_models"] = OrionError("ollama_not_running", address=ADDRESS)
    part = shown(qtbot, bridge)
    assert f"No Ollama answers at {ADDRESS}. Start it" in part.told.text()
    assert not part.field.isVisible()
    bridge.answers["ollama_models"] = [GEMMA]
    QTest.keyClick(part.again, Qt.Key.Key_Space)
    bridge.settle()
    assert list(part.deletes) == ["gemma:2b"]
    assert part.field.isVisible()
    assert not part.again.isVisible()


def test_a_model_is_fetched_by_keyboard_once_it_was_agreed_to(qtbot: QtBot, bridge: RecordingBridge) -> None:
    part = shown(qtbot, bridge)
    steps = [
        step(1, status="pulling manifest"),
        step(2, status="pulling 0123", completed=1_300_000_000, total=5_200_000_000),
    ]
    seen: list[tuple[str, int]] = []

    def next_step(_address: str, _seen: int) -> dict[str, Any]:
        seen.append((part.download.words.text(), part.download.bar.value()))
        return steps.pop(0) if steps else step(3, state="done")

    bridge.answers |= {"ollama_pull": step(0), "ollama_step": next_step, "ollama_models": [GEMMA, QWEN]}
    QTest.keyClicks(part.field, "qwen3:8b")
    QTest.keyClick(part.field, Qt.Key.Key_Return)
    assert "Ollama will fetch qwen3:8b from registry.ollama.ai" in part.question.words.text()
    assert "ollama_pull" not in bridge.names()
    assert part.question.yes.hasFocus()
    QTest.keyClick(part.question.yes, Qt.Key.Key_Space)
    assert not part.question.isVisible()
    bridge.settle()
    assert bridge.last("ollama_pull") == (ADDRESS, "qwen3:8b")
    assert seen == [
        ("Fetching qwen3:8b: …", 0),
        ("Fetching qwen3:8b: pulling manifest", 0),
        ("Fetching qwen3:8b: 1.3 GB of 5.2 GB", 250),
    ]
    assert not part.download.isVisible()
    assert part.told.text() == "qwen3:8b is there; the model menu shows it."
    assert list(part.deletes) == ["gemma:2b", "qwen3:8b"]
    assert part.field.hasFocus()
    assert part.field.text() == ""


def test_not_now_fetches_nothing_and_gives_the_keyboard_back(qtbot: QtBot, bridge: RecordingBridge) -> None:
    part = shown(qtbot, bridge)
    QTest.keyClicks(part.field, "hf.co/maker/model:Q4")
    part.fetch.click()
    assert "from hf.co" in part.question.words.text()
    QTest.keyClick(part.question.no, Qt.Key.Key_Space)
    bridge.settle()
    assert "ollama_pull" not in bridge.names()
    assert part.field.hasFocus()
    assert part.field.text() == "hf.co/maker/model:Q4"


def test_a_download_that_runs_already_is_shown_and_stopped(qtbot: QtBot, bridge: RecordingBridge) -> None:
    stopped = step(6, state="stopped", completed=1, total=2)

    def following(_address: str, seen: int) -> dict[str, Any]:
        if seen == 4:
            part.download.stop.setFocus()
            QTest.keyClick(part.download.stop, Qt.Key.Key_Space)
        return {-1: step(4, completed=1, total=2), 4: step(5, completed=1, total=2)}.get(seen, stopped)

    bridge.answers |= {"ollama_step": following, "ollama_stop": stopped}
    part = OllamaModels(bridge, ADDRESS)
    qtbot.addWidget(part)
    part.show()
    part.activateWindow()
    qtbot.waitUntil(part.isActiveWindow)
    bridge.settle()
    assert part.download.stop.accessibleName() == "Stop fetching qwen3:8b"
    assert not part.download.isVisible()
    assert part.told.text().startswith("Stopped. What came of qwen3:8b stays with Ollama")
    assert part.field.hasFocus()


def test_a_download_that_fails_says_why(qtbot: QtBot, bridge: RecordingBridge) -> None:
    part = shown(qtbot, bridge)
    failed = step(1, state="failed", code="pull_unknown", fields={"model": "qwen3:8b"})
    bridge.answers |= {"ollama_pull": step(0), "ollama_step": failed}
    part.field.setText("qwen3:8b")
    part.on_fetch()
    part.question.on_yes()
    bridge.settle()
    assert "Ollama's library has no model called qwen3:8b" in part.told.text()
    assert part.told.property("role") == "error"
    assert part.field.isEnabled()


def test_deleting_is_agreed_to_first(qtbot: QtBot, bridge: RecordingBridge) -> None:
    bridge.answers["ollama_models"] = [GEMMA, QWEN]
    bridge.answers["ollama_delete"] = [QWEN]
    part = shown(qtbot, bridge)
    QTest.keyClick(part.deletes["gemma:2b"], Qt.Key.Key_Space)
    assert "Delete gemma:2b (1.7 GB) from the disk of Ollama?" in part.question.words.text()
    assert part.question.no.hasFocus()
    QTest.keyClick(part.question.no, Qt.Key.Key_Space)
    assert part.deletes["gemma:2b"].hasFocus()
    assert "ollama_delete" not in bridge.names()
    part.deletes["gemma:2b"].click()
    part.question.yes.click()
    bridge.settle()
    assert bridge.last("ollama_delete") == (ADDRESS, "gemma:2b")
    assert list(part.deletes) == ["qwen3:8b"]
    assert part.told.text() == "gemma:2b is deleted."


def test_an_answer_that_comes_too_late_is_dropped(qtbot: QtBot, bridge: RecordingBridge) -> None:
    part = OllamaModels(bridge, ADDRESS)
    part.show()
    with qtbot.waitSignal(part.destroyed):
        part.deleteLater()
    bridge.settle()


def test_only_the_card_of_ollama_has_models(qtbot: QtBot, bridge: RecordingBridge) -> None:
    for provider, count in (("openai", 0), ("ollama", 1)):
        card = QFrame()
        qtbot.addWidget(card)
        QVBoxLayout(card)
        add_models(card, bridge, provider, ADDRESS)
        assert len(card.findChildren(OllamaModels)) == count
