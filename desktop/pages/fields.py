"""One editor for each kind of value that a settings schema can hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from desktop.parts import Switch
from desktop.theme import Theme
from resources.translation import _

_INSET = (7, 0, 0, 0)
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


def make_editor(schema: dict[str, Any], value: Any, theme: Theme, save: Saver) -> QWidget:
    """The control for `schema` (a JSON Schema of one value) showing `value`; `save` gets each new value."""
    choices = schema.get("enum")
    if choices:
        return _choice(choices, value, save)
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
    elif isinstance(editor, QLineEdit):
        editor.setText(", ".join(map(str, value)) if isinstance(value, list) else str(value))
    editor.blockSignals(False)


def _choice(choices: list[Any], value: Any, save: Saver) -> QComboBox:
    made = QComboBox()
    for choice in choices:
        words = _WORDS.get(choice)
        made.addItem(words() if words else str(choice), choice)
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
