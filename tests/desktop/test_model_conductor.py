"""The ways to the models page, and what the window does when models come, go, or are chosen there."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.model_conductor import ModelConductor
from desktop.pages.models import ModelsPage
from tests.desktop.doubles import card
from tests.desktop.models import rows
from tests.desktop.stage import Stage

SMALL = {"name": "bundled", "path": "b.gguf", "size": 91_000_000, "provider": "local", "error": ""}
STRONG = {"name": "strong", "path": "s.gguf", "size": 2_500_000_000, "provider": "local", "error": ""}


@pytest.fixture
def models(stage: Stage) -> ModelConductor:
    stage.bridge.answers |= {
        "models_go_on": [],
        "models_here": rows.here(),
        "models_recommended": [rows.offer()],
        "models_step": {"step": 1, "downloads": []},
        "models_exam_step": {"step": 1, "run": None},
        "model_use": {"profile": "orion-local", "model": "strong"},
        "models_menu": [SMALL, STRONG],
        "use": card(model="strong"),
    }
    made = ModelConductor(stage.window, stage.bridge, stage.talks)

    def make(page: Any) -> Any:
        widget = page.make(stage.bridge, stage.window.theme)
        if page.name == "models":
            made.join(widget)
        return widget

    stage.window.set_page_maker(make)
    stage.window.header.set_choices([], [SMALL])
    return made


def opened(stage: Stage) -> ModelsPage:
    """The models page, shown and answered."""
    stage.window.show_page("models")
    stage.bridge.settle()
    found = stage.window.findChild(ModelsPage)
    assert isinstance(found, ModelsPage)
    return found


def test_an_empty_chat_leads_to_stronger_models_while_there_is_none(
    stage: Stage, models: ModelConductor
) -> None:
    models.begin()
    stage.bridge.settle()
    assert "models_go_on" in stage.bridge.names()
    stage.talks.open("s3")
    stage.bridge.settle()
    view = stage.window.chats.view
    assert view is not None
    assert view.welcome.models.isVisible()
    view.welcome.models.click()
    stage.bridge.settle()
    page = stage.window.findChild(ModelsPage)
    assert isinstance(page, ModelsPage)
    assert page.tabs.current == "recommended"
    page.menu_changed.emit([SMALL, STRONG])
    stage.window.show_chat()
    assert not view.welcome.models.isVisible()
    assert [one["name"] for one in stage.window.header.models] == ["bundled", "strong"]


def test_a_download_that_goes_on_from_the_last_time_is_told_when_it_came(
    stage: Stage, models: ModelConductor
) -> None:
    stage.bridge.answers["models_go_on"] = [rows.download()]
    stage.bridge.answers["models_step"] = {"step": 2, "downloads": [rows.download("done", name="strong")]}
    models.begin()
    stage.bridge.settle()
    assert stage.window.toast.text.text() == "Small 3 4B is here."
    assert [one["name"] for one in stage.window.header.models] == ["bundled", "strong"]


def test_a_download_that_goes_on_from_the_last_time_and_fails_is_told_too(
    stage: Stage, models: ModelConductor
) -> None:
    broken = rows.download("failed", code="hub_unavailable", fields={"host": "hub.example", "status": 503})
    stage.bridge.answers["models_go_on"] = [rows.download()]
    stage.bridge.answers["models_step"] = {"step": 2, "downloads": [broken]}
    models.begin()
    stage.bridge.settle()
    assert "hub.example is busy" in stage.window.toast.text.text()


def test_the_model_menu_leads_to_the_page(stage: Stage, models: ModelConductor) -> None:
    menu = stage.window.header.model.menu()
    menu.aboutToShow.emit()
    menu.actions()[-1].trigger()
    assert not stage.window.on_chat


def test_a_model_chosen_there_answers_in_the_chat_in_front(stage: Stage, models: ModelConductor) -> None:
    page = opened(stage)
    page.chosen.emit("orion-local", "strong")
    stage.bridge.settle()
    assert stage.bridge.last("use") == ("s1", None, "strong", None)
    page.chosen.emit("other", "strong")
    stage.bridge.settle()
    assert stage.bridge.last("use") == ("s1", "other", "strong", None)


def test_escape_leaves_a_question_before_it_leaves_the_page(stage: Stage, models: ModelConductor) -> None:
    stage.conductor.escapes.append(models.take_escape)
    stage.bridge.answers["model_frees"] = {"bytes": 1, "files": ["a"]}
    stage.bridge.answers["models_here"] = rows.here(rows.installed(), rows.stronger())
    page = opened(stage)
    page.installed.cards["maker/small-3-4b"].delete.click()
    stage.bridge.settle()
    assert page.question.isVisible()
    QTest.keyClick(stage.window, Qt.Key.Key_Escape)
    assert not page.question.isVisible()
    assert not stage.window.on_chat
    QTest.keyClick(stage.window, Qt.Key.Key_Escape)
    assert stage.window.on_chat
