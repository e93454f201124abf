"""Runs all benches or the named ones, prints a table and writes build/bench.json."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from pathlib import Path

from tests.bench.figure import Figure, store, table

ROOT = Path(__file__).resolve().parents[2]
BENCHES = {
    "loop_step": ("loop_step", "loop_step_overhead"),
    "decode": ("decode_ratio",),
    "first_token": (
        "first_token_anthropic",
        "first_token_ollama",
        "first_token_openai_chat",
        "first_token_openai_responses",
    ),
    "late_turn": ("cached_ttft_ratio",),
    "reopen": ("reopen_ttft_ratio",),
    "memory_fit": ("memory_fit",),
    "model_speed": ("model_speed",),
    "tool_turn": ("grammar_ratio", "tools_ttft_ratio"),
    "parsing": ("parsing_share",),
    "forty_turns": ("first_fact_shown", "first_fact_told"),
    "function_calls": ("bfcl_simple", "bfcl_multiple", "bfcl_parallel", "bfcl_irrelevance"),
    "acting": ("acts",),
    "voice_turn": ("voice_final", "voice_final_ratio", "voice_answer", "voice_silence"),
    "voice_hands_free": ("voice_barge_in", "voice_self_heard"),
    "voice_words": ("voice_word_errors", "voice_words_more"),
    "voice_memory": ("voice_memory",),
    "voice_model": ("voice_model",),
    "start": ("start_to_window", "idle_pss"),
    "long_session": ("open_10k",),
    "word_errors": ("word_errors", "words_more", "invented_words"),
    "streaming": ("stream_frame", "stall"),
    "voice_window": ("voice_stall",),
    "live_frames": ("live_frame_p50", "live_frame_p95", "live_frames_idle", "live_frames_rate"),
    "live_pane": (
        "live_pane_p50",
        "live_pane_p95",
        "live_pane_rate",
        "live_pane_stall",
        "live_pane_idle",
    ),
    "screenshot": ("screenshot",),
    "computer_action": ("computer_action",),
}
"""Modules of this package, each with `measure(peers)`, and the names of the figures it returns."""


def bench_of(name: str) -> str:
    """The module called `name` or measuring the figure `name`; an empty string for a name nobody knows."""
    return next((bench for bench, figures in BENCHES.items() if name in (bench, *figures)), "")


def main() -> int:
    """The exit code is 0 whatever the figures are: they are for people and charts to judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"one of: {', '.join(BENCHES)}")
    parser.add_argument("--peers", action="store_true", help="also through the programs in build/peers")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.name if not bench_of(name)]
    if unknown:
        parser.error(f"there is no bench {unknown[0]}; they are: {', '.join(BENCHES)}")
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; other work here disturbs absolute")
    print("figures, so they come with a reference from the same run, interleaved: the ratio decides.\n")
    figures: list[Figure] = []
    for name in dict.fromkeys(map(bench_of, chosen.name)) or BENCHES:
        started = time.monotonic()
        found = importlib.import_module(f"tests.bench.{name}").measure(peers=chosen.peers)
        print(table(found), flush=True)
        print(f"    ({name}: {time.monotonic() - started:.0f} s)\n", file=sys.stderr, flush=True)
        figures += found
    store(figures, ROOT / "build" / "bench.json")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
