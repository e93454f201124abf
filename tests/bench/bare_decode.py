"""A bare llama_decode loop with the house's context and sampler: what the engine can do."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from models.bindings import Library
from models.footprint import CHUNK
from models.generation import Sampling
from models.native import Shape, open_context
from models.sampling import sampler_chain

LONGEST = 6.0
"""Seconds; on a busy machine several threads wait for one another without end."""
TEXT = b"The keeper of the lighthouse had written down the weather of every day for thirty years. "


def main(path: str, window: int) -> None:
    """Answer requests, a JSON line each, until stdin ends.

    {threads, prompt, tokens, temperature}: evaluate `prompt` tokens, decode up to `tokens` more within
    LONGEST, print [tokens a second, processor seconds a token]; with `fastest` both are those of the token
    that took least. {threads, prompt, turn, times}: evaluate
    `prompt` tokens, then so many `times` the same `turn` tokens behind them, print the fewest seconds.
    """
    api = Library().api
    model = api.llama_model_load_from_file(path.encode(), api.llama_model_default_params())
    context = open_context(api, model, Shape(window, CHUNK, 1))
    vocab = api.llama_model_get_vocab(model)
    batch = api.llama_batch_init(CHUNK, 0, 1)
    for at in range(CHUNK):
        batch.n_seq_id[at], batch.seq_id[at][0], batch.logits[at] = 1, 0, 0
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        api.llama_set_n_threads(context, asked["threads"], asked["threads"])
        api.llama_memory_clear(api.llama_get_memory(context), False)
        _evaluate(api, context, batch, _tokens(api, vocab, asked["prompt"]), 0)
        if "turn" in asked:
            print(json.dumps(_turn(api, context, batch, vocab, asked)), flush=True)
            continue
        print(json.dumps(_decode(api, context, batch, vocab, asked)), flush=True)


def _tokens(api: Any, vocab: Any, count: int) -> list[int]:
    text = TEXT * (count // 8 + 1)
    found = (api.llama_token * len(text))()
    made = api.llama_tokenize(vocab, text, len(text), found, len(text), False, False)
    return list(found[: min(made, count)])


def _evaluate(api: Any, context: Any, batch: Any, tokens: list[int], place: int) -> None:
    for start in range(0, len(tokens), CHUNK):
        piece = tokens[start : start + CHUNK]
        for at, token in enumerate(piece):
            batch.token[at], batch.pos[at] = token, place + start + at
        batch.n_tokens, last = len(piece), len(piece) - 1
        batch.logits[last] = 1
        api.llama_decode(context, batch)
        batch.logits[last] = 0


def _turn(api: Any, context: Any, batch: Any, vocab: Any, asked: dict[str, Any]) -> float:
    """The fewest seconds of evaluating the tokens of a turn behind the prompt."""
    best, tokens = LONGEST, _tokens(api, vocab, asked["turn"])
    for _ in range(asked["times"]):
        api.llama_memory_seq_rm(api.llama_get_memory(context), 0, asked["prompt"], -1)
        begin = time.perf_counter()
        _evaluate(api, context, batch, tokens, asked["prompt"])
        best = min(best, time.perf_counter() - begin)
    return best


def _decode(api: Any, context: Any, batch: Any, vocab: Any, asked: dict[str, Any]) -> list[float]:
    """Tokens a second after the first one, and processor seconds of each. A token that would end the reply
    does not."""
    sampling = Sampling(temperature=asked["temperature"])
    chain = sampler_chain(api, sampling, vocab, [])
    batch.n_tokens, batch.logits[0] = 1, 1
    token = api.llama_sampler_sample(chain, context, -1)
    begin, worked, done = time.perf_counter(), time.process_time(), 0
    least = [LONGEST, LONGEST]
    for number in range(asked["tokens"]):
        before = time.perf_counter(), time.process_time()
        batch.token[0], batch.pos[0] = token, asked["prompt"] + number
        api.llama_decode(context, batch)
        token = api.llama_sampler_sample(chain, context, -1)
        done = number + 1
        least[0] = min(least[0], time.perf_counter() - before[0])
        least[1] = min(least[1], time.process_time() - before[1])
        if time.perf_counter() - begin > LONGEST:
            break
    seconds, worked = time.perf_counter() - begin, time.process_time() - worked
    batch.logits[0] = 0
    api.llama_sampler_free(chain)
    return [1 / least[0], least[1]] if asked.get("fastest") else [done / seconds, worked / done]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
