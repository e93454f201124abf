"""`orion voice serve`: where it listens, what it refuses, and how it ends."""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import openai
import pytest

from runtime.cli.exit_codes import ExitCode
from tests.runtime.cli.commands import Here, typist
from tests.voice.services.running import Running, running

LONG = "This is a sentence of a very long text that somebody wants to hear. " * 1000

SPOKEN: Any = {"model": "tts-1", "voice": "alloy", "response_format": "wav"}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


def asked(service: Running, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=service.speech, api_key=key, max_retries=0)


def test_other_machines_need_a_token(here: Here) -> None:
    ran = here.run("voice", "serve", "--host", "0.0.0.0", "--speech-port", "0")
    assert ran.code == ExitCode.FAILED
    assert "a token is needed" in ran.err
    assert ran.err.count("\n") == 1


def test_a_port_that_is_taken_is_named(here: Here) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        for given in (("--speech-port", port), ("--speech-port", "0", "--transcription-port", port)):
            ran = here.run("voice", "serve", *given)
            assert ran.code == ExitCode.FAILED
            assert ran.err.startswith(f"Port {port} of 127.0.0.1 is in use")


def test_it_ends_at_once_though_clients_are_served(tmp_path: Path) -> None:
    with running(tmp_path / "home") as service, asked(service) as client:
        said = client.audio.speech.create(input=LONG[:2000], **SPOKEN).content
        address = f"{service.transcription}/audio/transcriptions"
        form: dict[str, Any] = {"data": {"stream": "true"}, "files": {"file": ("a.wav", said)}, "timeout": 60}
        with (
            client.audio.speech.with_streaming_response.create(input=LONG, **SPOKEN) as answer,
            httpx.stream("POST", address, **form) as transcription,
        ):
            next(answer.iter_bytes(1024))
            assert "delta" in next(transcription.iter_lines())
            code, seconds = service.stop(signal.SIGINT)
    assert code == ExitCode.OK
    assert seconds < 2


def test_ctrl_c_at_a_terminal(fresh_home: Path) -> None:
    with typist(
        "voice", "serve", "--speech-port", "0", "--transcription-port", "0", ORION_HOME=str(fresh_home)
    ) as terminal:
        told = terminal.until("Ctrl-C ends both.")
        assert "Speech is at http://127.0.0.1:" in told
        terminal.type("\x03")
        assert terminal.ended() == ExitCode.OK
        assert "Traceback" not in terminal.raw


def test_one_port_for_both_and_the_longest_recording(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    ports = ("--speech-port", port, "--transcription-port", port)
    with running(tmp_path / "home", "--minutes", "0.1", *ports) as service, asked(service) as client:
        assert service.speech == service.transcription
        said = client.audio.speech.create(input="The garden is green.", **SPOKEN).content
        heard = client.audio.transcriptions.create(file=("a.wav", said), model="whisper-1")
        assert "garden" in heard.text
        said = client.audio.speech.create(input=LONG[:700], **SPOKEN).content
        with pytest.raises(openai.BadRequestError) as caught:
            client.audio.transcriptions.create(file=("a.wav", said), model="whisper-1")
        assert caught.value.code == "sound_too_long"


def test_a_token_lets_other_machines_in(tmp_path: Path) -> None:
    with running(tmp_path / "home", "--host", "0.0.0.0", ORION_VOICE_TOKEN="secret") as service:
        port = urlsplit(service.speech).port
        with openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="wrong", max_retries=0) as client:
            with pytest.raises(openai.AuthenticationError) as caught:
                client.audio.speech.create(input="Hello.", **SPOKEN)
            assert caught.value.code == "service_token_wrong"
            assert client.with_options(api_key="secret").audio.speech.create(input="Hello.", **SPOKEN).content
        assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200
        assert service.stop(signal.SIGTERM)[0] == ExitCode.OK


def test_a_recogniser_that_is_not_there_leaves_speech_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.yaml").write_text("version: 1\nvoice:\n  recogniser: nowhere\n", encoding="utf-8")
    with running(home) as service, asked(service) as client:
        wav = client.audio.speech.create(input="Hello.", **SPOKEN).content
        files = {"file": ("a.wav", wav)}
        answer = httpx.post(f"{service.transcription}/audio/transcriptions", files=files, timeout=30)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "recogniser_unusable")
