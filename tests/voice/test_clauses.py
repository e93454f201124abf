"""An answer becomes clauses: the same ones in whatever pieces it comes, none lost, none cut wrongly."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.clauses import Clause, Clauses

ANSWER = """Sure! I can help you with that by reading the file and then fixing it. The rest, e.g. the tests of
Dr. Smith etc. remain. See 3.5 and https://a.example/c. It works... maybe. J. K. Rowling wrote it.

## Steps

1. Open `a. B c`.
2. Close it
   on time.

```py
x = 1. Y
```

| A | B |
|---|---|
| 1. X | 2 |

Done **well. Really** so.
> Quote here
> goes on. Yes.

$$
a. B
$$
End"""


def whole(text: str) -> list[Clause]:
    clauses = Clauses()
    return clauses.add(text) + clauses.end()


def streamed(pieces: list[str]) -> list[Clause]:
    clauses = Clauses()
    return [clause for piece in pieces for clause in clauses.add(piece)] + clauses.end()


def texts(text: str) -> list[str]:
    return [clause.text for clause in whole(text)]


def test_an_answer_is_cut_where_a_reader_would_draw_breath() -> None:
    assert [clause.spoken for clause in whole(ANSWER)] == [
        "Sure!",
        "I can help you with",
        "that by reading the file and then fixing it.",
        "The rest, for example, the tests of Dr. Smith etc. remain.",
        "See 3.5 and a dot example.",
        "It works... maybe.",
        "J. K. Rowling wrote it.",
        "Steps.",
        "one: Open a B c.",
        "two: Close it on time.",
        "a block of Python code, one line.",
        "A table with the columns A, B.",
        "A: 1. X; B: 2.",
        "Done well.",
        "Really so.",
        "Quote here goes on.",
        "Yes.",
        "a. B.",
        "End.",
    ]


MARKS = "` `` ``` | --- # - > ) $ $$ < <!-- --> > ** * _ , ; = ~~~ ```py\n | a | b |\n |---|---|\n"
WORDS = (
    "Hello [a ]( http://x.y) \\( \\) \\[ e.g. Dr. 3 Oktober 3. and The a B. 你好 。 ， é 😀 but \x00 \ud83d"
)
GAPS = (" ", " ", "\n", "\n\n", ". ", "! ", "# ", "- ", "1. ", "> ", "— ", "\t", "\r\n", "   - x", "w " * 12)
PARTS = st.sampled_from((*MARKS.split(" "), *WORDS.split(" "), *GAPS))


@given(st.lists(PARTS, max_size=60).map("".join), st.data())
def test_the_clauses_are_the_answer_in_any_pieces(text: str, data: st.DataObject) -> None:
    once = whole(text)
    assert "".join(clause.text for clause in once) == text
    assert streamed(list(text)) == once
    size = data.draw(st.integers(2, 9))
    assert streamed([text[at : at + size] for at in range(0, len(text), size)]) == once


@given(st.text(max_size=200))
def test_any_text_is_kept_to_the_letter(text: str) -> None:
    once = whole(text)
    assert "".join(clause.text for clause in once) == text
    assert streamed(list(text)) == once


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("I think, therefore I am, said the man who knew it.", "I think, therefore I am, "),
        ("The quick brown fox jumps over the lazy dog today.", "The quick brown fox jumps over the lazy "),
        ("You can open the file and then read all of it.", "You can open the file "),
        ("This is one thing — and it is not another one.", "This is one thing — "),
        ("Short one. Then the next sentence follows here.", "Short one. "),
        (
            "Please ask our good friend Mr. Dr. Smith about it now.",
            "Please ask our good friend Mr. Dr. Smith ",
        ),
    ],
)
def test_the_first_clause_comes_after_four_to_eight_words(text: str, first: str) -> None:
    assert texts(text)[0] == first


def test_the_first_clause_comes_before_the_sentence_ends() -> None:
    clauses = Clauses()
    said: list[Clause] = []
    words = ["You", "can", "open", "the", "file", "and", "then", "read", "all", "of", "it"]
    for number, word in enumerate(words, 1):
        said += clauses.add(word + " ")
        if said:
            assert number <= 7
            break
    assert [clause.spoken for clause in said] == ["You can open the file"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Ask Dr. Smith, Mrs. Jones or Prof. Lee.",
        "Use e.g. this one, i.e. the first.",
        "It costs 3.50 or 1,000.25 at most.",
        "See https://example.com/a.B?c=D. now.",
        "Wait... maybe not.",
        "J. R. R. Tolkien wrote it.",
        "The U.S. Army came at 5 p.m. sharp.",
        "Read No. 5 and p. 7 and Fig. 3 first.",
        "Run `a. B` or [a. B](http://x.example/y) and $a. B$ now.",
        "Am 3. Oktober wird z.B. gefeiert.",
        "Really?! said nobody.",
        'He said "Stop. it" and went.',
        "I, for one. or two.",
    ],
)
def test_a_sentence_stays_whole(sentence: str) -> None:
    lead = "One two three four. "
    assert texts(f"{lead}{sentence} Then more.") == [lead, f"{sentence} ", "Then more."]


def test_a_long_sentence_is_cut_at_a_comma_after_at_most_forty_words() -> None:
    text = "One two three four. " + "this is some part of it, " * 12 + "the end. Next."
    parts = texts(text)
    assert all(len(part.split()) <= 40 for part in parts)
    assert parts[1].endswith(", ")
    bare = texts("One two three four. Word " + "word " * 99)
    assert [len(part.split()) for part in bare[1:]] == [40, 40, 20]
    forty = "One two three four. " + "word, " * 39 + "word. Next."
    assert len(texts(forty)) == 3


def test_sentences_without_spaces_are_cut_as_well() -> None:
    assert texts("你好，世界。今天天气很好，我们去公园玩吧！明天见。") == [
        "你好，世界。",
        "今天天气很好，我们去公园玩吧！",
        "明天见。",
    ]


def test_code_and_tables_that_never_end_are_told_at_the_end() -> None:
    assert [clause.spoken for clause in whole("```python\nx = 1\ny = 2")] == [
        "a block of Python code, two lines."
    ]
    assert whole("") == []
    assert whole("\n\n") == [Clause("\n\n", "")]


def test_after_the_end_a_new_answer_begins() -> None:
    clauses = Clauses()
    first = clauses.add("| A |\n|---|\n| 1 |\n") + clauses.end()
    again = clauses.add("| A |\n|---|\n| 1 |\n") + clauses.end()
    assert first == again


def test_the_language_of_the_answer_decides_who_reads_its_numbers() -> None:
    german = whole("Das ist nicht weit von hier. Es sind nur 5 km.")
    assert german[-1].spoken == "Es sind nur 5 km."
    assert whole("That is not far from here. Just 5 km.")[-1].spoken == "Just 5 kilometers."


def test_a_hundred_thousand_signs_cost_little_sign_by_sign() -> None:
    text = "!?<" * 33_333
    begun = time.thread_time()
    clauses = streamed(list(text))
    assert time.thread_time() - begun < 8.0
    assert "".join(clause.text for clause in clauses) == text


@pytest.mark.parametrize(
    "pattern", ["word ", "a", "`a ", "[a ", "Hello you. ", "```\nx\n", "- a\n", "日本語", "$$x\n", "# "]
)
def test_a_long_answer_costs_little_in_small_pieces(pattern: str) -> None:
    text = (pattern * 5_000)[:5_000]
    begun = time.thread_time()
    streamed([text[at : at + 4] for at in range(0, len(text), 4)])
    assert time.thread_time() - begun < 2.0
