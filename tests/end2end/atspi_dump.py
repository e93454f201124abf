"""Run by the system's Python: prints, as JSON lines, what a screen reader finds in one process's windows."""

import json
import sys
from typing import Any

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

MOST = 3000


def tell(node: Any, depth: int, left: list[int]) -> None:
    if node is None or left[0] <= 0:
        return
    left[0] -= 1
    states = [name for name in ("FOCUSED", "SHOWING", "CHECKED", "ENABLED") if _has(node, name)]
    found = {
        "depth": depth,
        "role": node.get_role_name(),
        "name": node.get_name(),
        "description": node.get_description(),
        "text": _text(node),
        "states": states,
        "place": _place(node),
    }
    sys.stdout.write(json.dumps(found) + "\n")
    for number in range(min(node.get_child_count(), 500)):
        tell(node.get_child_at_index(number), depth + 1, left)


def _has(node: Any, name: str) -> bool:
    return bool(node.get_state_set().contains(getattr(Atspi.StateType, name)))


def _place(node: Any) -> list[int]:
    interface = node.get_component_iface()
    if interface is None:
        return []
    found = Atspi.Component.get_extents(interface, Atspi.CoordType.SCREEN)
    return [found.x, found.y, found.width, found.height]


def _text(node: Any) -> str:
    interface = node.get_text_iface()
    return Atspi.Text.get_text(interface, 0, -1) if interface is not None else ""


if __name__ == "__main__":
    desktop = Atspi.get_desktop(0)
    for position in range(desktop.get_child_count()):
        application = desktop.get_child_at_index(position)
        if application is not None and application.get_process_id() == int(sys.argv[1]):
            tell(application, 0, [MOST])
