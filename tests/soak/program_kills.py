"""Kills the whole program with SIGKILL again and again and checks that nobody lost anything."""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.soak.ledger import Acknowledged
from tests.soak.script_house import write_script

ROOT = Path(__file__).resolve().parents[2]
KILLS_A_HOME = 10
SESSIONS_A_HOME = 4
LONGEST = 0.45
"""Seconds after which a kill by the clock comes at the latest."""
OPERATIONS = 220
"""Disk operations within which a kill at an operation comes."""
PATIENCE = 60.0
"""Seconds a process may take that is not killed."""


def _kill(pid: int) -> None:
    """Kill a child of the nursery, unless it came to its end this very moment."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Nursery:
    """The forking process; `live` and `inspect` run one child each. Closed by the owner."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.nursery"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def live(self, request: dict[str, Any], after: float) -> int:
        """Run a life and kill it `after` seconds (0: it kills itself); how it ended, -9 when killed."""
        pid = self._start(request)
        if not self._ended(after or PATIENCE):
            _kill(pid)
        return self._answer()["status"]

    def inspect(self, request: dict[str, Any]) -> int:
        """Run an inspection to its end; its exit code."""
        pid = self._start(request)
        if not self._ended(PATIENCE):
            _kill(pid)
        return self._answer()["status"]

    def close(self) -> None:
        """End the process; idempotent."""
        if self._process.stdin is not None and self._process.stdout is not None:
            self._process.stdin.close()
            self._process.wait(timeout=PATIENCE)
            self._process.stdout.close()

    def _start(self, request: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()["pid"]

    def _ended(self, seconds: float) -> bool:
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], seconds)[0])

    def _answer(self) -> dict[str, int]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the nursery ended")
        answer: dict[str, int] = json.loads(line)
        return answer


@dataclass(slots=True)
class Tally:
    """What a campaign saw: the homes at their ends, and how the kills left the sessions."""

    kills: int = 0
    ended: int = 0
    acknowledged: int = 0
    torn: int = 0
    interrupted: int = 0
    sessions: int = 0
    messages: int = 0
    effects: int = 0
    unknown: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, found: dict[str, Any]) -> None:
        """Take in the counts of the last inspection of a home."""
        self.sessions += found["sessions"]
        self.messages += found["messages"]
        self.effects += found["effects"]
        self.unknown += found["unknown"]

    def __str__(self) -> str:
        return (
            f"{self.kills} kills and {self.ended} ordinary ends left {self.interrupted} interrupted turns "
            f"and {self.torn} torn records; checked {self.acknowledged} acknowledgements, {self.sessions} "
            f"sessions, {self.messages} messages, {self.effects} effects ({self.unknown} shown as outcome "
            f"unknown)"
        )


