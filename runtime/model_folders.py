"""Where model files lie on this machine: the program's own folders, those the user named, other programs'."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import resources
from runtime.paths import Home
from runtime.profiles import Notice

if TYPE_CHECKING:
    from models.library import Library


def notices(home: Home) -> list[Notice]:
    """Code and fields of what keeps the list of files that are used where they lie from being read."""
    from models.errors import EngineError
    from models.references import References

    try:
        References(home.models_file).check()
    except EngineError as error:
        return [(error.code, error.fields)]
    return []


def library(home: Home, folders: Callable[[], Iterable[str]]) -> Library:
    """The model files that can be used; `folders` gives those of the settings as they are now."""
    from models.foreign import stores
    from models.library import Library
    from models.references import References

    return Library(
        (resources.weights_dir(), home.weights),
        more=lambda: [Path(folder).expanduser() for folder in folders()],
        imported=References(home.models_file).paths,
        stores=stores(),
        cache=home.cache / "headers.json",
    )
