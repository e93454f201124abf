"""What is on the screen in words: the window in front and the elements its program tells screen readers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox.guest.call import Call, PeerError
from sandbox.guest.desk import GuestDesk
from sandbox.guest.peer import Operation

MOST = 300
SECONDS = 2.5
"""How long the walk over a large program may take; what it found until then counts."""
PATIENCE = 6.0
"""Seconds after which a walk that hangs in a program that does not answer is ended."""

_SCRIPT = Path(__file__).with_name("accessible.py")


def operations(desk: GuestDesk) -> dict[str, Operation]:
    """`elements.list`."""

    async def on_list(call: Call) -> dict[str, Any]:
        """{window, elements, complete}; elements as accessible.py writes them, at most `limit`. A program
        that tells nothing, or hangs, has no elements. PeerError("display_missing")."""
        display = desk.display
        if display is None:
            raise PeerError("display_missing")
        most = int(call.arguments.get("limit") or MOST)
        found = await _walked(most, display.width, display.height)
        windows = stacked(display.x)
        seen = [element for element in found["elements"] if not covered(element, windows)]
        return found | {"window": _title(display.x) or found["window"], "elements": seen}

    return {"elements.list": on_list}


async def _walked(most: int, width: int, height: int) -> dict[str, Any]:
    """What the script prints; nothing at all where it fails or hangs."""
    nothing: dict[str, Any] = {"window": "", "elements": [], "complete": False}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(_SCRIPT), str(most), str(SECONDS), str(width), str(height)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            output, _none = await process.communicate()
    except TimeoutError:
        return nothing
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        found = json.loads(output)
    except ValueError:
        return nothing
    return found if isinstance(found, dict) else nothing


Box = tuple[int, int, int, int]
"""Left, top, right, bottom."""

ALIKE = 60
"""Most pixels between the edges of a window as its program and as the X server know it: frame and shadow."""


def covered(element: Mapping[str, Any], windows: Sequence[Box]) -> bool:
    """Whether another window lies over the middle of `element`. `windows`: from lowest to uppermost; an open
    menu and a window that is not among them are above them all."""
    if "menu item" in element["role"]:
        return False
    x, y, width, height = element["within"]
    own = (x, y, x + width, y + height)
    nearest = min(range(len(windows)), key=lambda at: _distance(own, windows[at]), default=-1)
    if nearest < 0 or _distance(own, windows[nearest]) > ALIKE:
        return False
    across, down = element["x"] + element["width"] // 2, element["y"] + element["height"] // 2
    above = windows[nearest + 1 :]
    return any(box[0] <= across < box[2] and box[1] <= down < box[3] for box in above)


def stacked(x: Any) -> list[Box]:
    """The windows on the screen, from the lowest to the uppermost."""
    from Xlib import X
    from Xlib.error import XError

    root = x.screen().root
    listed = root.get_full_property(x.intern_atom("_NET_CLIENT_LIST_STACKING"), 0)
    found: list[Box] = []
    for number in listed.value if listed is not None else ():
        window = x.create_resource_object("window", number)
        try:
            if window.get_attributes().map_state != X.IsViewable:
                continue
            size, place = window.get_geometry(), window.translate_coords(root, 0, 0)
        except XError:  # it has just been closed
            continue
        left, top = -place.x, -place.y
        found.append((left, top, left + size.width, top + size.height))
    return found


def _distance(one: Box, two: Box) -> int:
    return max(abs(a - b) for a, b in zip(one, two, strict=True))


def _title(x: Any) -> str:
    """The title of the active window, as the window manager knows it."""
    from Xlib.error import XError

    try:
        active = x.screen().root.get_full_property(x.intern_atom("_NET_ACTIVE_WINDOW"), 0)
        if active is None or not active.value or not active.value[0]:
            return ""
        window = x.create_resource_object("window", active.value[0])
        title = window.get_full_property(x.intern_atom("_NET_WM_NAME"), 0)
    except XError:
        return ""
    return bytes(title.value).decode("utf-8", "replace") if title is not None else ""
