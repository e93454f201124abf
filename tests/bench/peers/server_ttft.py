"""Time to first token of llama.cpp's own server, cold and late: prints milliseconds as a JSON list."""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from typing import Any

import xllamacpp


def start(model: str, threads: int) -> Any:
    """A server on loopback with one slot and its prompt cache."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx, parameters.n_parallel, parameters.n_predict = 8192, 1, 8
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.warmup = True
    return xllamacpp.Server(parameters)


def first_token(address: str, messages: list[dict[str, str]]) -> tuple[float, str]:
    """Milliseconds to the first piece of text, and the whole answer."""
    asked = {"messages": messages, "stream": True, "max_tokens": 8, "temperature": 0, "cache_prompt": True}
    request = urllib.request.Request(
        f"{address}/v1/chat/completions", json.dumps(asked).encode(), {"Content-Type": "application/json"}
    )
    begin, first, text = time.perf_counter(), 0.0, ""
    with urllib.request.urlopen(request, timeout=300) as lines:
        for line in lines:
            if not line.startswith(b"data: {"):
                continue
            choices = json.loads(line[6:])["choices"]
            piece = choices[0]["delta"].get("content") if choices else None
            if piece:
                first = first or 1000 * (time.perf_counter() - begin)
                text += piece
    return first, text


def main(model: str, history: str, threads: int, rounds: int) -> None:
    """Per round: cold (the history with another beginning), then two late turns; print all."""
    with open(history, encoding="utf-8") as file:
        known: list[dict[str, str]] = json.load(file)
    server = start(model, threads)
    address = server.listening_address
    first_token(address, [{"role": "user", "content": "Hello."}])
    times: list[float] = []
    for number in range(rounds):
        head = {"role": "system", "content": f"{number}. {known[0]['content']}"}
        messages = [head, *known[1:]]
        for question in ("Who was he?", "And then?", "Go on."):
            messages.append({"role": "user", "content": question})
            spent, text = first_token(address, messages)
            messages.append({"role": "assistant", "content": text})
            times.append(spent)
    print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
