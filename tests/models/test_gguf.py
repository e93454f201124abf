"""GGUF headers are read; broken, foreign and absurd files are refused with a reason."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import EngineError
from models.fit import choose, predict
from models.footprint import kv_bytes_per_token
from models.gguf import read_header
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
