"""Profiles and settings: what is wrong is named by file, line and nearest valid name."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

import resources
from runtime.assemble import TOOLS
from runtime.errors import OrionError
from runtime.profiles import Profiles
from runtime.settings import Settings, load_settings, save_settings


def wrong(tmp_path: Path, text: str) -> OrionError:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(OrionError) as caught:
        Profiles(tmp_path).get("mine")
    return caught.value


GOOD = "name: mine\nprovider: local\nmodel: bundled\n"


def test_the_shipped_profiles_are_good(tmp_path: Path) -> None:
    profiles = Profiles(tmp_path)
    shipped = {"orion", "orion-claude", "orion-computer", "orion-demo", "orion-local-computer"}
    shipped |= {"orion-local", "orion-ollama"}
    assert shipped <= set(profiles.names())
    assert profiles.get("orion-computer").computer_use
    assert profiles.notices() == []
    assert profiles.get("orion-local").policy.max_iterations == 25


@pytest.mark.parametrize("name", [path.stem for path in sorted(resources.path("profiles").glob("*.yaml"))])
def test_what_a_shipped_profile_names_is_there(name: str, tmp_path: Path) -> None:
    profiles = Profiles(tmp_path)
    profile = profiles.get(name)
    assert resources.path("prompts", profile.system_prompt).exists()
    known = {tool().definition().name for tool in TOOLS}
    assert set(profile.allowed_tools) <= known
    for other in profile.fallback:
        assert profiles.get(other).provider == "local"


@pytest.mark.parametrize(
    ("name", "provider", "host"),
    [
        ("orion", "openai", "api.openai.com"),
        ("orion-claude", "anthropic", "api.anthropic.com"),
        ("orion-computer", "anthropic", "api.anthropic.com"),
        ("orion-ollama", "ollama", None),  # where OLLAMA_HOST says, else on this machine
        ("orion-local", "local", None),
    ],
)
def test_a_shipped_profile_says_who_answers_and_where(
    name: str, provider: str, host: str | None, tmp_path: Path
) -> None:
    profile = Profiles(tmp_path).get(name)
    assert profile.provider == provider
    assert urlsplit(profile.base_url).hostname == host


def test_the_profile_of_a_service_falls_back_to_this_machine(tmp_path: Path) -> None:
    for name in ("orion", "orion-claude", "orion-computer"):
        assert Profiles(tmp_path).get(name).fallback == ("orion-local",)
    assert Profiles(tmp_path).get("orion-ollama").fallback == ()


def test_a_users_profile_goes_over_a_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(GOOD.replace("mine", "orion-local") + "temperature: 0.1\n")
    assert Profiles(tmp_path).get("orion-local").temperature == 0.1


def test_an_unknown_key_names_line_and_nearest(tmp_path: Path) -> None:
    error = wrong(tmp_path, GOOD + "temprature: 0.1\n")
    assert error.code == "yaml_unknown_key"
    assert (error.fields["line"], error.fields["key"], error.fields["nearest"]) == (
        4,
        "temprature",
        "temperature",
    )


def test_an_unknown_key_inside_names_the_nearest_there(tmp_path: Path) -> None:
    error = wrong(tmp_path, GOOD + "policy:\n  stasis_mode: false\n  max_iteration: 3\n")
    assert (error.fields["line"], error.fields["key"]) == (6, "policy.max_iteration")
    assert error.fields["nearest"] == "max_iterations"


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        (GOOD + "temperature: hot\n", 4, "temperature"),
        (GOOD + "policy: {max_iterations: 0}\n", 4, "policy.max_iterations"),
        (GOOD + "allowed_tools:\n  - echo\n  - [1]\n", 6, "allowed_tools.1"),
        ("provider: local\nmodel: x\n", 1, "name"),
    ],
)
def test_a_wrong_value_names_line_and_key(tmp_path: Path, text: str, line: int, key: str) -> None:
    error = wrong(tmp_path, text)
    assert error.code == "yaml_wrong_value"
    assert (error.fields["line"], error.fields["key"]) == (line, key)


@pytest.mark.parametrize("text", ["a: [", "- 1\n- 2\n", "just words", "a: 1\na: 2\n", "\tx: 1"])
def test_broken_yaml_is_a_sentence_with_a_line(tmp_path: Path, text: str) -> None:
    error = wrong(tmp_path, text)
    assert error.code == "yaml_syntax"
    assert int(error.fields["line"]) >= 1


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(OrionError, match="yaml_unreadable"):
        Profiles(tmp_path).get("mine")


def test_a_broken_profile_does_not_spoil_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("a: [")
    profiles = Profiles(tmp_path)
    assert profiles.get("orion-local").provider == "local"
    assert [code for code, _ in profiles.notices()] == ["yaml_syntax"]


def test_an_unknown_profile_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(OrionError) as caught:
        Profiles(tmp_path).get("nobody")
    assert "orion-local" in str(caught.value.fields["known"])


# --- settings -------------------------------------------------------------------------------------------


def test_settings_default_and_are_kept_with_the_users_comments(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    assert load_settings(path) == Settings()
    path.write_text("# my own words\nappearance:\n  theme: dark # at night\n")
    changed = save_settings(path, {"agent.autonomy": "auto", "appearance.text_scale": 1.5})
    assert load_settings(path) == changed
    assert (changed.appearance.theme, changed.appearance.text_scale, changed.agent.autonomy) == (
        "dark",
        1.5,
        "auto",
    )
    assert "# my own words" in path.read_text()
    assert "# at night" in path.read_text()


def test_a_wrong_setting_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("appearance:\n  theme: dark\n")
    with pytest.raises(OrionError, match="yaml_wrong_value"):
        save_settings(path, {"appearance.theme": "pink"})
    assert path.read_text() == "appearance:\n  theme: dark\n"


def test_settings_of_a_newer_program_are_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("version: 99\nnew_thing: 1\n")
    with pytest.raises(OrionError, match="format_newer"):
        load_settings(path)
    assert path.read_text() == "version: 99\nnew_thing: 1\n"
