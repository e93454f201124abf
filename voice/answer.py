"""One answer on its way to be heard: its clauses, and which words of them have been heard."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from voice.clauses import Clause, Clauses

WHOLE = 0.98
"""The share of a clause's sound after which all its words have been heard; the rest is its last breath."""


@dataclass(slots=True)
class Piece:
    """A clause that is being made into sound; `seconds` of it exist, all of them when it is `made`."""

    clause: Clause
    mark: int
    seconds: float = 0.0
    made: bool = False
    begun: bool = False
    heard: bool = False


@dataclass(slots=True)
class Answer:
    """The answer called `number`. Not safe for several threads: its owner holds a lock."""

    number: int
    ended: bool = False
    written: list[str] = field(default_factory=list)
    waiting: list[Clause] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    heard: str = ""
    partly: str = ""
    _clauses: Clauses = field(default_factory=Clauses)
    _whole: bool = False

    def cut(self) -> bool:
        """Make clauses of what was written since the last call; whether its end was reached with it."""
        text, self.written = "".join(self.written), []
        self.waiting += self._clauses.add(text) if text else []
        if self._whole or not self.ended:
            return False
        self._whole = True
        self.waiting += self._clauses.end()
        return True

    def settle(self) -> None:
        """Take over into `heard` what was heard in order, and pass over what is not read aloud."""
        while True:
            if self.pieces:
                if not self.pieces[0].heard:
                    return
                self.heard += self.pieces.pop(0).clause.text
            elif self.waiting and not self.waiting[0].spoken:
                self.heard += self.waiting.pop(0).text
            else:
                return

    @property
    def silent(self) -> bool:
        """Whether nothing that was cut so far is still to be heard."""
        return not self.waiting and not self.pieces

    @property
    def done(self) -> bool:
        """Whether all of it was heard."""
        return self._whole and self.silent and not self.written

    def stopped(self, seconds: dict[int, float]) -> str:
        """What was heard when the loudspeaker stopped, given the seconds of each mark it really played."""
        heard = self.heard
        for piece in self.pieces:
            if not piece.heard:
                share = seconds.get(piece.mark, 0.0) / piece.seconds if piece.seconds else 0.0
                if not piece.made or share < WHOLE:
                    heard += share_of(piece.clause.text, min(share, WHOLE))
                    break
            heard += piece.clause.text
        return max(heard, self.partly, key=len)

    def again(self, seconds: dict[int, float]) -> None:
        """Another loudspeaker goes on: clauses of which the old one played but a part are said anew."""
        self.partly = self.stopped(seconds)
        self.settle()
        self.waiting[:0] = [piece.clause for piece in self.pieces]
        self.pieces.clear()


def share_of(text: str, share: float) -> str:
    """The words of `text` that have ended when `share` (0 to 1) of its sound was heard."""
    words = [found.end() for found in re.finditer(r"\S+", text)]
    count = int(len(words) * share + 1e-6)
    return text[: words[count - 1]] if count > 0 else ""
