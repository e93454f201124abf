"""Which cards there are, and how many layers of a model they take."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from models.bindings import Library
from models.footprint import kv_bytes_per_token
from models.generation import LoadOptions
from models.gguf import Header, read_header
from models.graphics import Card, beyond, cards, layers, usable
from models.worker_client import LocalEngine
from tests.models.conversation import answer, ask, play, user

GB = 1 << 30


@pytest.fixture
def header(weights: Path) -> Header:
    return read_header(weights)


def test_all_layers_go_to_a_large_card_and_a_part_to_a_small_one(header: Header) -> None:
    blocks = header.number("block_count")
    assert layers(header, 4096, -1, (Card("large", 8 * GB),)) == blocks + 1
    each = header.tensor_bytes // (blocks + 1) + 4096 * kv_bytes_per_token(header) // blocks
    small = Card("small", int((300 * (1 << 20) + 10.5 * each) / 0.9))
    assert layers(header, 4096, -1, (small,)) == 10
    assert layers(header, 4096, -1, (Card("full", GB // 10),)) == 0


def test_what_is_asked_counts_and_nothing_goes_to_no_card(header: Header) -> None:
    card = (Card("card", 8 * GB),)
    assert layers(header, 4096, 3, card) == 3
    assert layers(header, 4096, 0, card) == 0
    assert layers(header, 4096, 9999, card) == header.number("block_count") + 1
    assert layers(header, 4096, 9999, ()) == 0
    assert usable((Card("a", 10), Card("b", 20))) == 27
    assert beyond((Card("a", 10), Card("b", 20, shared=True))) == 9


def test_cards_are_read_from_the_library() -> None:
    """A library in which device 1 of 3 is a card; the numbers are those of ggml-backend.h."""

    def memory(device: int, free: Any, total: Any) -> None:
        free._obj.value, total._obj.value = 5 * GB, 6 * GB

    class Function:
        def __init__(self, run: Any) -> None:
            self._run = run
            self.restype: Any = ctypes.c_int
            self.argtypes: list[Any] = []

        def __call__(self, *given: Any) -> Any:
            assert len(given) == len(self.argtypes)
            return self._run(*given)

    native = SimpleNamespace(
        ggml_backend_dev_count=Function(lambda: 3),
        ggml_backend_dev_get=Function(lambda at: at),
        ggml_backend_dev_type=Function(lambda device: (0, 1, 3)[device]),
        ggml_backend_dev_description=Function(lambda device: b"A card"),
        ggml_backend_dev_memory=Function(memory),
    )
    api = SimpleNamespace(_lib=native, llama_supports_gpu_offload=lambda: True)
    assert [(card.name, card.free) for card in cards(api)] == [("A card", 5 * GB)]
    api.llama_supports_gpu_offload = lambda: False
    assert cards(api) == ()


def test_the_functions_of_the_real_library_are_found() -> None:
    api = SimpleNamespace(_lib=Library().api._lib, llama_supports_gpu_offload=lambda: True)
    assert all(card.free >= 0 for card in cards(api))


def test_batch_and_layers_can_be_named(weights: Path) -> None:
    async def scene(engine: LocalEngine) -> None:
        plain = LoadOptions(str(weights), threads=1, window=512)
        first = await answer(engine, ask(plain, user("Count to three. " * 20), most=6))
        other = LoadOptions(str(weights), threads=1, window=512, gpu_layers=0, batch=32)
        second = await answer(engine, ask(other, user("Count to three. " * 20), most=6))
        assert engine.info is not None
        assert engine.info.gpu_layers == 0
        assert first.text == second.text
        assert len(second.events) > len(first.events)

    play(scene)
