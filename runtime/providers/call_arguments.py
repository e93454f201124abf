"""Reads the arguments of a call as a model wrote them, and says to the model what is wrong with them."""

from __future__ import annotations

import json

from runtime.messages import JsonObject


def read_arguments(text: str, *, whole: bool = True) -> tuple[JsonObject, str]:
    """The arguments of a call, and what is wrong with them in words for the model; `whole` is false where
    the reply was broken off."""
    if not whole:
        return {}, "the reply ended before the call was complete"
    try:
        found = json.loads(text or "{}", parse_constant=_no_number)
    except OverflowError:
        return {}, "a number is not finite"
    except (ValueError, RecursionError):
        return {}, "they are no JSON"
    return (found, "") if isinstance(found, dict) else ({}, "they are no JSON object")


def _no_number(_name: str) -> float:
    raise OverflowError
