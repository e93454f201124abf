"""Secrets do not survive redaction; ordinary text does."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.redaction import HIDDEN, Redactor, conceal, plainly

SECRET = "Zx9" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1"
HOME = Path("/home/somebody")


@pytest.mark.parametrize(
    "text",
    [
        f"key sk-{SECRET} here",
        f"sk-ant-api03-{SECRET}-{SECRET}",
        f"ghp_{SECRET}",
        f"github_pat_{SECRET}",
        f"hf_{SECRET}",
        f"gsk_{SECRET}",
        f"AIza{SECRET}xyz",
        f"xoxb-12-{SECRET}",
        f"Authorization: Bearer {SECRET}",
        f'{{"authorization": "Basic {SECRET}"}}',
        f"'x-api-key': '{SECRET}'",
        f"OPENAI_API_KEY={SECRET}",
        f"password = {SECRET}",
        f'"access_token": "{SECRET}"',
        f"https://me:{SECRET}@example.org/path",
        f"eyJhbGciOi{SECRET}.{SECRET}.{SECRET}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET} and no end",
        f"Cookie: session={SECRET}; other={SECRET}",
    ],
)
def test_secrets_go(text: str) -> None:
    found = Redactor(HOME).text(text)
    assert SECRET not in found
    assert HIDDEN in found


@pytest.mark.parametrize(
    "text",
    [
        "The key to success",
        "tokens_per_second 12",
        "sk- is short",
        "max_tokens: 1024",
        "see https://example.org/a",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor(HOME).text(text) == text


def test_the_home_path_does_not_name_the_user() -> None:
    redactor = Redactor(HOME)
    assert redactor.text("/home/somebody/notes/a.md") == "~/notes/a.md"
    assert redactor.text("/home/somebody2/a") == "/home/somebody2/a"


def test_secrets_in_data_go_by_the_name_of_their_place() -> None:
    data = {
        "api_key": "plainvalue",
        "inner": [{"password": "pw"}],
        "max_tokens": 5,
        "token": "",
        "key": "theme",
    }
    assert Redactor(HOME).data(data) == {
        "api_key": HIDDEN,
        "inner": [{"password": HIDDEN}],
        "max_tokens": 5,
        "token": "",
        "key": "theme",
    }


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_data_stays_serialisable(value: object) -> None:
    json.dumps(Redactor(HOME).data(value))


def test_what_was_concealed_goes_whatever_its_shape() -> None:
    odd = 'hunter2/"of+all'
    assert Redactor(HOME).text(f"key={odd}") != f"key={HIDDEN}"
    conceal(odd)
    conceal("brief")
    for text in (odd, f"a{odd}b", f"?key={quote_plus(odd)}", json.dumps([odd]), "x" * 16_380 + odd):
        assert "hunter2" not in Redactor(HOME).text(text)
        assert "of+al" not in Redactor(HOME).text(text)
    assert Redactor(HOME).text("a brief word") == "a brief word"
    assert Redactor(HOME).data({"said": [odd]}) == {"said": [HIDDEN]}


def test_an_error_that_nobody_expected_is_said_without_secrets() -> None:
    conceal("planted-key-of-odd-shape")
    error = ValueError("Illegal header value b'Bearer planted-key-of-odd-shape'")
    assert plainly(error) == f"ValueError: Illegal header value b'Bearer {HIDDEN}'"


def test_a_huge_text_is_cut() -> None:
    assert len(Redactor(HOME).text("a" * 1_000_000)) < 20_000
