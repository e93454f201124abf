"""What an exam found out: a score for each discipline, and the badges and roles that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from runtime.errors import Field
from runtime.messages import JsonObject

VERSION = 1
"""Of the questions and of how they are marked; results of another version are not compared with these."""

Discipline = Literal["speed", "instructions", "tools", "elements", "json", "pictures", "clicks"]

ORDER: tuple[Discipline, ...] = ("speed", "instructions", "tools", "elements", "json", "pictures", "clicks")
"""The order in which they are taken: what comes last is what a slow model may have no time for. Pictures,
which take long to read, come after what is cheap."""

SEEING: frozenset[Discipline] = frozenset({"pictures", "clicks"})
UNSEEING: frozenset[Discipline] = frozenset({"elements"})
"""Disciplines only for models that see pictures, and only for those that do not: these work a screen by the
numbered list of what is on it, as the program gives it to them."""

State = Literal["passed", "failed", "not_taken"]
Role = Literal["chat", "tools", "vision", "computer"]
ROLES: tuple[Role, ...] = ("chat", "tools", "vision", "computer")

Standing = Literal["earned", "failed", "open"]
"""Of a role: all its disciplines passed, one failed, or nothing failed but not all was taken."""


@dataclass(frozen=True, slots=True)
class ModelKey:
    """Which file was examined: `sha256` is of the beginning and end of all its parts and of its projector."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the examiner is told of a model; `build` names the engine's library."""

    key: ModelKey
    sees: bool
    build: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """`points` of `of` questions right, after `seconds`. `code` and `fields` say why it was not taken."""

    points: int
    of: int
    seconds: float
    state: State
    code: str = ""
    fields: dict[str, Field] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """Where a running exam is: `done` of the `of` questions of `discipline` are answered."""

    discipline: Discipline
    done: int
    of: int
    state: Literal["running", "passed", "failed", "not_taken"] = "running"


@dataclass(frozen=True, slots=True)
class Exam:
    """The result of one exam, or of several of the same file put together. `when` is seconds since the epoch,
    `seconds` what it took. Speeds are medians of what the engine reported, 0 where not measured."""

    model: ModelKey
    build: str
    when: float
    seconds: float
    sees: bool
    scores: dict[Discipline, Score]
    tokens_per_second: float = 0.0
    prefill_per_second: float = 0.0
    version: int = VERSION

    def state(self, discipline: Discipline) -> State:
        """How the discipline ended."""
        score = self.scores.get(discipline)
        return score.state if score else "not_taken"

    @property
    def badges(self) -> tuple[Discipline, ...]:
        """The disciplines that were passed; speed is a figure and no badge."""
        return tuple(name for name in ORDER if name != "speed" and self.state(name) == "passed")

    def needed(self, role: Role) -> tuple[Discipline, ...]:
        """The disciplines that the role demands of this model."""
        match role:
            case "chat":
                return ("instructions",)
            case "tools":
                return ("tools",)
            case "vision":
                return ("pictures",)
            case "computer":
                return ("tools", "clicks") if self.sees else ("tools", "elements")

    def standing(self, role: Role) -> Standing:
        """Whether the model may be called capable of the role. Vision without eyes is failed."""
        if role == "vision" and not self.sees:
            return "failed"
        states = [self.state(name) for name in self.needed(role)]
        if "failed" in states:
            return "failed"
        return "open" if "not_taken" in states else "earned"

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles it has earned."""
        return tuple(role for role in ROLES if self.standing(role) == "earned")

    def as_row(self) -> JsonObject:
        """For doors: plain values."""
        return {
            "when": self.when,
            "seconds": self.seconds,
            "tokens_per_second": self.tokens_per_second,
            "prefill_per_second": self.prefill_per_second,
            "badges": list(self.badges),
            "roles": list(self.roles),
            "scores": {name: _score_row(self.scores[name]) for name in ORDER if name in self.scores},
        }


def _score_row(score: Score) -> JsonObject:
    return {
        "points": score.points,
        "of": score.of,
        "seconds": score.seconds,
        "state": score.state,
        "code": score.code,
        "fields": dict(score.fields),
    }


def merged(old: Exam | None, new: Exam) -> Exam:
    """`new`, with what it had no time for as `old` found it, where that is of the same file and version: an
    exam that ended early takes no badge away."""
    if old is None or (old.model, old.version, old.sees) != (new.model, new.version, new.sees):
        return new
    kept: Mapping[Discipline, Score] = {
        name: score
        for name, score in old.scores.items()
        if score.state != "not_taken" and new.state(name) == "not_taken"
    }
    return Exam(
        new.model,
        new.build,
        new.when,
        new.seconds,
        new.sees,
        {**new.scores, **kept},
        new.tokens_per_second or old.tokens_per_second,
        new.prefill_per_second or old.prefill_per_second,
        new.version,
    )
