"""The models page shows what is here, what would do well, and what is going on; all of it by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop.pages.models import ModelsPage
from desktop.theme import DARK, LIGHT, apply
from runtime.errors import OrionError
from tests.desktop.doubles import RecordingBridge
from tests.desktop.models import rows


class Shelf:
    """Answers the page's questions from rows that a test changes."""

    def __init__(self, bridge: RecordingBridge) -> None:
        self.bridge = bridge
        self.step = 0
        self.downloads: list[rows.Row] = []
        self.run: rows.Row | None = None
        bridge.answers |= {
            "models_here": rows.here(rows.installed(), rows.stronger()),
            "models_recommended": [rows.offer(), rows.offer("m/two", title="Second 2B")],
            "models_search": {"known": [rows.offer()], "found": [], "refused": ""},
            "models_menu": [],
            "model_fetch": rows.download(),
            "model_frees": {"bytes": 2_497_000_000, "files": ["small.gguf"]},
            "model_exam": rows.run(),
            "model_use": {"profile": "orion-local", "model": "maker/small-3-4b"},
        }

    def settle(self) -> None:
        """Answer what was asked; each of the two followers is answered once, with what is so now."""
        self.step += 1
        now = self.step
        self.bridge.answers["models_step"] = lambda seen: self._told(seen, now, "downloads", self.downloads)
        self.bridge.answers["models_exam_step"] = lambda seen: self._told(seen, now, "run", self.run)
        self.bridge.settle()

    def settled(self, is_so: Callable[[], bool]) -> bool:
        """Answer what was asked; whether `is_so` then."""
        self.settle()
        return is_so()

    def _told(self, seen: int, now: int, key: str, value: Any) -> rows.Row:
        return {
            "step": now if seen < now else seen,
            key: [dict(row) for row in value] if key == "downloads" else value,
        }


@pytest.fixture
def bridge() -> RecordingBridge:
    return RecordingBridge()


@pytest.fixture
def shelf(bridge: RecordingBridge) -> Shelf:
    return Shelf(bridge)


@pytest.fixture
def page(qtbot: QtBot, bridge: RecordingBridge, shelf: Shelf) -> ModelsPage:
    made = ModelsPage(bridge, LIGHT)
    qtbot.addWidget(made)
    made.resize(900, 800)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    shelf.settle()
    return made


def best(page: ModelsPage) -> Any:
    """The first card among the recommended ones."""
    page.tabs.choose("recommended")
    return page.advice.cards["maker/Small-3-4B-GGUF"]


def test_before_anything_is_known_it_says_that_it_looks(qtbot: QtBot, bridge: RecordingBridge) -> None:
    made = ModelsPage(bridge, LIGHT)
    qtbot.addWidget(made)
    made.show()
    assert made.state.isVisible()
    assert made.state.title.text() == "Looking at this machine…"
    assert not made.installed.isVisible()


def test_the_machine_and_its_models_are_shown(page: ModelsPage) -> None:
    assert page.machine.text().startswith("6.0 GB of 16.0 GB memory free")
    assert page.tabs.buttons["installed"].text() == "Installed  2"
    bundled, stronger = page.installed.cards.values()
    assert bundled.state.text() == "In use"
    assert not bundled.use.isVisible()
    assert "Not examined yet" in bundled.exam.text()
    assert stronger.foot.fit.words.text() == "Runs well here, 16 words a second in the exam"
    assert stronger.use.isVisible()
    assert [badge.text() for badge in stronger.badges.badges] == [
        "Instructions",
        "Tools",
        "JSON",
        "Screens in words",
    ]
    assert not page.state.isVisible()


