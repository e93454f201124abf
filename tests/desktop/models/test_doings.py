"""What the user does with models: fetched, paused, examined, used, deleted, taken in."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.pages.models import ModelsPage
from runtime.errors import OrionError
from tests.desktop.doubles import RecordingBridge
from tests.desktop.models import rows
from tests.desktop.models.shelf_double import Shelf


@pytest.fixture
def bridge(shelf: Shelf) -> RecordingBridge:
    return shelf.bridge


@pytest.fixture
def page(models_page: ModelsPage) -> ModelsPage:
    return models_page


def best(page: ModelsPage) -> Any:
    """The first card among the recommended ones."""
    page.tabs.choose("recommended")
    return page.advice.cards["maker/Small-3-4B-GGUF"]


def test_the_best_one_is_marked_and_fetched_by_keyboard(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    card = best(page)
    assert card.best.text() == "Best fit here"
    assert not page.advice.cards["m/two"].best.text()
    assert card.main.accessibleName() == "Get Small 3 4B, 2.5 GB"
    card.main.setFocus()
    QTest.keyClick(card.main, Qt.Key.Key_Space)
    shelf.downloads = [rows.download()]
    shelf.settle()
    assert bridge.last("model_fetch") == ("maker/Small-3-4B-GGUF", "Small-3-4B-Q4_K_M.gguf", False)
    assert page.activity.isVisible()
    shown = page.activity.downloads.cards["d1"]
    assert shown.title.text() == "Fetching Small 3 4B"
    assert (
        shown.words.text().replace("\u00a0", " ") == "1.2 GB of 2.5 GB  ·  8.3 MB a second  ·  2 minutes left"
    )
    assert card.main.text() == "50 %"
    card.main.click()
    assert shown.main.hasFocus()


def test_another_size_is_chosen_and_said_to_be_too_large(page: ModelsPage) -> None:
    card = best(page)
    menu = card.sizes.menu()
    menu.aboutToShow.emit()
    assert [action.isChecked() for action in menu.actions()] == [True, False, False]
    menu.actions()[2].trigger()
    assert card.foot.fit.words.text() == "Needs 9.0 GB of memory; 6.0 GB are free"
    menu.aboutToShow.emit()
    menu.actions()[1].trigger()
    assert card.foot.fit.words.text() == "Runs here, but slowly, about 2 words a second"


def test_a_download_is_paused_resumed_and_stopped(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    shelf.downloads = [rows.download()]
    page.stock.follow()
    shelf.settle()
    page.refresh()
    shelf.settle()
    shown = page.activity.downloads.cards["d1"]
    shown.main.setFocus()
    QTest.keyClick(shown.main, Qt.Key.Key_Space)
    shelf.downloads = [rows.download("paused")]
    page.refresh()
    shelf.settle()
    assert bridge.last("model_pause") == ("d1",)
    assert shown.main.text() == "Go on"
    assert shown.main.hasFocus()
    QTest.keyClick(shown.main, Qt.Key.Key_Space)
    shown.stop.click()
    shelf.downloads = []
    page.refresh()
    shelf.settle()
    assert bridge.last("model_resume") == ("d1",)
    assert bridge.last("model_stop") == ("d1",)
    assert not page.activity.isVisible()


def test_what_has_come_is_said_and_can_be_examined(
    qtbot: QtBot, page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    bridge.answers["models_here"] = rows.here(rows.installed(), rows.stronger(exam=None))
    shelf.downloads = [rows.download()]
    page.refresh()
    shelf.settle()
    page.hide()
    shelf.downloads = [rows.download("done", name="maker/small-3-4b")]
    with qtbot.waitSignal(page.decided) as said, qtbot.waitSignal(page.menu_changed):
        page.refresh()
        qtbot.waitUntil(lambda: shelf.settled(lambda: page.stock.downloads[0]["state"] == "done"))
    assert said.args == ["Small 3 4B is here."]
    page.show()
    shown = page.activity.downloads.cards["d1"]
    assert (shown.main.text(), shown.second.text(), shown.stop.text()) == ("Examine", "Use", "Close")
    shown.main.click()
    shelf.run = rows.run()
    page.refresh()
    qtbot.waitUntil(lambda: shelf.settled(lambda: page.activity.exam.isVisible()))
    assert bridge.last("model_exam") == ("maker/small-3-4b",)
    assert page.activity.exam.title.text() == "Examining Small 3 4B: Instructions"
    assert page.installed.cards["maker/small-3-4b"].examine.text() == "Examining…"
    page.activity.exam.stop.click()
    shelf.run = None
    qtbot.waitUntil(lambda: shelf.settled(lambda: not page.activity.exam.isVisible()))
    assert "model_stop_exam" in bridge.names()


def test_a_licence_is_accepted_first(page: ModelsPage, bridge: RecordingBridge, shelf: Shelf) -> None:
    def fetch(_name: str, _file: str, accepted: bool) -> Any:
        return rows.download() if accepted else OrionError("licence_not_accepted", licence="Apache-2.0")

    bridge.answers["model_fetch"] = fetch
    card = best(page)
    card.main.setFocus()
    card.main.click()
    shelf.settle()
    asked = page.question
    assert asked.title.text() == "Accept the licence of Small 3 4B?"
    assert asked.link.isVisible()
    assert asked.question.yes.hasFocus()
    QTest.keyClick(asked, Qt.Key.Key_Escape)
    assert not asked.isVisible()
    assert card.main.hasFocus()
    card.main.click()
    shelf.settle()
    QTest.keyClick(asked.question.yes, Qt.Key.Key_Space)
    assert not asked.isVisible()
    shelf.settle()
    assert bridge.last("model_fetch")[2] is True


def test_a_host_is_allowed_first(page: ModelsPage, bridge: RecordingBridge, shelf: Shelf) -> None:
    answers = [OrionError("host_refused", host="hub.example"), rows.download()]
    bridge.answers["model_fetch"] = lambda *_given: answers.pop(0)
    best(page).main.click()
    shelf.settle()
    assert page.question.title.text() == "Fetch from hub.example?"
    page.question.question.yes.click()
    shelf.settle()
    assert bridge.last("models_allow") == ("hub.example",)
    assert bridge.names().count("model_fetch") == 2
    assert not page.question.isVisible()


def test_deleting_says_what_it_frees_and_is_agreed_to(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    card = page.installed.cards["maker/small-3-4b"]
    card.delete.setFocus()
    QTest.keyClick(card.delete, Qt.Key.Key_Space)
    shelf.settle()
    assert page.question.title.text() == "Delete Small 3 4B?"
    assert page.question.question.words.text().startswith("This frees 2.5 GB on the disk (1 file).")
    assert page.question.question.no.hasFocus()
    QTest.keyClick(page.question.question.no, Qt.Key.Key_Space)
    assert card.delete.hasFocus()
    assert "model_delete" not in bridge.names()
    card.delete.click()
    shelf.settle()
    page.question.question.yes.click()
    bridge.answers["models_here"] = rows.here(rows.installed())
    shelf.settle()
    assert bridge.last("model_delete") == ("maker/small-3-4b", False)
    assert list(page.installed.cards) == ["smollm2-135m"]


@pytest.mark.parametrize("code", ["model_held_by_lmstudio", "model_in_own_folder"])
def test_a_file_that_others_put_there_is_asked_about_once_more(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf, code: str
) -> None:
    held = OrionError(code, name="small", path="/home/ida/models/small.gguf")
    bridge.answers["model_delete"] = lambda _name, agreed: {} if agreed else held
    card = page.installed.cards["maker/small-3-4b"]
    card.delete.click()
    shelf.settle()
    page.question.question.yes.click()
    shelf.settle()
    assert page.question.isVisible()
    assert page.question.title.text() == "Delete Small 3 4B all the same?"
    assert "/home/ida/models/small.gguf" in page.question.question.words.text()
    assert page.question.question.no.hasFocus()
    QTest.keyClick(page.question.question.no, Qt.Key.Key_Space)
    assert not page.question.isVisible()
    assert bridge.names().count("model_delete") == 1
    assert "maker/small-3-4b" in page.installed.cards
    card.delete.click()
    shelf.settle()
    page.question.question.yes.click()
    shelf.settle()
    page.question.question.yes.click()
    bridge.answers["models_here"] = rows.here(rows.installed())
    shelf.settle()
    assert bridge.last("model_delete") == ("maker/small-3-4b", True)
    assert list(page.installed.cards) == ["smollm2-135m"]
    assert not page.question.isVisible()


def test_an_import_can_be_stopped_and_not_paused(page: ModelsPage, shelf: Shelf) -> None:
    shelf.downloads = [rows.download(kind="import", repository="")]
    page.stock.follow()
    shelf.settle()
    page.refresh()
    shelf.settle()
    shown = page.activity.downloads.cards["d1"]
    assert not shown.main.isVisible()
    assert not shown.second.isVisible()
    assert shown.stop.accessibleName() == "Stop taking in Small 3 4B"
    shown.show_row(rows.download("failed", kind="import", code="import_nothing", fields={"path": "/m"}))
    assert not shown.main.isVisible()
    assert shown.stop.text() == "Close"
    shown.show_row(rows.download("failed", code="hub_unavailable", fields={"host": "h", "status": 503}))
    assert (shown.main.text(), shown.stop.text()) == ("Try again", "Discard")


def test_what_goes_on_is_followed_again_after_a_failure_which_is_told_once(
    qtbot: QtBot, page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    said: list[str] = []
    page.decided.connect(said.append)
    page.stock._pauses["downloads"].setInterval(1)
    page.stock._pauses["exam"].setInterval(1)
    shelf.step = 5

    def breaks(_seen: int) -> OrionError:
        return OrionError("disk_full", path="state")

    def failed_often() -> bool:
        bridge.answers |= {"models_step": breaks, "models_exam_step": {"step": 1, "run": None}}
        bridge.settle()
        return bridge.names().count("models_step") > 5

    qtbot.waitUntil(failed_often)
    assert len(said) == 1
    assert "disk is full" in said[0]
    shelf.downloads = [rows.download()]
    qtbot.waitUntil(lambda: shelf.settled(lambda: page.activity.isVisible()))
    assert page.stock._pauses["downloads"].interval() == 500


def test_a_model_is_used_by_the_chat_in_front(
    qtbot: QtBot, page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    with qtbot.waitSignal(page.chosen) as chosen:
        page.installed.cards["maker/small-3-4b"].use.click()
        shelf.settle()
    assert chosen.args == ["orion-local", "maker/small-3-4b"]
    assert bridge.last("model_use") == ("maker/small-3-4b",)


def test_files_are_dropped_looked_at_and_taken_in(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    broken = rows.plan("/models/half.gguf", modes=[], code="model_missing", fields={"path": "/models"})
    bridge.answers["models_plan"] = [rows.plan(), broken]
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/models/mine.gguf"), QUrl.fromLocalFile("/models/half.gguf")])
    where, act = QPointF(200, 200), Qt.DropAction.CopyAction
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    page.dragEnterEvent(QDragEnterEvent(where.toPoint(), act, data, buttons, keys))
    assert page.drop.isVisible()
    page.dropEvent(QDropEvent(where, act, data, buttons, keys))
    assert not page.drop.isVisible()
    shelf.settle()
    assert bridge.last("models_plan") == (["/models/mine.gguf", "/models/half.gguf"],)
    assert page.intake.title.text() == "Import 1 model"
    assert page.intake.take.hasFocus()
    page.intake.ways["in_place"].setChecked(True)
    QTest.keyClick(page.intake.take, Qt.Key.Key_Space)
    shelf.settle()
    assert bridge.last("models_take") == (["/models/mine.gguf"], "in_place")
    assert not page.intake.isVisible()


def test_a_gated_model_leads_to_where_the_token_goes(
    qtbot: QtBot, page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    gated = {"state": "failed", "code": "download_gated"}
    shelf.downloads = [
        rows.download(**gated, fields={"repository": "maker/Small", "page": "https://hub.example"})
    ]
    page.refresh()
    qtbot.waitUntil(lambda: shelf.settled(lambda: page.activity.isVisible()))
    shown = page.activity.downloads.cards["d1"]
    with qtbot.waitSignal(page.page_wanted) as wanted:
        shown.second.click()
    assert wanted.args == ["services"]
