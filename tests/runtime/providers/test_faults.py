"""Faults: what a status and a service's words mean, how long to wait, whose fault a failed call is."""

from __future__ import annotations

import pytest

from runtime.errors import OrionError
from runtime.providers import faults
from runtime.providers.connection import HostRefused


@pytest.mark.parametrize(
    ("status", "problem", "code"),
    [
        (400, "Your credit balance is too low", "quota_spent"),
        (400, "prompt is too long: 210000 tokens", "context_too_long"),
        (400, "stopped by content_filter", "request_refused"),
        (400, "unknown parameter", "request_rejected"),
        (401, "invalid key", "key_rejected"),
        (402, "pay first", "quota_spent"),
        (403, "no permission", "key_rejected"),
        (403, "Your input was flagged by moderation", "request_refused"),
        (404, "no such model", "model_not_offered"),
        (408, "too slow", "provider_unavailable"),
        (413, "too large", "context_too_long"),
        (429, "slow down", "rate_limited"),
        (429, "You exceeded your current quota", "quota_spent"),
        (529, "overloaded", "provider_unavailable"),
    ],
)
def test_a_status_with_its_words_becomes_one_sentence(status: int, problem: str, code: str) -> None:
    error = faults.refused("openai", "m", status, problem)
    assert (error.code, error.fields["problem"]) == (code, problem)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "-7"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Mon, 01 Jan 0001 00:00:00 -0000"}, 0.0),
        ({}, None),
    ],
)
def test_the_time_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert faults.retry_after(headers) == seconds
    found = faults.refused("openai", "m", 429, "", headers).fields.get("retry_after")
    assert found == seconds


def test_what_the_program_itself_refused_is_found_under_the_errors_of_clients() -> None:
    unwritable = OrionError("file_unwritable", path="p", reason="full")
    wrapped = RuntimeError("connection failed")
    wrapped.__cause__ = ValueError("inner")
    wrapped.__cause__.__context__ = unwritable
    assert faults.of_the_house(wrapped, "openai") is unwritable
    wrapped.__cause__.__context__ = HostRefused("api.example")
    refused = faults.of_the_house(wrapped, "openai")
    assert refused is not None
    assert (refused.code, refused.fields["host"]) == ("host_not_allowed", "api.example")
    assert faults.of_the_house(ValueError(), "openai") is None


def test_a_circle_of_causes_ends() -> None:
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert faults.causes(one) == [one, two]
