"""Pictures reach the model through a real projector file, as positions that later turns find again."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from models.errors import EngineError
from models.generation import GenerateRequest, LoadOptions
from models.pictures import MARK, free_of_marks, name_marks, split
from models.worker_client import LocalEngine
from tests.models.conversation import answer, ask, play, said, user
from tests.models.projector_file import POSITIONS, projector


def png(red: int, side: int = 32) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes((red, 40, 90)) * side) * side
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.fixture
def seeing(weights: Path, tmp_path: Path) -> LoadOptions:
    eye = projector(tmp_path / "mmproj-tiny.gguf")
    return LoadOptions(str(weights), threads=1, window=512, projector=str(eye))


def look(options: LoadOptions, words: str, *pictures: bytes) -> GenerateRequest:
    shown = [base64.b64encode(picture).decode() for picture in pictures]
    return replace(ask(options, user(words), most=6), pictures=shown)


def test_a_picture_is_evaluated_and_found_again_in_the_next_turn(seeing: LoadOptions) -> None:
    async def scene(engine: LocalEngine) -> None:
        words = f"What is on this picture? {MARK} Tell me."
        blind = await answer(engine, look(seeing, words))
        first = await answer(engine, look(seeing, words, png(200)))
        assert engine.info is not None
        assert engine.info.sees
        asked = first.finished.usage.prompt_tokens
        assert asked >= blind.finished.usage.prompt_tokens + POSITIONS - 2

        request = look(seeing, words, png(200))
        longer = [*request.messages, said("assistant", first.text), said("user", "And now?")]
        second = await answer(engine, replace(request, messages=longer))
        assert second.finished.usage.cached_tokens >= asked

        other = await answer(engine, look(seeing, words, png(10)))
        assert other.finished.usage.cached_tokens < asked - POSITIONS
        again = await answer(engine, look(seeing, words, png(200)))
        assert again.text == first.text

    play(scene)


def test_several_pictures_keep_their_order_and_text_is_no_picture(seeing: LoadOptions) -> None:
    async def scene(engine: LocalEngine) -> None:
        one = await answer(engine, look(seeing, f"{MARK} and {MARK}", png(1), png(2)))
        two = await answer(engine, look(seeing, f"{MARK} and {MARK}", png(2), png(1)))
        assert two.finished.usage.prompt_tokens == one.finished.usage.prompt_tokens
        assert two.finished.usage.cached_tokens < one.finished.usage.prompt_tokens - 2 * POSITIONS
        same = await answer(engine, look(seeing, f"{MARK} and {MARK}", png(3), png(3)))
        assert same.finished.usage.prompt_tokens == one.finished.usage.prompt_tokens

    play(scene)


def test_what_cannot_be_seen_is_said(weights: Path, seeing: LoadOptions, tmp_path: Path) -> None:
    wide = projector(tmp_path / "mmproj-wide.gguf", embedding=128)

    async def scene(engine: LocalEngine) -> None:
        cases = [
            (replace(seeing, projector=""), png(1), "model_sees_no_pictures"),
            (replace(seeing, projector=str(wide)), png(1), "projector_unusable"),
            (replace(seeing, projector=str(weights)), png(1), "projector_unusable"),
            (seeing, b"no picture at all", "picture_unreadable"),
            (seeing, png(1)[:60], "picture_unreadable"),
        ]
        for options, picture, code in cases:
            with pytest.raises(EngineError) as caught:
                await answer(engine, look(options, MARK, picture))
            assert caught.value.code == code
        assert (await answer(engine, look(seeing, MARK, png(1)))).finished.usage.prompt_tokens

    play(scene)


def test_marks_are_named_by_their_pictures_and_cannot_be_forged() -> None:
    named = name_marks(f"a{MARK}b{MARK}c", [b"one"])
    pieces = split(named.encode())
    assert [piece for piece, _ in pieces] == [b"a", b"bc"]
    assert len(pieces[0][1]) == 64
    assert pieces[1][1] == ""
    assert MARK not in free_of_marks(f"a{MARK}b")
    assert name_marks("nothing", [b"one"]) == "nothing"
