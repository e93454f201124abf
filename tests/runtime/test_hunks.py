"""Any choice of hunks is exact to the byte."""

from __future__ import annotations

import random
import time

import pytest

from runtime.hunks import MAX_BYTES, form_of, merge, split

ENDS = (b"\n", b"\r\n", b"\r")


def lines(count: int, end: bytes = b"\n") -> bytes:
    return b"".join(b"line %d%b" % (number, end) for number in range(count))


def edited(dice: random.Random, content: bytes) -> bytes:
    found = content.splitlines(keepends=True)
    for _ in range(dice.randint(1, 6)):
        place = dice.randint(0, len(found))
        match dice.randint(0, 3):
            case 0:
                found[place:place] = [b"new %d%b" % (dice.randint(0, 9), dice.choice(ENDS))]
            case 1:
                del found[place : place + dice.randint(1, 3)]
            case 2:
                found[place : place + 1] = ["é→\n".encode()]
            case _:
                found[place:place] = [b"\n"] * dice.randint(1, 3)
    made = b"".join(found)
    return made.rstrip(b"\r\n") if dice.random() < 0.3 else made


def test_two_edits_far_apart_are_two_hunks_that_are_taken_one_by_one() -> None:
    before = lines(30)
    after = before.replace(b"line 3\n", b"three\n").replace(b"line 25\n", b"")
    first, second = split(before, after)
    assert (first.head, first.added, first.removed) == ("@@ -4,1 +4,1 @@", 1, 1)
    assert (second.head, second.added, second.removed) == ("@@ -26,1 +25,0 @@", 0, 1)
    assert first.text.splitlines() == [
        " line 0",
        " line 1",
        " line 2",
        "-line 3",
        "+three",
        " line 4",
        " line 5",
        " line 6",
    ]
    assert merge(before, after, {0}) == before.replace(b"line 3\n", b"three\n")
    assert merge(before, after, {1}) == before.replace(b"line 25\n", b"")


@pytest.mark.parametrize("seed", range(200))
def test_all_is_the_new_file_none_the_old_and_the_rest_stays_a_difference(seed: int) -> None:
    dice = random.Random(seed)
    before = lines(dice.randint(0, 60), dice.choice(ENDS))
    if dice.random() < 0.3:
        before = before.rstrip(b"\r\n")
    after = edited(dice, before)
    every = range(len(split(before, after)))
    assert merge(before, after, every) == after
    assert merge(before, after, ()) == before
    chosen = {number for number in every if dice.random() < 0.5}
    half = merge(before, after, chosen)
    rest = split(half, after)
    assert merge(half, after, range(len(rest))) == after
    assert sum(hunk.added for hunk in rest) <= sum(hunk.added for hunk in split(before, after))


def test_a_changed_line_end_and_a_missing_one_are_seen() -> None:
    (hunk,) = split(b"a\r\nb\r\n", b"a\nb")
    assert hunk.text == "-a␍\n-b␍\n+a\n+b\n\\ No newline at end of file"
    (same,) = split(b"a\r\nb\r\n", b"a\r\nc\r\n")
    assert same.text == " a\n-b\n+c"


def test_nothing_hides_in_a_line() -> None:
    (hunk,) = split(b"", "a\u202eb\u200b\x1b[2Jc\td\n".encode())
    assert hunk.text == "+a\\u202eb\\u200b\\x1b[2Jc\td"
    (long,) = split(b"", b"x" * 2000)
    assert long.text.startswith("+" + "x" * 500 + "… (2000 characters)")


def test_what_is_not_utf8_text_goes_as_a_whole() -> None:
    assert form_of(b"") == "text"
    assert form_of("naïve\r\n".encode()) == "text"
    assert form_of("naïve".encode("utf-16")) == "utf16"
    assert form_of("naïve".encode("latin-1")) == "binary"
    assert form_of(b"a\0b") == "binary"
    assert form_of(b"a" * (MAX_BYTES + 1)) == "large"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x\ny\n" * 10_000, b"y\nx\nx\n" * 10_000),
        (lines(40_000), b"".join(b"line %d\n" % (n if n % 2 else -n) for n in range(40_000))),
        (b"a\n" * 40_000, b"b\n" * 40_000),
        (lines(40_000), b"".join(reversed(lines(40_000).splitlines(keepends=True)))),
    ],
    ids=["two lines over and over", "every second line", "all other", "turned round"],
)
def test_no_text_takes_long(before: bytes, after: bytes) -> None:
    started = time.process_time()
    found = split(before, after)
    assert merge(before, after, range(len(found))) == after
    assert time.process_time() - started < 10


def test_a_moved_block_and_a_repeated_line_are_told_apart() -> None:
    before = b"a\n\nb\n\nc\n\nd\n" + lines(10)
    after = b"a\n\nc\n\nb\n\nd\n" + lines(10)
    (hunk,) = split(before, after)
    assert (hunk.added, hunk.removed) == (2, 2)
