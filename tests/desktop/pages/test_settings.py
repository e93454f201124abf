"""The settings page follows the real schema, saves at once, and says what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QKeySequenceEdit, QLabel, QLineEdit, QSpinBox
from pytestqt.qtbot import QtBot

from desktop.bridge import Bridge
from desktop.pages.fields import make_editor, show_value
from desktop.pages.settings import SettingsPage
from desktop.parts import Switch
from desktop.theme import DARK, LIGHT
from runtime.settings import Settings, load_settings
from voice.events import Devices

PATIENCE_MS = 20_000


@pytest.fixture
def bridge(qtbot: QtBot) -> Iterator[Bridge]:
    made = Bridge()
    with qtbot.waitSignal(made.ready, timeout=PATIENCE_MS):
        made.start()
    yield made
    assert made.close()


@pytest.fixture
def page(qtbot: QtBot, bridge: Bridge) -> SettingsPage:
    made = SettingsPage(bridge, LIGHT)
    qtbot.addWidget(made)
    with qtbot.waitSignal(made.built, timeout=PATIENCE_MS):
        made.show()
    return made


def test_every_setting_of_the_schema_has_an_editor(page: SettingsPage) -> None:
    values = Settings().model_dump(exclude={"version"})
    expected = {f"{section}.{key}" for section, keys in values.items() for key in keys}
    assert set(page.editors) == expected
    assert isinstance(page.editors["appearance.theme"], QComboBox)
    assert isinstance(page.editors["appearance.text_scale"], QDoubleSpinBox)
    assert isinstance(page.editors["local_model.threads"], QSpinBox)
    assert isinstance(page.editors["sessions.restore_last"], Switch)
    profile, model = page.editors["agent.profile"], page.editors["local_model.model"]
    assert isinstance(profile, QComboBox)
    assert isinstance(model, QComboBox)
    assert {profile.itemData(row) for row in range(profile.count())} >= {"orion-local", "orion-demo"}
    assert (model.itemData(0), model.itemText(0)) == ("", "As the profile says")
    assert isinstance(page.editors["appearance.language"], QLineEdit)


def test_every_editor_is_named_and_described(page: SettingsPage) -> None:
    for name, editor in page.editors.items():
        assert editor.accessibleName(), name
        assert editor.accessibleDescription(), name
    shown = {found.text() for found in page.findChildren(QLabel)}
    assert "Memory limit (MB)" in shown
    assert "How the agent works." in shown


def test_a_change_is_in_the_file_at_once(qtbot: QtBot, page: SettingsPage, fresh_home: Path) -> None:
    theme = page.editors["appearance.theme"]
    assert isinstance(theme, QComboBox)
    with qtbot.waitSignal(page.saved, timeout=PATIENCE_MS) as saved:
        theme.setCurrentIndex(theme.findData("dark"))
    assert saved.args is not None
    assert saved.args[0]["appearance"]["theme"] == "dark"
    switch = page.editors["sessions.restore_last"]
    assert isinstance(switch, Switch)
    with qtbot.waitSignal(page.saved, timeout=PATIENCE_MS):
        switch.click()
    stored = load_settings(fresh_home / "settings.yaml")
    assert stored.appearance.theme == "dark"
    assert not stored.sessions.restore_last


def test_ranges_are_those_of_the_schema(page: SettingsPage) -> None:
    scale = page.editors["appearance.text_scale"]
    assert isinstance(scale, QDoubleSpinBox)
    assert (scale.minimum(), scale.maximum()) == (0.7, 2.5)
    window = page.editors["local_model.window"]
    assert isinstance(window, QSpinBox)
    assert (window.minimum(), window.maximum()) == (512, 1_048_576)


def test_a_refused_value_is_explained_under_its_field(
    qtbot: QtBot, page: SettingsPage, fresh_home: Path
) -> None:
    (fresh_home / "settings.yaml").write_text("appearance: [broken\n")
    restore = page.editors["sessions.restore_last"]
    assert isinstance(restore, Switch)
    restore.click()
    said: list[str] = []

    def explained() -> bool:
        said[:] = [found.text() for found in page.findChildren(QLabel) if found.property("role") == "error"]
        return any(said)

    qtbot.waitUntil(explained, timeout=PATIENCE_MS)
    assert "settings.yaml" in "".join(said)


def test_what_was_edited_by_hand_is_shown_when_it_is_opened_again(
    qtbot: QtBot, page: SettingsPage, bridge: Bridge
) -> None:
    from desktop.desk import Desk

    bridge.ask(Desk.save_settings, {"local_model.threads": 3})
    page.refresh()
    threads = page.editors["local_model.threads"]
    assert isinstance(threads, QSpinBox)
    qtbot.waitUntil(lambda: threads.value() == 3, timeout=PATIENCE_MS)
    page.set_theme(DARK)


def chosen(page: SettingsPage, name: str) -> QComboBox:
    editor = page.editors[name]
    assert isinstance(editor, QComboBox)
    return editor


def items(editor: QComboBox) -> list[tuple[str, str]]:
    return [(editor.itemData(row), editor.itemText(row)) for row in range(editor.count())]


def test_devices_come_and_go_in_the_lists_and_the_chosen_one_stays(
    qtbot: QtBot, page: SettingsPage, bridge: Bridge, fresh_home: Path
) -> None:
    device = chosen(page, "voice.input_device")
    assert items(device) == [("", "System default")]
    bridge.spoke.emit(Devices((("usb", "A headset"), ("built-in", "The lid")), ()))
    assert items(device) == [("", "System default"), ("usb", "A headset"), ("built-in", "The lid")]
    with qtbot.waitSignal(page.saved, timeout=PATIENCE_MS):
        device.setCurrentIndex(1)
    bridge.spoke.emit(Devices((("built-in", "The lid"),), ()))
    assert device.currentText() == "usb (not connected)"
    assert load_settings(fresh_home / "settings.yaml").voice.input_device == "usb"
    assert chosen(page, "voice.output_device").count() == 1


def test_voices_that_are_here_are_offered(page: SettingsPage) -> None:
    voices = items(chosen(page, "voice.voice"))
    assert voices[0] == ("", "By language")
    assert ("heart", "heart (en)") in voices


def test_a_section_is_scrolled_to(qtbot: QtBot, page: SettingsPage) -> None:
    page.show_section("voice")
    qtbot.waitUntil(lambda: page.verticalScrollBar().value() > 0)
    asked = SettingsPage(page._bridge, LIGHT)
    qtbot.addWidget(asked)
    asked.show_section("voice")
    asked.show()
    qtbot.waitUntil(lambda: asked.verticalScrollBar().value() > 0, timeout=PATIENCE_MS)
    asked.show_section("")


def key_field(page: SettingsPage, name: str) -> QKeySequenceEdit:
    editor = page.editors[name]
    assert isinstance(editor, QKeySequenceEdit)
    return editor


def test_a_key_is_chosen_by_pressing_it(qtbot: QtBot, page: SettingsPage, fresh_home: Path) -> None:
    editor = key_field(page, "voice.push_to_talk_key")
    assert editor.keySequence().toString() == "Ctrl+Space"
    with qtbot.waitSignal(page.saved, timeout=PATIENCE_MS):
        QTest.keyClick(editor, Qt.Key.Key_F8)
    assert load_settings(fresh_home / "settings.yaml").voice.push_to_talk_key == "F8"
    QTest.keyClick(editor, Qt.Key.Key_A)
    qtbot.waitUntil(lambda: editor.keySequence().toString() == "F8", timeout=PATIENCE_MS)
    said = [found.text() for found in page.findChildren(QLabel) if found.property("role") == "error"]
    assert "“A” cannot be the key" in "".join(said)
    assert load_settings(fresh_home / "settings.yaml").voice.push_to_talk_key == "F8"


@pytest.fixture
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    """A desktop on which no key can be held for all programs."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_display")
def test_a_desktop_without_global_keys_says_so(page: SettingsPage) -> None:
    assert not key_field(page, "voice.global_hot_key").isEnabled()
    shown = [found.text() for found in page.findChildren(QLabel)]
    assert any("gives programs no way to hold a key" in words for words in shown)


@pytest.mark.parametrize(
    ("schema", "value", "kind"),
    [
        ({"enum": ["a", "b"]}, "b", QComboBox),
        ({"type": "boolean"}, True, Switch),
        ({"type": "integer", "minimum": 1, "maximum": 9}, 5, QSpinBox),
        ({"type": "number"}, 0.5, QDoubleSpinBox),
        ({"type": "array"}, ["x", "y"], QLineEdit),
        ({"type": "string"}, "s", QLineEdit),
        ({"type": "string", "format": "key"}, "F8", QKeySequenceEdit),
        ({"type": "string", "choices": "voices"}, "heart", QComboBox),
    ],
)
def test_each_kind_of_value_has_its_control(
    qtbot: QtBot, schema: dict[str, Any], value: Any, kind: type
) -> None:
    saved: list[Any] = []
    editor = make_editor(schema, value, LIGHT, saved.append)
    qtbot.addWidget(editor)
    assert isinstance(editor, kind)
    show_value(editor, value)
    assert saved == []
