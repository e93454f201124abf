"""Performs a model's actions on the agent's computer: each is checked, told to watchers, and logged."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sandbox.actions import AROUND, LOOKING, ActionEvent, ActionRefused, Plan, around, plan, zoomed
from sandbox.audit import AuditLog
from sandbox.elements import REPLACED, Element, numbered, shown
from sandbox.elements import told as said
from sandbox.errors import SandboxError
from sandbox.eyes import Eyes, Line
from sandbox.guest.peer import Peer, PeerError
from sandbox.guest.rects import Rect
from sandbox.reading import Reading
from sandbox.scaling import Point, Scaling
from sandbox.verdict import LOOK_AFTER, Measured, Spots, Verdict, judge, told

SETTLE = {"quiet": 0.06, "longest": 3.0}
HOVER = {"quiet": 0.06, "longest": 1.0, "first": 0.1}
"""Seconds: without change, at most in all, and for the first sign of an effect."""
MOST_ACTIONS = 40
ELEMENTS = 250


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a model is told: `text`, and the screen as PNG in its size where it was asked for."""

    text: str
    picture: bytes | None = None
    verdict: Verdict = ""
    failed: bool = False
    seconds: float = 0.0


class Pictures(Protocol):
    """A screen of which pictures are taken (sandbox/screen.py)."""

    width: int
    height: int

    async def picture(
        self, *, region: Rect | None = None, size: tuple[int, int] | None = None, pointer: bool = False
    ) -> bytes: ...


class Working(Protocol):
    """A running guest (sandbox/channel.py)."""

    control: Peer
    screen: Any


