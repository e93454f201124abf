"""Kills a program that downloads models again and again: no wrong or half file is ever in its place."""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.soak.ledger import Acknowledged
from tests.soak.program_kills import PATIENCE, Nursery
from tests.wire.hub import HubServer, Misdeed

KILLS_A_HOME = 10
LONGEST = 0.6
"""Seconds after which a kill by the clock comes at the latest."""
OPERATIONS = 120
"""Disk operations within which a kill at an operation comes."""
RATE = 3_000_000

ONE, SPLIT, SPEECH = "maker/One-GGUF", "maker/Split-GGUF", "maker/faster-speech"
PARTS = [f"Split-Q4_K_M-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
WANTS = {
    "One": [ONE, ONE, ["One-Q4_K_M.gguf"]],
    "Split": [SPLIT, SPLIT, PARTS],
    "Speech": [SPEECH, "faster-speech", ["model.bin", "config.json"]],
}
_WRONGS = ("cut", "cut", "cut", "wrong", "status", "hangup", "whole", "shifted", "refuse_range")


@dataclass(slots=True)
class Tally:
    """What a campaign saw. `served` bytes came out of the hub for `wanted` bytes of whole files."""

    kills: int = 0
    ended: int = 0
    looks: int = 0
    done: int = 0
    partly: int = 0
    served: int = 0
    wanted: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills and {self.ended} ordinary ends; {self.looks} looks at files in place, "
            f"{self.done} acknowledged as done, {self.partly} kills left a part; "
            f"{self.served / max(1, self.wanted):.1f} bytes served for each byte of a whole file"
        )


