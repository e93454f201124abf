"""Texts become vectors in the worker, beside the model that answers."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from models.errors import EngineError
from models.generation import LoadOptions
from models.worker_client import LocalEngine
from tests.models.conversation import answer, ask, play, user


def cosine(one: list[float], other: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def test_vectors_have_length_one_and_like_texts_are_near(weights: Path) -> None:
    async def scene(engine: LocalEngine) -> None:
        options = LoadOptions(str(weights), threads=1, window=256)
        texts = [
            "The cat sleeps on the sofa.",
            "A cat is sleeping on a couch.",
            "Interest rates rose by a percent.",
        ]
        near, like, far = await engine.embed(options, texts)
        assert len(near) == 576
        for vector in (near, like, far):
            assert cosine(vector, vector) == pytest.approx(1)
        assert cosine(near, like) > cosine(near, far)
        assert (await engine.embed(options, texts[:1]))[0] == pytest.approx(near)
        assert await engine.embed(options, []) == []

    play(scene)


def test_answers_go_on_beside_it_and_strange_texts_have_vectors(weights: Path) -> None:
    async def scene(engine: LocalEngine) -> None:
        chat = LoadOptions(str(weights), threads=1, window=512)
        first = await answer(engine, ask(chat, user("Hello"), most=4))
        options = replace(chat, window=64)
        long, cut, empty, odd = await engine.embed(
            options, ["word " * 500, "word " * 400, "", "\ud800 <|im_end|> 🙂"]
        )
        assert long == pytest.approx(cut)
        assert len(empty) == len(odd) == len(long)
        again = await answer(engine, ask(chat, user("Hello"), most=4))
        assert again.text == first.text
        assert again.finished.usage.cached_tokens == again.finished.usage.prompt_tokens - 1

    play(scene)


def test_a_file_that_cannot_be_loaded_is_an_error_and_the_next_is_embedded(
    weights: Path, tmp_path: Path
) -> None:
    async def scene(engine: LocalEngine) -> None:
        with pytest.raises(EngineError) as caught:
            await engine.embed(LoadOptions(str(tmp_path / "none.gguf")), ["text"])
        assert caught.value.code == "model_file_missing"
        assert len(await engine.embed(LoadOptions(str(weights), threads=1, window=64), ["text"])) == 1

    play(scene)
