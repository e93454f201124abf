"""`orion keys`: a key goes from a hidden prompt or a pipe into the keyring, and is never printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runtime.cli.commands import Here, typist
from tests.runtime.secret_service import secret_service

KEY = "planted-0123456789-abcdef"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


def test_a_key_is_piped_in_listed_by_its_end_and_removed(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_home: Path
) -> None:
    with secret_service(tmp_path) as env:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        ran = here.run("keys", "set", "openai", typed=f"{KEY}\n".encode())
        assert ran.code == 0
        assert "The key for OpenAI at api.openai.com is in the keyring." in ran.err
        assert "orion network allow api.openai.com" in ran.err
        other = here.run("keys", "set", "openai", "-a", "https://router.example/v1", typed=KEY.encode())
        assert other.code == 0
        listed = here.run("keys", "list")
        assert "OpenAI, https://api.openai.com/v1: in the keyring, ending in cdef\n" in listed.out
        assert "OpenAI, https://router.example: in the keyring, ending in cdef\n" in listed.out
        assert "Anthropic, https://api.anthropic.com: no key\n" in listed.out
        rows = json.loads(here.run("keys", "list", "--json").out)
        assert rows[0]["key"] == {"where": "keyring", "hint": "cdef"}
        assert here.run("keys", "remove", "openai").code == 0
        assert "OpenAI, https://api.openai.com/v1: no key\n" in here.run("keys", "list").out
        for shown in (ran, other, listed):
            assert KEY not in shown.out + shown.err
    assert all(KEY not in path.read_text("utf-8") for path in fresh_home.rglob("*") if path.is_file())


def test_a_prompt_does_not_show_what_is_typed(tmp_path: Path) -> None:
    with secret_service(tmp_path) as env, typist("keys", "set", "anthropic", **env) as terminal:
        terminal.until("Key for Anthropic: ")
        terminal.type(KEY + "\n")
        terminal.until("is in the keyring.")
        assert terminal.ended() == 0
        assert KEY not in terminal.raw


def test_without_a_keyring_it_says_to_use_the_environment(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/nothing")
    ran = here.run("keys", "set", "openai", typed=KEY.encode())
    assert ran.code == 1
    assert "Set the key as OPENAI_API_KEY in the environment instead" in ran.err
    assert KEY not in ran.err


def test_an_unknown_service_and_no_key_are_refused(here: Here) -> None:
    assert "known ones are openai, anthropic, ollama" in here.run("keys", "set", "opnai").err
    assert "No key for OpenAI was given" in here.run("keys", "set", "openai").err


def test_a_key_of_the_environment_is_listed(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    out = here.run("keys", "list").out
    assert "Anthropic, https://api.anthropic.com: from the environment, ending in cdef\n" in out
    assert "Ollama, http://127.0.0.1:11434: no key needed\n" in out
