"""The longest stall of the window while a person speaks with it and is answered aloud."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.bench.figure import Figure, percentile
from tests.bench.voice_house import stage
from tests.bench.window_house import probe, scripted_home
from tests.voice.spoken import RATE, speech

GOAL = 50.0
QUESTION = "Please tell me a long story about the seven sailors."
ANSWER = (
    "Once upon a time there were **seven sailors** on a small wooden boat. The first sailor was a cook. "
    "The second sailor was a farmer.\n\n- The third played the violin.\n- The fourth could not swim at all.\n"
) * 4
AFTER = 0.3
"""Seconds for which the key is still held when everything was said."""


def measure(*, peers: bool = False) -> list[Figure]:
    """The longest round of the main thread's loop from the press of the key until the answer, cut off, and
    what was said into it, thrown away, are over."""
    del peers
    said = speech(QUESTION)
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder, stage() as sound:
        home = Path(folder)
        scripted_home(home, ANSWER, 0.004)
        with probe(home, "voice", str(len(said) / RATE + AFTER)) as window:
            window.next("listening")
            sound.say(said)
            told = window.next("beats")
    rounds = [ran for ran, _painted in told["beats"]]
    reference = {
        "p99 of all rounds": percentile(rounds, 99),
        "rounds over 50 ms": float(sum(ran > GOAL for ran in rounds)),
        "rounds": float(len(rounds)),
        "clauses heard": float(told["heard"]),
    }
    return [Figure("voice_stall", max(rounds), "ms", GOAL, "lower", reference)]
