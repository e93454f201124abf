"""The models page shows what is here, what would do well, and what is going on; all of it by keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop.pages.models import ModelsPage
from desktop.theme import DARK, LIGHT, apply
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
    came = rows.download("done", repository="x/y", name="y/small")
    page.stock.note(came)
    assert other.main.text() == "Use it"
    page.stock.forget("y/small")
    assert other.main.text() == "Get"


def test_a_hub_that_fails_leaves_what_the_catalogue_has(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    page.tabs.choose("search")
    failed = {"code": "hub_unreachable", "fields": {"host": "hub.example", "reason": "no route"}}
    bridge.answers["models_search"] = {"known": [rows.offer()], "found": [], "refused": ""} | failed
    page.search.field.setText("small")
    page.search.on_search()
    shelf.settle()
    assert page.search.known.isVisible()
    assert page.search.beyond.title.text() == "Only the catalogue was searched"
    assert "hub.example cannot be reached" in page.search.beyond.words.text()
    bridge.answers["models_search"] = {"known": [], "found": [], "refused": ""} | failed
    page.search.beyond.way.click()
    shelf.settle()
    assert page.search.beyond.title.text() == "The search failed"
    assert not page.search.state.isVisible()


def test_results_for_words_that_were_sought_before_are_dropped(
    page: ModelsPage, bridge: RecordingBridge
) -> None:
    page.tabs.choose("search")
    page.stock.search("slow")
    page.search.field.setText("quick")
    page.search.on_search()
    late = {"known": [rows.offer("m/late", title="Late")], "found": [], "refused": ""}
    right = {"known": [rows.offer("m/right", title="Right")], "found": [], "refused": ""}
    bridge.answers["models_search"] = lambda words: right if words == "quick" else late
    bridge.settle()
    assert list(page.search.known.cards) == ["m/right"]
    page.stock.search("slow")
    bridge.answers["models_search"] = OrionError("disk_full", path="x")
    page.search.on_search()
    bridge.settle()
    assert page.search.state.title.text() == "The search failed"


def test_a_part_that_cannot_be_shown_says_so_in_its_place_alone(
    page: ModelsPage, bridge: RecordingBridge, shelf: Shelf
) -> None:
    bridge.answers["models_recommended"] = OrionError("home_unwritable", path="home", reason="read-only")
    page.refresh()
    shelf.settle()
    assert page.installed.isVisible()
    assert not page.state.isVisible()
    page.tabs.choose("recommended")
    assert page.state.title.text() == "The models cannot be shown"
    page.tabs.choose("search")
    assert not page.state.isVisible()


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
