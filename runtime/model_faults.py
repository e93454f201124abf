"""Lets the blocking parts of models/ work beside the loop, and says their faults as the runtime does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from models.errors import EngineError
from runtime.errors import Field, OrionError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_THEIRS = ("hub_", "download_corrupt", "download_name_refused", "download_unverified")


@contextmanager
def translated() -> Iterator[None]:
    """An EngineError inside becomes an OrionError of the same code; what the hub does is its own fault."""
    try:
        yield
    except EngineError as error:
        raise as_orion(error) from error


def as_orion(error: EngineError) -> OrionError:
    """The same fault, said as the runtime says it."""
    return failed(error.code, error.fields)


def failed(code: str, fields: Mapping[str, Field]) -> OrionError:
    """The error that `code` and `fields` of a row tell of."""
    return OrionError(code, fault="provider" if code.startswith(_THEIRS) else "user", **fields)


async def beside(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """What the blocking `function` returns, computed in a thread. Raises OrionError for its EngineError; a
    cancelled caller does not wait for the thread."""
    with translated():
        return await asyncio.to_thread(function, *args, **kwargs)
