"""Chooses how many threads evaluate, because on a busy machine more threads can be a hundred times slower.

The threads of llama.cpp wait for one another several hundred times a token by spinning. When another program
takes the core of one of them, all wait for the scheduler each time; a single thread then is far faster.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_SLOW = 3.0
"""A cost this many times the best one seen is suspicious."""

_FIRST_RETRY = 3.0
_LAST_RETRY = 30.0
"""Seconds of work before more threads are tried again; the wait doubles with each failure."""


@dataclass(slots=True)
class Governor:
    """Told the cost of each piece of work, it names the thread count for the next.

    `budget` is the most threads it may use; `ceiling` is a cost (seconds for one token) that no quiet machine
    exceeds, 0 if unknown; `patience` is how many suspicious costs in a row start a trial of fewer threads.
    `lowered` is true after fewer threads were tried, until `follow` hands that on to another governor.
    """

    budget: int
    ceiling: float = 0.0
    patience: int = 2
    threads: int = 0
    lowered: bool = False
    _best: dict[int, float] = field(default_factory=dict)
    _recent: dict[int, float] = field(default_factory=dict)
    _suspicions: int = 0
    _worked: float = 0.0
    _retry: float = _FIRST_RETRY
    _trial: int = 0

    def __post_init__(self) -> None:
        self.threads = self.budget

    def note(self, seconds: float, tokens: int = 1) -> bool:
        """Take the cost of `tokens` evaluated with `threads`; true when `threads` changed."""
        cost = seconds / tokens
        now = self.threads
        recent = self._recent.get(now, cost)
        self._recent[now] = recent + 0.3 * (cost - recent)
        self._best[now] = min(cost, self._best.get(now, cost))
        if self._trial:
            return self._judge(cost)
        self._worked += seconds
        if now < self.budget and self._worked >= self._retry:
            return self._try(min(self.budget, now * 2))
        if now == 1:
            return False
        limit = _SLOW * self._best[now]
        suspicious = cost > (min(limit, self.ceiling) if self.ceiling else limit)
        self._suspicions = self._suspicions + 1 if suspicious else 0
        return self._suspicions >= self.patience and self._try(max(1, now // 2))

    def _try(self, threads: int) -> bool:
        self._trial, self.threads, self.lowered = self.threads, threads, threads < self.threads
        self._suspicions, self._worked = 0, 0.0
        return True

    def _judge(self, cost: float) -> bool:
        """The trial's first cost decides: keep the new count or go back."""
        old, self._trial, self._worked = self._trial, 0, 0.0
        better = cost < self._recent[old]
        self._recent[self.threads] = cost
        if self.threads > old:
            self._retry = _FIRST_RETRY if better else min(_LAST_RETRY, self._retry * 2)
        if better:
            return False
        self.threads, self.lowered = old, False
        return True

    def follow(self, other: Governor) -> None:
        """Take over what `other`, which governs work on the same machine, has just found."""
        if other.lowered and other.threads < self.threads:
            self.threads, self._trial, self._suspicions, self._worked = other.threads, 0, 0, 0.0
        other.lowered = False
