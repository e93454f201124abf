"""What all sessions of one process share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtime.chain import Link
from runtime.errors import OrionError
from runtime.hooks import Hooks
from runtime.paths import Home
from runtime.policy import Autonomy
from runtime.profiles import Profile, Profiles
from runtime.providers.provider import NativeTool, Notices, Provider
from runtime.rules import RuleBook
from runtime.spending import Spending
from runtime.tools.registry import ToolRegistry
from runtime.workspace import Workspace

if TYPE_CHECKING:
    from runtime.agent_computer import AgentComputer


@dataclass(frozen=True, slots=True)
class House:
    """`provider` gives the client for a profile and model; the next two callables read the present settings.
    `computer` is the one the agent works on, `native` the tools a service defines itself for a model.
    `permit` says what to tell before a model is asked, or raises OrionError where it must not be; `preferred`
    is the model that answers for a profile where one was chosen."""

    home: Home
    profiles: Profiles
    registry: ToolRegistry
    rules: RuleBook
    workspace: Workspace
    hooks: Hooks
    spending: Spending
    provider: Callable[[Profile, str], Provider]
    bounded_iterations: Callable[[], int]
    autonomy: Callable[[], Autonomy]
    computer: Callable[[], AgentComputer | None] = lambda: None
    native: Callable[[str], tuple[NativeTool, ...]] = lambda model: ()
    permit: Callable[[Link], Notices] = lambda link: ()
    preferred: Callable[[Profile, str], str] = lambda profile, model: model

    def stand_ins(self, profile: Profile) -> Iterator[Link]:
        """Those that answer instead of `profile` while its service cannot be reached, made one by one; a
        profile that is gone or cannot be had is passed over."""
        for name in profile.fallback:
            with suppress(OrionError):
                other = self.profiles.get(name)
                model = self.preferred(other, other.model)
                yield Link(other, model, self.provider(other, model))
