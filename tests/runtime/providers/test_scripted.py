"""The scripted provider plays exactly its script and fails on anything else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from runtime.errors import OrionError
from runtime.messages import AssistantMessage, Message, Text, UserMessage
from runtime.providers.provider import CallReady, Failed, Finished, Request, StreamItem, TextDelta
from runtime.providers.scripted import ScriptedProvider, load_script


def provider(folder: Path, steps: object, loop: bool = False) -> ScriptedProvider:
    path = folder / "script.yaml"
    YAML(typ="safe").dump({"loop": loop, "steps": steps}, path)
    return ScriptedProvider(load_script(path))


def play(made: ScriptedProvider, replies: int = 0, said: str = "hi") -> list[StreamItem]:
    history: tuple[Message, ...] = (UserMessage((Text(said),)), AssistantMessage("x")) * replies

    async def main() -> list[StreamItem]:
        request = Request("s", "m", "", (*history, UserMessage((Text(said),))), replies=replies)
        return [item async for item in made.stream(request)]

    return asyncio.run(main())


def test_replies_follow_the_history_and_leftovers_are_known(tmp_path: Path) -> None:
    made = provider(
        tmp_path, [{"say": "one  two\n"}, {"say": "three"}, {"call": {"name": "t"}}, {"call": {"name": "u"}}]
    )
    first, second = play(made), play(made, 1)
    assert "".join(item.text for item in first if isinstance(item, TextDelta)) == "one  two\n"
    assert [item.call.name for item in second if isinstance(item, CallReady)] == ["t", "u"]
    assert isinstance(second[-1], Finished)
    assert second[-1].stop_reason == "tool_calls"
    assert made.left_over() == 0


def test_an_unexpected_call_fails(tmp_path: Path) -> None:
    (item,) = play(provider(tmp_path, [{"say": "one"}]), 1)
    assert isinstance(item, Failed)
    assert item.error.code == "script_exhausted"


def test_a_loop_begins_again(tmp_path: Path) -> None:
    items = play(provider(tmp_path, [{"say": "one"}], loop=True), 5)
    assert TextDelta("one") in items


def test_what_is_expected_must_have_been_said(tmp_path: Path) -> None:
    made = provider(tmp_path, [{"expect": "magic"}, {"say": "ok"}])
    (item,) = play(made)
    assert isinstance(item, Failed)
    assert item.error.fields["expected"] == "magic"
    assert TextDelta("ok") in play(made, said="the magic word")


def test_an_error_is_the_last_item(tmp_path: Path) -> None:
    items = play(provider(tmp_path, [{"say": "half"}, {"error": {"code": "rate_limited", "seconds": 3}}]))
    assert isinstance(items[-1], Failed)
    assert (items[-1].error.code, items[-1].error.fields) == ("rate_limited", {"seconds": 3})


@pytest.mark.parametrize("step", [{"shout": "x"}, "say", {"say": "a", "think": "b"}, 5])
def test_a_step_that_is_none_names_its_line(tmp_path: Path, step: object) -> None:
    with pytest.raises(OrionError) as caught:
        provider(tmp_path, [{"say": "fine"}, step])
    assert caught.value.code == "yaml_wrong_value"
    assert caught.value.fields["line"] == 4
