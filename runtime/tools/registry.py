"""The tools of the house by name, and which of them a profile may use."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.messages import ToolSpec
from runtime.profiles import Notice, Profile
from runtime.tools.tool import Tool

# Named in shipped or users' profiles and built in a later room: a notice, not an error.
ANNOUNCED = frozenset(
    [
        "computer_use",
        "continuation_update",
        "creator_inbox",
        "directives",
        "email",
        "manage_tasks",
        "memory",
        "memory_search",
        "python",
        "shell",
        "task_inbox",
        "web_fetch",
        "web_fetch_js",
        "web_fetch_stealth",
        "web_search",
    ]
)

ALIASES = {"str_replace_editor": "str_replace_based_edit_tool"}
"""Other names under which models of a service know a tool of ours."""


class ToolRegistry:
    """All tools of this process. Immutable once made; safe to share between sessions."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.definition().name: tool for tool in tools}
        self._audience = {name: tool.definition().audience for name, tool in self._tools.items()}
        self._specs: dict[str, ToolSpec] = {}

    def get(self, name: str) -> Tool | None:
        """The tool called `name`, or known to some models by it, if there is one."""
        return self._tools.get(ALIASES.get(name, name))

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._tools)

    def specs(self, profile: Profile, *, images: bool | None = None) -> tuple[ToolSpec, ...]:
        """What a model is told that sees pictures or does not (None: of all that is allowed), in one stable
        order, so that a cached prompt stays valid."""
        allowed = (name for name in self.names() if name in profile.allowed_tools)
        other = {None: "none", True: "unseeing", False: "seeing"}[images]
        return tuple(self._spec(name) for name in allowed if self._audience[name] != other)

    def _spec(self, name: str) -> ToolSpec:
        """Made once: a schema costs a tenth of a millisecond, and every model call asks for all of them."""
        if name not in self._specs:
            self._specs[name] = self._tools[name].definition().spec()
        return self._specs[name]

    def notices(self, profile: Profile) -> list[Notice]:
        """Allowed tools that cannot be used: announced ones that are not there yet, and unknown names."""
        missing = [name for name in profile.allowed_tools if name not in self._tools]
        return [
            (
                "tool_announced" if name in ANNOUNCED else "tool_unknown",
                {"tool": name, "profile": profile.name},
            )
            for name in missing
        ]
