"""Writes the scripted profiles that a life is lived with: every effect in them is unique and countable."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tests.runtime.scripted_house import Steps, call, write_profile

REPLIES = 60
"""Rounds of steps in one script; more than a session of a campaign ever plays."""

SPICE = (
    "",
    " \0 nul",
    " \ud800 lone",
    " \u202eright to left",
    " “quotes” {braces}",
    "\nsecond line",
    " 🙂" * 40,
)
"""Endings of messages that have broken chat programs before."""


def counted_file(profile: str) -> str:
    """The file to which the effects of a profile's script are added, one line each."""
    return f"counted/{profile}.txt"


def own_file(mark: str) -> str:
    """The file that one step creates; its undo takes exactly that file away."""
    return f"own/{mark}.md"


def write_script(home: Path, profile: str, seed: int) -> None:
    """A profile `profile` whose replies stream, compute, add counted lines and create files."""
    chance = random.Random(seed)
    steps: Steps = []
    for number in range(REPLIES):
        mark = f"{profile}-{number}"
        steps += _round(chance, profile, mark)
    write_profile(home, steps, name=profile, policy={"max_iterations": 200})


def _round(chance: random.Random, profile: str, mark: str) -> Steps:
    """What one message may set off: zero to two tool rounds, then an answer."""
    steps: Steps = []
    if chance.random() < 0.3:
        steps.append({"think": {"text": "Let me think about that for a moment.", "delay": 0.001}})
    for part in range(chance.choice((0, 1, 1, 1, 2))):
        steps.append({"say": _streamed(chance, f"Step {part} of {mark} begins.")})
        steps += [_call(chance, profile, f"{mark}-{part}-{at}") for at in range(chance.choice((1, 1, 2, 3)))]
    steps.append({"say": _streamed(chance, f"That was {mark}. " + "And so on. " * chance.randrange(12))})
    return steps


def _streamed(chance: random.Random, text: str) -> dict[str, Any]:
    return {"text": text, "delay": chance.choice((0, 0, 0.001, 0.002))}


def _call(chance: random.Random, profile: str, mark: str) -> dict[str, Any]:
    kind = chance.random()
    if kind < 0.55:
        return call("write_file", path=counted_file(profile), text=mark + "\n", append=True)
    if kind < 0.8:
        return call("write_file", path=own_file(mark), text=f"# {mark}\n")
    if kind < 0.95:
        return call("calculator", expression=f"{chance.randrange(10**6)} * {chance.randrange(10**6)}")
    return call("write_file", path="../outside.txt", text="never")
