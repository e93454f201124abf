"""The discipline of answering with JSON of a given form and the right values."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

from runtime.exam.asking import Answer, Question, said
from runtime.exam.tasks import Paper, data, single

MOST = 120

_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL | re.IGNORECASE)


def paper() -> Paper:
    """The tasks of resources/exam/json.yaml."""
    found = data("json")
    return Paper(
        tuple(
            single(
                Question("json", (said(f"{found['ask']}\n{entry['form']}\n\n{entry['text']}"),), MOST),
                partial(right, entry["value"]),
            )
            for entry in found["tasks"]
        ),
        found["pass"],
    )


def right(wanted: Any, answer: Answer) -> bool:
    """Whether the answer is JSON, alone or in one fenced block, with exactly this value."""
    fenced = _FENCED.fullmatch(answer.text)
    try:
        value = json.loads(fenced[1] if fenced else answer.text)
    except (ValueError, RecursionError):
        return False
    return alike(value, wanted)


def alike(value: Any, wanted: Any) -> bool:
    """Whether two values are the same in JSON, in which 1 and 1.0 are and 1 and true are not."""
    if isinstance(wanted, dict):
        return (
            isinstance(value, dict)
            and value.keys() == wanted.keys()
            and all(alike(value[key], each) for key, each in wanted.items())
        )
    if isinstance(wanted, list):
        return (
            isinstance(value, list)
            and len(value) == len(wanted)
            and all(alike(one, other) for one, other in zip(value, wanted, strict=True))
        )
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    if isinstance(wanted, str):
        return isinstance(value, str) and value.strip() == wanted
    return bool(value == wanted)