def test_a_shelf_that_cannot_be_read_says_why_and_is_asked_again(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    good = bridge.answers["models_here"]
    bridge.answers["models_here"] = OrionError("home_unwritable", path="home", reason="read-only")
    page.refresh()
    shelf.settle()
    assert page.state.title.text() == "The models cannot be shown"
    bridge.answers["models_here"] = good
    page.state.way.click()
    shelf.settle()
    assert not page.state.isVisible()
    assert page.installed.isVisible()


def test_an_empty_shelf_leads_to_what_runs_well(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    bridge.answers["models_here"] = rows.here() | {"installed": []}
    page.refresh()
    shelf.settle()
    assert page.state.title.text() == "No model is on this machine yet"
    page.state.way.click()
    assert page.tabs.current == "recommended"
    assert page.advice.isVisible()


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


def test_a_model_is_used_by_the_chat_in_front(
    qtbot: QtBot, page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    with qtbot.waitSignal(page.chosen) as chosen:
        page.installed.cards["maker/small-3-4b"].use.click()
        shelf.settle()
    assert chosen.args == ["orion-local", "maker/small-3-4b"]
    assert bridge.last("model_use") == ("maker/small-3-4b",)


def test_a_search_beyond_the_catalogue_asks_for_a_permission(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    page.tabs.buttons["installed"].setFocus()
    QTest.keyClick(page.tabs.buttons["installed"], Qt.Key.Key_Right)
    QTest.keyClick(page.tabs.buttons["recommended"], Qt.Key.Key_Right)
    search = page.search
    assert search.isVisible()
    QTest.keyClick(page.tabs.buttons["search"], Qt.Key.Key_Tab)
    assert search.field.hasFocus()
    bridge.answers["models_search"] = {"known": [rows.offer()], "found": [], "refused": "hub.example"}
    QTest.keyClicks(search.field, "coder")
    QTest.keyClick(search.field, Qt.Key.Key_Return)
    assert search.state.title.text() == "Looking for coder…"
    shelf.settle()
    assert bridge.last("models_search") == ("coder",)
    assert search.known.isVisible()
    assert search.beyond.title.text() == "Search hub.example too?"
    sizes = rows.offer("x/y", title="Other 3B", variants=[], downloads=12)
    bridge.answers["models_search"] = {"known": [rows.offer()], "found": [sizes], "refused": ""}
    search.beyond.way.click()
    shelf.settle()
    assert bridge.last("models_allow") == ("hub.example",)
    assert not search.beyond.isVisible()
    other = search.found.cards["x/y"]
    assert other.main.text() == "See sizes"
    bridge.answers["model_info"] = rows.offer("x/y", title="Other 3B")
    other.main.click()
    assert other.main.text() == "Looking…"
    shelf.settle()
    assert other.main.text() == "Get"


def test_a_search_without_results_and_one_that_fails_say_so(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    page.tabs.choose("search")
    bridge.answers["models_search"] = {"known": [], "found": [], "refused": ""}
    page.search.field.setText("nonsense")
    page.search.on_search()
    shelf.settle()
    assert page.search.state.title.text() == "Nothing found for nonsense"
    bridge.answers["models_search"] = OrionError("home_unwritable", path="home", reason="full")
    page.search.on_search()
    shelf.settle()
    assert page.search.state.title.text() == "The search failed"
    assert page.search.state.way.isVisible()


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


def test_badges_say_what_was_measured_and_are_one_stop_of_the_keyboard(page: ModelsPage) -> None:
    shown = page.installed.cards["maker/small-3-4b"].badges.badges
    assert shown[1].accessibleName() == "Tools: 3 of 10 right: failed."
    assert "calls the right tool" in shown[1].accessibleDescription()
    assert [bool(badge.focusPolicy() & Qt.FocusPolicy.TabFocus) for badge in shown] == [
        True,
        False,
        False,
        False,
    ]
    shown[0].setFocus()
    QTest.keyClick(shown[0], Qt.Key.Key_Right)
    assert shown[1].hasFocus()
    QTest.keyClick(shown[1], Qt.Key.Key_Left)
    assert shown[0].hasFocus()


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


@pytest.mark.parametrize("section", ["installed", "recommended", "search"])
@pytest.mark.parametrize(("scale", "width"), [(1.0, 380), (2.0, 380), (2.0, 780)])
def test_nothing_is_cut_where_it_is_narrow_and_large(
    qtbot: QtBot, page: ModelsPage, shelf: Shelf, section: str, scale: float, width: int
) -> None:
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme = DARK.scaled(scale)
    apply(app, theme)
    page.set_theme(theme)
    page.resize(width, 800)
    page.tabs.choose(section)
    page.search.field.setText("coder")
    page.search.on_search()
    shelf.downloads = [rows.download()]
    page.refresh()
    shelf.settle()

    def fits() -> bool:
        return page.body.width() <= page.area.viewport().width()

    qtbot.waitUntil(fits)
    apply(app, LIGHT)


def test_the_tab_key_goes_through_the_page_as_one_reads_it(page: ModelsPage, shelf: Shelf) -> None:
    shelf.downloads = [rows.download()]
    page.refresh()
    shelf.settle()
    page.setFocus()
    assert page.tabs.buttons["installed"].hasFocus()
    bundled, stronger = page.installed.cards.values()
    download = page.activity.downloads.cards["d1"]
    wanted: list[QWidget] = [page.bring, download.stop, download.main, page.tabs.buttons["installed"]]
    wanted += [bundled.examine, stronger.badges.badges[0], stronger.delete, stronger.examine, stronger.use]
    page.bring.setFocus()
    for control in wanted:
        assert control.hasFocus(), control
        QTest.keyClick(control, Qt.Key.Key_Tab)


def test_every_control_has_a_name(page: ModelsPage, shelf: Shelf) -> None:
    for section in ("installed", "recommended", "search"):
        page.tabs.choose(section)
        shelf.settle()
        for kind in (QAbstractButton, QLineEdit):
            for control in page.findChildren(kind):
                if control.isVisible():
                    assert control.accessibleName() or _text(control), control


def _text(control: QWidget) -> str:
    return control.text() if isinstance(control, QAbstractButton) else ""
