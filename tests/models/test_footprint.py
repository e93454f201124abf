"""What of a file's header counts for its memory and for the bytes that one token goes through."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.footprint import Shape, kv_bytes_per_token, memory, of_header, of_shape, twice
from models.gguf import Header, read_header
from tests.models.gguf_file import METADATA, header, tensor


@pytest.fixture
def bundled(weights: Path) -> Header:
    return read_header(weights)


def written(path: Path, extra: dict[str, Any], *tensors: tuple[str, tuple[int, ...]]) -> Header:
    """The header of a file with F32 tensors of those names and sides."""
    rows, offset = [], 0
    for name, sides in tensors:
        rows.append(tensor(name, sides, 0, offset))
        size = 4
        for side in sides:
            size *= side
        offset += size
    data = header(METADATA | extra, tuple(rows))
    path.write_bytes(data + b"\0" * (-len(data) % 32 + offset))
    return read_header(path)


def test_the_table_of_tokens_is_read_only_where_it_is_the_output_too(bundled: Header, tmp_path: Path) -> None:
    assert set(bundled.table) == {"Q8_0"}
    assert not bundled.output
    reads = of_header(bundled).reads
    assert reads["Q8_0"] == bundled.matrices.get("Q8_0", 0) + bundled.table["Q8_0"]
    tied = written(tmp_path / "a.gguf", {}, ("token_embd.weight", (64, 100)), ("blk.0.a.weight", (64, 8)))
    assert of_header(tied).reads == {"F32": 4 * 64 * 108}
    own = written(
        tmp_path / "b.gguf",
        {},
        ("token_embd.weight", (64, 100)),
        ("output.weight", (64, 104)),
        ("per_layer_token_embd.weight", (64, 800)),
    )
    assert of_header(own).reads == {"F32": 4 * 64 * 104}


def test_of_experts_only_those_that_are_asked_are_read(tmp_path: Path) -> None:
    rows = (("blk.0.ffn_up_exps.weight", (64, 128, 8)), ("blk.0.attn_q.weight", (64, 64)))
    extra = {"llama.expert_count": 8, "llama.expert_used_count": 2}
    found = written(tmp_path / "moe.gguf", extra, *rows)
    assert found.experts == {"F32": 4 * 64 * 128 * 8}
    assert of_header(found).reads == {"F32": 4 * (64 * 128 * 2 + 64 * 64)}
    silent = written(tmp_path / "silent.gguf", {}, *rows)
    assert of_header(silent).reads == {"F32": 4 * (64 * 128 * 8 + 64 * 64)}


def test_layers_without_keys_and_values_keep_none(bundled: Header) -> None:
    def with_(**extra: Any) -> Header:
        return replace(
            bundled,
            metadata=bundled.metadata | {f"llama.{k.replace('__', '.')}": v for k, v in extra.items()},
        )

    each = kv_bytes_per_token(bundled) // 30
    assert kv_bytes_per_token(with_(full_attention_interval=3)) == 10 * each
    assert kv_bytes_per_token(with_(attention__shared_kv_layers=20)) == 10 * each
    heads = array("i", [3] * 6 + [0] * 24)
    assert kv_bytes_per_token(with_(attention__head_count_kv=heads)) == 6 * each
    recurrent = with_(full_attention_interval=3, ssm__inner_size=512, ssm__state_size=16, ssm__conv_kernel=4)
    assert of_header(recurrent).state == 4 * 20 * 512 * (16 + 3)
    assert of_header(bundled).state == 0


def test_a_projector_and_a_state_take_memory_too(bundled: Header) -> None:
    load = of_header(bundled)
    assert memory(of_header(bundled, beside=1000), 2048) == memory(load, 2048) + 1000
    assert memory(replace(load, state=500), 2048) == memory(load, 2048) + 500


def test_a_shape_tells_what_is_read_and_laid_out_anew() -> None:
    shape = Shape(32, 4096, 14336, 32, 8, 128, 128256)
    load = of_shape(shape, 4_920_000_000, "Q4_K_M", 131072)
    table = int(128256 * 4096 * 4.5 / 8)
    assert sum(load.reads.values()) == pytest.approx(4_920_000_000 - table, rel=1e-6)
    assert load.kept == 2 * 2 * 32 * 8 * 128
    assert 0.6 < twice(load.matrices, "x86_64") / load.weights < 0.7
    assert twice(load.matrices, "aarch64") > twice(load.matrices, "x86_64")
    some = of_shape(shape, 4_920_000_000, "Q4_K_M", 131072, share=0.1)
    assert sum(some.reads.values()) == pytest.approx(sum(load.reads.values()) / 10, rel=1e-6)
    assert some.weights == load.weights
    tied = of_shape(replace(shape, tied=True), 4_920_000_000, "Q8_0", 131072)
    assert tied.reads == {"Q8_0": 4_920_000_000}
    assert replace(shape, attending=4).kept == load.kept // 8
