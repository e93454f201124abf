"""What went wrong at a service, said as one of the house's errors; shared by all clients of services."""

from __future__ import annotations

import math
from collections.abc import Mapping

from runtime.errors import OrionError
from runtime.providers.connection import HostRefused
from runtime.redaction import Redactor

PROBLEM_LENGTH = 200

_SPENT = ("insufficient_quota", "billing", "credit balance", "quota exceeded", "exceeded your current quota")
_LONG = (
    "context_length_exceeded",
    "maximum context length",
    "context length",
    "context window",
    "prompt is too long",
    "too many tokens",
    "exceeds the available context",
    "input length",
)
_FLAGGED = ("flagged", "moderation", "content_filter", "content policy")
_REFUSED = ("content_filter", "content_policy", "content policy", "safety", "moderation")


def refused(
    provider: str,
    model: str,
    status: int,
    problem: str,
    headers: Mapping[str, str] | None = None,
    kind: str = "",
) -> OrionError:
    """The error for an HTTP status of 400 or more, or for an error event inside a stream (give the status it
    stands for). `problem` is what the service said, `kind` its own name for the error.

    `rate_limited` and `provider_unavailable` carry `retry_after` in seconds where the service named it.
    """
    said = f"{kind} {problem}".lower()
    shown = _shown(problem) or f"HTTP {status}"
    fields: dict[str, str | int | float] = {"provider": provider, "model": model, "problem": shown}
    fields["status"] = status
    if (seconds := retry_after(headers or {})) is not None:
        fields["retry_after"] = seconds
    return OrionError(_code(status, said), fault="provider", **fields)


def _code(status: int, said: str) -> str:
    if status == 402 or (status in (400, 403, 429) and any(word in said for word in _SPENT)):
        return "quota_spent"
    if status == 403 and any(word in said for word in _FLAGGED):
        return "request_refused"
    if status in (401, 403):
        return "key_rejected"
    if status == 429:
        return "rate_limited"
    if status == 408 or status >= 500:
        return "provider_unavailable"
    if status == 413 or any(word in said for word in _LONG):
        return "context_too_long"
    if any(word in said for word in _REFUSED):
        return "request_refused"
    if status == 404:
        return "model_not_offered"
    return "request_rejected"


def unreachable(host: str, problem: str) -> OrionError:
    """No connection to `host`, or it was cut before a reply began."""
    return OrionError("provider_unreachable", fault="provider", host=host, problem=_shown(problem))


def silent(provider: str, seconds: float) -> OrionError:
    """Nothing came for `seconds`."""
    return OrionError("provider_timeout", fault="provider", provider=provider, seconds=round(seconds))


def cut_short(provider: str, model: str) -> OrionError:
    """The stream ended, or its connection broke, before the reply was whole."""
    return OrionError("reply_cut_short", fault="provider", provider=provider, model=model)


def malformed(provider: str, problem: str) -> OrionError:
    """What came is not in the form the service documents."""
    return OrionError("reply_malformed", fault="provider", provider=provider, problem=_shown(problem))


def causes(error: BaseException) -> list[BaseException]:
    """`error` and what it came from, outermost first."""
    found = [error]
    while (cause := found[-1].__cause__ or found[-1].__context__) is not None and cause not in found:
        found.append(cause)
    return found


def of_the_house(error: BaseException, provider: str) -> OrionError | None:
    """What this program itself had against the call, such as a host that was not allowed or a ledger that
    cannot be written; None where the fault lies elsewhere. Clients wrap both in errors of their own."""
    for cause in causes(error):
        if isinstance(cause, OrionError):
            return cause
        if isinstance(cause, HostRefused):
            return OrionError("host_not_allowed", fault="user", host=cause.host, provider=provider)
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the service asks to wait (RFC 9110 10.2.3: seconds or a date; some write `retry-after-ms`);
    None where it does not say. Names of `headers` are in lower case or match any."""
    if (text := headers.get("retry-after-ms")) is not None and (found := _number(text, 1000)) is not None:
        return found
    if (text := headers.get("retry-after")) is None:
        return None
    found = _number(text, 1)
    return found if found is not None else _until(text)


def _shown(problem: str) -> str:
    """On one line, without secrets, and not long."""
    return Redactor().text(" ".join(problem.split()))[:PROBLEM_LENGTH]


def _number(text: str, part: int) -> float | None:
    try:
        found = float(text) / part
    except ValueError:
        return None
    return max(0.0, found) if math.isfinite(found) else None


def _until(text: str) -> float | None:
    import time
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
