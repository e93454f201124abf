"""A model that failed its exam is not called capable: roles that profiles demand are earned, not claimed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import resources
from models.library import Library
from resources.sentences import sentence
from runtime.assemble import Runtime, assemble
from runtime.chain import Link
from runtime.errors import OrionError
from runtime.exam.exam import Discipline, Exam, ModelKey, Role, Score, State
from runtime.exam_record import ExamRecord
from runtime.profiles import Profile
from runtime.providers.provider import Traits
from runtime.roles import Roles, permitted
from tests.conftest import missing
from tests.models.gguf_file import METADATA, whole
from tests.runtime.exam.candidates import Candidate
from tests.runtime.scripted_house import Watch

BLIND, EYES = Traits("local", local=True), Traits("local", local=True, images=True)


def exam(key: ModelKey | None = None, *, sees: bool = False, speed: float = 10.0, **states: State) -> Exam:
    scores: dict[Discipline, Score] = {}
    for name, state in states.items():
        points = {"passed": 9, "failed": 2, "not_taken": 0}[state]
        scores[name] = Score(points, 10, 1.0, state)  # type: ignore[index]
    return Exam(key or ModelKey("m", 1, "00"), "", 1.0, 1.0, sees, scores, speed, 50.0)


@pytest.mark.parametrize(
    ("role", "states", "standing"),
    [
        ("chat", {"instructions": "passed"}, "earned"),
        ("chat", {"instructions": "failed", "tools": "passed"}, "failed"),
        ("chat", {"tools": "passed"}, "open"),
        ("tools", {"tools": "passed", "instructions": "failed"}, "earned"),
        ("tools", {"tools": "not_taken"}, "open"),
        ("vision", {"pictures": "passed"}, "failed"),
        ("computer", {"tools": "passed", "elements": "passed"}, "earned"),
        ("computer", {"tools": "passed", "clicks": "passed"}, "open"),
        ("computer", {"tools": "failed", "elements": "not_taken"}, "failed"),
        ("computer", {"tools": "not_taken", "elements": "passed"}, "open"),
    ],
)
def test_a_role_stands_on_its_disciplines(role: Role, states: dict[str, State], standing: str) -> None:
    found = exam(**states)  # type: ignore[arg-type]
    assert found.standing(role) == standing
    assert (role in found.roles) == (standing == "earned")


def test_who_sees_must_click_and_see() -> None:
    able = exam(sees=True, pictures="passed", clicks="passed", tools="passed", elements="failed")
    assert able.roles == ("tools", "vision", "computer")
    assert exam(sees=True, pictures="failed", clicks="failed", tools="passed").roles == ("tools",)


def test_a_failed_model_is_refused_and_the_sentence_says_why() -> None:
    with pytest.raises(OrionError) as raised:
        permitted("computer", "small", exam(tools="passed", elements="failed"), BLIND)
    assert raised.value.code == "model_not_capable"
    said = sentence(raised.value.code, **raised.value.fields)
    assert "small" in said
    assert "2 of 10" in said
    with pytest.raises(OrionError, match="model_sees_no_pictures"):
        permitted("vision", "small", exam(pictures="passed", sees=True), BLIND)


def test_an_unknown_model_is_let_in_with_a_word() -> None:
    assert permitted("tools", "m", exam(tools="passed"), BLIND) is None
    assert permitted("vision", "m", exam(sees=True, pictures="passed"), EYES) is None
    told = ("model_not_examined", {"model": "m", "role": "tools"})
    assert permitted("tools", "m", None, BLIND) == told
    eyes_since = permitted("vision", "m", exam(instructions="passed"), EYES)
    assert eyes_since == ("model_not_examined", {"model": "m", "role": "vision"})
    assert permitted("tools", "m", exam(instructions="failed", tools="not_taken"), BLIND) == told
    assert "m was never examined" in sentence(told[0], **told[1])


def shelf(folder: Path, *names: str) -> tuple[Library, ExamRecord]:
    for name in names:
        whole(folder / f"{name}.gguf", METADATA | {"general.name": name})
    return Library((folder,)), ExamRecord(folder / "exams.json")


def profile(role: str = "", provider: str = "local") -> Profile:
    return Profile.model_validate({"name": "p", "provider": provider, "model": "bundled", "role": role})


def test_the_best_that_earned_a_role_answers_where_none_was_chosen(tmp_path: Path) -> None:
    library, record = shelf(tmp_path, "alpha", "beta", "gamma")
    roles = Roles(record, lambda: library, lambda: "")
    assert roles.best_for("tools") == ""
    assert roles.preferred(profile("tools"), "bundled") == "bundled"
    for name, found in {
        "alpha": exam(tools="failed"),
        "beta": exam(tools="passed", speed=5.0),
        "gamma": exam(tools="passed", speed=15.0),
    }.items():
        record.put(replace(found, model=record.key(library.find(name))))
    assert roles.best_for("tools") == "gamma"
    assert roles.best_for("vision") == ""
    assert roles.preferred(profile("tools"), "bundled") == "gamma"
    assert roles.preferred(profile("tools"), "alpha") == "alpha"
    assert roles.preferred(profile(""), "bundled") == "bundled"
    assert roles.preferred(profile("tools", "ollama"), "bundled") == "bundled"
    chosen = Roles(record, lambda: library, lambda: "beta")
    assert chosen.preferred(profile("tools"), "") == ""


def test_only_models_on_this_machine_are_held_to_exams(tmp_path: Path) -> None:
    library, record = shelf(tmp_path, "alpha")
    record.put(replace(exam(tools="failed"), model=record.key(library.find("alpha"))))
    roles = Roles(record, lambda: library, lambda: "")
    client = Candidate(lambda request: "")
    with pytest.raises(OrionError, match="model_not_capable"):
        roles.permit(Link(profile("tools"), "bundled", client))
    assert roles.permit(Link(profile(""), "bundled", client)) == ()
    assert roles.permit(Link(profile("tools", "ollama"), "bundled", client)) == ()
    assert roles.permit(Link(profile("tools"), "nowhere", client)) == ()


def test_the_profile_that_works_a_computer_demands_it(fresh_home: Path) -> None:
    async def main() -> None:
        async with assemble(fresh_home, door="test") as runtime:
            assert runtime.profiles.get("orion-local-computer").role == "computer"
            assert runtime.profiles.get("orion-local").role == ""

    asyncio.run(main())


def write(home: Path, **changes: Any) -> None:
    (home / "profiles").mkdir(parents=True, exist_ok=True)
    made = {"name": "able", "provider": "local", "model": "bundled", "role": "tools", "max_tokens": 4}
    YAML(typ="safe").dump(made | changes, home / "profiles" / "able.yaml")


def bundled(runtime: Runtime) -> ModelKey:
    return runtime.exams.key(runtime.library.find("bundled"))


def test_a_session_refuses_the_failed_one_before_it_is_asked(fresh_home: Path) -> None:
    if not list(resources.weights_dir().glob("*.gguf")):
        missing("the bundled model")
    write(fresh_home)

    async def main() -> None:
        async with assemble(fresh_home, door="test") as runtime:
            runtime.exams.put(exam(bundled(runtime), tools="failed"))
            session = await runtime.open(profile="able")
            watch = Watch(session)
            await session.submit("Hello!")
            done = await watch.until("done")
            assert done.reason == "error"
            (error,) = watch.of("error")
            assert error.code == "model_not_capable"
            assert error.fault == "user"
            assert watch.of("model_state") == []  # nothing was even loaded

    asyncio.run(main())


def test_a_session_says_once_that_nobody_examined_the_model(fresh_home: Path) -> None:
    if not list(resources.weights_dir().glob("*.gguf")):
        missing("the bundled model")
    write(fresh_home)

    async def main() -> None:
        async with assemble(fresh_home, door="test") as runtime:
            session = await runtime.open(profile="able")
            watch = Watch(session, patience=60.0)
            for turn in (1, 2):
                await session.submit("Hello!")
                done = await watch.until("done", turn)
                assert done.reason == "complete"
            assert [notice.code for notice in watch.of("notice")] == ["model_not_examined"]

    asyncio.run(main())
