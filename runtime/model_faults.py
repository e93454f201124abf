"""Lets the blocking parts of models/ work beside the loop, and says their faults as the runtime does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from models.errors import EngineError
from runtime.errors import OrionError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_THEIRS = ("hub_", "download_")


@contextmanager
def translated() -> Iterator[None]:
    """An EngineError inside becomes an OrionError of the same code; what the hub does is its own fault."""
    try:
        yield
    except EngineError as error:
        raise as_orion(error) from error


def as_orion(error: EngineError) -> OrionError:
    """The same fault, said as the runtime says it."""
    theirs = error.code.startswith(_THEIRS)
    return OrionError(error.code, fault="provider" if theirs else "user", **error.fields)


async def beside(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """What the blocking `function` returns, computed in a thread. Raises OrionError for its EngineError; a
    cancelled caller does not wait for the thread."""
    with translated():
        return await asyncio.to_thread(function, *args, **kwargs)
