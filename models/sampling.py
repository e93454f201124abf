"""Builds the native chain that chooses the next token."""

from __future__ import annotations

import secrets
from typing import Any

from models.generation import Sampling

_PENALISED = 64
"""How many last tokens the repeat penalty looks at."""


def sampler_chain(api: Any, sampling: Sampling, vocab: Any, history: list[int]) -> Any:
    """A chain for one reply, to be freed by the caller with llama_sampler_free; `history` is the prompt."""
    chain = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
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
