"""Services: where they are, to what a key is bound, and in which variables it is looked for."""

from __future__ import annotations

import pytest

from runtime.errors import OrionError
from runtime.services import address, needs_key, place, talks, variables


def test_each_service_has_its_own_address_unless_a_profile_names_another() -> None:
    assert address("openai") == "https://api.openai.com/v1"
    assert address("anthropic") == "https://api.anthropic.com"
    assert address("ollama") == "http://127.0.0.1:11434"
    assert address("openai", " http://127.0.0.1:1234/v1/ ") == "http://127.0.0.1:1234/v1"
    assert address("another", "https://llm.example") == "https://llm.example"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:1234", "http://127.0.0.1:1234"),
        (":1234", "http://127.0.0.1:1234"),
        ("[::]:77", "http://127.0.0.1:77"),
        ("box", "http://box:11434"),
        ("http://box:99", "http://box:99"),
        ("https://ollama.com", "https://ollama.com"),
        ("https://box:8443/under/", "https://box:8443/under"),
    ],
)
def test_ollama_is_where_its_own_variable_says(
    said: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", said)
    assert address("ollama") == found
    assert address("ollama", "http://other") == "http://other"


@pytest.mark.parametrize(
    "said", ["", "openai", "ftp://x", "https://", "https://me:secret@x", "https://x:port"]
)
def test_what_is_no_address_is_refused_without_showing_a_password(said: str) -> None:
    with pytest.raises(OrionError) as refused:
        address("another", said)
    assert refused.value.code == "address_invalid"
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("said", "bound"),
    [
        ("https://API.openai.com/v1", "api.openai.com"),
        ("https://api.openai.com:443", "api.openai.com"),
        ("https://api.openai.com:8443", "api.openai.com:8443"),
        ("http://api.openai.com/v1", "http://api.openai.com"),
        ("http://127.0.0.1:1234/v1", "http://127.0.0.1:1234"),
        ("http://[::1]:80/", "http://[::1]"),
    ],
)
def test_a_key_is_bound_to_host_port_and_scheme(said: str, bound: str) -> None:
    assert place(said) == bound


def test_variables_of_other_places_name_the_place() -> None:
    assert variables("openai", "api.openai.com") == ["OPENAI_API_KEY", "ORION_KEY_OPENAI"]
    assert variables("ollama", "ollama.com") == ["OLLAMA_API_KEY", "ORION_KEY_OLLAMA"]
    assert variables("openai", "openrouter.ai") == ["ORION_KEY_OPENAI_OPENROUTER_AI"]
    assert variables("openai", "my-gate.example:8443") == ["ORION_KEY_OPENAI_MY__GATE_EXAMPLE_8443"]
    assert variables("another", "llm.example") == ["ORION_KEY_ANOTHER"]


def test_a_key_is_needed_where_there_is_https() -> None:
    assert needs_key("openai", "api.openai.com")
    assert needs_key("openai", "openrouter.ai")
    assert not needs_key("openai", "http://127.0.0.1:1234")
    assert not needs_key("ollama", "http://127.0.0.1:11434")
    assert needs_key("ollama", "ollama.com")
    assert not needs_key("openai", "localhost:8443")


def test_the_hub_is_where_its_own_variable_says_and_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert address("huggingface") == "https://huggingface.co"
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert address("huggingface") == "https://mirror.example"
    assert address("huggingface", "http://127.0.0.1:9") == "http://127.0.0.1:9"
    assert not needs_key("huggingface", "huggingface.co")
    assert talks("openai")
    assert not talks("huggingface")


def test_the_token_of_the_hub_is_for_the_hub_alone() -> None:
    assert variables("huggingface", "huggingface.co") == ["HF_TOKEN", "ORION_KEY_HUGGINGFACE"]
    assert variables("huggingface", "mirror.example") == ["ORION_KEY_HUGGINGFACE_MIRROR_EXAMPLE"]
