"""Callbacks around turns, model calls and tool calls, for extensions that watch or adjust."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from runtime.events import Done
from runtime.messages import AssistantMessage, ToolCall
from runtime.providers.provider import Request
from runtime.tools.tool import Result


@dataclass(slots=True)
class Hooks:
    """Lists of callables, run in order on the runtime's loop. A callback that raises is a bug and ends
    the turn as one. `before_model` may return a changed request, `after_tool` a changed result."""

    before_turn: list[Callable[[str], None]] = field(default_factory=list)
    after_turn: list[Callable[[Done], None]] = field(default_factory=list)
    before_model: list[Callable[[Request], Request]] = field(default_factory=list)
    after_model: list[Callable[[AssistantMessage], None]] = field(default_factory=list)
    before_tool: list[Callable[[ToolCall], None]] = field(default_factory=list)
    after_tool: list[Callable[[ToolCall, Result], Result]] = field(default_factory=list)
