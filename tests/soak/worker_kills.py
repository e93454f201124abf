"""Kills the worker of the local model at random: the next prompt is answered, the death seen at once."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import time
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import psutil

import resources
from models.errors import EngineError
from models.generation import Finished, GenerateRequest, LoadOptions, Sampling
from models.worker_client import EngineState, LocalEngine

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT)
LONGEST = 1.2
"""Seconds into an answer at which a kill comes at the latest: start, loading, prompt and answer get some."""
DETECTION = 1.0
"""Seconds within which a death must be known."""
PATIENCE = 60.0


@dataclass(slots=True)
class Tally:
    """What a campaign saw; `codes` counts how the killed answers ended."""

    kills: int = 0
    slowest: float = 0.0
    codes: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One line for a person."""
        ends = ", ".join(f"{count} {code}" for code, count in sorted(self.codes.items()))
        return (
            f"{self.kills} kills of the worker, slowest detection {1000 * self.slowest:.0f} ms; ends: {ends}"
        )


class Campaign:
    """Kills one engine's worker `kills` times."""

    def __init__(self, weights: Path, seed: int) -> None:
        self._random = random.Random(seed)
        self._options = LoadOptions(str(weights), window=512, threads=1)
        self._died = asyncio.Event()
        self._engine = LocalEngine(on_state=self._on_state)
        self._mine = psutil.Process()
        self.tally = Tally()

    async def run(self, kills: int) -> Tally:
        try:
            for number in range(1, kills + 1):
                await self._kill_once(number)
                await self._prove(number)
                self.tally.kills += 1
        finally:
            await self._engine.close()
        return self.tally

    def _on_state(self, state: EngineState) -> None:
        if state == "dead":
            self._died.set()

    async def _kill_once(self, number: int) -> None:
        idle = self._random.random() < 0.15
        victim = asyncio.create_task(self._answer("Write a long story about a ship.", 3 if idle else 200))
        await asyncio.wait({victim}, timeout=PATIENCE if idle else self._random.uniform(0, LONGEST))
        chosen = self._random.choice(SIGNALS)
        self._died.clear()
        begin = time.monotonic()
        if not self._strike(chosen):
            await asyncio.wait({victim}, timeout=PATIENCE)
            return
        noticed = asyncio.create_task(self._died.wait())
        awaited = {noticed} if victim.done() else {noticed, victim}
        await asyncio.wait(awaited, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        took = time.monotonic() - begin
        self.tally.slowest = max(self.tally.slowest, took)
        if took > DETECTION:
            self.tally.problems.append(f"kill {number} ({chosen.name}): seen after {took:.2f} s")
        noticed.cancel()
        code = await asyncio.wait_for(victim, PATIENCE)
        self.tally.codes[code] = self.tally.codes.get(code, 0) + 1

    def _strike(self, chosen: signal.Signals) -> bool:
        """Send the signal to the worker; false when there is none yet."""
        for child in self._mine.children():
            try:
                if child.status() != psutil.STATUS_ZOMBIE:
                    os.kill(child.pid, chosen)
                    return True
            except (psutil.NoSuchProcess, ProcessLookupError):
                continue
        return False

    async def _prove(self, number: int) -> None:
        """The next prompt is answered."""
        code = await asyncio.wait_for(self._answer("Say hello.", 2), PATIENCE)
        if code != "answered":
            self.tally.problems.append(f"kill {number}: the next prompt ended in {code}")

    async def _answer(self, text: str, most: int) -> str:
        """How an answer ends: "answered", "nothing said", or the code of its error."""
        asked = [{"role": "user", "content": text}]
        request = GenerateRequest(
            self._options, "soak", asked, sampling=Sampling(temperature=0, seed=1), max_tokens=most
        )
        try:
            async with aclosing(self._engine.generate(request)) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        return "answered" if event.usage.completion_tokens else "nothing said"
        except EngineError as error:
            return error.code
        return "no end"


def campaign(kills: int, seed: int, weights: Path | None = None) -> Tally:
    """Run `kills` kills on the bundled model or `weights`."""
    chosen = weights or next(iter(sorted(resources.weights_dir().glob("*.gguf"))))

    async def main() -> Tally:
        return await Campaign(chosen, seed).run(kills)

    return asyncio.run(main())


def main() -> int:
    """The exit code is 0 when every next prompt was answered and every death seen in time."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.worker_kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    chosen = parser.parse_args()
    print(f"--seed {chosen.seed}", flush=True)
    tally = campaign(chosen.kills, chosen.seed)
    print(tally.line())
    print("\n".join(tally.problems) or "no problem found")
    return 1 if tally.problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
