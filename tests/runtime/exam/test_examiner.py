"""The examiner gives badges for doing what was asked, to nobody who does the same whatever is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from statistics import median

import pytest

from runtime.errors import OrionError
from runtime.exam.asking import Answer, Question
from runtime.exam.exam import ORDER, Discipline, Step
from runtime.exam.examiner import examine
from runtime.messages import JsonObject
from runtime.providers.provider import Request
from tests.runtime.exam.candidates import Reply, aimed, clicked, examined, facts, last, perfect, topic

UNSEEING: tuple[Discipline, ...] = ("instructions", "tools", "elements", "json")
SEEING: tuple[Discipline, ...] = ("instructions", "tools", "json", "pictures", "clicks")


def _first_tool(request: Request) -> Reply:
    """Always calls the first tool, with something in every argument."""
    if not request.tools:
        return "yes"
    tool = request.tools[0]
    given: JsonObject = dict.fromkeys(tool.parameters.get("required", ()), "Oslo")
    return [(tool.name, given | ({"action": "click", "element": 1} if "action" in given else {}))]


STRATEGIES: dict[str, Callable[[Request], Reply]] = {
    "silence": lambda request: "",
    "the question": last,
    "everything that was said": lambda request: "\n".join(getattr(m, "text", "") for m in request.messages),
    "yes": lambda request: "yes",
    "one": lambda request: "1",
    "red": lambda request: "red",
    "every colour": lambda request: "red green blue yellow black orange circle square triangle star 1 2 3 4",
    "an empty object": lambda request: "{}",
    "the first tool": _first_tool,
    "a tool that is not there": lambda request: [("open_door", {"name": "front"})],
    "the middle": lambda request: [clicked(512, 384)] if request.tools else "middle",
    "the top left": lambda request: [clicked(0, 0)] if request.tools else "0, 0",
    "noise": lambda request: '\ufffd\u202e```json\n{"a": [1, 2\n' + "x" * 200,
    "deep nesting": lambda request: "[" * 5000,
}


@pytest.mark.parametrize("sees", [False, True])
def test_a_perfect_candidate_earns_every_badge_there_is_for_it(sees: bool) -> None:
    exam = asyncio.run(examined(perfect, sees=sees))
    assert exam.badges == (SEEING if sees else UNSEEING)
    assert all(score.points == score.of for name, score in exam.scores.items() if name in exam.badges)
    assert exam.roles == (("chat", "tools", "vision", "computer") if sees else ("chat", "tools", "computer"))


@pytest.mark.parametrize("sees", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda name: str(name).replace(" ", "-"))
def test_who_does_the_same_whatever_is_asked_earns_nothing(strategy: str, sees: bool) -> None:
    exam = asyncio.run(examined(STRATEGIES[strategy], sees=sees))
    assert exam.badges == ()
    assert exam.roles == ()
    for name in SEEING if sees else UNSEEING:
        score = exam.scores[name]
        assert score.state == "failed"
        assert score.points <= 0.4 * score.of, name


def test_the_same_answers_give_the_same_exam() -> None:
    one, two = (asyncio.run(examined(perfect, sees=True)) for _ in range(2))
    assert one.badges == two.badges
    assert {name: score.points for name, score in one.scores.items()} == {
        name: score.points for name, score in two.scores.items()
    }


def test_disciplines_that_are_not_for_a_model_are_said_so() -> None:
    blind, seeing = (asyncio.run(examined(perfect, sees=sees)) for sees in (False, True))
    for score in (blind.scores["pictures"], blind.scores["clicks"], seeing.scores["elements"]):
        assert (score.state, score.code) == ("not_taken", "exam_not_for_this_model")


def test_speeds_are_medians_of_what_the_engine_told() -> None:
    exam = asyncio.run(examined(perfect))
    # The candidate says 10 and 100 times the number of its question; those with tools do not count.
    instructed, tooled, asked = 2 + 16, 11 + 6, 5
    plain = [*range(1, 1 + instructed), *range(1 + instructed + tooled, 1 + instructed + tooled + asked)]
    assert exam.tokens_per_second == 10 * median(plain)
    assert exam.prefill_per_second == pytest.approx(10 * exam.tokens_per_second)


class Slow:
    """A perfect candidate that says nothing more once it has been asked for the first time in `name`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, request: Request) -> Reply:
        if topic(request) == self._name:
            raise TimeoutError
        return perfect(request)


def test_what_there_was_no_time_for_is_said_and_earns_and_loses_nothing() -> None:
    steps: list[Step] = []
    exam = asyncio.run(examined(Slow("json"), steps=steps))
    score = exam.scores["json"]
    assert (score.state, score.code, score.points) == ("not_taken", "exam_time_up", 0)
    assert score.fields == {"done": 0, "of": score.of}
    assert "json" not in exam.badges
    assert exam.roles == ("chat", "tools", "computer")
    assert Step("json", 0, score.of, "not_taken") in steps


