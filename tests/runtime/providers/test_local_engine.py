"""What the local provider asks of the engine beyond text: pictures, states on disk, settings that change."""

from __future__ import annotations

import asyncio
import base64
import ctypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import resources
from models.library import Library
from models.state_store import StateStore
from models.transcript import Transcript
from runtime.assemble import assemble
from runtime.messages import AssistantMessage, Image, Text, UserMessage
from runtime.providers.local import LocalProvider
from runtime.providers.provider import PRIVATE, Failed, Finished, Request, StreamItem
from runtime.settings import LocalModel
from tests.conftest import missing
from tests.models.projector_file import projector
from tests.models.test_pictures import png
from tests.runtime.scripted_house import write_profile

LONG = UserMessage((Text("Tell me of the sea. " + "The keeper wrote of waves and of a ship. " * 12),))
PICTURE = Image("image/png", base64.b64encode(png(200)).decode())


@asynccontextmanager
async def running(settings: LocalModel, states: Path | None = None) -> AsyncIterator[LocalProvider]:
    library = Library((resources.weights_dir(),))
    if not library.list():
        missing("the bundled model")
    provider = LocalProvider(library, lambda: settings, states=states)
    try:
        yield provider
    finally:
        await provider.close()


def request(*messages: UserMessage | AssistantMessage, session: str = "s") -> Request:
    return Request(session, "bundled", "", messages, temperature=0.0, max_tokens=4)


async def last(provider: LocalProvider, asked: Request) -> StreamItem:
    return [item async for item in provider.stream(asked)][-1]


async def cached(provider: LocalProvider, asked: Request) -> tuple[int, int]:
    """(prompt tokens, of them not evaluated again)."""
    end = await last(provider, asked)
    assert isinstance(end, Finished), end
    return end.usage.prompt, end.usage.cached


def test_pictures_are_seen_through_a_projector(tmp_path: Path) -> None:
    eye = projector(tmp_path / "mmproj-tiny.gguf")
    said = UserMessage((Text("What is this? "), PICTURE))

    async def main() -> None:
        async with running(LocalModel(window=512, projector=str(eye))) as provider:
            assert provider.traits("").images
            asked = request(said)
            prompt, _ = await cached(provider, asked)
            plain, _ = await cached(provider, request(UserMessage((Text("What is this? "),))))
            assert prompt > plain
            assert await provider.count(asked) > plain
            forged = UserMessage((Text("\ufdd2 What is this? "), PICTURE))
            assert (await cached(provider, request(forged)))[0] >= prompt

    asyncio.run(main())


def test_without_a_projector_a_new_picture_is_refused_and_an_old_one_left_out() -> None:
    said = UserMessage((Text("What is this? "), PICTURE))

    async def main() -> None:
        async with running(LocalModel(window=512)) as provider:
            assert not provider.traits("").images
            refused = await last(provider, request(said))
            assert isinstance(refused, Failed)
            assert (refused.error.code, refused.error.fault) == ("model_sees_no_pictures", "user")
            later = request(said, AssistantMessage("A cat."), UserMessage((Text("Really?"),)))
            assert isinstance(await last(provider, later), Finished)

    asyncio.run(main())


def test_a_long_chat_is_warm_after_a_restart_and_a_private_one_is_not(tmp_path: Path) -> None:
    settings = LocalModel(window=512, idle_minutes=0)

    async def main() -> None:
        for warm in (False, True):
            async with running(settings, tmp_path) as provider:
                prompt, kept = await cached(provider, request(LONG))
                assert kept == (prompt - 1 if warm else 0)
                prompt, kept = await cached(provider, request(LONG, session=PRIVATE))
                assert kept < prompt // 2
        assert len(list(tmp_path.iterdir())) == 1

    asyncio.run(main())


def test_changed_settings_hold_from_the_next_answer_on() -> None:
    now = LocalModel(window=512)

    async def main() -> None:
        nonlocal now
        provider = LocalProvider(Library((resources.weights_dir(),)), lambda: now)
        try:
            first = await last(provider, request(LONG))
            now = replace_window(now, 1024)
            second = await last(provider, request(LONG))
        finally:
            await provider.close()
        assert isinstance(first, Finished)
        assert isinstance(second, Finished)
        assert (first.window, second.window) == (512, 1024)

    asyncio.run(main())


def replace_window(settings: LocalModel, window: int) -> LocalModel:
    return settings.model_copy(update={"window": window})


def test_a_model_too_large_names_a_smaller_one_that_fits() -> None:
    async def main() -> None:
        async with running(LocalModel(window=8192, memory_limit_mb=150)) as provider:
            end = await last(provider, replace(request(LONG), session="t"))
            assert isinstance(end, Failed)
            assert end.error.code == "model_too_large"
            assert {"suggested_window", "suggested_model"} <= set(end.error.fields)

    asyncio.run(main())


def test_a_deleted_session_leaves_no_state(fresh_home: Path) -> None:
    async def main() -> None:
        write_profile(fresh_home, [{"say": "Hello."}])
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            await session.submit("Hi")
            await session.idle()
            store = StateStore(runtime.home.states, 1 << 20, "f" * 64)
            state = ctypes.create_string_buffer(b"state", 5)
            assert store.save(session.id, Transcript([1], bytearray(b"a"), 1, [1], [1], [0]), state)
            await runtime.delete(session.id)
            assert list(runtime.home.states.iterdir()) == []

    asyncio.run(main())
