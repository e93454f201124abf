"""A report to send with a question: versions, settings, checks, the last log lines; no secrets."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
from collections.abc import Iterable

from runtime import logs
from runtime.checks.check import Check
from runtime.errors import OrionError
from runtime.paths import Home
from runtime.redaction import Redactor

_PACKAGES = ("llama-cpp-python", "PySide6-Essentials", "pydantic", "typer", "numpy", "psutil")
_LOG_LINES = 60


def version() -> str:
    """The program's own version, "unknown" when it was not installed."""
    return _version_of("orion-desktop")


def report(home: Home, checks: Iterable[Check] = ()) -> str:
    """The report as plain text. It holds no key, password or conversation, and the user's folder is "~".

    Reads files of `home`; a part that cannot be read says so instead of failing.
    """
    redactor = Redactor()
    parts = [
        ("Orion Desktop", _versions()),
        ("Home", [f"{home.root}", f"workspace {home.workspace}"]),
        ("Settings", _settings(home, redactor)),
        ("Network", _network(home)),
        ("Checks", [_line(check) for check in checks]),
        (f"Last {_LOG_LINES} log lines", logs.last_lines(home.logs, _LOG_LINES)),
    ]
    return (
        "\n\n".join(_section(title, [redactor.text(line) for line in lines]) for title, lines in parts) + "\n"
    )


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"== {title}", *(lines or ["(nothing)"])])


def _versions() -> list[str]:
    frozen = " (built)" if getattr(sys, "frozen", False) else ""
    return [
        f"version {version()}{frozen}",
        f"{platform.python_implementation()} {platform.python_version()}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
        *(f"{name} {_version_of(name)}" for name in _PACKAGES),
    ]


def _version_of(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _settings(home: Home, redactor: Redactor) -> list[str]:
    from runtime.settings import load_settings

    try:
        settings = load_settings(home.settings_file)
    except OrionError as error:
        return [f"unreadable: {error}"]
    return json.dumps(redactor.data(settings.model_dump(mode="json")), indent=1).splitlines()


def _network(home: Home) -> list[str]:
    """Hosts and counts only; empty while nothing was reached."""
    from runtime.checks.network import totals

    return totals(home)


def _line(check: Check) -> str:
    return f"{check.status:<4}  {check.name}: {check.what}"
