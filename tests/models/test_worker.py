"""The worker's own protocol: acknowledgements, order, cancels that overtake, a wire of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from models.frames import Frame, encode, read_blocking
from models.generation import GenerateRequest, LoadOptions
from tests.models.conversation import FAKE, user

REQUEST = GenerateRequest(LoadOptions("any.gguf"), "s", user("Hello"), max_tokens=50).as_frame()


@contextmanager
def worker(mode: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """(where to write, where to read) of a fake worker that has said hello."""
    process = subprocess.Popen(
        (*FAKE, mode), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, process.stdout as told, process.stdin as asked:
        assert (read_blocking(told.read) or {})["t"] == "hello"
        yield asked, told
        asked.close()
        assert process.wait(timeout=10) == 0


def until_result(told: IO[bytes], ident: int) -> list[Frame]:
    """Frames up to the last one of request `ident`, heartbeats left out."""
    frames: list[Frame] = []
    while not frames or (frames[-1]["t"] not in ("result", "error") or frames[-1]["id"] != ident):
        frame = read_blocking(told.read)
        assert frame is not None
        if frame["t"] != "beat":
            frames.append(frame)
    return frames


def send(asked: IO[bytes], *frames: Frame) -> None:
    for frame in frames:
        asked.write(encode(frame))
    asked.flush()


def test_requests_are_acknowledged_at_once_and_answered_in_order() -> None:
    with worker("plain") as (asked, told):
        send(asked, *(REQUEST | {"id": ident} for ident in (1, 2, 3)))
        frames = until_result(told, 3)
        assert [frame["id"] for frame in frames if frame["t"] == "ack"] == [1, 2, 3]
        assert [frame["id"] for frame in frames if frame["t"] == "result"] == [1, 2, 3]
        assert sum(frame["t"] == "loaded" for frame in frames) == 1
        text = "".join(frame["text"] for frame in frames if frame["t"] == "text" and frame["id"] == 2)
        assert text == "Hello world!"


def test_a_cancel_overtakes_and_can_come_before_its_turn() -> None:
    with worker("endless") as (asked, told):
        endless = REQUEST | {"max_tokens": 10**9}
        send(asked, endless | {"id": 1}, endless | {"id": 2}, {"t": "cancel", "id": 2})
        send(asked, {"t": "cancel", "id": 1}, REQUEST | {"id": 3})
        results = {frame["id"]: frame["stop"] for frame in until_result(told, 3) if frame["t"] == "result"}
        assert results == {1: "cancelled", 2: "cancelled", 3: "length"}


def test_a_late_cancel_hurts_nobody() -> None:
    with worker("plain") as (asked, told):
        send(asked, REQUEST | {"id": 1})
        until_result(told, 1)
        send(asked, {"t": "cancel", "id": 1}, REQUEST | {"id": 2})
        assert until_result(told, 2)[-1]["stop"] == "stop"


def test_an_unknown_request_is_an_error_and_the_next_is_answered() -> None:
    with worker("plain") as (asked, told):
        send(asked, {"t": "sing", "id": 1}, REQUEST | {"id": 2})
        frames = until_result(told, 2)
        assert [frame["id"] for frame in frames if frame["t"] == "error"] == [1]


def test_words_of_a_native_library_stay_off_the_wire() -> None:
    with worker("noisy") as (asked, told):
        send(asked, REQUEST | {"id": 1})
        assert until_result(told, 1)[-1]["stop"] == "stop"