class Household:
    """One home and one hub. All chance comes from `seed`."""

    def __init__(self, nursery: Nursery, home: Path, seed: int, tally: Tally) -> None:
        self._nursery = nursery
        self._home = home
        self._seed = seed
        self._tally = tally
        self._chance = random.Random(seed)
        self._hub = HubServer(rate=RATE)
        self._right: dict[str, set[str]] = {}
        self._hashed: dict[tuple[str, int, int], str] = {}
        home.mkdir()
        self._put(ONE, {"One-Q4_K_M.gguf": 1_500_000})
        self._put(SPLIT, dict.fromkeys(PARTS, 400_000))
        self._put(SPEECH, {"model.bin": 300_000, "config.json": 2_000})

    def run(self, kills: int) -> None:
        """Live and die `kills` times, then live to the end with a hub that behaves."""
        with self._hub:
            for number in range(kills):
                self._wrong()
                self._live(number, last=False)
                self._look(number)
            self._hub.misdeeds.clear()
            self._hub.rate = 0
            self._live(kills, last=True)
            self._look(kills)
            self._look_at_all(kills)
        self._tally.served += self._hub.served

    def _put(self, repository: str, sizes: dict[str, int]) -> None:
        files = {name: self._chance.randbytes(size) for name, size in sizes.items()}
        self._hub.put(repository, files)
        for name, data in files.items():
            self._right.setdefault(name, set()).add(hashlib.sha256(data).hexdigest())
            self._tally.wanted += len(data)

    def _wrong(self) -> None:
        """What the hub does wrong in the next life; now and then a file of it changes."""
        for _number in range(self._chance.randrange(4)):
            kind = self._chance.choice(_WRONGS)
            door = self._chance.choice(("head", "resolve")) if kind in ("status", "hangup") else "cdn"
            after = self._chance.randrange(400_000)
            self._hub.misdeeds.append(Misdeed(kind, door, after=after, status=503))  # type: ignore[arg-type]
        if self._chance.random() < 0.1:
            self._put(ONE, {"One-Q4_K_M.gguf": self._chance.randrange(1, 1_500_000)})

    def _live(self, number: int, *, last: bool) -> None:
        at = self._chance.randrange(1, OPERATIONS) if self._chance.random() < 0.5 and not last else 0
        after = self._chance.uniform(0, LONGEST) if not (at or last) else PATIENCE
        request: dict[str, Any] = {"do": "download", "home": str(self._home), "url": self._hub.url}
        request |= {"wants": WANTS, "last": last, "at": at, "seed": self._chance.randrange(2**32)}
        request |= {"moment": self._chance.choice(("before", "after", "torn"))}
        status = self._nursery.live(request, after)
        self._tally.kills += status == -signal.SIGKILL and not last
        self._tally.ended += status == 0
        if status and (last or status != -signal.SIGKILL):
            words = (self._home / "log.txt").read_text("utf-8", "replace")[-2000:]
            self._blame(number, f"a life ended with {status}: {words}")

    def _look(self, number: int) -> None:
        """Every file in place is whole and right, a model that was split is there with all its parts, and
        what was acknowledged is there."""
        self._tally.partly += any(self._home.glob("downloads/*/*.part"))
        for path in sorted((self._home / "weights").rglob("*")):
            if path.is_file():
                self._tally.looks += 1
                if self._sha256(path) not in self._right.get(path.name, set()):
                    self._blame(number, f"{path.name} ({path.stat().st_size} bytes) is in place and wrong")
        places = [self._home / "weights" / SPLIT / name for name in PARTS]
        if places[0].exists() and not all(place.exists() for place in places):
            self._blame(number, "a split model can be found although parts of it are missing")
        for entry in self._done():
            if not Path(entry["path"]).is_file():
                self._blame(number, f"{entry['path']} was done and is gone")

    def _look_at_all(self, number: int) -> None:
        """Everything came in the end, the newest of what changed, and nothing is left over."""
        for repository, into, names in WANTS.values():
            for name in names:
                path = self._home / "weights" / str(into) / name
                newest = self._hub.repositories[str(repository)]
                if not path.is_file() or self._sha256(path) not in {
                    files[name].sha256 for files in newest.history.values()
                }:
                    self._blame(number, f"{name} never came")
        left = [path.name for path in self._home.glob("downloads/*")]
        if left:
            self._blame(number, f"{left} is left over")
        self._tally.done += len(self._done())

    def _done(self) -> list[dict[str, Any]]:
        known = Acknowledged(self._home / "acknowledged.jsonl")
        return [entry for id in dict.fromkeys(known.sessions()) for entry in known.of("done", id)]

    def _sha256(self, path: Path) -> str:
        status = path.stat()
        key = (str(path), status.st_ino, status.st_mtime_ns)
        if key not in self._hashed:
            self._hashed[key] = hashlib.sha256(path.read_bytes()).hexdigest()
        return self._hashed[key]

    def _blame(self, number: int, problem: str) -> None:
        self._tally.problems.append(f"home {self._seed}, kill {number}: {problem}")


def campaign(kills: int, seed: int, *, aloud: bool = False) -> Tally:
    """Kill `kills` times over homes of KILLS_A_HOME lives each."""
    tally, chance = Tally(), random.Random(seed)
    nursery, folder = Nursery(), Path(tempfile.mkdtemp(prefix="orion-soak-"))
    try:
        while tally.kills < kills:
            home = folder / str(seed := chance.randrange(2**32))
            Household(nursery, home, seed, tally).run(min(KILLS_A_HOME, kills - tally.kills))
            shutil.rmtree(home)
            if aloud:
                print(f"{tally.kills} kills, {len(tally.problems)} problems", flush=True)
    finally:
        nursery.close()
        shutil.rmtree(folder)
    return tally


def main() -> int:
    """The command line; the exit code is 1 when a wrong file was in its place or one was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.download_kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    chosen = parser.parse_args()
    print(f"download kills: {chosen.kills}, --seed {chosen.seed}", flush=True)
    started = time.monotonic()
    tally = campaign(chosen.kills, chosen.seed, aloud=True)
    print(f"{tally}; {time.monotonic() - started:.0f} s")
    print("\n".join(tally.problems) or "no problem found")
    return 1 if tally.problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
