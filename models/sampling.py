"""Builds the native chain that chooses the next token, and holds it to a grammar once one is set."""

from __future__ import annotations

import ctypes
import math
import secrets
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from models.generation import Sampling
from models.leaning import Leaning
from models.shortlist import Shortlist

_PENALISED = 64
"""How many last tokens the repeat penalty looks at."""

_LIKELY = 64
"""How many of the likeliest tokens are looked at for one that ends a number, or begins a tool's name."""

_DIGITS = b"0123456789"
_NUMBER = _DIGITS + b".eE"
_PIECE = 32


class Sampler:
    """Chooses the tokens of one reply; `close` frees it. `history` is the prompt.

    Under a grammar the free choice is tried first: one token is checked in microseconds, all of a vocabulary
    in milliseconds. Only a token the grammar refuses is chosen again among those it allows. A number that the
    free choice would end is ended then: after `20` a refused comma must not become another digit.
    """

    def __init__(self, api: Any, sampling: Sampling, vocab: Any, history: list[int]) -> None:
        self._api, self._sampling, self._vocab, self._history = api, sampling, vocab, history
        self._free = sampler_chain(api, sampling, vocab, history)
        self._strict: Any = None
        self._grammar: Any = None
        self._leaning: Leaning | None = None
        self._short: Shortlist | None = None
        self._last = -1
        self._one = api.llama_token_data(0, 1.0, 0.0)
        self._alone = api.llama_token_data_array(ctypes.pointer(self._one), 1, -1, False)
        if sampling.grammar:
            self.constrain(sampling.grammar)

    def sample(self, context: Any) -> int:
        """The next token, given what `context` evaluated last."""
        api = self._api
        token = int(api.llama_sampler_sample(self._free, context, -1))
        if self._strict is None:
            self._last = token
            return token
        if (leant := self._leant(context)) >= 0:
            token = leant
        elif not self._allowed(token):
            token = self._ending(token, context)
        if token < 0:
            token = self._likely(context)
        if token < 0:
            token = int(api.llama_sampler_sample(self._strict, context, -1))
        else:
            api.llama_sampler_accept(self._strict, token)
        if self._leaning is not None:
            self._leaning.note(self._piece(token))
        self._last = token
        return token

    def _leant(self, context: Any) -> int:
        """The choice among the likeliest tokens that are allowed where what was asked has a say in it, else
        -1."""
        leaning = self._leaning
        if leaning is None or not leaning.undecided:
            self._leaning = None
            return -1
        likeliest = self._shortlist().weighed(context, _LIKELY)
        gains = [(token, logit, leaning.gain(self._piece(token))) for token, logit in likeliest]
        order = sorted(
            ((logit + gain, token) for token, logit, gain in gains if gain is not None), reverse=True
        )
        return next((token for _, token in order if self._allowed(token)), -1)

    def _likely(self, context: Any) -> int:
        """A choice among the likeliest tokens that are allowed; -1 where none of them is."""
        if self._sampling.repeat_penalty != 1.0:
            return -1
        return self._shortlist().choose(context, self._grammar, self._free)

    def _shortlist(self) -> Shortlist:
        if self._short is None:
            size = self._api.llama_vocab_n_tokens(self._vocab)
            self._short = Shortlist(self._api, size)
        return self._short

    def _allowed(self, token: int) -> bool:
        self._one.id, self._one.logit = token, 1.0
        self._alone.selected = -1
        self._api.llama_sampler_apply(self._grammar, ctypes.byref(self._alone))
        return not math.isinf(self._one.logit)

    def _ending(self, wanted: int, context: Any) -> int:
        """The likeliest allowed token that ends the number being written; -1 where none is, or where the
        refused token `wanted` would go on with it."""
        if self._piece(self._last)[-1:] not in _DIGITS or self._piece(wanted)[:1] in _NUMBER:
            return -1
        for token in self._shortlist().likeliest(context, _LIKELY):
            if self._piece(token)[:1] not in _NUMBER and self._allowed(token):
                return token
        return -1

    def _piece(self, token: int) -> bytes:
        """The bytes of a token as far as 32; at least a space, so that its ends can be looked at."""
        buffer = ctypes.create_string_buffer(_PIECE)
        size = (
            self._api.llama_token_to_piece(self._vocab, token, buffer, _PIECE, 0, True) if token >= 0 else 0
        )
        return buffer.raw[:size] if size > 0 else b" "

    def constrain(self, grammar: str, weights: Mapping[str, float] = MappingProxyType({})) -> bool:
        """From the next token on allow only what `grammar` (GBNF, start symbol root) derives, then the end;
        `weights` as in Leaning. False, and nothing changes, if the library does not take the grammar."""
        api = self._api
        made = api.llama_sampler_init_grammar(self._vocab, grammar.encode("utf-8", "replace"), b"root")
        if not made:
            return False
        if self._strict is not None:
            api.llama_sampler_free(self._strict)
        self._grammar = made
        self._leaning = Leaning(weights)
        self._strict = sampler_chain(api, self._sampling, self._vocab, self._history, made)
        return True

    def close(self) -> None:
        """Free the chains; idempotent."""
        if self._short is not None:
            self._short.close()
        self._short = None
        for chain in (self._free, self._strict):
            if chain is not None:
                self._api.llama_sampler_free(chain)
        self._free = self._strict = self._grammar = None


def sampler_chain(api: Any, sampling: Sampling, vocab: Any, history: list[int], first: Any = None) -> Any:
    """A chain for one reply, to be freed by the caller with llama_sampler_free; `history` is the prompt.
    `first` is a sampler that goes before all others and is freed with the chain."""
    chain = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
    if first is not None:
        api.llama_sampler_chain_add(chain, first)
    if sampling.repeat_penalty != 1.0:
        size = api.llama_vocab_n_tokens(vocab)
        penalties = api.llama_sampler_init_penalties(size, _PENALISED, sampling.repeat_penalty, 0.0, 0.0)
        for token in history[-_PENALISED:]:
            api.llama_sampler_accept(penalties, token)
        api.llama_sampler_chain_add(chain, penalties)
    if sampling.temperature <= 0:
        api.llama_sampler_chain_add(chain, api.llama_sampler_init_greedy())
        return chain
    if sampling.top_k > 0:
        api.llama_sampler_chain_add(chain, api.llama_sampler_init_top_k(sampling.top_k))
    if sampling.top_p < 1:
        api.llama_sampler_chain_add(chain, api.llama_sampler_init_top_p(sampling.top_p, 1))
    if sampling.min_p > 0:
        api.llama_sampler_chain_add(chain, api.llama_sampler_init_min_p(sampling.min_p, 1))
    api.llama_sampler_chain_add(chain, api.llama_sampler_init_temp(sampling.temperature))
    seed = secrets.randbits(32) if sampling.seed is None else sampling.seed & 0xFFFFFFFF
    api.llama_sampler_chain_add(chain, api.llama_sampler_init_dist(seed))
    return chain
