"""GGUF headers are read; broken, foreign and absurd files are refused with a reason."""

from __future__ import annotations

import contextlib
import os
import struct
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import EngineError
from models.fit import choose, predict
from models.footprint import kv_bytes_per_token, of_header
from models.gguf import read_header
from models.library import inspect
from tests.models import gguf_file

ONE_ENTRY = gguf_file.header({}, counts=(0, 1))


def refused(path: Path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        read_header(path)
    assert caught.value.fields["path"] == str(path)
    return caught.value


def test_a_whole_file_tells_its_facts(tmp_path: Path) -> None:
    header = read_header(gguf_file.whole(tmp_path / "tiny.gguf"))
    assert (header.architecture, header.name, header.context_length) == ("llama", "Tiny", 4096)
    assert header.chat_template == "{{ messages }}"
    assert header.metadata["tokenizer.ggml.tokens"] == 3
    assert list(header.metadata["tokenizer.ggml.token_type"]) == [1, 1, 3]
    assert (header.tensors, header.tensor_bytes) == (2, 512 + 36)
    assert header.quantisation == "F32"
    assert kv_bytes_per_token(header) == 2 * 2 * 2 * (16 + 16)


def test_the_bundled_model_tells_its_facts(weights: Path) -> None:
    header = read_header(weights)
    assert (header.architecture, header.context_length, header.quantisation) == ("llama", 8192, "Q4_1")
    assert "im_start" in header.chat_template
    assert header.tensor_bytes < header.size


def test_every_truncation_of_a_small_file_is_noticed(tmp_path: Path) -> None:
    data = gguf_file.whole(tmp_path / "whole.gguf").read_bytes()
    path = tmp_path / "cut.gguf"
    for length in [*range(0, len(data), 7), len(data) - 1]:
        path.write_bytes(data[:length])
        error = refused(path)
        assert error.code == ("model_file_truncated" if length >= 24 else "model_file_not_gguf")
        if error.code == "model_file_truncated":
            assert int(error.fields["expected"]) > int(error.fields["size"]) == length


def test_a_truncated_real_model_is_noticed(weights: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    with weights.open("rb") as whole:
        path.write_bytes(whole.read(10 << 20))
    error = refused(path)
    assert error.code == "model_file_truncated"
    assert error.fields["expected"] == weights.stat().st_size


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GG",
        b"PK\3\4" + b"\0" * 100,
        b"GGUF" + struct.pack(">IQQ", 3, 0, 0) + b"\0" * 100,
        gguf_file.header(version=1),
        gguf_file.header(counts=(1 << 60, 1)),
        gguf_file.header(counts=(0, 1 << 60)),
        ONE_ENTRY + struct.pack("<Q", 1 << 62) + b"\0" * 100,
        ONE_ENTRY + gguf_file.text("k") + struct.pack("<I", 77) + b"\0" * 100,
        gguf_file.header({}, counts=(0, 1))
        + gguf_file.text("k")
        + struct.pack("<IIQ", 9, 9, 1)
        + b"\0" * 100,
        gguf_file.header({"general.alignment": 0}),
        gguf_file.header({}, (gguf_file.tensor("t", (1,) * 9, 0, 0),)),
    ],
)
def test_what_is_no_gguf_is_refused_with_a_reason(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    error = refused(path)
    assert error.code == "model_file_not_gguf"
    assert error.fields["reason"]


@pytest.mark.parametrize(
    "data",
    [
        ONE_ENTRY + gguf_file.text("k") + struct.pack("<IIQ", 9, 4, 1 << 60),
        ONE_ENTRY + gguf_file.text("k") + struct.pack("<IIQ", 9, 8, 1 << 60),
        gguf_file.header({}, (gguf_file.tensor("t", (1 << 60, 1 << 60), 0, 0),)),
        gguf_file.header({}, (gguf_file.tensor("t", (4,), 0, 1 << 63),)),
    ],
)
def test_a_header_that_promises_more_than_there_is_names_sizes(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    assert refused(path).code == "model_file_truncated"


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    assert refused(tmp_path / "nothing.gguf").code == "model_file_missing"
    assert refused(tmp_path).code in ("model_file_missing", "model_file_not_gguf")


def test_a_header_without_end_costs_neither_memory_nor_time(tmp_path: Path) -> None:
    """The files have holes, so that they take nothing on the disk."""
    list_of_numbers = gguf_file.text("k") + struct.pack("<IIQ", 9, 0, 3 << 30)
    texts = gguf_file.text("k") + struct.pack("<IIQ", 9, 8, 400_000_000)
    heads = (
        ONE_ENTRY + list_of_numbers,
        ONE_ENTRY + texts,
        gguf_file.header({}, counts=(100_001, 1)),
        gguf_file.header({}, (gguf_file.tensor("t", (1 << 60, 1 << 60), 999, 0),)),
    )
    for number, head in enumerate(heads):
        path = tmp_path / f"{number}.gguf"
        path.write_bytes(head)
        os.truncate(path, 4 << 30)
        begin = time.process_time()
        tracemalloc.start()
        assert refused(path).code == "model_file_not_gguf"
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 300 << 20
        assert time.process_time() - begin < 20


def test_measures_that_are_none_do_not_get_through(tmp_path: Path) -> None:
    metadata = {
        **gguf_file.METADATA,
        "llama.attention.head_count_kv": "many",
        "tokenizer.ggml.tokens": "a text",
        "general.name": [1, 2],
    }
    data = gguf_file.whole(tmp_path / "x.gguf", metadata).read_bytes()
    key = gguf_file.text("llama.context_length") + struct.pack("<I", 4)
    for number in ("inf", "nan", "-5"):
        odd = gguf_file.text("llama.context_length") + struct.pack("<If", 6, float(number))
        path = tmp_path / f"{number}.gguf"
        path.write_bytes(data.replace(key + struct.pack("<I", 4096), odd))
        header = read_header(path)
        assert (header.context_length, header.name) == (0, number)
        assert of_header(header).vocabulary == 0
        assert inspect(path).error in ("", "model_file_other")


@given(st.data())
def test_no_damage_to_the_header_gets_past_with_anything_but_an_engine_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = gguf_file.whole(tmp_path_factory.mktemp("gguf") / "x.gguf")
    bytes_ = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        bytes_[data.draw(st.integers(0, len(bytes_) - 550))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes_)
    with contextlib.suppress(EngineError):
        predict(read_header(path), 512)


def test_the_window_is_chosen_by_wish_training_cap_and_memory(tmp_path: Path) -> None:
    header = read_header(gguf_file.whole(tmp_path / "tiny.gguf"))
    plenty = 1 << 40
    assert choose(header, 0, 8192, plenty).window == 4096
    assert choose(header, 0, 2048, plenty).window == 2048
    assert choose(header, 1024, 512, plenty).window == 1024
    assert choose(header, 9999, 8192, plenty).window == 4096
    tight = predict(header, 2500)
    fit = choose(header, 0, 8192, tight)
    assert fit.window == 2304
    assert fit.predicted <= tight
    with pytest.raises(EngineError) as caught:
        choose(header, 4096, 8192, tight)
    assert caught.value.code == "model_too_large"
    assert caught.value.fields["suggested_window"] == 2304
    with pytest.raises(EngineError) as caught:
        choose(header, 0, 8192, 1 << 20)
    assert caught.value.fields["suggested_window"] == 0
