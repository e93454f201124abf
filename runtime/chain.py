"""Who answers in a turn: the chosen model, and those that step in while it cannot be reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from runtime.errors import OrionError
from runtime.profiles import Profile
from runtime.providers.provider import Provider

PASSING = frozenset(
    {"provider_unreachable", "provider_unavailable", "provider_timeout", "rate_limited", "reply_cut_short"}
)
"""Faults for which another model steps in: the service is at fault, or the way to it, and not for good."""


@dataclass(frozen=True, slots=True)
class Link:
    """One that can answer: a model, its client, and the profile whose prompt and limits suit it."""

    profile: Profile
    model: str
    provider: Provider

    @property
    def name(self) -> str:
        """For people: the provider and the model."""
        return f"{self.provider.traits(self.model).name}/{self.model}"


class Chain:
    """The links of one turn, used one after the other; who stepped in answers until the turn ends.

    `others` is asked for only when the first fails; one that cannot be made (OrionError) is passed over.
    """

    def __init__(self, first: Link, others: Iterable[Link] = ()) -> None:
        self.link = first
        self._others: Iterator[Link] = iter(others)

    def step(self, error: OrionError) -> bool:
        """Go on to the next link when `error` is a passing fault of the present one; false when there is
        none, or when another model would not help."""
        if error.code not in PASSING:
            return False
        following = next(self._others, None)
        if following is None:
            return False
        self.link = following
        return True
