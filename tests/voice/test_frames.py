"""Frames carry every event and order whole, and everything else is refused as broken."""

from __future__ import annotations

import io
import json
import struct
from dataclasses import asdict, replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice import frames
from voice.config import VoiceConfig
from voice.events import (
    Devices,
    Final,
    Level,
    Partial,
    Speaking,
    Spoken,
    State,
    Trouble,
    VoiceEvent,
)
from voice.frames import BrokenFrame, configuration, encode, event_of, frame_of, order, read

EVENTS: list[VoiceEvent] = [
    Level(0.5),
    Partial("half a sent", 4),
    Final("lone \ud800 surrogate", "en", 1.5, True),
    State("interrupted", True, True),
    Speaking("**one**", "one", 0.4),
    Spoken("one", whole=False),
    Trouble("voice_none", {"language": "xx", "count": 2, "share": 0.5}),
    Devices((("a", "A"), ("b", "B")), ()),
]
ORDERS: list[dict[str, Any]] = [
    {"t": "key", "do": "press", "answer": 0},
    {"t": "say", "text": "a word", "answer": 3},
    {"t": "answer", "do": "end", "answer": 3},
    {"t": "configure", "config": VoiceConfig(hints=("Ada",)).to_json()},
]


def through(data: bytes) -> list[dict[str, Any]]:
    stream, found = io.BytesIO(data), []
    while (frame := read(stream.read)) is not None:
        found.append(frame)
    return found


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_comes_out_as_it_went_in(event: VoiceEvent) -> None:
    (frame,) = through(encode(frame_of(event)))
    assert event_of(frame) == event


def test_every_event_is_tried() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(VoiceEvent))


@pytest.mark.parametrize("frame", ORDERS)
def test_an_order_comes_out_as_it_went_in(frame: dict[str, Any]) -> None:
    (found,) = through(encode(frame))
    assert order(found) == frame


def test_a_configuration_comes_out_as_it_went_in() -> None:
    config = replace(VoiceConfig(), microphone="usb", rate=2, hands_free=True, hints=("Ada", "Grace"))
    (found,) = through(encode({"t": "configure", "config": config.to_json()}))
    assert configuration(order(found)) == config


def test_there_are_at_most_ten_kinds_and_each_has_its_place_in_the_prose() -> None:
    assert len(frames.RANKS) <= 10
    assert all(f"`{kind}`" in (frames.__doc__ or "") for kind in frames.RANKS)


@pytest.mark.parametrize(
    "frame",
    [
        {"t": "key", "do": "hold", "answer": 0},
        {"t": "key", "do": "press"},
        {"t": "key", "do": "press", "answer": "0"},
        {"t": "key", "do": "press", "answer": True},
        {"t": "key", "do": "press", "answer": 0, "more": 1},
        {"t": "say", "text": None, "answer": 0},
        {"t": "told", "type": "state", "event": {}},
        {"t": "configure", "config": []},
    ],
)
def test_an_order_that_is_none_is_broken(frame: dict[str, Any]) -> None:
    with pytest.raises(BrokenFrame):
        order(frame)


@pytest.mark.parametrize(
    "config", [{"rate": "fast"}, {"hands_free": 1}, {"hints": "Ada"}, {"hints": [1]}, {"threads": 1.5}]
)
def test_a_configuration_of_other_types_is_broken(config: dict[str, Any]) -> None:
    with pytest.raises(BrokenFrame):
        configuration({"t": "configure", "config": config})


@pytest.mark.parametrize(
    "frame",
    [
        {"t": "told", "type": "state", "event": {"state": "asleep", "on": False, "open": False}},
        {"t": "told", "type": "state", "event": {"state": "idle"}},
        {"t": "told", "type": ["state"], "event": {}},
        {"t": "meter", "type": "final", "event": asdict(Final("x"))},
        {"t": "told", "type": "devices", "event": {"microphones": [["a"]], "loudspeakers": []}},
        {"t": "trouble", "type": "trouble", "event": {"code": "x", "fields": {"a": [1]}}},
        {"t": "beat"},
    ],
)
def test_an_event_that_is_none_is_broken(frame: dict[str, Any]) -> None:
    with pytest.raises(BrokenFrame):
        event_of(frame)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">I", 0),
        struct.pack(">I", frames.LIMIT + 1) + b"x",
        struct.pack(">I", 2) + b"[]",
        struct.pack(">I", 4) + b"\xff\xfe{}",
        struct.pack(">I", 20) + b'{"t":"unknown kind"} ',
        struct.pack(">I", 9) + b'{"t":[1]}',
        struct.pack(">I", 100_000) + b"[" * 100_000,
    ],
)
def test_bytes_that_are_no_frame_are_broken(data: bytes) -> None:
    with pytest.raises(BrokenFrame):
        through(data)


@given(st.binary(max_size=200))
def test_noise_is_broken_or_ends(data: bytes) -> None:
    try:
        through(data)
    except BrokenFrame:
        return


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda c: st.lists(c) | st.dictionaries(st.text(), c),
        max_leaves=8,
    ),
    st.sampled_from(sorted(frames.RANKS)),
)
def test_any_json_is_an_order_or_an_event_or_broken(value: Any, kind: str) -> None:
    for name in ("do", "text", "answer", "config", "event", "type"):
        frame = json.loads(json.dumps({"t": kind, name: value}))
        for reading in (order, event_of):
            try:
                reading(frame)
            except BrokenFrame:
                continue


def test_a_stream_that_ends_in_the_middle_is_over() -> None:
    data = encode(ORDERS[0])
    assert [through(data[:count]) for count in (0, 2, len(data) - 1)] == [[], [], []]
