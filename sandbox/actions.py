"""Actions as models write them, read into steps for the guest: every action of Anthropic's computer tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sandbox.guest.rects import Rect
from sandbox.scaling import Point, Scaling

CLICKS: dict[str, tuple[str, int]] = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
"""Button and number of presses."""

LOOKING = frozenset({"screenshot", "zoom", "cursor_position", "elements"})
"""Actions that change nothing."""

GLANCE = {"do": "glance", "seconds": 0.05}
"""At most this long a program is given to show that it is pressed, before the release hides it again."""

AROUND = 48
"""Pixels on each side of a click in which its effect is looked for first."""
WHEEL = 160
"""The same for scrolling, which moves more."""

LONGEST_TEXT = 20_000
LONGEST_WAIT = 100.0
MOST_KEYS = 100
WHEEL_CLICKS = 5

Step = dict[str, Any]


class ActionRefused(Exception):
    """An action that cannot be done as it was asked for; the argument says to the model why, and what can."""


@dataclass(frozen=True, slots=True)
class ActionEvent:
    """An action that began or ended, for those who watch. `point` in pixels of the screen, `seconds` how
    long it took, `time` seconds since 1970."""

    id: int
    phase: Literal["begun", "ended"]
    action: str
    summary: str
    point: Point | None
    verdict: str
    seconds: float
    time: float


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do for one action. `point` and `region` in pixels of the screen; `measured` when its effect can
    be seen; `what` begins the sentence that tells the model of it."""

    action: str
    steps: tuple[Step, ...] = ()
    point: Point | None = None
    region: Rect | None = None
    measured: bool = False
    what: str = ""
    summary: str = ""


def plan(action: Mapping[str, Any], scaling: Scaling, pointer: Point) -> Plan:
    """Read one action of mouse, keys or time; `pointer` is where the pointer is, in pixels of the screen.
    ActionRefused for one that is unknown or wrong."""
    name = str(action.get("action") or "")
    if name in CLICKS:
        return _click(name, _Given(action, scaling, pointer))
    reader = _READERS.get(name)
    if reader is None:
        known = ", ".join(KNOWN)
        raise ActionRefused(f"There is no action {name!r}. The actions are: {known}.")
    return reader(_Given(action, scaling, pointer))


@dataclass(frozen=True, slots=True)
class _Given:
    """The members of an action, each read as what it has to be."""

    action: Mapping[str, Any]
    scaling: Scaling
    pointer: Point

    def point(self, name: str = "coordinate") -> Point | None:
        """The place on the screen that a member names; None where it is left out."""
        value = self.action.get(name)
        if value is None:
            return None
        if not _numbers(value, 2):
            raise ActionRefused(f"{name} has to be [x, y], two numbers, not {value!r}.")
        width, height = self.scaling.model
        if not self.scaling.within(*value):
            raise ActionRefused(
                f"{name} {list(value)} is outside the screen: x goes from 0 to {width - 1}, "
                f"y from 0 to {height - 1}."
            )
        return self.scaling.to_screen(*value)

    def here(self, point: Point) -> str:
        """A place as the model counts it."""
        x, y = self.scaling.to_model(*point)
        return f"({x}, {y})"

    def text(self, needed: bool = True) -> str:
        value = self.action.get("text")
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or not value:
            raise ActionRefused(f"{self.action['action']} needs text.")
        if len(value) > LONGEST_TEXT:
            raise ActionRefused(f"The text has {len(value)} characters; at most {LONGEST_TEXT} go at once.")
        return value

    def number(self, name: str, default: float | None, least: float, most: float) -> float:
        value = self.action.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ActionRefused(f"{name} has to be a number from {least:g} to {most:g}, not {value!r}.")
        return float(value)

    def held(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """Steps with the keys of `text` held down around them."""
        keys = self.text(needed=False)
        return ({"do": "press", "key": keys}, *steps, {"do": "release"}) if keys else tuple(steps)


def _numbers(value: object, count: int) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == count
        and all(isinstance(item, int | float) and not isinstance(item, bool) for item in value)
    )


def around(point: Point, reach: int, scaling: Scaling) -> Rect:
    """The part of the screen within `reach` pixels of a point."""
    rect = Rect(point[0] - reach, point[1] - reach, 2 * reach + 1, 2 * reach + 1)
    return rect.within(scaling.width, scaling.height) or Rect(0, 0, 1, 1)


def _move(point: Point, **more: Any) -> Step:
    return {"do": "move", "x": point[0], "y": point[1]} | more


def _button(name: str, *, down: bool) -> Step:
    return {"do": "button", "button": name, "down": down}


def _click(name: str, given: _Given) -> Plan:
    button, times = CLICKS[name]
    point = given.point() or given.pointer
    pressing: list[Step] = [_button(button, down=True), dict(GLANCE), _button(button, down=False)]
    for _ in range(times - 1):
        pressing += [_button(button, down=True), _button(button, down=False)]
    words = f"{name.replace('_', ' ')}"
    what = f"The {words} at {given.here(point)}"
    return Plan(
        name,
        (_move(point), *given.held(pressing)),
        point,
        around(point, AROUND, given.scaling),
        measured=True,
        what=what,
        summary=f"{words} at {given.here(point)}",
    )


