"""One editor for each kind of value that a settings schema can hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QKeySequenceEdit,
    QLineEdit,
    QSpinBox,
    QStyle,
    QWidget,
)

from desktop.parts import Switch
from desktop.theme import Theme
from resources.translation import _

_INSET = (7, 0, 0, 0)
LETTERS = 14
"""How many letters of a choice are seen at least while its list is closed."""

LARGEST = 2_147_483_647
Saver = Callable[[Any], object]


_WORDS: dict[Any, Callable[[], str]] = {
    "": lambda: _("As the profile says"),
    "system": lambda: _("As the system"),
    "light": lambda: _("Light"),
    "dark": lambda: _("Dark"),
    "semi": lambda: _("Asks first"),
    "auto": lambda: _("Works alone"),
}


class Choice(QComboBox):
    """A list that stays narrow beside long names and shows them whole when it is open."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(LETTERS)

    def showPopup(self) -> None:
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + 2 * bar)
        super().showPopup()


def make_editor(schema: dict[str, Any], value: Any, theme: Theme, save: Saver) -> QWidget:
    """The control for `schema` (a JSON Schema of one value) showing `value`; `save` gets each new value."""
    if choices := schema.get("enum"):
        return _choice([(choice, _in_words(choice)) for choice in choices], value, save)
    if (kind := schema.get("choices")) is not None:
        found = [(choice["const"], choice["title"]) for choice in schema.get("oneOf", [])]
        return _choice(_with_own(kind, found, value), value, save)
    if schema.get("format") in ("key", "hot_key"):
        return _key(str(value), save)
    match schema.get("type"):
        case "boolean":
            return _switch(value, theme, save)
        case "integer":
            return _whole(schema, value, save)
        case "number":
            return _number(schema, value, save)
        case "array":
            return _line(", ".join(map(str, value)), lambda text: save(_items(text)))
        case _:
            return _line(str(value), save)


def show_value(editor: QWidget, value: Any) -> None:
    """Put `value` into an editor made here without saving it again."""
    editor.blockSignals(True)
    if isinstance(editor, Switch):
        editor.setChecked(bool(value))
    elif isinstance(editor, QComboBox):
        editor.setCurrentIndex(editor.findData(value))
    elif isinstance(editor, (QSpinBox, QDoubleSpinBox)):
        editor.setValue(value)
    elif isinstance(editor, QKeySequenceEdit):
        editor.setKeySequence(QKeySequence(value, QKeySequence.SequenceFormat.PortableText))
    elif isinstance(editor, QLineEdit):
        editor.setText(", ".join(map(str, value)) if isinstance(value, list) else str(value))
    editor.blockSignals(False)


def offer(editor: QWidget, kind: str, choices: list[tuple[Any, str]]) -> None:
    """Let an editor of a setting with "choices": `kind` offer these from now on; what it shows stays."""
    if not isinstance(editor, QComboBox):
        return
    value = editor.currentData()
    editor.blockSignals(True)
    editor.clear()
    for choice, words in _with_own(kind, choices, value):
        editor.addItem(words, choice)
    editor.setCurrentIndex(editor.findData(value))
    editor.blockSignals(False)


def _with_own(kind: str, choices: list[tuple[Any, str]], value: Any) -> list[tuple[Any, str]]:
    """`choices` after the one that leaves it to the system or program, with what is chosen now even where it
    is not there."""
    first = _("By language") if kind == "voices" else _("System default")
    there = [choice for choice in choices if choice[0] != ""]
    if value and all(choice != value for choice, _words in there):
        absent = value if kind == "voices" else _("{name} (not connected)").format(name=value)
        there.append((value, absent))
    return [("", first), *there]


def _in_words(choice: Any) -> str:
    words = _WORDS.get(choice)
    return words() if words else str(choice)


def _choice(choices: list[tuple[Any, str]], value: Any, save: Saver) -> QComboBox:
    made = Choice()
    for choice, words in choices:
        made.addItem(words, choice)
    made.setCurrentIndex(made.findData(value))
    made.currentIndexChanged.connect(lambda row: save(made.itemData(row)))
    _still(made)
    return made


def _switch(value: bool, theme: Theme, save: Saver) -> Switch:
    made = Switch(theme)
    made.setChecked(value)
    made.toggled.connect(save)
    return made


def _whole(schema: dict[str, Any], value: int, save: Saver) -> QSpinBox:
    made = QSpinBox()
    made.setRange(schema.get("minimum", -LARGEST), min(LARGEST, schema.get("maximum", LARGEST)))
    made.setValue(value)
    made.setGroupSeparatorShown(True)
    made.lineEdit().setTextMargins(*_INSET)
    made.setKeyboardTracking(False)
    made.valueChanged.connect(save)
    _still(made)
    return made


def _number(schema: dict[str, Any], value: float, save: Saver) -> QDoubleSpinBox:
    made = QDoubleSpinBox()
    low, high = schema.get("minimum", -1e9), schema.get("maximum", 1e9)
    made.setRange(low, high)
    made.setSingleStep(0.1 if high - low <= 10 else 1.0)
    made.setDecimals(2)
    made.lineEdit().setTextMargins(*_INSET)
    made.setValue(value)
    made.setKeyboardTracking(False)
    made.valueChanged.connect(save)
    _still(made)
    return made


def _key(value: str, save: Saver) -> QKeySequenceEdit:
    made = QKeySequenceEdit(QKeySequence(value, QKeySequence.SequenceFormat.PortableText))
    made.setMaximumSequenceLength(1)
    made.setClearButtonEnabled(True)

    def finished() -> None:
        save(made.keySequence().toString(QKeySequence.SequenceFormat.PortableText))

    made.editingFinished.connect(finished)
    return made


def _line(value: str, save: Saver) -> QLineEdit:
    made = QLineEdit(value)
    made.editingFinished.connect(lambda: save(made.text()) if made.isModified() else None)
    return made


def _items(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


class _WheelGuard(QObject):
    """Keeps the mouse wheel for scrolling the page: a value must not change by passing over it."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def _still(editor: QWidget) -> None:
    editor.installEventFilter(_WheelGuard(editor))
