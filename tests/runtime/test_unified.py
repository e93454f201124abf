"""A diff is readable, bounded and honest."""

from __future__ import annotations

import os

from runtime.unified import MAX_SHOWN, unified


def test_ends_of_files_are_told() -> None:
    assert unified("a", b"one\ntwo", b"one\ntwo\n").splitlines()[2:] == [
        "@@ -1,2 +1,2 @@",
        " one",
        "-two",
        "\\ No newline at end of file",
        "+two",
    ]
    assert unified("a", None, b"x\n").startswith("--- /dev/null\n+++ b/a\n")
    assert unified("a", b"x\n", None).startswith("--- a/a\n+++ /dev/null\n")
    assert unified("b", None, None, source="a") == "rename from a\nrename to b\n"


def test_what_is_no_text_is_described_by_its_size() -> None:
    assert unified("a", b"\0" * 10, None).endswith("binary, 10 bytes -> no file\n")
    assert unified("a", b"caf\xe9", b"ok").endswith("text, 4 bytes -> text, 2 bytes\n")
    assert unified("a", b"x\n" * 5_000, b"").endswith("text, 10000 bytes -> text, 0 bytes\n")


def test_a_large_diff_is_cut_and_says_so() -> None:
    lines = "".join(f"{os.urandom(20).hex()}\n" for _ in range(3_000)).encode()
    shown = unified("a", None, lines)
    assert len(shown) < MAX_SHOWN + 100
    assert shown.rstrip().endswith("more lines")
    assert "… (9001 characters)" in unified("a", None, b"x" * 9_000 + b"\n")
