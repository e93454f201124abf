"""A computer driven by a list of steps, for tests and the demo: it fails on a call that was not expected."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.actions import ActionEvent
from sandbox.computer import Outcome
from sandbox.elements import Element
from sandbox.scaling import Scaling


@dataclass(frozen=True, slots=True)
class Expected:
    """One call that comes next: the action with the members that matter, and what it is answered with."""

    action: Mapping[str, Any]
    outcome: Outcome = field(default_factory=lambda: Outcome("Done.", verdict="confirmed"))
    elements: tuple[Element, ...] = ()


class Unscripted(AssertionError):
    """A call that the script does not have at this place, or one that was left over."""


class ScriptedComputer:
    """Has the methods of `Computer` and answers from `script`, in order. `finish` fails on what is left."""

    def __init__(
        self,
        script: Sequence[Expected],
        told: Callable[[ActionEvent], None] | None = None,
        size: tuple[int, int] = (1280, 800),
    ) -> None:
        self._script = list(script)
        self._told = told
        self._count = 0
        self.scaling = Scaling(*size)

    async def perform(
        self, action: Mapping[str, Any], *, session: str = "", call: str = "", picture: bool = True
    ) -> Outcome:
        """The next outcome. Unscripted when another action was expected."""
        del session, call, picture
        expected = self._next(action)
        self._tell("begun", action, "")
        self._tell("ended", action, "failed" if expected.outcome.failed else expected.outcome.verdict)
        return expected.outcome

    async def elements(self) -> list[Element]:
        """The elements of the next step, which has to be the action `elements`."""
        return list(self._next({"action": "elements"}).elements)

    def finish(self) -> None:
        """Unscripted when calls were expected that never came."""
        if self._script:
            left = ", ".join(str(dict(expected.action)) for expected in self._script)
            raise Unscripted(f"these calls never came: {left}")

    def _next(self, action: Mapping[str, Any]) -> Expected:
        if not self._script:
            raise Unscripted(f"{dict(action)} came after the end of the script")
        expected = self._script[0]
        wrong = {name for name, value in expected.action.items() if action.get(name) != value}
        if wrong:
            raise Unscripted(f"{dict(action)} came where {dict(expected.action)} was expected")
        return self._script.pop(0)

    def _tell(self, phase: Any, action: Mapping[str, Any], verdict: str) -> None:
        if self._told is None:
            return
        self._count += phase == "begun"
        name = str(action.get("action") or "")
        point = action.get("coordinate")
        where = self.scaling.to_screen(*point) if isinstance(point, list | tuple) else None
        event = ActionEvent(
            self._count, phase, name, name.replace("_", " "), where, verdict, 0.0, time.time()
        )
        self._told(event)
