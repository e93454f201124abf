"""Names of keys as models and people write them, read into X key symbols."""

from __future__ import annotations

import functools
from collections.abc import Mapping

MODIFIERS = {
    "ctrl": "Control_L",
    "control": "Control_L",
    "ctl": "Control_L",
    "shift": "Shift_L",
    "alt": "Alt_L",
    "option": "Alt_L",
    "opt": "Alt_L",
    "altgr": "ISO_Level3_Shift",
    "meta": "Super_L",
    "super": "Super_L",
    "cmd": "Super_L",
    "command": "Super_L",
    "win": "Super_L",
    "windows": "Super_L",
    "hyper": "Hyper_L",
}
"""Names of modifiers that are not key symbols by themselves."""

_ALIASES = MODIFIERS | {
    "enter": "Return",
    "return": "Return",
    "newline": "Return",
    "esc": "Escape",
    "escape": "Escape",
    "del": "Delete",
    "delete": "Delete",
    "ins": "Insert",
    "insert": "Insert",
    "backspace": "BackSpace",
    "back_space": "BackSpace",
    "bksp": "BackSpace",
    "tab": "Tab",
    "space": "space",
    "spacebar": "space",
    "pageup": "Page_Up",
    "page_up": "Page_Up",
    "pgup": "Page_Up",
    "prior": "Page_Up",
    "pagedown": "Page_Down",
    "page_down": "Page_Down",
    "pgdn": "Page_Down",
    "pgdown": "Page_Down",
    "next": "Page_Down",
    "arrowup": "Up",
    "arrowdown": "Down",
    "arrowleft": "Left",
    "arrowright": "Right",
    "up_arrow": "Up",
    "down_arrow": "Down",
    "left_arrow": "Left",
    "right_arrow": "Right",
    "capslock": "Caps_Lock",
    "numlock": "Num_Lock",
    "scrolllock": "Scroll_Lock",
    "printscreen": "Print",
    "prtsc": "Print",
    "prtscn": "Print",
    "apps": "Menu",
    "contextmenu": "Menu",
    "context_menu": "Menu",
    "plus": "plus",
    "minus": "minus",
    "dash": "minus",
    "comma": "comma",
    "dot": "period",
    "volumeup": "XF86AudioRaiseVolume",
    "volumedown": "XF86AudioLowerVolume",
    "mute": "XF86AudioMute",
}

UNICODE = 0x1000000
"""Key symbols of characters beyond Latin-1 are this plus the code point (X11 protocol, appendix A)."""

RETURN, TAB, BACKSPACE = 0xFF0D, 0xFF09, 0xFF08


class UnknownKey(ValueError):
    """A name that is no key; the argument is the name."""


Chord = tuple[int, ...]
"""Key symbols pressed together, in the order in which they go down."""


def chords(text: str) -> list[Chord]:
    """What "ctrl+shift+t" or "ctrl+a Delete" means: chords one after the other, each of key symbols.

    Names are X key symbols in any case, the aliases models use, single characters, or U+code point. A letter
    in a chord is its key, whatever its case ("ctrl+S" saves); alone it is the character. A plus sign may be a
    key itself ("ctrl++", "+"). UnknownKey for a name that is none, or for no name at all.
    """
    if text == " ":
        return [(symbol(" "),)]
    found = [tuple(symbol(name) for name in _split(chord)) for chord in text.split()]
    if not found:
        raise UnknownKey(text)
    return found


def _split(chord: str) -> list[str]:
    """The names in a chord; a trailing or lone plus sign is the key plus."""
    if chord.endswith("+"):
        rest = chord[:-1].rstrip("+")
        return [*(name for name in rest.split("+") if name), "plus"]
    names = chord.split("+")
    if names[0].upper() == "U" and len(names) > 1:  # U+1F600
        names[:2] = [f"U{names[1]}"]
    names = [name for name in names if name]
    return (
        [name.lower() if len(name) == 1 and name.isascii() else name for name in names]
        if names[1:]
        else names
    )


def symbol(name: str) -> int:
    """The key symbol called `name`. UnknownKey."""
    if len(name) == 1:
        return of_character(name)
    wanted = _ALIASES.get(name.casefold(), name)
    exact = _named().get(wanted)
    if exact is None:
        exact = _any_case().get(wanted.casefold().replace("-", "_"))
    if exact is None:
        exact = _unicode(wanted)
    if exact is None:
        raise UnknownKey(name)
    return exact


def of_character(character: str) -> int:
    """The key symbol that types one code point. Line ends are Return, control characters have their keys.

    UnknownKey for a code point that no keyboard can send: another control character or a lone surrogate.
    """
    code = ord(character)
    if character in "\n\r":
        return RETURN
    if character == "\t":
        return TAB
    if character in "\b\x7f":
        return BACKSPACE if character == "\b" else 0xFFFF
    if character == "\x1b":
        return 0xFF1B
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:
        raise UnknownKey(f"U+{code:04X}")
    return code if code < 0x100 else UNICODE + code


def character_of(keysym: int) -> str:
    """The character a Latin-1 or Unicode key symbol types; empty for any other key."""
    if 0x20 <= keysym < 0x7F or 0xA0 <= keysym < 0x100:
        return chr(keysym)
    return chr(keysym - UNICODE) if UNICODE + 0x100 <= keysym <= UNICODE + 0x10FFFF else ""


def _unicode(name: str) -> int | None:
    """The symbol of U20AC, as xdotool writes it."""
    digits = name[1:]
    if name[:1] not in "Uu" or not 2 <= len(digits) <= 6:
        return None
    try:
        return of_character(chr(int(digits, 16)))
    except (ValueError, OverflowError):
        return None


@functools.cache
def _named() -> Mapping[str, int]:
    """Every key symbol of python-xlib's tables by its exact name."""
    from Xlib import XK

    for group in ("xkb", "xf86", "latin2", "latin3", "latin4", "greek", "cyrillic", "arabic", "hebrew"):
        XK.load_keysym_group(group)
    names = {name[3:]: code for name, code in vars(XK).items() if name.startswith("XK_")}
    return names | {name.replace("XF86_", "XF86"): code for name, code in names.items()}


@functools.cache
def _any_case() -> Mapping[str, int]:
    """The same by folded name; where case tells two apart (a, A), the small one."""
    folded: dict[str, int] = {}
    for name, code in sorted(_named().items(), reverse=True):
        folded[name.casefold()] = code
    return folded | {name: code for name, code in _named().items() if name == name.casefold()}