def _mouse_move(given: _Given) -> Plan:
    point = given.point()
    if point is None:
        raise ActionRefused("mouse_move needs coordinate, [x, y].")
    what = f"The move to {given.here(point)}"
    return Plan("mouse_move", (_move(point),), point, what=what, summary=f"move to {given.here(point)}")


def _drag(given: _Given) -> Plan:
    end = given.point()
    if end is None:
        raise ActionRefused("left_click_drag needs coordinate, [x, y], where the drag ends.")
    start = given.point("start_coordinate") or given.pointer
    steps = [_button("left", down=True), dict(GLANCE), _move(end, glide=True), dict(GLANCE)]
    words = f"drag from {given.here(start)} to {given.here(end)}"
    return Plan(
        "left_click_drag",
        (_move(start), *given.held([*steps, _button("left", down=False)])),
        end,
        measured=True,
        what=f"The {words}",
        summary=words,
    )


def _press(given: _Given) -> Plan:
    down = given.action["action"] == "left_mouse_down"
    point = given.point()
    steps = [_move(point)] if point else []
    at = point or given.pointer
    words = f"{'press' if down else 'release'} the left button at {given.here(at)}"
    what = f"To {words}"
    return Plan(
        str(given.action["action"]), (*steps, _button("left", down=down)), at, what=what, summary=words
    )


def _scroll(given: _Given) -> Plan:
    direction = given.action.get("scroll_direction")
    if direction not in ("up", "down", "left", "right"):
        raise ActionRefused(f"scroll_direction has to be up, down, left or right, not {direction!r}.")
    amount = int(given.number("scroll_amount", WHEEL_CLICKS, 0, MOST_KEYS))
    signed = -amount if direction in ("up", "left") else amount
    step = {"do": "scroll", "dy" if direction in ("up", "down") else "dx": signed}
    point = given.point() or given.pointer
    return Plan(
        "scroll",
        (_move(point), *given.held([step])),
        point,
        around(point, WHEEL, given.scaling),
        measured=True,
        what=f"Scrolling {direction} at {given.here(point)}",
        summary=f"scroll {direction} by {amount}",
    )


def _key(given: _Given) -> Plan:
    keys, times = given.text(), int(given.number("repeat", 1, 1, MOST_KEYS))
    steps = tuple({"do": "key", "key": keys} for _ in range(times))
    words = f"{keys} {times} times" if times > 1 else keys
    return Plan("key", steps, measured=True, what=f"Pressing {words}", summary=f"press {words}")


def _hold_key(given: _Given) -> Plan:
    keys, seconds = given.text(), given.number("duration", None, 0, LONGEST_WAIT)
    words = f"{keys} for {seconds:g} s"
    step = {"do": "key", "key": keys, "hold": seconds}
    return Plan("hold_key", (step,), measured=True, what=f"Holding {words}", summary=f"hold {words}")


def _type(given: _Given) -> Plan:
    text = given.text()
    if given.action.get("secret"):
        step = {"do": "type", "text": text}
        return Plan("type", (step,), measured=True, what="Typing the secret", summary="type a secret")
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    step = {"do": "type", "text": text}
    summary = f"type {shown!r}"
    return Plan("type", (step,), measured=True, what=f"Typing {len(text)} characters", summary=summary)


def _wait(given: _Given) -> Plan:
    seconds = given.number("duration", 1.0, 0, LONGEST_WAIT)
    step = {"do": "wait", "seconds": seconds}
    words = f"wait {seconds:g} s"
    return Plan("wait", (step,), what=f"Waiting {seconds:g} s", summary=words)


def zoomed(action: Mapping[str, Any], scaling: Scaling) -> Rect:
    """The part of the screen that a zoom asks for. ActionRefused."""
    value = action.get("region")
    if not _numbers(value, 4):
        raise ActionRefused(f"zoom needs region, [left, top, right, bottom], not {value!r}.")
    assert isinstance(value, list | tuple)
    left, top, right, bottom = value
    width, height = scaling.model
    if not (0 <= left < right <= width and 0 <= top < bottom <= height):
        raise ActionRefused(
            f"region {list(value)} is no part of the screen: [left, top, right, bottom] with "
            f"0 ≤ left < right ≤ {width} and 0 ≤ top < bottom ≤ {height}."
        )
    return scaling.region(left, top, right, bottom)


_READERS: dict[str, Callable[[_Given], Plan]] = {
    "mouse_move": _mouse_move,
    "left_click_drag": _drag,
    "left_mouse_down": _press,
    "left_mouse_up": _press,
    "scroll": _scroll,
    "key": _key,
    "hold_key": _hold_key,
    "type": _type,
    "wait": _wait,
}

KNOWN = (
    *("screenshot", "zoom", "cursor_position"),
    *CLICKS,
    *_READERS,
    *("elements", "click_element", "type_into"),
)
"""Every action there is."""
