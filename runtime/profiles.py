"""Profiles: who the agent is, which model speaks for it and what it may do."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

import resources
from runtime import yamlfile
from runtime.errors import Field as ErrorField
from runtime.errors import OrionError
from runtime.events import Risk
from runtime.exam.exam import Role
from runtime.providers.provider import Effort

Notice = tuple[str, dict[str, ErrorField]]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PolicyLimits(_Part):
    """Limits of one turn. `stasis_mode` lets the agent observe only; `token_budget` 0 means none."""

    max_iterations: int = Field(default=25, ge=1, le=1000)
    stasis_mode: bool = False
    tool_failure_mode: Literal["continue", "stop"] = "continue"
    token_budget: int = Field(default=0, ge=0)


class MemoryUse(_Part):
    """How much of the memory vault a turn may see."""

    enabled: bool = False
    scopes: tuple[str, ...] = ("shared",)
    max_items: int = Field(default=20, ge=0, le=1000)
    similarity_threshold: float = Field(default=0.85, ge=0.0, le=1.0)


class DirectiveUse(_Part):
    """Which standing directives a turn may see."""

    enabled: bool = False
    scopes: tuple[str, ...] = ("shared",)
    max_sections: int = Field(default=5, ge=0, le=100)


class Voice(_Part):
    """How the agent sounds."""

    name: str = ""
    rate: float = Field(default=1.0, ge=0.25, le=4.0)
    volume: float = Field(default=1.0, ge=0.0, le=2.0)


class Profile(_Part):
    """One profile file. `window_size` is the number of past messages a model is shown, 0 for all that fit;
    `fallback` names the profiles whose models answer, in this order, while the service cannot be reached;
    `api` chooses between the two ways OpenAI's services speak, empty for the one that suits the address;
    `role` is what a model on this machine must be able to do by its exam, empty for nothing in particular."""

    name: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    provider: str
    model: str
    base_url: str = ""
    api: Literal["", "chat", "responses"] = ""
    effort: Effort = ""
    role: Literal[""] | Role = ""
    fallback: tuple[str, ...] = ()
    temperature: float = Field(default=0.7, ge=0.0, le=2.0)
    max_tokens: int = Field(default=1024, ge=1, le=1_000_000)
    system_prompt: str = "orion.system.md"
    window_size: int = Field(default=0, ge=0)
    allowed_tools: tuple[str, ...] = ()
    policy: PolicyLimits = PolicyLimits()
    require_approval: tuple[str, ...] = ()
    risk: dict[str, Risk] = Field(default_factory=dict)
    memory: MemoryUse = MemoryUse()
    directives: DirectiveUse = DirectiveUse()
    computer_use: bool = False
    voice: Voice = Voice()
    edge_voice: str = ""
    voice_id: str = ""


class Profiles:
    """The shipped profiles with the user's over them; a broken file is a notice, the others still work."""

    def __init__(self, folder: Path) -> None:
        self._profiles: dict[str, Profile] = {}
        self._folders: dict[str, Path] = {}
        self._faults: list[OrionError] = []
        for place in (resources.path("profiles"), folder):
            for path in sorted(place.glob("*.yaml")):
                self._read(path)

    def _read(self, path: Path) -> None:
        try:
            profile = yamlfile.load(path, Profile)
        except OrionError as error:
            self._faults.append(error)
            return
        self._profiles[profile.name] = profile
        self._folders[profile.name] = path.parent

    def names(self) -> list[str]:
        """All usable profiles, sorted."""
        return sorted(self._profiles)

    def get(self, name: str) -> Profile:
        """Raises the fault of the file that should hold it, or `profile_unknown` with the known names."""
        if name in self._profiles:
            return self._profiles[name]
        for fault in self._faults:
            if Path(str(fault.fields.get("path", ""))).stem == name:
                raise fault
        raise OrionError("profile_unknown", name=name, known=", ".join(self.names()))

    def folder(self, name: str) -> Path:
        """Where the profile's file lies; files it names are looked for there first."""
        return self._folders[self.get(name).name]

    def notices(self) -> list[Notice]:
        """(code, fields) of every file that could not be used."""
        return [(fault.code, fault.fields) for fault in self._faults]
