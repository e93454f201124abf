"""Under a grammar the free choice is kept where it is allowed, and a number ends where the model ends it."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from models.generation import Sampling
from models.sampling import Sampler

PIECES = (b"2", b"0", b",", b"}}", b"a", b".5")
LONGEST = len(PIECES)


class Token(ctypes.Structure):
    _fields_ = (("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float))


class Tokens(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.POINTER(Token)),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("sorted", ctypes.c_bool),
    )


class Library:
    """The functions of llama.cpp that a sampler calls, over six tokens. Samplers are their kinds' names; a
    grammar is the text of the pieces it allows."""

    llama_token_data, llama_token_data_array = Token, Tokens

    def __init__(self, *likings: float) -> None:
        self.logits = (ctypes.c_float * LONGEST)(*likings)
        self.allowed = b""
        self.accepted: list[int] = []

    def llama_sampler_init_grammar(self, vocab: Any, grammar: bytes, root: bytes) -> str:
        self.allowed = grammar
        return "grammar" if grammar else ""

    def llama_sampler_apply(self, sampler: str | list[str], tokens: Any) -> None:
        found = tokens._obj
        choices = [found.data[at] for at in range(found.size)]
        if sampler == "top":
            order = sorted([(token.logit, token.id) for token in choices], reverse=True)
            for token, (logit, name) in zip(choices, order, strict=True):
                token.id, token.logit = name, logit
        elif sampler == "grammar":
            for token in choices:
                if PIECES[token.id] not in self.allowed.split(b"|"):
                    token.logit = float("-inf")
        else:
            found.selected = max(range(found.size), key=lambda at: choices[at].logit)

    def llama_sampler_init_top_k(self, count: int) -> str:
        return "top"

    def llama_sampler_sample(self, chain: list[str], context: Any, at: int) -> int:
        free = "grammar" not in chain
        choices = [token for token in range(LONGEST) if free or PIECES[token] in self.allowed.split(b"|")]
        return max(choices, key=lambda token: self.logits[token])

    def llama_token_to_piece(self, vocab: Any, token: int, buffer: Any, room: int, *_: Any) -> int:
        buffer.raw = PIECES[token].ljust(room, b"\0")
        return len(PIECES[token])

    def llama_sampler_accept(self, chain: list[str], token: int) -> None:
        self.accepted.append(token)

    def llama_get_logits_ith(self, context: Any, at: int) -> Any:
        return self.logits

    def llama_vocab_n_tokens(self, vocab: Any) -> int:
        return LONGEST

    def llama_sampler_chain_default_params(self) -> None:
        """Nothing is set."""

    def llama_sampler_chain_init(self, params: None) -> list[str]:
        return []

    def llama_sampler_chain_add(self, chain: list[str], sampler: str) -> None:
        chain.append(sampler)

    def llama_sampler_init_greedy(self) -> str:
        return "greedy"

    def llama_sampler_free(self, chain: Any) -> None:
        """Nothing is held."""


def written(first: bytes, allowed: bytes, *likings: float) -> bytes:
    """The piece that follows `first` under a grammar that allows the pieces in `allowed`."""
    library = Library(*(float(piece == first) for piece in PIECES))
    sampler = Sampler(library, Sampling(temperature=0.0), None, [])
    assert PIECES[sampler.sample(None)] == first
    library.logits = (ctypes.c_float * LONGEST)(*likings)
    assert sampler.constrain(allowed.decode())
    found = sampler.sample(None)
    sampler.close()
    return PIECES[found]


@pytest.mark.parametrize(
    ("first", "allowed", "likings", "found"),
    [
        (b"2", b"0|}}|,", (0, 3, 5, 1, 0, 0), b","),
        (b"2", b"0|}}", (0, 3, 5, 1, 0, 0), b"}}"),
        (b"2", b"0|}}", (0, 3, 2, 1, 0, 5), b"0"),
        (b"2", b"0|2", (0, 3, 5, 1, 0, 0), b"0"),
        (b"a", b"0|}}", (0, 3, 5, 1, 0, 0), b"0"),
    ],
    ids=["allowed", "a refused comma ends", "a refused fraction goes on", "nothing can end", "in no number"],
)
def test_the_next_token(first: bytes, allowed: bytes, likings: tuple[float, ...], found: bytes) -> None:
    assert written(first, allowed, *likings) == found


@pytest.mark.parametrize(
    ("likings", "weights", "found"),
    [
        ((2, 0, 0, 0, 1, 0), {"2": 0.0, "a": 0.0}, b"2"),
        ((2, 0, 0, 0, 1, 0), {"2": -3.0, "a": 0.0}, b"a"),
        ((9, 0, 0, 0, 1, 0), {"2": -3.0, "a": 0.0}, b"2"),
        ((2, 5, 0, 0, 1, 0), {"2": -3.0, "a": 0.0}, b"a"),
        ((2, 0, 0, 0, 1, 0), {"0": 0.0, ",": -1.0}, b"2"),
    ],
    ids=[
        "nothing speaks for either",
        "hardly minded",
        "much liked",
        "another is liked",
        "no text goes on so",
    ],
)
def test_what_was_asked_has_a_say_in_the_choice_of_a_name(
    likings: tuple[float, ...], weights: dict[str, float], found: bytes
) -> None:
    library = Library(*likings)
    sampler = Sampler(library, Sampling(temperature=0.0), None, [])
    assert sampler.constrain("2|a", weights)
    assert PIECES[sampler.sample(None)] == found
    assert library.accepted[-1:] in ([], [PIECES.index(found)])
    sampler.close()


def test_a_grammar_that_is_not_taken_changes_nothing() -> None:
    library = Library(0, 0, 0, 0, 1, 0)
    sampler = Sampler(library, Sampling(temperature=0.0), None, [])
    assert not sampler.constrain("")
    assert PIECES[sampler.sample(None)] == b"a"
    sampler.close()
