"""What a key pressed in the picture means in the sandbox: text, or a key by its X11 name."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

Step = dict[str, Any]

_NAMED = {
    Qt.Key.Key_Return: "Return",
    Qt.Key.Key_Enter: "KP_Enter",
    Qt.Key.Key_Tab: "Tab",
    Qt.Key.Key_Backtab: "Tab",
    Qt.Key.Key_Escape: "Escape",
    Qt.Key.Key_Backspace: "BackSpace",
    Qt.Key.Key_Delete: "Delete",
    Qt.Key.Key_Insert: "Insert",
    Qt.Key.Key_Home: "Home",
    Qt.Key.Key_End: "End",
    Qt.Key.Key_PageUp: "Page_Up",
    Qt.Key.Key_PageDown: "Page_Down",
    Qt.Key.Key_Left: "Left",
    Qt.Key.Key_Right: "Right",
    Qt.Key.Key_Up: "Up",
    Qt.Key.Key_Down: "Down",
    Qt.Key.Key_Menu: "Menu",
    Qt.Key.Key_Pause: "Pause",
    Qt.Key.Key_Print: "Print",
    Qt.Key.Key_Space: "space",
}
_SIGNS = {
    "!": "exclam", '"': "quotedbl", "#": "numbersign", "$": "dollar", "%": "percent", "&": "ampersand",
    "'": "apostrophe", "(": "parenleft", ")": "parenright", "*": "asterisk", "+": "plus", ",": "comma",
    "-": "minus", ".": "period", "/": "slash", ":": "colon", ";": "semicolon", "<": "less", "=": "equal",
    ">": "greater", "?": "question", "@": "at", "[": "bracketleft", "\\": "backslash", "]": "bracketright",
    "^": "asciicircum", "_": "underscore", "`": "grave", "{": "braceleft", "|": "bar", "}": "braceright",
    "~": "asciitilde",
}  # fmt: skip

MODIFIERS = (
    Qt.Key.Key_Control,
    Qt.Key.Key_Shift,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
    Qt.Key.Key_Super_L,
    Qt.Key.Key_Super_R,
    Qt.Key.Key_CapsLock,
    Qt.Key.Key_NumLock,
    Qt.Key.Key_Mode_switch,
)
"""Keys that only change what others mean."""

_HELD = (
    (Qt.KeyboardModifier.ControlModifier, "ctrl"),
    (Qt.KeyboardModifier.AltModifier, "alt"),
    (Qt.KeyboardModifier.MetaModifier, "super"),
    (Qt.KeyboardModifier.ShiftModifier, "shift"),
)


def step_of(event: QKeyEvent) -> Step | None:
    """What to do in the sandbox for a pressed key; None for a modifier, or a key without a name there."""
    key, text = event.key(), event.text()
    if key in MODIFIERS:
        return None
    held = [name for name in held_names(event.modifiers()) if name != "shift"]
    named = _NAMED.get(Qt.Key(key)) or _function_key(key)
    if not held and text and text.isprintable() and (named is None or named == "space"):
        return {"do": "type", "text": text}
    name = named or keysym(_character(event))
    if name is None:
        return None
    shifted = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
    if shifted and (named or name.isalpha()):
        held.append("shift")
    return {"do": "key", "key": "+".join((*held, name))}


def held_names(modifiers: Qt.KeyboardModifier) -> list[str]:
    """The modifiers that are held, by their names in the sandbox."""
    return [name for flag, name in _HELD if modifiers & flag]


def keysym(character: str) -> str | None:
    """The X11 name of the key that writes `character`; None for what none writes."""
    if len(character) != 1 or not character.isprintable():
        return None
    if character.isascii():
        return _SIGNS.get(character) or ("space" if character == " " else character.lower())
    return f"U{ord(character):04X}"


def _function_key(key: int) -> str | None:
    number = key - int(Qt.Key.Key_F1) + 1
    return f"F{number}" if 1 <= number <= 35 else None


def _character(event: QKeyEvent) -> str:
    """The character of a key held with a modifier, whose text is a control character."""
    key = event.key()
    return chr(key) if 0x20 <= key <= 0x10FFFF and key < 0x01000000 else ""
