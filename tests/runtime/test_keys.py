"""Keys: kept in a real keyring, read from the environment, bound to one place, never in a file."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from runtime.errors import OrionError
from runtime.keys import SERVICE, Keys
from tests.runtime.secret_service import mute_service, secret_service

KEY = "planted-0123456789-abcdef-WXYZ"
OPENAI = "api.openai.com"


def code_of(work: object) -> str:
    """The code of the OrionError that `work` raises."""
    assert callable(work)
    with pytest.raises(OrionError) as raised:
        work()
    return raised.value.code


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without a keyring: no bus."""
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/nothing")


@pytest.mark.usefixtures("no_keyring")
def test_without_a_keyring_the_environment_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys(tmp_path / "keys.yaml")
    assert keys.state("openai", OPENAI) == {"where": "none", "hint": ""}
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert keys.get("openai", OPENAI) == KEY
    assert keys.state("openai", OPENAI) == {"where": "environment", "hint": "WXYZ"}


@pytest.mark.usefixtures("no_keyring")
def test_the_short_variable_holds_only_for_the_address_the_service_is_known_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = Keys(tmp_path / "keys.yaml")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ORION_KEY_OPENAI", KEY)
    for place in ("evil.example", f"{OPENAI}:8443"):
        assert code_of(lambda place=place: keys.get("openai", place)) == "key_missing"
    assert keys.get("openai", f"http://{OPENAI}") == ""
    monkeypatch.setenv("ORION_KEY_OPENAI_OPENROUTER_AI", "another-key-of-another")
    assert keys.get("openai", "openrouter.ai") == "another-key-of-another"
    assert keys.get("openai", "http://openrouter.ai") == ""


@pytest.mark.usefixtures("no_keyring")
def test_a_missing_key_is_said_with_the_variable_that_would_hold_it(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys.yaml")
    with pytest.raises(OrionError) as missing:
        keys.get("anthropic", "api.anthropic.com")
    assert missing.value.code == "key_missing"
    assert missing.value.fields == {"provider": "Anthropic", "variable": "ANTHROPIC_API_KEY"}
    assert keys.get("ollama", "http://127.0.0.1:11434") == ""
    assert keys.get("openai", "http://127.0.0.1:1234") == ""


@pytest.mark.usefixtures("no_keyring")
def test_without_a_keyring_nothing_is_kept_and_one_sentence_names_the_way_out(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys.yaml")
    with pytest.raises(OrionError) as refused:
        keys.set("openai", OPENAI, KEY)
    assert refused.value.code == "keyring_unusable"
    assert refused.value.fields["variable"] == "OPENAI_API_KEY"
    assert KEY not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_keyring_that_writes_a_plain_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyrings.alt.file.PlaintextKeyring")
    keys = Keys(tmp_path / "keys.yaml")
    assert code_of(lambda: keys.set("openai", OPENAI, KEY)) == "keyring_unusable"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "code"), [("  ", "key_empty"), ("two words", "key_unfit"), ("schlüssel", "key_unfit")]
)
def test_what_is_no_key_is_not_kept(tmp_path: Path, key: str, code: str) -> None:
    keys = Keys(tmp_path / "keys.yaml")
    assert code_of(lambda: keys.set("openai", OPENAI, key)) == code


def test_a_key_lives_in_the_keyring_of_the_system_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with secret_service(tmp_path / "service") as env:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        keys, elsewhere = Keys(home / "keys.yaml"), Keys(home / "keys.yaml")
        keys.set("openai", OPENAI, f"  {KEY}\n")
        assert keys.get("openai", OPENAI) == elsewhere.get("openai", OPENAI) == KEY
        assert keys.state("openai", OPENAI) == {"where": "keyring", "hint": "WXYZ"}
        assert elsewhere.kept() == [("openai", OPENAI)]

        assert code_of(lambda: keys.get("openai", "openrouter.ai")) == "key_missing"
        assert code_of(lambda: keys.get("anthropic", OPENAI)) == "key_missing"

        elsewhere.set("openai", OPENAI, "changed-by-another-process")
        assert keys.get("openai", OPENAI) == "changed-by-another-process"
        monkeypatch.setenv("OPENAI_API_KEY", "of-the-environment")
        assert keys.get("openai", OPENAI) == "changed-by-another-process"

        elsewhere.remove("openai", OPENAI)
        elsewhere.remove("openai", OPENAI)
        assert keys.get("openai", OPENAI) == "of-the-environment"
        assert keys.kept() == []
    for file in home.iterdir():
        assert KEY not in file.read_text()
        assert "changed-by" not in file.read_text()


def test_people_find_the_key_under_the_program_s_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with secret_service(tmp_path) as env:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        Keys(tmp_path / "keys.yaml").set("openai", OPENAI, KEY)
        store: Any = import_module("keyring.backends.SecretService").Keyring()
        found = store.get_password(SERVICE, f"openai at {OPENAI}")
    assert found == KEY


def test_a_key_that_vanished_from_the_keyring_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with secret_service(tmp_path) as env:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        Keys(tmp_path / "keys.yaml").set("openai", OPENAI, KEY)
        store: Any = import_module("keyring.backends.SecretService").Keyring()
        store.delete_password(SERVICE, f"openai at {OPENAI}")
        keys = Keys(tmp_path / "keys.yaml")
        assert code_of(lambda: keys.get("openai", OPENAI)) == "key_missing"


@pytest.mark.usefixtures("no_keyring")
def test_a_key_whose_keyring_is_gone_is_said_so_unless_a_variable_holds_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "keys.yaml"
    index.write_text(
        f"version: 1\nkeys:\n- {{provider: openai, place: {OPENAI}, since: '2026-01-01T00:00:00Z'}}\n",
        "utf-8",
    )
    assert code_of(lambda: Keys(index).get("openai", OPENAI)) == "keyring_unusable"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert Keys(index).get("openai", OPENAI) == KEY


class Broken:
    """A keyring whose library lets a fault of its bus through."""

    viable = True
    priority = 9.0

    def get_password(self, _service: str, name: str) -> str:
        raise LookupError(name)

    set_password = delete_password = get_password


def test_a_keyring_that_breaks_down_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.keys.STORES", (f"{__name__}:Broken",))
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
    with pytest.raises(OrionError) as caught:
        Keys(tmp_path / "keys.yaml").remove("openai", OPENAI)
    assert (caught.value.code, caught.value.fields["reason"]) == ("keyring_unusable", "LookupError")


def test_nothing_shows_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    keys = Keys(tmp_path / "keys.yaml")
    keys.get("openai", OPENAI)
    assert KEY not in repr(keys)
    assert "OPENAI_API_KEY" in os.environ


WAITER = """
import sys, threading
from pathlib import Path
from runtime.errors import OrionError
from runtime.keys import Keys

keys = Keys(Path(sys.argv[1]))
def end():
    sys.stdin.readline()
    keys.close()
threading.Thread(target=end).start()
try:
    keys.set("openai", "api.openai.com", "planted-0123456789-abcdef")
except OrionError as error:
    print(error.code, error.fields["reason"])
"""


def test_closing_frees_who_waits_for_a_keyring_that_does_not_answer(tmp_path: Path) -> None:
    """In a process of its own, because the keyring's library leaves its socket to the end of the process."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", WAITER, str(tmp_path / "keys.yaml")]
    with mute_service(tmp_path / "service") as (env, asked):
        child = subprocess.Popen(
            command, cwd=root, env=os.environ | env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        asked()
        said, _errors = child.communicate("end\n", timeout=10)
    assert said == "keyring_unusable it did not answer; unlock it\n"
    assert not (tmp_path / "keys.yaml").exists()
