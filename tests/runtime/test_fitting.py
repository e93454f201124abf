"""A conversation longer than the window goes on, tells what was cut, and can reach what was said first."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from runtime.messages import UserMessage
from runtime.providers.provider import Request
from tests.runtime.scripted_house import Steps, call, talking


def narrow(home: Path, window: int, steps: Steps, *, loop: bool = True) -> None:
    """Give the script of the test profile a small window."""
    path = home / "profiles" / "test.script"
    YAML(typ="safe").dump({"loop": loop, "window": window, "steps": steps}, path)


CHATTER = " ".join(f"word{number}" for number in range(60))


def test_forty_turns_in_a_small_window_never_loop_and_reach_the_first_fact(fresh_home: Path) -> None:
    steps: Steps = [{"say": CHATTER}]
    requests: list[Request] = []

    async def main() -> None:
        async with talking(fresh_home, steps, loop=True, max_tokens=100) as (runtime, session, watch):
            narrow(fresh_home, 1000, steps)

            def keep(request: Request) -> Request:
                requests.append(request)
                return request

            runtime.hooks.before_model.append(keep)
            await session.submit("My cat is called Miso and she is nine.")
            await session.idle()
            for number in range(38):
                await session.submit(f"Tell me something about subject {number}. {CHATTER}")
                await session.idle()
            await session.submit("What is the name of my cat?")
            await session.idle()
            assert [done.reason for done in watch.of("done")] == ["complete"] * 40
            cuts = len(watch.of("compaction"))
            assert 3 <= cuts <= 20
            assert sum(row.get("code") == "history_shortened" for row in session.rows()) == cuts
            assert sum(row["kind"] == "user" for row in session.rows()) == 40
            archive = Path(watch.of("compaction")[0].archive)
            assert "Miso" in archive.read_text()

    asyncio.run(main())
    assert "Miso" in requests[-1].messages[-1].text
    assert all(isinstance(request.messages[0], UserMessage) for request in requests)
    for request in requests:
        assert sum(len(message.text.split()) for message in request.messages) < 1000
        roles = [message.role for message in request.messages]
        assert all(one != other for one, other in itertools.pairwise(roles))


def test_long_work_in_one_turn_is_cut_in_the_middle_and_keeps_its_task(fresh_home: Path) -> None:
    steps: Steps = [*[call("echo", text=CHATTER)], {"expect": "word"}, call("echo", text=CHATTER)]
    many: Steps = [call("echo", text=f"{number} {CHATTER}") for number in range(1)]
    for number in range(12):
        many += [{"expect": "word"}, call("echo", text=f"{number} {CHATTER}")]
    many += [{"expect": "word"}, {"say": "All done."}]
    requests: list[Request] = []

    async def main() -> None:
        changes: dict[str, Any] = {"max_tokens": 50, "allowed_tools": ["echo"]}
        async with talking(fresh_home, steps, **changes) as (runtime, session, watch):
            narrow(fresh_home, 500, many, loop=False)
            runtime.hooks.before_model.append(lambda request: requests.append(request) or request)  # type: ignore[func-returns-value]
            await session.submit("Repeat a dozen times, carefully.")
            await session.idle()
            assert (watch.of("error"), watch.of("done")[0].reason) == ([], "complete")
            assert watch.text == "All done."
            assert watch.of("compaction")

    asyncio.run(main())
    assert "Repeat a dozen times" in requests[-1].messages[0].text


def test_a_message_too_large_for_the_window_is_refused_with_sizes_and_can_be_shortened(
    fresh_home: Path,
) -> None:
    async def main() -> None:
        async with talking(fresh_home, [{"say": "Fine."}], loop=True) as (_, session, watch):
            narrow(fresh_home, 500, [{"say": "Fine."}])
            await session.submit(" ".join(f"w{number}" for number in range(5000)))
            await session.idle()
            error = watch.of("error")[0]
            assert error.code == "context_overflow"
            assert (error.fields["window"], error.fields["prompt_tokens"] > 5000) == (500, True)
            await session.shorten(int(error.fields["prompt_tokens"]), 500)
            await session.idle()
            assert watch.text == "Fine."
            assert len(session.rows()[0]["text"].split()) == 5000

    asyncio.run(main())


def test_tools_are_slimmed_the_same_way_on_every_turn(fresh_home: Path) -> None:
    requests: list[Request] = []

    async def main() -> None:
        async with talking(fresh_home, [{"say": "Yes."}], loop=True) as (runtime, session, _watch):
            narrow(fresh_home, 2000, [{"say": "Yes."}])
            runtime.hooks.before_model.append(lambda request: requests.append(request) or request)  # type: ignore[func-returns-value]
            for text in ("Please read a file for me", "and write another"):
                await session.submit(text)
                await session.idle()

    asyncio.run(main())
    assert requests[0].tools == requests[1].tools
    assert 0 < len(requests[0].tools) < 8
    assert "read_file" in [tool.name for tool in requests[0].tools]
