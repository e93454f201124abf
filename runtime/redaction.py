"""Takes secrets and the user's name for their own folder out of text that is meant to be kept or shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

HIDDEN = "[redacted]"
SHORTEST = 8
_LONGEST = 16_384

_SECRET_NAME = re.compile(
    r"(?i)(?:^|[_\-.])(?:(?:api|access|secret|private)[_-]?key|token|secret|password|passwd|passphrase|credentials?|authorization|cookie)$"
)
_KEY_SHAPES = re.compile(
    r"""(?x)
    \b(?:sk|pk|rk)[-_][A-Za-z0-9_\-]{12,}  # OpenAI, Anthropic, Stripe and more
    | \bgh[pousr]_[A-Za-z0-9]{16,} | \bgithub_pat_[A-Za-z0-9_]{16,}
    | \bglpat-[A-Za-z0-9_\-]{16,}
    | \bxox[abeoprs]-[A-Za-z0-9\-]{8,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[A-Za-z0-9_\-]{30,}
    | \b(?:hf|gsk|xai|r8|pypi|npm)[-_][A-Za-z0-9_\-]{16,}
    | \beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*   # JSON web tokens
    """
)
_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|x-api-key|api-key|x-goog-api-key|cookie|set-cookie)(\"?'?\s*[:=]\s*\"?'?)[^\r\n\"']+"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=\-]{8,}")
_ASSIGNED = re.compile(
    r"(?i)\b([a-z0-9_\-]{0,40}(?:api[_-]?key|access[_-]?key|token|secret|password|passwd))(\"?'?\s{0,4}[:=]\s{0,4}\"?'?)[^\s\"',;&]{4,}"
)
_ADDRESS = re.compile(r"\b([a-z][a-z0-9+.\-]{1,20}://)[^/\s@:]{0,256}:[^/\s@]{1,256}@", re.IGNORECASE)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.DOTALL
)


_concealed: tuple[str, ...] = ()


def conceal(secret: str) -> None:
    """From now on every Redactor of this process hides `secret`, whatever its shape. What has fewer than
    SHORTEST characters is left alone: it guards nothing, and its letters stand in other words.

    The secret is kept in memory only. Usable from any thread.
    """
    global _concealed
    if len(secret) < SHORTEST or secret in _concealed:
        return
    forms = {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
    _concealed = tuple(sorted({*_concealed, *forms}, key=len, reverse=True))


def plainly(error: BaseException) -> str:
    """The kind of an error that nobody expected and what it says, without secrets."""
    return Redactor().text(f"{type(error).__name__}: {error}")


class Redactor:
    """Redacts text and nested plain data. `home` is the folder whose path names the user; it becomes "~"."""

    def __init__(self, home: Path | None = None) -> None:
        place = str(home or Path.home())
        self._home = re.compile(re.escape(place) + r"(?![\w.\-])") if len(place) > 1 else None

    def text(self, text: str) -> str:
        """`text` without keys, tokens, passwords, the home path and what was concealed; at most 16 KB."""
        for secret in _concealed:  # before the cut, which could leave half of one
            text = text.replace(secret, HIDDEN)
        if len(text) > _LONGEST:
            text = text[:_LONGEST] + f"… ({len(text) - _LONGEST} more characters)"
        text = _PRIVATE_KEY.sub(HIDDEN, text)
        text = _HEADER.sub(rf"\1\2{HIDDEN}", text)
        text = _BEARER.sub(rf"\1 {HIDDEN}", text)
        text = _KEY_SHAPES.sub(HIDDEN, text)
        text = _ASSIGNED.sub(rf"\1\2{HIDDEN}", text)
        text = _ADDRESS.sub(rf"\1{HIDDEN}@", text)
        return self._home.sub("~", text) if self._home else text

    def data(self, value: object, name: str = "") -> object:
        """`value` with every string redacted and every value under a secret's name hidden."""
        if (
            name
            and value not in ("", None)
            and _SECRET_NAME.search(name)
            and not isinstance(value, (bool, int, float))
        ):
            return HIDDEN
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.data(inner, str(key)) for key, inner in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self.data(inner) for inner in value]
        return value if isinstance(value, (bool, int, float, type(None))) else self.text(str(value))
