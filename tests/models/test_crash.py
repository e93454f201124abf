"""A dead worker's status and last words become the right error, and every code has its sentence."""

from __future__ import annotations

import pytest

from models.crash import cause_of_death
from models.errors import CODES
from resources.sentences import known


@pytest.mark.parametrize(
    ("status", "words", "for_memory", "code", "detail"),
    [
        (-9, b"", False, "worker_killed", ""),
        (-9, b"", True, "worker_out_of_memory", "the system ended it"),
        (-15, b"", False, "worker_killed", ""),
        (-11, b"loading\nlast line\n", False, "worker_crashed", "last line"),
        (-6, b"GGML_ASSERT(x) failed\nat frame 1\n", False, "worker_crashed", "GGML_ASSERT(x) failed"),
        (-6, b"terminate called: std::bad_alloc\n", False, "worker_out_of_memory", "std::bad_alloc"),
        (1, b"Traceback\nMemoryError\n", False, "worker_out_of_memory", "MemoryError"),
        (3, b"\xff\xfe", False, "worker_crashed", "\ufffd"),
        (0xC0000005, b"", False, "worker_crashed", ""),
    ],
)
def test_causes(status: int, words: bytes, for_memory: bool, code: str, detail: str) -> None:
    error = cause_of_death(status, words, "m", killed_for_memory=for_memory)
    assert error.code == code
    assert error.fields["model"] == "m"
    assert detail in str(error)


def test_every_code_has_a_sentence() -> None:
    assert set(CODES) <= set(known())
