"""The settings page, generated from the schema of the settings: a new setting needs no line here."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from desktop.bridge import Bridge, Fields
from desktop.desk import Desk
from desktop.held_key import held_key
from desktop.hot_key import obstacle
from desktop.pages.fields import make_editor, offer, show_value
from desktop.pages.voice_test import VoiceTest
from desktop.parts import Switch, label, line
from desktop.theme import Theme, spacing
from resources.sentences import sentence
from resources.translation import _

_UNITS = {"mb": "MB", "seconds": "s", "usd": "USD"}


class SettingsPage(QScrollArea):
    """Each change is saved at once; a refused one is shown in red under its field and the old value stays in
    force. `saved` carries all values. The sections are built one after the other, so that the window goes on
    answering meanwhile; `built` says that all are there."""

    saved = Signal(object)
    built = Signal()

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self.editors: dict[str, QWidget] = {}
        self.extras: dict[str, VoiceTest] = {}
        self._errors: dict[str, QLabel] = {}
        self._places: dict[str, tuple[QGridLayout, int]] = {}
        self._schema: dict[str, Any] = {}
        self._values: dict[str, Any] = {}
        self._unbuilt: list[str] = []
        self._boxes: dict[str, QWidget] = {}
        self._wanted = ""
        self.verticalScrollBar().rangeChanged.connect(lambda _least, _most: self._scroll())
        self.verticalScrollBar().actionTriggered.connect(lambda _action: self._on_scrolled())
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(_("Settings"))
        self.refresh()

    def refresh(self) -> None:
        """Ask for the settings again and show them."""
        self._bridge.ask(Desk.settings).then(self._on_settings)

    def show_section(self, name: str) -> None:
        """Scroll to a section, and stay there while the page is still being built and laid out."""
        self._wanted = name
        self._scroll()

    def _scroll(self) -> None:
        if self._wanted in self._boxes and (body := self.widget()) is not None:
            top = self._boxes[self._wanted].mapTo(body, QPoint(0, 0)).y()
            self.verticalScrollBar().setValue(top - spacing(4))

    def _on_scrolled(self) -> None:
        """The user goes elsewhere."""
        self._wanted = ""

    def offer(self, kind: str, choices: list[tuple[str, str]]) -> None:
        """What the settings of "choices": `kind` may be from now on."""
        for name, editor in self.editors.items():
            if self._option(name).get("choices") == kind:
                offer(editor, kind, choices)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for editor in self.editors.values():
            if isinstance(editor, Switch):
                editor.set_theme(theme)
        for extra in self.extras.values():
            extra.set_theme(theme)

    def _on_settings(self, found: dict[str, Any]) -> None:
        self._values = found["values"]
        if _shape(found["schema"]) != _shape(self._schema):
            self._schema = found["schema"]
            self._build(found["file"])
            return
        self._schema = found["schema"]
        for name, editor in self.editors.items():
            section, key = name.split(".")
            option = self._option(name)
            if kind := option.get("choices"):
                offer(editor, kind, [(one["const"], one["title"]) for one in option["oneOf"]])
            show_value(editor, self._values[section][key])

    def _build(self, file: str) -> None:
        """Make an empty page and have its sections built from now on."""
        building = bool(self._unbuilt)
        self.editors.clear()
        self.extras.clear()
        self._boxes.clear()
        self._errors.clear()
        self._places.clear()
        body = QWidget()
        body.setMaximumWidth(760)
        column = QVBoxLayout(body)
        column.setContentsMargins(spacing(6), spacing(5), spacing(6), spacing(8))
        column.setSpacing(spacing(4))
        column.addWidget(label(_("Settings"), "title"))
        self._sections = QVBoxLayout()
        self._sections.setSpacing(spacing(4))
        column.addLayout(self._sections)
        place = _("Kept in {file}; you may edit that file too.").format(file=file)
        column.addWidget(label(place, "small", wrap=True, selectable=True))
        column.addStretch(1)
        outer = QWidget()
        row = QHBoxLayout(outer)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(body, 100)
        row.addStretch(1)
        self.setWidget(outer)
        properties = self._schema["properties"].items()
        self._unbuilt = [name for name, reference in properties if "properties" in self._resolve(reference)]
        if not building:
            self._build_next()

    def _build_next(self) -> None:
        """Build one section now and the next one when Qt has drawn it and taken what was typed."""
        if self._unbuilt:
            section = self._unbuilt.pop(0)
            schema = self._resolve(self._schema["properties"][section])
            self._boxes[section] = self._section(section, schema, self._values[section])
            self._sections.addWidget(self._boxes[section])
        if self._unbuilt:
            QTimer.singleShot(0, self, self._build_next)
        else:
            self.built.emit()

    def _section(self, section: str, schema: dict[str, Any], values: dict[str, Any]) -> QWidget:
        box = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, spacing(2), 0, 0)
        grid.setHorizontalSpacing(spacing(6))
        grid.setVerticalSpacing(spacing(1))
        grid.setColumnStretch(0, 1)
        grid.addWidget(label(_title(section), "section"), 0, 0)
        grid.addWidget(label(_(schema.get("description", "")), "small", wrap=True), 1, 0, 1, 2)
        grid.addWidget(line(), 2, 0, 1, 2)
        for number, (key, reference) in enumerate(schema["properties"].items()):
            self._row(grid, 3 + 3 * number, f"{section}.{key}", self._resolve(reference), values[key])
        if section == "voice":
            self._add_test(grid)
        return box

    def _add_test(self, grid: QGridLayout) -> None:
        """Below the settings of the voice: try them."""
        self.extras["voice"] = test = VoiceTest(self._bridge, self._theme)
        test.devices_found.connect(self._on_devices)
        grid.addWidget(test, grid.rowCount(), 0, 1, 2)

    def _on_devices(self, found: Any) -> None:
        self.offer("microphones", list(found.microphones))
        self.offer("loudspeakers", list(found.loudspeakers))

    def _row(self, grid: QGridLayout, row: int, name: str, schema: dict[str, Any], value: Any) -> None:
        title = _title(name.rpartition(".")[2])
        words = _(schema.get("description", ""))
        editor = make_editor(schema, value, self._theme, lambda new: self._save(name, new))
        editor.setAccessibleName(title)
        editor.setAccessibleDescription(words)
        editor.setMinimumWidth(44 if isinstance(editor, Switch) else 190)
        caption = label(title)
        caption.setBuddy(editor)
        caption.setContentsMargins(0, spacing(2), 0, 0)
        grid.addWidget(caption, row, 0)
        grid.addWidget(label(words, "small", wrap=True), row + 1, 0)
        grid.addWidget(editor, row, 1, 2, 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.editors[name] = editor
        self._places[name] = (grid, row + 2)
        if schema.get("format") == "hot_key" and (code := obstacle()):
            editor.setEnabled(False)
            grid.addWidget(label(sentence(code), "small", wrap=True), row + 2, 0, 1, 2)

    def _save(self, name: str, value: object) -> None:
        if self._option(name).get("format") in ("key", "hot_key") and value and held_key(str(value)) is None:
            self._refuse(name, "push_to_talk_key_unfit", {"key": str(value)})
            section, key = name.split(".")
            show_value(self.editors[name], self._values[section][key])
            return

        def done(values: dict[str, Any]) -> None:
            if name in self._errors:
                self._errors[name].hide()
            self._values = values
            self.saved.emit(values)

        refused = partial(self._refuse, name)
        self._bridge.ask(Desk.save_settings, {name: value}).then(done, refused)

    def _refuse(self, name: str, code: str, fields: Fields) -> None:
        """Say under a setting what is the matter."""
        if name not in self._errors:
            grid, row = self._places[name]
            self._errors[name] = label("", "error", wrap=True)
            grid.addWidget(self._errors[name], row, 0, 1, 2)
        self._errors[name].setText(sentence(code, **fields))
        self._errors[name].show()

    def _option(self, name: str) -> dict[str, Any]:
        """The schema of one setting."""
        section, key = name.split(".")
        properties: dict[str, Any] = self._resolve(self._schema["properties"][section])["properties"]
        return self._resolve(properties[key])

    def _resolve(self, schema: dict[str, Any]) -> dict[str, Any]:
        """`schema` with a reference into the definitions followed."""
        parts = [schema, *schema.get("allOf", [])]
        reference = next((part["$ref"] for part in parts if "$ref" in part), "")
        target = self._schema.get("$defs", {}).get(reference.rpartition("/")[2], {})
        return {**target, **schema}


def _shape(schema: Any) -> Any:
    """`schema` without what it offers at the moment."""
    if isinstance(schema, dict):
        return {name: _shape(value) for name, value in schema.items() if name != "oneOf"}
    return schema


def _title(name: str) -> str:
    """The caption of the setting or section `name`; a unit at its end goes into brackets."""
    first, _under, last = name.rpartition("_")
    if first and last in _UNITS:
        name = f"{first} ({_UNITS[last]})"
    words = name.replace("_", " ")
    return _(words[:1].upper() + words[1:])
