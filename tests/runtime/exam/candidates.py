"""Scripted models before the examiner: what they answer is worked out from what they are shown."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any

from runtime.errors import OrionError
from runtime.exam import pictures
from runtime.exam.asking import Asking
from runtime.exam.drawing import screen_picture
from runtime.exam.exam import Exam, ModelFacts, ModelKey, Step
from runtime.exam.examiner import examine
from runtime.exam.screens import SIZE, Aim, Screen, screens
from runtime.exam.tasks import data, listed
from runtime.messages import Image, JsonObject, ToolCall, Usage
from runtime.providers.provider import (
    CallReady,
    Failed,
    Finished,
    ModelInfo,
    Progress,
    Request,
    StreamItem,
    TextDelta,
    Traits,
)

Reply = str | list[tuple[str, JsonObject]] | OrionError
"""Words, calls (name, arguments), or a failure."""

Says = Callable[[Request], Reply]


@dataclass
class Candidate:
    """A provider that answers with what `says` makes of the request."""

    says: Says
    asked: list[Request] = field(default_factory=list)

    def traits(self, model: str) -> Traits:
        del model
        return Traits("scripted", local=True, images=True)

    async def models(self) -> list[ModelInfo]:
        return []

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        self.asked.append(request)
        yield Progress("ready")
        reply = self.says(request)
        if isinstance(reply, OrionError):
            yield Failed(reply)
            return
        if isinstance(reply, str):
            yield TextDelta(reply)
        else:
            for at, (name, arguments) in enumerate(reply):
                yield CallReady(ToolCall(f"c{at}", name, arguments))
        usage = Usage(prompt=100 + len(self.asked), completion=20)
        speed = float(len(self.asked))
        yield Finished("stop", usage, 10 * speed, prefill_per_second=100 * speed)

    def window(self, model: str) -> int:
        del model
        return 4096

    def tools_on_demand(self, model: str) -> bool:
        del model
        return False

    async def count(self, request: Request) -> int:
        del request
        return 0

    async def close(self) -> None:
        pass


def facts(sees: bool = False) -> ModelFacts:
    return ModelFacts(ModelKey("candidate", 1000, "ab" * 32), sees, "0.0")


async def examined(says: Says, *, sees: bool = False, steps: list[Step] | None = None, **more: Any) -> Exam:
    """The exam of a candidate."""
    told = steps.append if steps is not None else lambda step: None
    return await examine(Asking(Candidate(says), "candidate"), facts(sees), told, **more)


def last(request: Request) -> str:
    """What the examiner said last."""
    return request.messages[-1].text if hasattr(request.messages[-1], "text") else ""


def shown(request: Request) -> bytes:
    """The picture in the request, as it came."""
    for message in request.messages:
        for part in getattr(message, "parts", ()):
            if isinstance(part, Image):
                return base64.b64decode(part.data)
    return b""


def topic(request: Request) -> str:
    return request.session.removeprefix("exam-")


def perfect(request: Request) -> Reply:
    """Everything right."""
    match topic(request):
        case "instructions":
            return _instructed(request)
        case "tools":
            return _called(request)
        case "json":
            entries = data("json")["tasks"]
            return json.dumps(next(each["value"] for each in entries if each["text"] in last(request)))
        case "elements":
            screen, aim = aimed(request)
            typing = {"action": "type", "text": aim.text} if aim.text else {"action": "click"}
            return [("computer_elements", {**typing, "element": aim.number})]
        case "pictures":
            return seen(request)
        case "clicks":
            screen, aim = aimed(request)
            return [clicked(*screen.element(aim.number).centre)]
    return "So it went on, from day to day, until somebody asked why."


def clicked(x: int, y: int) -> tuple[str, JsonObject]:
    return "computer", {"action": "left_click", "coordinate": [x, y]}


def aimed(request: Request) -> tuple[Screen, Aim]:
    """What is to be done, and on which screen, found by its picture where there is one."""
    picture = shown(request)
    for screen in screens():
        for aim in screen.aims:
            if last(request).startswith(aim.say) and (not picture or picture == screen_picture(screen, SIZE)):
                return screen, aim
    raise AssertionError(f"no aim for {last(request)}")


def seen(request: Request) -> str:
    """The truth about the picture that is shown."""
    scenes = data("pictures")["scenes"]
    at = next(at for at in range(len(scenes)) if pictures.picture(at) == shown(request))
    for ask in scenes[at]["asks"]:
        for kind, about in ask.items():
            if data("pictures")["ask"][kind].format(kind=about) == last(request):
                return pictures.truth(scenes[at]["shapes"], kind, about)
    raise AssertionError(f"nothing to say to {last(request)}")


def _instructed(request: Request) -> str:
    for entry in data("instructions")["tasks"]:
        for each in entry.get("both", [entry]):
            if listed(each["say"])[-1] == last(request):
                return _fulfilling(each["expect"])
    raise AssertionError(f"no task {last(request)}")


def _fulfilling(expected: JsonObject) -> str:
    match expected:
        case {"is": wanted}:
            return f"{listed(wanted)[0]}."
        case {"exactly": str() as wanted}:
            return f'"{wanted}"'
        case {"list": wanted}:
            return ", ".join(map(str, wanted))
        case {"repeated": {"word": word, "times": times}}:
            return " ".join([word] * times)
        case {"contains": wanted}:
            return f"There is a {' by a '.join(wanted)}."
        case {"ends": wanted}:
            return f"Red, {wanted}."
    raise AssertionError(f"nothing fulfils {expected}")


def _called(request: Request) -> Reply:
    said = [message.text for message in request.messages if message.role == "user"]
    entry = next(each for each in data("tools")["tasks"] if each["say"] == said[-1])
    if "after" in entry:
        return f"It is {listed(entry['contains'])[0]}."
    if not entry.get("calls"):
        return "Gladly."
    return [
        (each["name"], {key: _meant(value) for key, value in each["arguments"].items()})
        for each in entry["calls"]
    ]


def _meant(value: Any) -> Any:
    if isinstance(value, dict):
        return " ".join(listed(value["contains"]))
    return value[0] if isinstance(value, list) else value
