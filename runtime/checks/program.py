"""Checks of the program's own data: home, disk, settings, profiles, workspace and the stored sessions."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from resources.sentences import sentence
from resources.translation import _
from runtime.checks.check import Check
from runtime.errors import OrionError
from runtime.paths import Home

_LOW_DISK = 1_000_000_000
_NO_DISK = 50_000_000
_NAMED = 5


def home(home: Home) -> Check:
    """The place of the user's data can be written."""
    return _writable(
        "home", home.root, _("Give yourself the right to write there, or set ORION_HOME elsewhere.")
    )


def workspace(home: Home) -> Check:
    """The folder the agent works in can be written."""
    mend = _("Give yourself the right to write there, or set ORION_WORKSPACE_PATH elsewhere.")
    return _writable("workspace", home.workspace, mend)


def disk(home: Home) -> Check:
    """There is room for what the user says and what the agent writes."""
    place = next(path for path in (home.root, *home.root.parents) if path.exists())
    free = shutil.disk_usage(place).free
    what = _("{free} GB free at {place}").format(free=f"{free / 1e9:.1f}", place=place)
    if free < _LOW_DISK:
        return Check("disk", "fail" if free < _NO_DISK else "warn", what, _("Make room on that disk."))
    return Check("disk", "ok", what)


def settings(home: Home) -> Check:
    """The settings file can be read."""
    from runtime.settings import load_settings

    if not home.settings_file.exists():
        return Check("settings", "ok", _("no file yet, the defaults hold"))
    try:
        load_settings(home.settings_file)
    except OrionError as error:
        mend = _("Correct that line, or delete the file to have the defaults again.")
        return Check("settings", "fail", sentence(error.code, **error.fields), mend)
    return Check("settings", "ok", str(home.settings_file))


def profiles(home: Home) -> Iterator[Check]:
    """Every profile can be read; each one that cannot is named with file and line."""
    from runtime.profiles import Profiles

    found = Profiles(home.profiles)
    if names := found.names():
        yield Check("profiles", "ok", ", ".join(names))
    else:
        yield Check("profiles", "fail", _("there is no usable profile"), _("Install the program again."))
    for code, fields in found.notices():
        yield Check("profiles", "warn", sentence(code, **fields), _("Correct that line, or delete the file."))


def sessions(home: Home) -> Iterator[Check]:
    """Every stored session can be read; damaged ones are named. Nothing is changed."""
    from runtime.journal import parse

    good = 0
    damaged: list[tuple[str, str]] = []
    for path in sorted(home.sessions.glob("*.jsonl")):
        try:
            _length, _records, bad = parse(path.read_bytes(), path)
        except OrionError as error:
            damaged.append((path.name, sentence(error.code, **error.fields)))
        except OSError as error:
            damaged.append(
                (path.name, _("{file} cannot be read: {reason}.").format(file=path, reason=error.strerror))
            )
        else:
            if bad:
                lines = ", ".join(str(number) for number, _line in bad[:_NAMED])
                damaged.append(
                    (path.name, _("{file} has bad records in line {lines}.").format(file=path, lines=lines))
                )
            else:
                good += 1
    yield Check("sessions", "ok", _("{count} can be read").format(count=good))
    mend = _("The good part opens; bad records are kept beside the journal. Nothing needs to be done.")
    for _name, what in damaged:
        yield Check("sessions", "warn", what, mend)


def _writable(name: str, folder: Path, mend: str) -> Check:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"orion")
            trial.flush()
    except OSError as error:
        what = _("{place} cannot be written: {reason}").format(place=folder, reason=error.strerror)
        return Check(name, "fail", what, mend)
    return Check(name, "ok", str(folder))
