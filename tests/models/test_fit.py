"""What a model is said to need, the window that is chosen for it, and what is suggested where none fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from models.errors import EngineError
from models.fit import SMALLEST, STEP, choose, largest_fitting, predict
from models.footprint import kv_bytes_per_token, twice
from models.gguf import Header, read_header
from models.library import inspect
from tests.models.gguf_file import METADATA, whole

MB = 1 << 20


@pytest.fixture
def header(weights: Path) -> Header:
    return read_header(weights)


def test_a_longer_window_needs_its_keys_values_and_scores(header: Header) -> None:
    assert kv_bytes_per_token(header) == 2 * 2 * 30 * 3 * 64
    grown = predict(header, 4096) - predict(header, 2048)
    assert grown == 2048 * (kv_bytes_per_token(header) + 4 * 128 * (1 + 9))
    assert 150 * MB < predict(header, 2048) < 230 * MB


def test_weights_in_another_order_stand_in_memory_twice(header: Header) -> None:
    quarter = replace(header, matrices={"Q4_K": 100, "Q6_K": 10, "F32": 1})
    assert twice(quarter.matrices, "x86_64") == 100
    assert twice(quarter.matrices, "arm64") == 110
    assert predict(quarter, 512) - predict(header, 512) == twice(quarter.matrices) - twice(header.matrices)


def test_the_window_is_shortened_to_what_fits_but_not_to_uselessness(header: Header) -> None:
    whole_window = choose(header, 0, 8192, predict(header, 8192))
    assert whole_window.window == 8192
    shorter = choose(header, 0, 8192, predict(header, 5000))
    assert shorter.window == 5000 // STEP * STEP
    assert shorter.predicted <= predict(header, 5000)
    with pytest.raises(EngineError) as caught:
        choose(header, 0, 8192, predict(header, 1100))
    assert caught.value.code == "model_too_large"
    assert caught.value.fields["suggested_window"] == 1024
    assert choose(header, 0, 1024, predict(header, 1100)).window == 1024


def test_a_window_that_was_asked_for_is_taken_or_refused(header: Header) -> None:
    assert choose(header, 4096, 512, predict(header, 4096)).window == 4096
    with pytest.raises(EngineError) as caught:
        choose(header, 4096, 512, predict(header, 4096) - MB)
    assert caught.value.fields["window"] == 4096
    assert SMALLEST <= int(caught.value.fields["suggested_window"]) < 4096


def test_nothing_is_suggested_where_nothing_fits(header: Header) -> None:
    with pytest.raises(EngineError) as caught:
        choose(header, 0, 8192, 60 * MB)
    assert caught.value.fields["suggested_window"] == 0


def test_the_largest_model_that_fits_is_suggested(weights: Path, tmp_path: Path) -> None:
    small = inspect(whole(tmp_path / "small.gguf"))
    newer = inspect(whole(tmp_path / "newer.gguf", METADATA | {"llama.feed_forward_length": 256}))
    bundled = inspect(weights)
    room = predict(read_header(weights), 2048)
    files = [small, bundled, newer]
    assert largest_fitting(files, room, 8192) is bundled
    assert largest_fitting(files, room // 2, 8192) is max((small, newer), key=lambda file: file.size)
    assert largest_fitting(files, MB, 8192) is None
