"""Derives a model's tool-call format from its chat template alone, by comparing what it renders."""

from __future__ import annotations

import json
from dataclasses import replace

from models.generation import JsonObject
from models.toolformat import probe
from models.toolformat.calls import Written, read_calls
from models.toolformat.described import described
from models.toolformat.format import ToolFormat
from models.toolformat.frame import Frame
from models.toolformat.probe import FIELDS, FIRST, IDS, KEYS, SECOND, VALUES, Prober, Refused

THINKING: JsonObject = {"enable_thinking": True, "thinking": True}
"""Variables by which templates are told to let the model think."""

_TYPED: JsonObject = {
    "integer": 7,
    "boolean": True,
    "object": {"grape": "Onyx"},
    "array": ["Onyx"],
    "null": None,
}


def derive(source: str, *, bos: str = "", eos: str = "", seconds: float = 1.0) -> ToolFormat:
    """The format of the template `source`. Never fails: `fault` names why a template cannot be used.

    Runs the template some dozen times, each bounded in time and output; takes milliseconds as a rule. The
    template is foreign code: call this where models run. The result may be kept by a hash of the three texts.
    """
    if not source.strip():
        return ToolFormat(fault="the file has no chat template")
    prober = Prober(source, bos, eos, seconds, extra=dict(THINKING))
    try:
        prompt = prober.turn(None)
        plain = prober.turn({"content": probe.REPLY})
    except Refused as error:
        return ToolFormat(fault=str(error))
    known = ToolFormat(shows_tools=_shows_tools(prober))
    written = _written(prober)
    frame = Frame(source, prompt, plain, written.one if written else "", *_thinking(prober))
    known = frame.around(known)
    if written is not None and "<|channel|>" in written.one and "to=functions." in written.one:
        several = SECOND in written.two
        return replace(known, syntax="channels", parallel=several, arguments_as=written.arguments_as)
    if written is not None:
        known = read_calls(known, written)
        if known.call_open and known.header.endswith(known.call_open):
            known = frame.around(known, known.header.removesuffix(known.call_open))
    if known.syntax == "none" and known.shows_tools:
        known = described(known, source)
    return known


def _shows_tools(prober: Prober) -> bool:
    try:
        return probe.FIRST in prober.render([{"role": "user", "content": probe.USER}])
    except Refused:
        return False


def _written(prober: Prober) -> Written | None:
    """How the template writes calls, or None if it writes none that hold the name and the arguments."""
    prefixed = (f"functions.{FIRST}:0", f"functions.{SECOND}:1")
    for as_text in (False, True):
        for content, ids in (("", IDS), (None, IDS), ("", prefixed)):
            written = _rendered(prober, as_text, content, ids)
            if written is not None:
                return written
    return None


def _rendered(prober: Prober, as_text: bool, content: str | None, ids: tuple[str, ...]) -> Written | None:
    def turn(*arguments: JsonObject) -> str:
        calls = [
            probe.call(name, json.dumps(values) if as_text else values, identity)
            for name, values, identity in zip((FIRST, SECOND), arguments, ids, strict=False)
        ]
        try:
            return prober.turn({"content": content, "tool_calls": calls})
        except Refused:
            return ""

    one = turn({KEYS[0]: VALUES[0]})
    quoted = json.dumps(json.dumps({KEYS[0]: VALUES[0]}))
    python_like = f"{{'{KEYS[0]}'" in one
    if any(word not in one for word in (FIRST, KEYS[0], VALUES[0])) or quoted in one or python_like:
        return None
    return Written(
        one=one,
        two=turn({KEYS[0]: VALUES[0]}, {KEYS[0]: VALUES[1]}),
        pair=turn({KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]}),
        typed={kind: turn({KEYS[0]: VALUES[0], KEYS[1]: value}) for kind, value in _TYPED.items()},
        arguments_as="text" if as_text else "object",
        id_is_name=ids is not IDS,
    )


def _thinking(prober: Prober) -> tuple[str, str]:
    """A turn with reasoning, and the field it was taken from; empty if the template shows none."""
    for name in FIELDS:
        try:
            text = prober.turn({"content": probe.REPLY, name: probe.THOUGHT})
        except Refused:
            continue
        if probe.THOUGHT in text and probe.REPLY in text:
            return text, name
    return "", ""
