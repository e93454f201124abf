"""What it costs to take a reply apart while it is written: calls, reasoning and the marks that begin them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

from models.engine import TemplateSource
from models.gguf import read_header
from models.reply import Reply
from models.speech import Prompt, Speech
from tests.bench.figure import Figure
from tests.bench.local_house import bench_model
from tests.bench.tool_turn import tools

RATE = 200
"""Tokens a second of a fast model."""
GOAL = 1.0
TOOLS = 30
TOKENS = 400
REPEATED = 15
_TOKEN = re.compile(rb"\s?\w{1,6}|\s|[^\w\s]")
_WORDS = (
    "The keeper wrote down the weather: wind from the west (strong), {waves} and 3 ships; then he slept. "
)
_CODE = 'if ships[0] < 3 and "wind" in log:\n    print({"name": ships, "waves": [1, 2]})\n'


def measure(*, peers: bool = False) -> list[Figure]:
    """The share of decoding at RATE tokens a second, in percent, of the dearest kind of reply; every token is
    fed alone, although the worker joins those of a thirtieth of a second before it parses them."""
    del peers
    header = read_header(bench_model())
    speech = Speech(TemplateSource(header.chat_template, "", "", ()), header.name)
    prompt = speech.prompt([{"role": "user", "content": "Hello"}], tools(TOOLS), {})
    costs = {kind: _cheapest(prompt, _tokens(text), _parse) for kind, text in _replies(prompt).items()}
    whole = {kind: _cheapest(prompt, _tokens(text), _reply) for kind, text in _replies(prompt).items()}
    bare = _cheapest(prompt, _tokens(_WORDS), _join)
    reference = {"joining the same tokens (µs a token)": bare}
    reference |= {f"parsing {kind} (µs a token)": cost for kind, cost in costs.items()}
    reference |= {f"all of the worker's text work, {kind} (µs a token)": cost for kind, cost in whole.items()}
    return [Figure("parsing_share", max(costs.values()) * RATE / 1e4, "%", GOAL, "lower", reference)]


def _replies(prompt: Prompt) -> dict[str, str]:
    """Long replies of each kind, in the format of the prompt's model."""
    known = prompt.known
    assert known is not None
    call = json.dumps({"name": "tool_7", "arguments": {"text": 40 * _WORDS}})
    opening, closing = known.reasoning
    return {
        "words": 40 * _WORDS,
        "code": "```python\n" + 40 * _CODE + "```\n",
        "a call": "```json\n" + call + "\n```",
        "a marked call": known.section_open + known.call_open + call + known.call_close + known.section_close,
        "thoughts": f"{opening or '<think>'}{40 * _WORDS}{closing or '</think>'}Yes.",
    }


def _tokens(text: str) -> list[bytes]:
    """Pieces about as long as a model's tokens."""
    return _TOKEN.findall(text.encode())[:TOKENS]


def _cheapest(prompt: Prompt, pieces: list[bytes], work: Callable[[Prompt, list[bytes]], object]) -> float:
    """Microseconds of this thread for one token."""
    best = float("inf")
    for _ in range(REPEATED):
        begin = time.thread_time()
        work(prompt, pieces)
        best = min(best, time.thread_time() - begin)
    return 1e6 * best / len(pieces)


def _parse(prompt: Prompt, pieces: list[bytes]) -> None:
    parser, trigger = prompt.parser(), prompt.trigger()
    assert parser is not None
    for piece in pieces:
        text = piece.decode()
        if trigger is not None and trigger.feed(text):
            trigger = None
        parser.feed(text)
    parser.finish()


def _reply(prompt: Prompt, pieces: list[bytes]) -> None:
    reply = Reply(lambda frame: None, prompt, lambda _grammar, _values: True)
    for piece in pieces:
        reply.add(piece)
    reply.finish()


def _join(prompt: Prompt, pieces: list[bytes]) -> str:
    del prompt
    return "".join([piece.decode() for piece in pieces])
