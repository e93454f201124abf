"""Whether an action did something, by what changed on the screen, and which spots have none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["", "confirmed", "no_change", "unclear"]

Point = tuple[int, int]

SAME_SPOT = 12
"""Pixels of the screen between two clicks on the same spot."""

LOOK_AFTER, REFUSE_AFTER = 2, 3
"""Clicks without effect on one spot after which the model has to look, and after which there are no more."""

CARET = 6
"""A change narrower than this elsewhere is a blinking caret, not an effect."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the guest saw: shares 0–1 of the region around the action and of the screen, `touched` when the
    region looked different meanwhile, `elsewhere` the box around changes outside of it."""

    settled: bool = True
    region: float = 0.0
    screen: float = 0.0
    touched: bool = False
    elsewhere: tuple[int, int, int, int] | None = None

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Measured:
        """From the result of `input.act`."""
        box = answer.get("elsewhere")
        return cls(
            bool(answer.get("settled", True)),
            float(answer.get("region_changed", 0.0)),
            float(answer.get("screen_changed", 0.0)),
            bool(answer.get("touched")),
            (int(box[0]), int(box[1]), int(box[2]), int(box[3])) if box else None,
        )

    @property
    def aside(self) -> bool:
        """Whether something more than a caret changed outside the region."""
        return self.elsewhere is not None and self.elsewhere[2] >= CARET


def judge(measured: Measured) -> Verdict:
    """confirmed: the region changed, if only for a moment. no_change: nothing did. Else unclear."""
    if measured.region > 0 or measured.touched:
        return "confirmed"
    return "unclear" if measured.aside else "no_change"


def told(
    what: str,
    verdict: Verdict,
    measured: Measured,
    box: tuple[int, int, int, int] | None,
    *,
    near: bool = True,
) -> str:
    """What the model is told of `what` ("The click at (3, 4)"). `box` is the change elsewhere in the model's
    own pixels, or None. `near`: the effect was looked for near a place, not on the whole screen."""
    still = "" if measured.settled else " The screen is still changing."
    if verdict == "no_change":
        return f"{what} changed nothing {'near it' if near else 'on the screen'}.{still}"
    if verdict == "unclear" and box is not None:
        x, y, width, height = box
        return (
            f"{what} changed nothing near it, but the screen changed between ({x}, {y}) and "
            f"({x + width}, {y + height}).{still}"
        )
    if verdict == "confirmed":
        return f"{what} was done; the screen changed{' there' if near else ''}.{still}"
    return f"{what} was done.{still}"


@dataclass
class Spots:
    """Remembers clicks that had no effect, so that the same spot is not clicked forever."""

    _kind: str = ""
    _point: Point = (0, 0)
    _tries: int = field(default=0)

    def refused(self, kind: str, point: Point) -> bool:
        """Whether a click of this kind there has failed so often that it is not done again."""
        return self._tries >= REFUSE_AFTER and self._is_same(kind, point)

    def clicked(self, kind: str, point: Point, verdict: Verdict) -> int:
        """Note a click; returns how many in a row have had no effect there."""
        if verdict != "no_change":
            self._tries = 0
        elif self._is_same(kind, point):
            self._tries += 1
        else:
            self._kind, self._point, self._tries = kind, point, 1
        return self._tries

    def moved_on(self) -> None:
        """Something else was done: the spot may have come to life."""
        self._tries = 0

    def _is_same(self, kind: str, point: Point) -> bool:
        near = all(abs(one - other) <= SAME_SPOT for one, other in zip(point, self._point, strict=True))
        return self._tries > 0 and kind == self._kind and near
