"""The examiner asks as chats do, waits for the answer behind the thoughts, and passes failures on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import cast

import pytest

import resources
from models import generation
from models.library import Library
from models.worker_client import LocalEngine
from runtime.errors import OrionError
from runtime.exam.asking import THOUGHT, Answer, Asking, Question, said
from runtime.messages import ToolSpec, Usage
from runtime.providers.local import LocalProvider
from runtime.providers.provider import Finished, ReasoningDelta, Request, StreamItem, TextDelta
from runtime.settings import LocalModel
from tests.conftest import missing
from tests.runtime.exam.candidates import Candidate


class Thinker(Candidate):
    """Thinks for `thoughts` tokens before it speaks; what exceeds the room is cut off."""

    thoughts = 100

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        self.asked.append(request)
        yield ReasoningDelta("hm ")
        if request.max_tokens < self.thoughts:
            yield Finished("length", Usage(10, request.max_tokens))
            return
        yield TextDelta("Oslo")
        yield Finished("stop", Usage(10, self.thoughts + 1))


class Silent(Candidate):
    """Ends its stream without an end."""

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        self.asked.append(request)
        yield TextDelta("Os")


QUESTION = Question("tools", (said("Where?"),), 16, "Be brief.", (ToolSpec("find", "Finds."),))


def ask(candidate: Candidate, times: int = 1) -> Answer:
    async def main() -> Answer:
        asking = Asking(candidate, "m")
        for _ in range(times - 1):
            await asking(QUESTION)
        return await asking(QUESTION)

    return asyncio.run(main())


def test_it_asks_for_the_likeliest_words_without_thoughts() -> None:
    candidate = Candidate(lambda request: "Oslo")
    answer = ask(candidate)
    (request,) = candidate.asked
    assert (request.temperature, request.effort, request.max_tokens) == (0.0, "off", 16)
    assert (request.model, request.system, request.session) == ("m", "Be brief.", "exam-tools")
    assert [tool.name for tool in request.tools] == ["find"]
    assert (answer.text, answer.tokens, answer.evaluated) == ("Oslo", 20, 101)
    assert (answer.tokens_per_second, answer.prefill_per_second) == (10.0, 100.0)


def test_calls_come_with_their_arguments() -> None:
    answer = ask(Candidate(lambda request: [("find", {"what": "Oslo"})]))
    assert [(call.name, call.arguments) for call in answer.calls] == [("find", {"what": "Oslo"})]
    assert answer.text == ""


def test_who_cannot_help_thinking_gets_room_for_it_from_then_on() -> None:
    candidate = Thinker(lambda request: "")
    assert ask(candidate, times=2).text == "Oslo"
    assert [request.max_tokens for request in candidate.asked] == [16, 16 + THOUGHT, 16 + THOUGHT]


def test_who_thinks_for_ever_is_not_asked_for_ever() -> None:
    candidate = Thinker(lambda request: "")
    candidate.thoughts = 10_000
    assert ask(candidate).text == ""
    assert len(candidate.asked) == 2


def test_failures_are_raised() -> None:
    with pytest.raises(OrionError, match="worker_crashed"):
        ask(Candidate(lambda request: OrionError("worker_crashed", fault="provider", model="m")))
    with pytest.raises(OrionError, match="reply_cut_short"):
        ask(Silent(lambda request: ""))


class Recorder:
    """An engine that keeps what it is asked and answers nothing, in 50 ms after 400 ms of reading."""

    info = None
    idle_seconds = 0.0

    def __init__(self) -> None:
        self.asked: list[generation.GenerateRequest] = []

    async def generate(
        self, request: generation.GenerateRequest
    ) -> AsyncGenerator[generation.GenerateEvent, None]:
        self.asked.append(request)
        yield generation.Finished("stop", generation.Usage(120, 100, 1, 400.0, 50.0), 4096)

    async def close(self) -> None:
        pass


def test_the_engine_hears_that_it_shall_not_think_and_its_speeds_are_told() -> None:
    library = Library((resources.weights_dir(),))
    if not library.list():
        missing("the bundled model")
    engine = Recorder()
    provider = LocalProvider(library, LocalModel)
    provider._engine = cast(LocalEngine, engine)
    answer = asyncio.run(Asking(provider, "bundled")(QUESTION))
    (request,) = engine.asked
    assert request.template == {"enable_thinking": False}
    assert request.sampling.temperature == 0.0
    assert (answer.evaluated, answer.prefill_per_second, answer.tokens_per_second) == (20, 50.0, 20.0)
    assert generation.Usage(100, 100, 1, 0.0, 50.0).prefill_per_second == 0.0
