"""The frozen program starts without this environment and answers once from the bundled model."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from installer.freeze import freeze
from runtime.services import place, variables
from tests.voice.conftest import stage
from tests.voice.spoken import missing
from tests.wire import anthropic, ollama, openai_chat, openai_responses
from tests.wire.server import Play, Say, WireServer

MINUTES_TO_BUILD = 15


@pytest.fixture(scope="module")
def program() -> Path:
    """The frozen program, built again when its sources have changed."""
    return freeze()


def bare() -> dict[str, str]:
    """Nothing of this environment but the program's own folders, and a bare path."""
    own = {
        name: os.environ[name]
        for name in os.environ
        if name.startswith(("XDG_", "ORION_", "PULSE_", "ALSA_"))
    }
    return own | {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": os.environ["ORION_HOME"]}


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the frozen program to its end."""
    return subprocess.run(
        [str(program), *arguments],
        env=bare(),
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.timeout(60 * MINUTES_TO_BUILD)
def test_the_frozen_program_answers_from_the_bundled_model(program: Path) -> None:
    asked = run(program, "ask", "Say hello in five words.", "--json")
    events: list[dict[str, Any]] = [json.loads(line) for line in asked.stdout.splitlines()]
    assert asked.returncode == 0, asked.stderr
    assert "".join(event["text"] for event in events if event["type"] == "response_chunk").strip()
    assert events[-1]["type"] == "done"
    assert events[-1]["usage"]["completion"] > 0


def test_the_frozen_program_finds_its_data(program: Path) -> None:
    examined = run(program, "doctor", "--json")
    assert json.loads(examined.stdout), examined.stderr
    assert (program.parent / "_internal" / "licences" / "components.yaml").exists()


@pytest.mark.parametrize(
    "wire", [openai_chat, openai_responses, anthropic, ollama], ids=lambda wire: wire.NAME
)
def test_the_frozen_program_carries_the_clients_of_services(
    program: Path, wire: ModuleType, fresh_home: Path
) -> None:
    provider = wire.NAME.partition("-")[0]
    api = {openai_chat: "api: chat", openai_responses: "api: responses"}.get(wire, "")
    (fresh_home / "profiles").mkdir(parents=True)

    async def work() -> None:
        async with WireServer(wire.Wire()) as server:
            server.plays(Play((Say("Hello from a service."),)))
            (fresh_home / "profiles" / "far.yaml").write_text(
                f"name: far\nprovider: {provider}\nmodel: m\nbase_url: {server.url}\n{api}\n", "utf-8"
            )
            key = variables(provider, place(server.url))[0]
            with pytest.MonkeyPatch.context() as patched:
                patched.setenv(key, "a-key-of-the-environment")
                asked = await asyncio.to_thread(run, program, "ask", "Hello", "-p", "far")
            assert asked.stdout == "Hello from a service.\n", asked.stderr

    asyncio.run(work())


def test_the_frozen_program_speaks_and_understands(
    program: Path, fresh_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says into a file is played to it, and it writes that down."""
    text, file = "Please open the kitchen window in the morning.", fresh_home / "said.wav"
    fresh_home.mkdir(parents=True, exist_ok=True)
    said = run(program, "voice", "say", text, "-o", str(file))
    assert said.returncode == 0, said.stderr
    words, pipe = [str(program), "voice", "listen"], subprocess.PIPE
    with (
        contextmanager(stage)(tmp_path, monkeypatch) as sound,
        subprocess.Popen(words, env=bare(), cwd="/", stdout=pipe, stderr=pipe, text=True) as listens,
    ):
        try:
            assert listens.stderr is not None
            assert listens.stderr.readline() == "Listening: say something.\n"
            sound.say(file)
            heard, troubles = listens.communicate(timeout=100)
        finally:
            listens.kill()
    assert missing(text, heard) <= 1, troubles


def test_the_frozen_window_opens(program: Path, display: str) -> None:
    """The window is there when the window manager lists it; the program ends when it is asked to."""
    environment = dict(os.environ, QT_QPA_PLATFORM="xcb", DISPLAY=display)
    with subprocess.Popen([str(program)], env=environment, stdin=subprocess.DEVNULL) as orion:
        try:
            search = ["xdotool", "search", "--sync", "--onlyvisible", "--pid", str(orion.pid)]
            found = subprocess.run(search, capture_output=True, text=True, timeout=60, check=False)
            assert found.stdout.strip()
        finally:
            orion.terminate()
    assert orion.returncode in (0, -15, 143)
