"""The data of the house behind one accessor: other rooms ask here for a file and never build its path."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any


@cache
def folder() -> Path:
    """Where the data lies: beside this file, or inside the unpacked bundle of a frozen program."""
    bundle = getattr(sys, "_MEIPASS", None)
    return Path(bundle) / "resources" if bundle else Path(__file__).resolve().parent


def path(*parts: str) -> Path:
    """The path of a data file, which need not exist; parts are folder and file names below resources/."""
    return folder().joinpath(*parts)


def weights_dir() -> Path:
    """Where the bundled model files lie; read-only for the program, filled by the installer."""
    return path("weights")


def recogniser_dir() -> Path:
    """The folder of the bundled speech recogniser, English, in the form faster-whisper reads."""
    return weights_dir() / "whisper-tiny.en"


@cache
def text(name: str) -> str:
    """The text of the UTF-8 file `name`, for example "prompts/system.md"; OSError if it is not there."""
    return path(name).read_text(encoding="utf-8")


@cache
def yaml(name: str) -> Any:
    """The parsed YAML file `name`; every caller gets the same object and must not change it."""
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(text(name))
