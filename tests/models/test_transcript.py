"""Tokens already in a model's memory are kept across turns, whatever the tokeniser would choose."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from models.transcript import Transcript

CONTROL = {"<": 1, ">": 2}
WORDS = [b"the", b"there", b"re", b"a", b" "]


def tokenise(text: bytes, first: bool) -> list[int]:
    """Longest word first; other bytes are tokens of their own; < and > are control tokens."""
    tokens: list[int] = [0] if first else []
    while text:
        word = max((w for w in WORDS if text.startswith(w)), key=len, default=text[:1])
        control = CONTROL.get(word.decode("latin-1"))
        tokens.append(control or (100 + WORDS.index(word) if word in WORDS else 1000 + word[0]))
        text = text[len(word) :]
    return tokens


def is_control(token: int) -> bool:
    return token in (1, 2)


def untokenise(tokens: list[int]) -> bytes:
    marks = {number: mark.encode() for mark, number in CONTROL.items()} | {0: b""}
    return b"".join(
        marks[t] if t in marks else WORDS[t - 100] if t < 1000 else bytes([t - 1000]) for t in tokens
    )


def turn(transcript: Transcript, prompt: bytes, *generated: bytes) -> tuple[list[int], int]:
    """Plan and evaluate `prompt`, then generate tokens; (tokens, how many were shared)."""
    tokens = transcript.plan(prompt, tokenise, is_control)
    shared = min(transcript.common(tokens), len(tokens) - 1)
    planned = list(tokens)
    transcript.restart(prompt, tokens, shared)
    transcript.held = len(tokens)
    for piece in generated:
        transcript.append(tokenise(piece, False)[0], piece)
    return planned, shared


def test_generated_tokens_stay_although_the_tokeniser_would_choose_others() -> None:
    transcript = Transcript()
    first, _ = turn(transcript, b"<hi><", b"the", b"re")
    assert tokenise(b"there", False) != tokenise(b"the", False) + tokenise(b"re", False)
    held = transcript.held
    _, shared = turn(transcript, b"<hi><there><more><", b"a")
    assert shared == held > len(first)
    held = transcript.held
    _, shared = turn(transcript, b"<hi><there><more><a><again><")
    assert shared == held


def test_a_trimmed_answer_keeps_all_before_the_trim() -> None:
    transcript = Transcript()
    turn(transcript, b"<hi><", b"the", b"re", b" ")
    _, shared = turn(transcript, b"<hi><there><")
    assert shared == transcript.token_joints[0] + 2


def test_a_change_inside_a_word_is_tokenised_afresh() -> None:
    transcript = Transcript()
    first, _ = turn(transcript, b"<hi><", b"the", b" ")
    tokens, shared = turn(transcript, b"<hi><there><")
    assert shared == len(first)
    assert tokens == tokenise(b"<hi><there><", True)


def test_an_edited_first_message_shares_its_beginning_only() -> None:
    transcript = Transcript()
    turn(transcript, b"<a b><", b"the")
    tokens, shared = turn(transcript, b"<a c><")
    assert tokens == tokenise(b"<a c><", True)
    assert shared == 4


def test_a_prompt_that_was_broken_off_counts_only_what_is_held() -> None:
    transcript = Transcript()
    tokens = transcript.plan(b"<aaaa>", tokenise, is_control)
    transcript.restart(b"<aaaa>", tokens, 0)
    transcript.held = 3
    again = transcript.plan(b"<aaaa>", tokenise, is_control)
    assert again == tokens
    assert transcript.common(again) == 3


TURNS = st.tuples(st.text("<>athre ", max_size=12), st.lists(st.sampled_from(WORDS), max_size=4))


@given(st.lists(TURNS, max_size=6))
def test_whatever_the_turns_the_tokens_stand_for_the_prompt(
    turns: list[tuple[str, list[bytes]]],
) -> None:
    transcript, conversation = Transcript(), b"<"
    for asked, generated in turns:
        conversation += asked.encode() + b">"
        tokens, shared = turn(transcript, conversation, *generated)
        assert untokenise(tokens) == conversation
        assert 0 <= shared < len(tokens)
        assert untokenise(transcript.tokens) == bytes(transcript.text)
        conversation += b"".join(generated)


@given(st.text("<>athre ", min_size=1), st.lists(st.sampled_from(WORDS)), st.text("<>athre ", min_size=1))
def test_a_wholly_other_prompt_is_right_too(first: str, generated: list[bytes], second: str) -> None:
    transcript = Transcript()
    turn(transcript, first.encode(), *generated)
    tokens, _ = turn(transcript, second.encode())
    assert untokenise(tokens) == second.encode()
