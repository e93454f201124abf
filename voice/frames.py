"""The wire between a door and the voice child: each frame is a length in four bytes, big-endian, then one
JSON object whose "t" is its kind.

There are nine kinds in three ranks. *System* frames go at once, overtake and are never dropped: `key`
(press, release, cancel, hush), `trouble`, `beat` (the child lives). *Data* frames are dropped when speech is
interrupted or a pipe is full: `say` (a chunk of the answer), `meter` (level, partial). *Control* frames keep
their order: `answer` (expect, end), `configure`, `ready` (the child is configured), `told` (state, final,
speaking, spoken, devices).
"""

from __future__ import annotations

import json
import struct
import types
from collections.abc import Callable
from dataclasses import asdict, fields
from enum import IntEnum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from voice.config import VoiceConfig
from voice.events import VoiceEvent

Frame = dict[str, Any]

LIMIT = 16 * 1024 * 1024
"""No frame is longer; a longer announcement means that the stream is not ours."""

HEAD = struct.Struct(">I")


class Rank(IntEnum):
    """How a frame travels; a smaller one overtakes."""

    SYSTEM = 0
    DATA = 1
    CONTROL = 2


RANKS = {
    "key": Rank.SYSTEM,
    "trouble": Rank.SYSTEM,
    "beat": Rank.SYSTEM,
    "say": Rank.DATA,
    "meter": Rank.DATA,
    "answer": Rank.CONTROL,
    "configure": Rank.CONTROL,
    "ready": Rank.CONTROL,
    "told": Rank.CONTROL,
}
"""The rank of every kind."""

Touch = Literal["press", "release", "cancel", "hush"]
Edge = Literal["expect", "end"]

_ORDERS: dict[str, dict[str, Any]] = {
    "key": {"do": Touch, "answer": int},
    "say": {"text": str, "answer": int},
    "answer": {"do": Edge, "answer": int},
    "configure": {"config": dict},
}
"""What a door sends, and the types of the fields."""

_EVENTS: dict[str, type[VoiceEvent]] = {kind.__name__.lower(): kind for kind in get_args(VoiceEvent)}
_KINDS = {"level": "meter", "partial": "meter", "trouble": "trouble"}


class BrokenFrame(ValueError):
    """The bytes on the pipe are no frame of this protocol; the stream cannot be read any further."""


def encode(frame: Frame) -> bytes:
    """The bytes of `frame`; ASCII escapes keep lone surrogates whole."""
    body = json.dumps(frame, separators=(",", ":")).encode("ascii")
    return HEAD.pack(len(body)) + body


def length(head: bytes) -> int:
    """The length that the four bytes announce. BrokenFrame when it cannot be ours."""
    (count,) = HEAD.unpack(head)
    if not 2 <= count <= LIMIT:
        raise BrokenFrame(f"a frame of {count} bytes is not ours")
    return int(count)


def parsed(body: bytes) -> Frame:
    """The frame in `body`. BrokenFrame when it is none."""
    try:
        frame = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BrokenFrame(f"a frame is not JSON: {error}") from error
    kind = frame.get("t") if isinstance(frame, dict) else None
    if not isinstance(kind, str) or kind not in RANKS:
        raise BrokenFrame("a frame is a JSON object of a known kind")
    return dict(frame)


def read(take: Callable[[int], bytes]) -> Frame | None:
    """The next frame from `take(count)`, which blocks and returns fewer bytes only at the end; None there.
    BrokenFrame when there is something else."""
    head = take(HEAD.size)
    if len(head) < HEAD.size:
        return None
    count = length(head)
    body = take(count)
    return parsed(body) if len(body) == count else None


def order(frame: Frame) -> Frame:
    """`frame` again, when it is one that a door may send, with fields of the right types. BrokenFrame."""
    shape = _ORDERS.get(frame["t"])
    if shape is None or frame.keys() != shape.keys() | {"t"}:
        raise BrokenFrame(f"a frame of kind {frame['t']} with these fields is not sent this way")
    for name, kind in shape.items():
        if not _fits(frame[name], kind):
            raise BrokenFrame(f"{name} of a frame of kind {frame['t']} cannot be {frame[name]!r:.100}")
    return frame


def configuration(frame: Frame) -> VoiceConfig:
    """The configuration in a frame of kind `configure`. BrokenFrame when a value has a wrong type."""
    given, hints = dict(frame["config"]), get_type_hints(VoiceConfig)
    for name, value in given.items():
        if name in hints and not _fits(value, hints[name]):
            raise BrokenFrame(f"{name} of the configuration cannot be {value!r:.100}")
    return VoiceConfig.from_json(given)


def frame_of(event: VoiceEvent) -> Frame:
    """The frame that carries `event`."""
    name = type(event).__name__.lower()
    return {"t": _KINDS.get(name, "told"), "type": name, "event": asdict(event)}


def event_of(frame: Frame) -> VoiceEvent:
    """The event in a frame of kind meter, trouble or told. BrokenFrame when it holds none."""
    name = frame.get("type")
    kind, given = _EVENTS.get(name) if isinstance(name, str) else None, frame.get("event")
    if kind is None or not isinstance(given, dict) or _KINDS.get(str(name), "told") != frame["t"]:
        raise BrokenFrame(f"a frame of kind {frame['t']} holds no event")
    hints = get_type_hints(kind)
    if given.keys() != {field.name for field in fields(kind)}:
        raise BrokenFrame(f"the fields of {name} are others")
    for field_name, value in given.items():
        if not _fits(value, hints[field_name]):
            raise BrokenFrame(f"{field_name} of {name} cannot be {value!r:.100}")
    return kind(**{field_name: _tuples(value) for field_name, value in given.items()})


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _fits(value: Any, kind: Any) -> bool:
    """Whether the JSON `value` is of the type `kind`; a list stands for a tuple."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return value in inner if isinstance(value, str) else False
    if origin in (Union, types.UnionType):
        return any(_fits(value, choice) for choice in inner)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(item, inner[1]) for item in value.values())
    if origin is tuple:
        if not isinstance(value, list):
            return False
        if inner[-1] is Ellipsis:
            return all(_fits(item, inner[0]) for item in value)
        return len(value) == len(inner) and all(map(_fits, value, inner))
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)
