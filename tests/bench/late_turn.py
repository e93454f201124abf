"""How long the first token of a late turn takes, beside evaluating its whole history anew."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
from pathlib import Path

from runtime.assemble import Runtime
from runtime.journal import Journal
from tests.bench.figure import Figure
from tests.bench.local_house import PROFILE, Answer, answer, bench_model, local_house
from tests.bench.peers import run

ROUNDS = 2
EXCHANGES = 40
WORDS = 130
"""Words of an answer in the history; with EXCHANGES of them it has about 7,000 tokens."""
GOAL = 0.05


def measure(*, peers: bool = False) -> list[Figure]:
    """The ratio of the two times to first token, medians of interleaved turns."""
    cold, late = asyncio.run(_rounds())
    ratio = statistics.median(turn.first for turn in late) / statistics.median(turn.first for turn in cold)
    reference = {
        "history (tokens)": float(late[-1].prompt),
        "of it kept warm (tokens)": float(late[-1].cached),
        "cold (ms)": 1000 * statistics.median(turn.first for turn in cold),
        "late (ms)": 1000 * statistics.median(turn.first for turn in late),
    }
    others = _server() if peers and run.available() else {}
    return [Figure("cached_ttft_ratio", ratio, "", GOAL, "lower", reference, others)]


async def _rounds() -> tuple[list[Answer], list[Answer]]:
    """First turns of freshly opened long sessions, and the turns after them."""
    cold: list[Answer] = []
    late: list[Answer] = []
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        async with local_house(Path(folder), {}, max_tokens=8, temperature=0.0) as runtime:
            await answer(await runtime.open(profile=PROFILE), "Hello.")
            for _ in range(ROUNDS):
                session = await runtime.open(long_session_in(runtime))
                cold.append(await answer(session, "Who was he?"))
                late += [await answer(session, "And then?"), await answer(session, "Go on.")]
                await session.close()
    return cold, late


def exchange(number: int) -> tuple[str, str]:
    """A question and an answer that no other exchange has."""
    words = (f"On day {number} the keeper wrote of wind {number % 12}, waves and a ship called").split()
    body = " ".join(words[at % len(words)] for at in range(WORDS))
    return f"What happened on day {number}?", f"{body} number {number}."


def long_session_in(runtime: Runtime) -> str:
    """A stored session with EXCHANGES exchanges, as an import brings it."""
    journal = Journal(None)
    journal.append("session", title="Long")
    journal.append("mode", profile=PROFILE, model="")
    for number in range(EXCHANGES):
        asked, said = exchange(number)
        journal.append("user", text=asked, source="bench")
        journal.append("assistant", text=said, reasoning=[], calls=[], complete=True, stop_reason="stop")
        journal.append("done", reason="complete")
    records = [json.loads(record.line()) for record in journal.records]
    return runtime.sessions.import_(json.dumps({"format": "orion-session", "v": 1, "records": records}))


def _server() -> dict[str, float]:
    """The same history through llama.cpp's own server; with one thread, because several of them wait for one
    another without end on a busy machine, and the ratio is the same."""
    messages = [{"role": "system", "content": "You tell stories."}]
    for number in range(EXCHANGES):
        asked, said = exchange(number)
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        history = Path(folder) / "history.json"
        history.write_text(json.dumps(messages), "utf-8")
        times = run.call("server_ttft", str(bench_model()), str(history), "1", str(ROUNDS))
    if not times:
        return {}
    cold, late = times[0::3], times[1::3] + times[2::3]
    return {
        "llama.cpp server": statistics.median(late) / statistics.median(cold),
        "llama.cpp server, cold (ms)": statistics.median(cold),
        "llama.cpp server, late (ms)": statistics.median(late),
    }
