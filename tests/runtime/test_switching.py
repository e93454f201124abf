"""One conversation goes from provider to provider; services are local servers of their wire formats."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from ruamel.yaml import YAML

from runtime.assemble import Runtime, assemble
from runtime.messages import Image
from runtime.session import Session
from tests.runtime.scripted_house import Watch
from tests.wire import anthropic, ollama, openai_chat, openai_responses
from tests.wire.calls import PIXEL
from tests.wire.server import Call, Play, Say, Think, WireServer

PROVIDERS = {"claude": "anthropic", "chat": "openai", "responses": "openai", "llama": "ollama"}
WIRES: dict[str, ModuleType] = {
    "claude": anthropic,
    "chat": openai_chat,
    "responses": openai_responses,
    "llama": ollama,
}
TALE = "Once upon a time there was " * 5
APIS = {"chat": "chat", "responses": "responses"}


@dataclass
class House:
    """A runtime with a profile for each service."""

    runtime: Runtime
    servers: dict[str, WireServer]

    async def say(self, session: Session, profile: str, text: str, *plays: Play, **more: Any) -> Watch:
        """One turn with another profile."""
        if profile in self.servers:
            self.servers[profile].plays(*plays)
        await session.use(profile=profile)
        watch = Watch(session)
        await session.submit(text, **more)
        await session.idle()
        watch.stop()
        assert not watch.of("error"), watch.of("error")
        return watch

    def sent(self, profile: str) -> Any:
        """The body of the last request to a service."""
        return self.servers[profile].requests[-1].body


def write_profile(home: Path, name: str, **settings: Any) -> None:
    folder = home / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    profile = {"name": name, "allowed_tools": ["calculator"], "temperature": 0.0} | settings
    YAML(typ="safe").dump(profile, folder / f"{name}.yaml")


@asynccontextmanager
async def house(home: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        servers = {}
        for name, wire in WIRES.items():
            server = await stack.enter_async_context(WireServer(wire.Wire()))
            settings = {
                "provider": PROVIDERS[name],
                "model": wire.MODEL,
                "base_url": server.url + wire.SUFFIX,
            }
            write_profile(home, name, api=APIS.get(name, ""), **settings, **changes)
            monkeypatch.setenv(f"ORION_KEY_{PROVIDERS[name].upper()}", "sk-test-0123456789abcdef")
            servers[name] = server
        small = {"max_tokens": 4, "allowed_tools": [], "system_prompt": "orion.local.md"}
        write_profile(home, "here", provider="local", model="bundled", **small)
        yield House(await stack.enter_async_context(assemble(home, door="test")), servers)


def sum_play(call: str, expression: str) -> Play:
    return Play((Think("A sum."), Say("I reckon."), Call(call, "calculator", {"expression": expression})))


def test_a_conversation_goes_through_all_providers_and_back(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls, results, reasoning and pictures made with one provider are readable by the next."""

    async def main() -> list[Any]:
        async with house(fresh_home, monkeypatch) as place:
            session = await place.runtime.open(profile="here")
            await place.say(session, "here", "Say hello.")
            picture = (Image("image/png", PIXEL),)
            turns = {
                "claude": ("toolu_1", "6*7", "42"),
                "chat": ("call_2", "2+3", "5"),
                "responses": ("call_3", "9-2", "7"),
                "llama": ("", "8/2", "4"),
            }
            bodies = []
            for name, (call, expression, _result) in turns.items():
                answer = Play((Say(f"That was {name}."),))
                asked = (f"Ask {name}: {expression}", sum_play(call, expression), answer)
                watch = await place.say(session, name, *asked, images=picture)
                assert watch.text == f"I reckon.That was {name}."
                assert watch.of("tool_call_complete")[0].name == "calculator"
                bodies.append((json.dumps(place.sent(name)), turns[name]))
            for number, (body, (_call, _expression, result)) in enumerate(bodies):
                assert result in body
                for earlier in list(turns)[:number]:
                    assert f"That was {earlier}." in body
                    assert f"Ask {earlier}" in body
                assert PIXEL in body
            last = await place.say(session, "here", "And now?")
            await session.close()
            again = await place.runtime.open(session.id)
            return [last.of("done")[0].reason, [row["kind"] for row in again.rows()]]

    reason, kinds = asyncio.run(main())
    assert reason == "complete"
    assert kinds.count("tool") == 4
    assert kinds.count("user") == 6


@pytest.mark.parametrize("name", list(WIRES))
def test_cutting_the_network_in_the_middle_finishes_the_answer_here(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    async def main() -> tuple[Watch, list[Any]]:
        async with house(fresh_home, monkeypatch, fallback=["here"]) as place:
            session = await place.runtime.open(profile=name)
            place.servers[name].plays(Play((Say(TALE),), misdeed="silent"))
            await session.use(profile=name)
            watch = Watch(session)
            await session.submit("Tell me something.")
            await watch.until("response_chunk")
            await place.servers[name].stop()
            await session.idle()
            return watch, session.rows()

    watch, rows = asyncio.run(main())
    (change,) = watch.of("fallback")
    assert change.text
    assert TALE.startswith(change.text)
    assert change.new.startswith("local/")
    assert watch.of("done")[0].reason == "complete"
    assert next(row.get("stop_reason") for row in rows if row["kind"] == "assistant") == "replaced"
    assert any(row.get("code") == "fallback_taken" for row in rows)
    assert rows[-1]["kind"] == "assistant"
    assert rows[-1]["text"]


def test_calls_of_a_service_that_counts_anew_in_each_reply_are_told_apart(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> tuple[list[Any], list[Any]]:
        async with house(fresh_home, monkeypatch) as place:
            session = await place.runtime.open(profile="chat")
            sums = [sum_play("call_0", "6*7"), sum_play("call_0", "2+3"), Play((Say("Both done."),))]
            await place.say(session, "chat", "Two sums", *sums)
            await place.say(session, "chat", "One more", sum_play("call_0", "9-2"), Play((Say("Done."),)))
            return place.sent("chat")["messages"], session.rows()

    messages, rows = asyncio.run(main())
    made = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    results = [message for message in messages if message["role"] == "tool"]
    answered = {message["tool_call_id"]: message["content"] for message in results}
    assert made == list(answered)
    assert list(answered.values()) == ["42", "5", "7"]
    assert [row["kind"] for row in rows].count("tool") == 3