class Computer:
    """One guest's computer, as its agent uses it. Used from one event loop; actions are done one at a time,
    in the order in which they come. Nothing to close: guest, log and eyes have their owners."""

    def __init__(
        self,
        guest: Working,
        audit: AuditLog,
        told: Callable[[ActionEvent], None],
        eyes: Eyes | None = None,
    ) -> None:
        self._control = guest.control
        self._screen: Pictures = guest.screen
        self._audit = audit
        self._told = told
        self._reading = Reading(eyes) if eyes is not None else None
        self._turn = asyncio.Lock()
        self._ids = itertools.count(1)
        self._spots = Spots()
        self._elements: dict[int, Element] = {}
        self._listed = False
        self.scaling = Scaling(guest.screen.width, guest.screen.height)

    async def perform(
        self, action: Mapping[str, Any], *, session: str = "", call: str = "", picture: bool = True
    ) -> Outcome:
        """Do one action of Anthropic's computer tools of any version, or {"actions": […]}: several, until one
        fails. An action that is wrong or refused is an Outcome that failed. `picture=False` leaves out the
        screenshot after it, not one that was asked for. PeerGone when the guest ends meanwhile,
        SandboxError audit_unwritable(path, reason)."""
        several = action.get("actions")
        async with self._turn:
            if several is None:
                return await self._logged(action, session, call, picture)
            if not isinstance(several, list) or not 0 < len(several) <= MOST_ACTIONS:
                return Outcome(f"actions has to be a list of 1 to {MOST_ACTIONS} actions.", failed=True)
            return await self._several(several, session, call, picture)

    async def elements(self) -> list[Element]:
        """What is on the screen; its numbers are valid for `click_element` until this is asked again."""
        async with self._turn:
            return (await self._list())[1]

    async def _several(self, actions: Sequence[Any], session: str, call: str, picture: bool) -> Outcome:
        begun, texts = time.monotonic(), []
        outcome = Outcome("")
        for at, action in enumerate(actions, 1):
            last = at == len(actions)
            if not isinstance(action, Mapping):
                outcome = Outcome(f"{action!r} is no action.", failed=True)
            else:
                outcome = await self._logged(action, session, call, picture and last)
            texts.append(f"{at}. {outcome.text}")
            if outcome.failed:
                rest = len(actions) - at
                texts += [f"Not done after it: {rest} of {len(actions)} actions."] if rest else []
                break
        seen = outcome.picture
        if seen is None and picture:
            seen = await self._picture()
        return replace(outcome, text="\n".join(texts), picture=seen, seconds=time.monotonic() - begun)

    async def _logged(self, action: Mapping[str, Any], session: str, call: str, picture: bool) -> Outcome:
        """Do one action between its two events, and write it down whatever becomes of it."""
        begun, number, name = time.monotonic(), next(self._ids), str(action.get("action") or "")
        what = Plan(name, summary=name.replace("_", " "))
        outcome = Outcome("The action was stopped.", failed=True)
        announced = False
        try:
            try:
                what = await self._planned(action)
                self._tell(number, "begun", what, "", 0.0)
                announced = True
                outcome = await self._done(what, action, picture)
            except ActionRefused as refused:
                outcome = Outcome(str(refused), failed=True)
            except PeerError as error:
                outcome = Outcome(_sentence(error), failed=True)
            outcome = replace(outcome, seconds=time.monotonic() - begun)
            return outcome
        finally:
            if not announced:
                self._tell(number, "begun", what, "", 0.0)
            verdict = "failed" if outcome.failed else outcome.verdict
            self._tell(number, "ended", what, verdict, time.monotonic() - begun)
            await self._write(action, session, call, outcome)

    async def _planned(self, action: Mapping[str, Any]) -> Plan:
        name = action.get("action")
        if name in LOOKING:
            return Plan(str(name), summary=str(name).replace("_", " "))
        if name in ("click_element", "type_into"):
            return self._on_element(action)
        where: Point = (0, 0)
        if action.get("coordinate") is None or (
            name == "left_click_drag" and action.get("start_coordinate") is None
        ):
            found = await self._control.call("pointer")
            where = int(found["x"]), int(found["y"])
        return plan(action, self.scaling, where)

    async def _done(self, what: Plan, action: Mapping[str, Any], picture: bool) -> Outcome:
        match what.action:
            case "screenshot":
                return Outcome("", await self._picture())
            case "zoom":
                part = zoomed(action, self.scaling)
                size = self.scaling.enlarged(part)
                return Outcome("", await self._screen.picture(region=part, size=size))
            case "cursor_position":
                found = await self._control.call("pointer")
                x, y = self.scaling.to_model(int(found["x"]), int(found["y"]))
                return Outcome(f"X={x},Y={y}")
            case "elements":
                return Outcome((await self._list())[0])
        return await self._acted(what, picture)

    async def _acted(self, what: Plan, picture: bool) -> Outcome:
        """Do the steps, judge what they did, and say so."""
        clicked = what.measured and what.point is not None and what.action.endswith("click")
        if clicked and what.point is not None and self._spots.refused(what.action, what.point):
            raise ActionRefused(
                f"{what.what} was not done: clicks there changed nothing {LOOK_AFTER + 1} times in a row. "
                "Do something else first, such as a key, scrolling, or a click somewhere else."
            )
        region = what.region
        asked: dict[str, Any] = {"steps": list(what.steps)}
        if what.measured:
            asked["settle"] = SETTLE
            asked["region"] = [region.x, region.y, region.width, region.height] if region else None
        else:
            asked["settle"] = HOVER if what.action == "mouse_move" else None
        answer = await self._control.call("input.act", **asked)
        if not what.measured:
            self._spots.moved_on()
            return Outcome(f"{what.what} was done.", await self._picture() if picture else None)
        measured = Measured.of(answer)
        verdict = judge(measured)
        text = told(what.what, verdict, measured, self._box(measured), near=region is not None)
        if not clicked or what.point is None:
            self._spots.moved_on()
        else:
            tries = self._spots.clicked(what.action, what.point, verdict)
            if tries >= LOOK_AFTER:
                text = f"{text} That makes {tries} in a row"
                if picture:
                    return await self._look(text, verdict, what.point)
                text += ": list the elements again, and do something else."
        return Outcome(text, await self._picture() if picture else None, verdict)

    async def _look(self, text: str, verdict: Verdict, point: Point) -> Outcome:
        """The advice after clicks without effect: the spot, enlarged."""
        part = around(point, 2 * AROUND, self.scaling)
        x, y = self.scaling.to_model(part.x, part.y)
        width, height = self.scaling.to_model(part.width, part.height)
        advice = (
            f": look at the picture, which shows the screen from ({x}, {y}) to ({x + width}, {y + height}) "
            "enlarged, and aim again or do something else."
        )
        seen = await self._screen.picture(region=part, size=self.scaling.enlarged(part), pointer=True)
        return Outcome(text + advice, seen, verdict)

    def _box(self, measured: Measured) -> tuple[int, int, int, int] | None:
        """The change elsewhere in the model's pixels."""
        if measured.elsewhere is None:
            return None
        x, y, width, height = measured.elsewhere
        left, top = self.scaling.to_model(x, y)
        right, bottom = self.scaling.to_model(x + width - 1, y + height - 1)
        return left, top, right + 1 - left, bottom + 1 - top

    # --- elements -----------------------------------------------------------------------------------------

    async def _list(self) -> tuple[str, list[Element]]:
        """The list as text and as elements; numbers given out before are void."""
        found = await self._control.call("elements.list", limit=ELEMENTS)
        lines = await self._read(self._reading, said(found["elements"])) if self._reading is not None else []
        elements = numbered(found["elements"], lines)
        self._elements = {element.number: element for element in elements}
        self._listed = True
        text = shown(str(found["window"]), elements, self.scaling, bool(found.get("complete", True)))
        return text, elements

    async def _read(self, reading: Reading, told: Sequence[Rect]) -> list[Line]:
        """Text in the picture of which accessibility says nothing; none where it cannot be read, because the
        rest is still good."""
        try:
            return await reading.lines(await self._screen.picture(), told)
        except SandboxError:
            return []

    def _on_element(self, action: Mapping[str, Any]) -> Plan:
        number = action.get("number")
        element = self._elements.get(number) if isinstance(number, int) else None
        if element is None:
            known = f"it has 1 to {len(self._elements)}" if self._listed else "there is no list yet"
            raise ActionRefused(
                f"There is no element {number!r} in the last list ({known}). List them again."
            )
        x, y = self.scaling.to_model(*element.centre)
        name = "double_click" if action.get("double") else "left_click"
        click = plan({"action": name, "coordinate": [x, y]}, self.scaling, element.centre)
        label = f'{element.role} "{element.name}"' if element.name else element.role
        click = replace(click, what=f"The click on {number}, {label},", summary=f"click {number}, {label}")
        if action["action"] == "click_element":
            return click
        typing = plan(dict(action) | {"action": "type"}, self.scaling, element.centre)
        steps: list[dict[str, Any]] = [*click.steps, {"do": "wait", "seconds": 0.05}]
        if element.role in REPLACED:
            steps.append({"do": "key", "key": "ctrl+a"})
        return replace(
            typing,
            action="type_into",
            steps=(*steps, *typing.steps),
            point=element.centre,
            region=Rect(element.x, element.y, max(1, element.width), max(1, element.height)),
            what=f"Typing into {number}, {label},",
            summary=f"{typing.summary} into {number}",
        )

    # --- pictures, events and the log ----------------------------------------------------------------------

    async def _picture(self) -> bytes:
        """The screen as the model sees it, with the pointer."""
        return await self._screen.picture(
            size=None if self.scaling.same else self.scaling.model, pointer=True
        )

    def _tell(self, number: int, phase: Any, what: Plan, verdict: str, seconds: float) -> None:
        event = ActionEvent(
            number, phase, what.action, what.summary, what.point, verdict, round(seconds, 4), time.time()
        )
        self._told(event)

    async def _write(self, action: Mapping[str, Any], session: str, call: str, outcome: Outcome) -> None:
        """One record; typed text that is marked secret is left out."""
        arguments = {name: value for name, value in action.items() if name != "action"}
        if arguments.pop("secret", False):
            arguments["text"] = f"(secret, {len(str(action.get('text') or ''))} characters)"
        digest = hashlib.sha256(outcome.picture).hexdigest() if outcome.picture else ""
        record = {
            "who": "agent",
            "session": session,
            "call": call,
            "action": str(action.get("action") or ""),
            "arguments": arguments,
            "verdict": "failed" if outcome.failed else outcome.verdict,
            "picture": digest,
        }
        try:
            await asyncio.shield(asyncio.to_thread(self._audit.append, record))
        except (OSError, ValueError) as error:
            raise SandboxError("audit_unwritable", path=str(self._audit.path), reason=str(error)) from error


def _sentence(error: PeerError) -> str:
    """What a model is told when the guest could not do it."""
    if error.code == "key_unknown":
        return (
            f"There is no key called {error.text}. Names are like ctrl+s, Return, Page_Down, F5, "
            "or a single character; for text use the action type."
        )
    return f"It could not be done: {error.text or error.code}."
