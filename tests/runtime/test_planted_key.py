"""A planted key shows nowhere, although local servers repeat it: everything kept or shown is searched."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import psutil
import pytest
from ruamel.yaml import YAML

from resources.sentences import sentence
from runtime import diagnostics, logs, services
from runtime.assemble import assemble
from runtime.errors import OrionError
from runtime.export import as_markdown
from runtime.messages import Text, UserMessage
from runtime.paths import find_home
from runtime.providers.connection import Connection
from runtime.providers.provider import Failed, Finished, Provider, Request, StreamItem
from runtime.redaction import HIDDEN, conceal
from tests.runtime.cli.commands import command
from tests.runtime.scripted_house import Watch
from tests.runtime.scripted_house import write_profile as write_scripted
from tests.wire import anthropic, ollama, openai_chat, openai_responses
from tests.wire.links import connect
from tests.wire.server import Play, Say, WireServer

KEYS = ("sk-planted-0123456789abcdefghijkl", "Planted.of/an+odd=shape~4711")
"""One of a shape that is known as a key, and one that is not."""

ASK = command("ask", "Hello", "--profile", "planted", "--json")
ECHO = "the key {key} (?key={quoted}, Bearer {key}) is not liked"
TRACES = ("receive_response_headers", "HTTP Response: ")
APIS = {openai_chat: "chat", openai_responses: "responses"}
SERVICES = pytest.mark.parametrize(
    "wire",
    [pytest.param(module, id=module.NAME) for module in (openai_chat, openai_responses, anthropic, ollama)],
)
WITH_KEYS = pytest.mark.parametrize("key", KEYS, ids=["known", "odd"])


def plays(key: str) -> list[Play]:
    """A good answer, and every kind of refusal and broken answer, each of which repeats the key."""
    echo = ECHO.format(key=key, quoted=quote(key, safe=""))
    headers = {
        "X-Echo": key,
        "Retry-After": key,
        "Location": f"http://127.0.0.1:9/?key={quote(key, safe='')}",
    }
    refusals = [
        Play(status=status, problem=echo, kind="invalid_request_error", headers=headers)
        for status in (400, 401, 402, 403, 404, 413, 429, 500, 529)
    ]
    broken = [
        Play((Say("So far, so good"),), misdeed=misdeed)
        for misdeed in ("hangup", "truncate", "cut", "malformed")
    ]
    return [Play((Say("Good day."),), headers={"X-Echo": key}), *refusals, *broken]


def shows(key: str, text: str) -> bool:
    """Whether `text` holds the key, or so much of it that it could be guessed."""
    return any(form[:20] in text for form in (key, quote(key, safe=""), json.dumps(key)[1:-1]))


@contextmanager
def everything_logged(folder: Path) -> Iterator[list[str]]:
    """The program's log while every library is at its most talkative; yields what they handed to it, but for
    headers of answers, which are traced as they came, in records that the program does not keep."""
    handed: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not record.getMessage().startswith(TRACES):
                handed.append(record.getMessage())

    listener = Listener()
    root = logging.getLogger()
    talkative = {
        name: logging.getLogger(name) for name in ("", "httpx", "httpx2", "httpcore", "openai", "anthropic")
    }
    before = {name: logger.level for name, logger in talkative.items()}
    for logger in talkative.values():
        logger.setLevel(logging.DEBUG)
    root.addHandler(listener)
    try:
        with logs.logging_to(folder, door="test", level=logging.DEBUG):
            yield handed
    finally:
        root.removeHandler(listener)
        for name, logger in talkative.items():
            logger.setLevel(before[name])


async def collect(provider: Provider, request: Request) -> list[StreamItem]:
    async with aclosing(provider.stream(request)) as items:
        return [item async for item in items]


def told(error: OrionError) -> str:
    """Every way in which an error is said, its traceback included."""
    try:
        raise error
    except OrionError as raised:
        logging.getLogger("orion").exception("a call failed: %s", raised, extra={"fields": raised.fields})
        trace = "".join(traceback.format_exception(raised))
    return "\n".join([str(error), repr(error), trace, sentence(error.code, **error.fields)])


def reprs(thing: object, depth: int = 3) -> str:
    """What a debugger or a careless log line would print of `thing` and its parts."""
    members = {name: getattr(thing, name, None) for name in getattr(thing, "__slots__", ())}
    members |= getattr(thing, "__dict__", {})
    parts = [repr(thing), repr(members)]
    if depth:
        ours = (part for part in members.values() if type(part).__module__.startswith("runtime."))
        parts += [reprs(part, depth - 1) for part in ours]
    return "\n".join(parts)


def faults_of(wire: ModuleType, key: str, folder: Path) -> tuple[list[str], list[Finished | Failed]]:
    """What is printed, logged and said while a client plays all of `plays`, and how each call ended."""

    async def main() -> tuple[list[str], list[Finished | Failed]]:
        said: list[str] = []
        ends: list[Finished | Failed] = []
        async with WireServer(wire.Wire()) as server:
            connection = connect(server.url + wire.SUFFIX, wire.NAME, key)
            provider: Provider = wire.make(connection)
            request = Request("s", wire.MODEL, "Be kind.", (UserMessage((Text("Hello"),)),))
            for play in plays(key):
                server.plays(play)
                items = await collect(provider, request)
                said.append(repr(items))
                end = items[-1]
                assert isinstance(end, Finished | Failed)
                ends.append(end)
                if isinstance(end, Failed):
                    said.append(told(end.error))
            said += [reprs(connection), reprs(provider)]
            assert any(key in value for value in server.requests[-1].headers.values())
            await server.stop()
            with pytest.raises(OrionError) as caught:
                await provider.models()
            assert caught.value.__cause__ is caught.value.__context__ is None, (
                "it holds the request and the key"
            )
            said.append(told(caught.value))
            await provider.close()
        return said, ends

    with everything_logged(folder) as handed:
        said, ends = asyncio.run(main())
    return [*said, *handed, (folder / logs.FILE).read_text()], ends


@SERVICES
@WITH_KEYS
def test_no_client_says_the_key(wire: ModuleType, key: str, tmp_path: Path) -> None:
    said, ends = faults_of(wire, key, tmp_path)
    assert isinstance(ends[0], Finished)
    failures = [end.error for end in ends if isinstance(end, Failed)]
    assert len(failures) == len(plays(key)) - 1
    assert sum(HIDDEN in str(error.fields.get("problem", "")) for error in failures) >= 9
    for text in said:
        assert not shows(key, text)


@SERVICES
def test_a_key_that_is_read_anew_at_every_call_stays_hidden(wire: ModuleType, tmp_path: Path) -> None:
    """As a keyring gives it: another one from the second call on."""
    given = iter([f"changing.key.number.{number}" for number in range(1, 5)])

    async def main() -> list[str]:
        async with WireServer(wire.Wire()) as server:
            plain = connect(server.url + wire.SUFFIX, wire.NAME)
            read: Callable[[], str] = lambda: next(given)  # noqa: E731
            connection = Connection(wire.NAME, plain.base_url, read, plain.client, plain.old_client)
            provider: Provider = wire.make(connection)
            said: list[str] = []
            for number in (1, 2):
                server.plays(Play(status=401, problem=f"changing.key.number.{number} is not liked"))
                request = Request("s", wire.MODEL, "", (UserMessage((Text("Hello"),)),))
                (failed,) = await collect(provider, request)
                assert isinstance(failed, Failed)
                said.append(told(failed.error))
                sent = server.requests[-1].headers
                assert any(f"changing.key.number.{number}" in value for value in sent.values())
            await provider.close()
            return said

    with logs.logging_to(tmp_path, door="test"):
        said = asyncio.run(main())
    for text in (*said, (tmp_path / logs.FILE).read_text()):
        assert "changing.key.number" not in text


@SERVICES
@pytest.mark.parametrize("mark", ["\x07", "\n", "ä", " "], ids=["bell", "line", "letter", "space"])
def test_a_key_that_no_header_can_carry_is_refused_unsaid(
    wire: ModuleType, mark: str, tmp_path: Path
) -> None:
    """Libraries print the whole header when they refuse it."""
    key = f"zebra.crossing{mark}unfit.shape"

    async def main() -> str:
        async with WireServer(wire.Wire()) as server:
            provider: Provider = wire.make(connect(server.url + wire.SUFFIX, wire.NAME, key))
            request = Request("s", wire.MODEL, "", (UserMessage((Text("Hello"),)),))
            (failed,) = await collect(provider, request)
            await provider.close()
            assert isinstance(failed, Failed)
            assert failed.error.code == "key_unfit"
            assert not server.requests
            return told(failed.error)

    with logs.logging_to(tmp_path, door="test"):
        said = asyncio.run(main())
    for text in (said, (tmp_path / logs.FILE).read_text()):
        assert "zebra" not in text
        assert "unfit.shape" not in text


def test_a_fault_of_the_program_itself_does_not_say_the_key(fresh_home: Path) -> None:
    """An exception that nobody expected, with the key in what it says, ends the turn."""
    key = KEYS[1]
    conceal(key)

    def break_down(_request: Request) -> Request:
        raise RuntimeError(f"bad header: Bearer {key}")

    async def main() -> str:
        write_scripted(fresh_home, [{"say": "Good day."}])
        async with assemble(fresh_home, door="test") as runtime:
            runtime.hooks.before_model.append(break_down)
            session = await runtime.open(profile="test")
            watch = Watch(session)
            await session.submit("Hello")
            await session.idle()
            watch.stop()
            (fault,) = watch.of("error")
            assert fault.code == "bug"
            return json.dumps([event.as_dict() for event in watch.events])

    with logs.logging_to(find_home(fresh_home).logs, door="test"):
        said = asyncio.run(main())
    assert HIDDEN in said
    assert not shows(key, said)
    for path in fresh_home.rglob("*"):
        assert path.is_dir() or not shows(key, path.read_bytes().decode("utf-8", "replace")), path


@SERVICES
@WITH_KEYS
def test_nothing_that_is_kept_or_shown_holds_the_key(
    wire: ModuleType, key: str, fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the environment, through whole turns of a session, to its files, exports, report and processes."""

    async def main() -> list[str]:
        shown: list[str] = []
        async with WireServer(wire.Wire()) as server:
            address = server.url + wire.SUFFIX
            variable = services.variables(wire_provider(wire), services.place(address))[0]
            monkeypatch.setenv(variable, key)
            write_profile(fresh_home, wire, address)
            async with assemble(fresh_home, door="test") as runtime:
                session = await runtime.open(profile="planted")
                watch = Watch(session)
                for play in chosen(key):
                    server.plays(play)
                    await session.submit("Hello")
                    await session.idle()
                watch.stop()
                assert any(key in value for value in server.requests[-1].headers.values())
                assert watch.of("error")
                shown += [json.dumps(event.as_dict()) for event in watch.events]
                shown += [json.dumps(logs.record_of(event)) for event in watch.events]
                shown.append(as_markdown("Planted", session.rows()))
                shown += [reprs(runtime), reprs(session)]
                shown.append(diagnostics.report(runtime.home))
                process = psutil.Process()
                shown += [repr(one.cmdline()) for one in (process, *process.children(recursive=True))]
        return shown

    home = find_home(fresh_home)
    home.create()
    with logs.logging_to(home.logs, door="test", level=logging.DEBUG):
        shown = asyncio.run(main())
    for text in shown:
        assert not shows(key, text)
    kept = [path for path in fresh_home.rglob("*") if path.is_file()]
    assert any(path.parent == home.sessions for path in kept)
    for path in kept:
        assert not shows(key, path.read_bytes().decode("utf-8", "replace")), path