class Household:
    """One home, lived in by processes that are killed one after the other. All chance comes from `seed`."""

    def __init__(self, nursery: Nursery, home: Path, seed: int, tally: Tally) -> None:
        self._nursery = nursery
        self._home = home
        self._seed = seed
        self._tally = tally
        self._chance = random.Random(seed)
        self._profiles = 0
        home.mkdir()

    def run(self, kills: int) -> bool:
        """Live and die `kills` times; whether all was well. Stops at the first problem."""
        profile = self._new_profile()
        for number in range(kills):
            if self._profiles < SESSIONS_A_HOME and self._chance.random() < 0.2:
                profile = self._new_profile()
            self._live(profile, number)
            if not self._inspect(number, last=number == kills - 1, finish=self._chance.random() < 0.4):
                return False
        return True

    def _new_profile(self) -> str:
        profile = f"soak{self._profiles}"
        self._profiles += 1
        write_script(self._home, profile, self._chance.randrange(2**32))
        return profile

    def _live(self, profile: str, number: int) -> None:
        known = Acknowledged(self._home / "acknowledged.jsonl")
        session = known.session_of(profile)
        at = self._chance.randrange(1, OPERATIONS) if self._chance.random() < 0.5 else 0
        moment = self._chance.choice(("before", "after", "torn", "torn"))
        after = 0.0 if at else self._chance.uniform(0, LONGEST)
        request: dict[str, Any] = {"do": "live", "home": str(self._home), "profile": profile}
        request |= {"session": session}
        request |= {"number": number, "seed": self._chance.randrange(2**32), "at": at, "moment": moment}
        status = self._nursery.live(request, after)
        self._tally.kills += status == -signal.SIGKILL
        self._tally.ended += status == 0
        if status not in (0, -signal.SIGKILL):
            self._blame(number, [f"a life ended with {status}: {self._last_words()}"])

    def _inspect(self, number: int, *, last: bool, finish: bool) -> bool:
        findings = self._home / "findings.json"
        findings.unlink(missing_ok=True)
        request = {"do": "inspect", "home": str(self._home), "finish": finish or last}
        status = self._nursery.inspect(request)
        if status or not findings.exists():
            self._blame(number, [f"the inspection ended with {status}: {self._last_words()}"])
            return False
        found = json.loads(findings.read_text("utf-8"))
        self._tally.torn += found["torn"]
        self._tally.interrupted += found["interrupted"]
        if last:
            self._tally.add(found)
        self._blame(number, found["problems"])
        return not found["problems"]

    def _last_words(self) -> str:
        return (self._home / "log.txt").read_text("utf-8", "replace")[-2000:]

    def _blame(self, number: int, problems: list[str]) -> None:
        self._tally.problems += [f"home {self._seed}, kill {number}: {problem}" for problem in problems]


@contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="orion-soak-"))
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder)


def campaign(kills: int, seed: int, *, keep: bool = False, aloud: bool = False) -> Tally:
    """Kill `kills` times over homes of KILLS_A_HOME lives each; homes with a problem are kept if `keep`."""
    tally, chance = Tally(), random.Random(seed)
    nursery = Nursery()
    try:
        with _folder(keep) as folder:
            while tally.kills < kills:
                home_seed = chance.randrange(2**32)
                _household(nursery, folder / str(home_seed), home_seed, tally, kills, keep=keep)
                if aloud:
                    print(f"{tally.kills} kills, {len(tally.problems)} problems", flush=True)
    finally:
        nursery.close()
    return tally


def _household(
    nursery: Nursery, home: Path, seed: int, tally: Tally, kills: int, *, keep: bool = False
) -> None:
    good = Household(nursery, home, seed, tally).run(min(KILLS_A_HOME, kills - tally.kills))
    tally.acknowledged += len(Acknowledged(home / "acknowledged.jsonl"))
    if good or not keep:
        shutil.rmtree(home)


def replay(home_seed: int, folder: Path) -> Tally:
    """Run one home of a campaign again, by the number that its problem named; it is left in `folder`."""
    tally, nursery = Tally(), Nursery()
    try:
        Household(nursery, folder / str(home_seed), home_seed, tally).run(KILLS_A_HOME)
    finally:
        nursery.close()
    return tally


def main() -> int:
    """The command line; the exit code is 1 when anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--home", type=int, help="replay the home of this number, as a problem named it")
    chosen = parser.parse_args()
    started = time.monotonic()
    if chosen.home is not None:
        folder = Path(tempfile.mkdtemp(prefix="orion-soak-"))
        print(f"the home stays in {folder}")
        tally = replay(chosen.home, folder)
    else:
        print(f"program kills: {chosen.kills}, --seed {chosen.seed}", flush=True)
        tally = campaign(chosen.kills, chosen.seed, aloud=True)
    seconds = time.monotonic() - started
    print(f"{tally}; {seconds:.0f} s, {seconds / max(1, tally.kills):.2f} s a kill")
    for problem in tally.problems:
        print(problem)
    print("nothing was lost" if not tally.problems else f"{len(tally.problems)} problems")
    return 1 if tally.problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