def test_nothing_fits_into_no_time() -> None:
    async def main() -> None:
        async def ask(question: Question) -> Answer:
            await asyncio.Event().wait()
            raise AssertionError(question)

        exam = await examine(ask, facts(), lambda step: None, budget=0.05)
        assert {score.state for score in exam.scores.values()} == {"not_taken"}
        assert exam.badges == exam.roles == ()
        assert exam.tokens_per_second == 0
        assert exam.standing("tools") == "open"

    asyncio.run(main())


def test_what_an_earlier_exam_had_no_time_for_comes_first() -> None:
    cut = asyncio.run(examined(Slow("elements")))
    steps: list[Step] = []
    asyncio.run(examined(perfect, steps=steps, known=cut))
    order = list(dict.fromkeys(step.discipline for step in steps))
    assert order[:4] == ["speed", "elements", "pictures", "clicks"]
    assert set(order) == set(ORDER)


def test_every_answer_is_a_step() -> None:
    steps: list[Step] = []
    exam = asyncio.run(examined(perfect, sees=True, steps=steps))
    for name in SEEING:
        of = exam.scores[name].of
        mine = [step for step in steps if step.discipline == name]
        assert [step.done for step in mine] == [*range(of + 1), of]
        assert mine[-1].state == "passed"


def test_an_engine_that_fails_ends_the_discipline_with_its_reason() -> None:
    def broken(request: Request) -> Reply:
        if topic(request) == "pictures":
            return OrionError("projector_unusable", path="eyes.gguf", reason="no eyes")
        return perfect(request)

    exam = asyncio.run(examined(broken, sees=True))
    score = exam.scores["pictures"]
    assert (score.state, score.code, score.fields["path"]) == ("not_taken", "projector_unusable", "eyes.gguf")
    assert exam.standing("vision") == "open"
    assert "clicks" in exam.badges


def test_what_does_not_fit_into_the_window_is_a_wrong_answer() -> None:
    def narrow(request: Request) -> Reply:
        if topic(request) == "tools":
            return OrionError("context_overflow", prompt_tokens=900, window=512)
        return perfect(request)

    assert asyncio.run(examined(narrow)).scores["tools"].state == "failed"


def test_an_engine_that_does_not_start_is_an_error() -> None:
    with pytest.raises(OrionError, match="model_too_large"):
        asyncio.run(examined(lambda request: OrionError("model_too_large", path="m", needed_mb=9)))


def _near(discipline: Discipline, wrong: Callable[[Request, Reply], Reply]) -> Callable[[Request], Reply]:
    """Perfect but in one discipline."""

    def says(request: Request) -> Reply:
        reply = perfect(request)
        return wrong(request, reply) if topic(request) == discipline else reply

    return says


def test_near_misses_of_what_is_seen_do_not_count() -> None:
    def near(request: Request, reply: Reply) -> Reply:
        assert isinstance(reply, str)
        if reply.isdigit():
            return str(int(reply) + 1)
        if reply.isupper():
            return reply[:-1] + "X"
        return {"red": "orange", "circle": "square"}.get(reply, f"{reply} or green or blue or circle")

    exam = asyncio.run(examined(_near("pictures", near), sees=True))
    assert exam.scores["pictures"].points == 0
    assert exam.standing("vision") == "failed"


def test_near_misses_beside_a_button_do_not_count() -> None:
    def near(request: Request, reply: Reply) -> Reply:
        del reply
        screen, aim = aimed(request)
        found = screen.element(aim.number)
        return [clicked(found.x + found.width, found.y + found.height // 2)]

    exam = asyncio.run(examined(_near("clicks", near), sees=True))
    assert exam.scores["clicks"].points == 0
    assert exam.standing("computer") == "failed"


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "left_click"},
        {"action": "left_click", "coordinate": "512, 384"},
        {"action": "left_click", "coordinate": [True, False]},
        {"action": "left_click", "coordinate": [0.6, 0.92]},
        {"action": "type", "text": "Cancel"},
        {},
    ],
)
def test_clicks_without_a_point_do_not_count(arguments: JsonObject) -> None:
    exam = asyncio.run(examined(_near("clicks", lambda *_: [("computer", arguments)]), sees=True))
    assert exam.scores["clicks"].points == 0


def test_calls_one_after_the_other_are_as_good_as_all_at_once() -> None:
    def one_by_one(request: Request) -> Reply:
        reply = perfect(request)
        if topic(request) != "tools" or not isinstance(reply, list) or len(reply) == 1:
            return reply
        return [reply[sum(message.role == "tool" for message in request.messages)]]

    exam = asyncio.run(examined(one_by_one))
    assert exam.scores["tools"].points == exam.scores["tools"].of