def test_a_program_in_another_process_neither_prints_it_nor_lists_it(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = KEYS[1]
    echo = Play(status=401, problem=ECHO.format(key=key, quoted=quote(key, safe="")))

    async def main() -> list[str]:
        async with WireServer(ollama.Wire()) as server:
            monkeypatch.setenv(services.variables("ollama", services.place(server.url))[0], key)
            write_profile(fresh_home, ollama, server.url)
            ended = await asyncio.create_subprocess_exec(*ASK, stdout=PIPE, stderr=PIPE)
            server.plays(echo)
            shown = [part.decode() for part in await ended.communicate()]
            assert ended.returncode != 0
            assert HIDDEN in shown[0]
            server.asked.clear()
            server.plays(Play(misdeed="mute"))
            running = await asyncio.create_subprocess_exec(*ASK, stdout=DEVNULL, stderr=DEVNULL)
            async with asyncio.timeout(60):
                await server.asked.wait()
            process = psutil.Process(running.pid)
            shown += [repr(one.cmdline()) for one in (process, *process.children(recursive=True))]
            running.kill()
            await running.wait()
            assert all(f"Bearer {key}" == received.headers["authorization"] for received in server.requests)
        return shown

    for text in asyncio.run(main()):
        assert not shows(key, text)
    for path in fresh_home.rglob("*"):
        assert path.is_dir() or not shows(key, path.read_bytes().decode("utf-8", "replace")), path


def chosen(key: str) -> list[Play]:
    """Of `plays`, those after which nothing is asked again: a turn each."""
    return [
        play
        for play in plays(key)
        if play.status in (200, 400, 401, 402) and play.misdeed in ("none", "malformed")
    ]


def wire_provider(wire: ModuleType) -> str:
    """The provider's name in profiles."""
    return str(wire.NAME).partition("-")[0]


def write_profile(home: Path, wire: ModuleType, address: str) -> None:
    folder = home / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    profile: dict[str, Any] = {"name": "planted", "provider": wire_provider(wire), "model": wire.MODEL}
    if wire in APIS:
        profile["api"] = APIS[wire]
    YAML(typ="safe").dump(profile | {"base_url": address}, folder / "planted.yaml")
