"""Prints, as JSON, what the programs on the screen tell screen readers: a script of its own, for it may hang.

Arguments: the most elements, the seconds it may take, the screen's width and height. It needs only Debian's
python3-gi and gir1.2-atspi-2.0, and is run by path. Output: {"window", "elements": [{role, name, value,
states, x, y, width, height, within}], "complete"}; the active window's elements come first, and `within` is
the [x, y, width, height] of an element's window.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

ACTING = frozenset(
    {
        *(
            "push button",
            "toggle button",
            "button",
            "check box",
            "radio button",
            "switch",
            "slider",
            "spin button",
        ),
        *("check menu item", "radio menu item", "menu item", "menu", "combo box", "option", "color chooser"),
        *("entry", "text", "password text", "editbar", "date editor", "terminal", "document web"),
        *("link", "icon", "list item", "tree item", "table cell", "cell", "table column header", "page tab"),
    }
)
"""Roles one clicks or types into."""

READING = frozenset(
    {
        *("label", "heading", "static", "paragraph", "image", "caption"),
        *("status bar", "alert", "info bar", "progress bar"),
    }
)
"""Roles one reads; listed where they have a name that their parent does not have."""

WHOLE = ACTING - {"list item", "tree item", "table cell", "cell", "menu", "combo box", "document web", "text"}
"""Roles whose insides say nothing new."""

TEXT = frozenset({"entry", "text", "password text", "terminal", "paragraph", "spin button", "editbar"})
LONGEST = 200
"""Characters of a name or value."""
DEEPEST = 40
SAID = ("focused", "checked", "selected", "expanded", "pressed")


class Walk:
    """One walk over the tree, within its limits."""

    def __init__(self, atspi: Any, most: int, seconds: float, screen: tuple[int, int]) -> None:
        self._atspi = atspi
        self._most = most
        self._until = time.monotonic() + seconds
        self._screen = screen
        self._states = [(name, getattr(atspi.StateType, name.upper())) for name in SAID]
        self.found: list[dict[str, Any]] = []
        self.complete = True

    def window(self, window: Any) -> None:
        """Take what a window shows."""
        box = window.get_extents(self._atspi.CoordType.SCREEN)
        within = [box.x, box.y, box.width, box.height]
        for element in self._below(window, "", 0):
            self.found.append(element | {"within": within})
            if len(self.found) >= self._most:
                self.complete = False
                return

    def _below(self, parent: Any, above: str, depth: int) -> Iterator[dict[str, Any]]:
        from gi.repository import GLib

        for at in range(min(parent.get_child_count(), 1000) if depth < DEEPEST else 0):
            if time.monotonic() > self._until:
                self.complete = False
                return
            try:
                node = parent.get_child_at_index(at)
                shown = node is not None and node.get_state_set().contains(self._atspi.StateType.SHOWING)
                if not shown:
                    continue
                element = self._element(node, above)
            except GLib.Error:  # it went away, or its program does not answer
                continue
            if element is not None:
                yield element
            role = node.get_role_name()
            if element is None or role not in WHOLE:
                yield from self._below(node, element["name"] if element else above, depth + 1)

    def _element(self, node: Any, above: str) -> dict[str, Any] | None:
        role, name = node.get_role_name(), (node.get_name() or "").strip()
        if role not in ACTING and (role not in READING or not name or name == above):
            return None
        box = node.get_extents(self._atspi.CoordType.SCREEN)
        left, top = max(0, box.x), max(0, box.y)
        right, bottom = min(self._screen[0], box.x + box.width), min(self._screen[1], box.y + box.height)
        if right - left < 3 or bottom - top < 3:
            return None
        states = node.get_state_set()
        said = [word for word, state in self._states if states.contains(state)]
        if not states.contains(self._atspi.StateType.SENSITIVE) and role in ACTING:
            said.append("disabled")
        element = {"role": role, "name": name[:LONGEST], "value": self._value(node, role), "states": said}
        return element | {"x": left, "y": top, "width": right - left, "height": bottom - top}

    def _value(self, node: Any, role: str) -> str:
        if role == "password text":
            return ""
        if role in TEXT and (text := node.get_text_iface()) is not None:
            length = self._atspi.Text.get_character_count(text)
            return str(self._atspi.Text.get_text(text, 0, min(length, LONGEST)))
        if role in ("slider", "progress bar") and (value := node.get_value_iface()) is not None:
            return f"{self._atspi.Value.get_current_value(value):g}"
        return ""


def windows(atspi: Any) -> list[Any]:
    """The windows on the screen, the active one first."""
    from gi.repository import GLib

    found = []
    desktop = atspi.get_desktop(0)
    for at in range(desktop.get_child_count()):
        try:
            program = desktop.get_child_at_index(at)
            children = [program.get_child_at_index(n) for n in range(program.get_child_count())]
            found += [c for c in children if c and c.get_state_set().contains(atspi.StateType.SHOWING)]
        except (GLib.Error, AttributeError):
            continue
    return sorted(found, key=lambda window: not window.get_state_set().contains(atspi.StateType.ACTIVE))


def main(arguments: list[str]) -> int:
    import gi

    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi

    most, seconds, width, height = (float(word) for word in arguments)
    Atspi.set_timeout(800, 1500)
    walk = Walk(Atspi, int(most), seconds, (int(width), int(height)))
    found = windows(Atspi)
    active = next((w for w in found if w.get_state_set().contains(Atspi.StateType.ACTIVE)), None)
    for window in found:
        if len(walk.found) < most:
            walk.window(window)
    title = active.get_name() if active else ""
    said = {"window": title or "", "elements": walk.found, "complete": walk.complete}
    sys.stdout.write(json.dumps(said) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
