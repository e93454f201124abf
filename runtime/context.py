"""What a model is shown: the system prompt, the conversation, the tools."""

from __future__ import annotations

import json
from pathlib import Path

import resources
from runtime.errors import OrionError
from runtime.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
    without_surrogates,
)
from runtime.pathnames import IDENTITY
from runtime.profiles import Profile
from runtime.providers.provider import Request
from runtime.transcript import Transcript

IDENTITY_LIMIT = 8_000
TALKING, ACTING = ".local.md", ".tools.md"


def system_prompt(profile: Profile, folder: Path, workspace: Path, *, tools: bool = False) -> str:
    """The profile's prompt file (beside the profile, else shipped) and the workspace's identity files.

    A prompt NAME.local.md is for a small model that only talks: with `tools`, NAME.tools.md of the same place
    stands in for it where there is one. Holds no clock, id or counter, so that a cached prompt stays valid.
    Raises OrionError `prompt_missing`.
    """
    name = profile.system_prompt
    acting = [name.removesuffix(TALKING) + ACTING] if tools and name.endswith(TALKING) else []
    for candidate in (
        where / file for where in (folder, resources.path("prompts")) for file in (*acting, name)
    ):
        if candidate.is_file():
            text = candidate.read_text("utf-8", errors="replace").strip()
            break
    else:
        raise OrionError("prompt_missing", profile=profile.name, file=profile.system_prompt)
    for name in IDENTITY:
        path = workspace / name
        if path.is_file() and not path.is_symlink():
            identity = path.read_text("utf-8", errors="replace")[:IDENTITY_LIMIT].strip()
            text += f"\n\n# {name}\n{identity}" if identity else ""
    return text


def build(
    session: str,
    profile: Profile,
    model: str,
    system: str,
    transcript: Transcript,
    tools: tuple[ToolSpec, ...],
) -> Request:
    """The next request of this conversation. A last reply that only repeated calls is not shown again: an
    answer is asked for where the conversation stood before it."""
    shown, free = transcript.messages, frozenset(tool.name for tool in tools if tool.repeats)
    circle = repeats_itself(shown, free)
    if circle:
        last = len(shown) - 1
        while not isinstance(shown[last], AssistantMessage):
            last -= 1
        shown = shown[:last]
    return Request(
        session=session,
        model=model,
        system=without_surrogates(system),
        messages=tuple(_recent(shown, profile.window_size)),
        tools=tools,
        temperature=profile.temperature,
        effort=profile.effort,
        max_tokens=profile.max_tokens,
        replies=transcript.replies,
        answer=circle,
    )


def repeats_itself(messages: list[Message], free: frozenset[str] = frozenset()) -> bool:
    """Whether the last reply only asked once more for what had gone well: for calls of the reply before it,
    or for calls made twice before in the same turn. Small models go round in circles until they must answer.
    Tools in `free` may be called again and again.
    """
    turn = _turn(messages)
    replies = [
        (place, message) for place, message in enumerate(turn) if isinstance(message, AssistantMessage)
    ]
    if not replies or not replies[-1][1].calls or any(call.name in free for call in replies[-1][1].calls):
        return False
    place, last = replies[-1]
    before = replies[-2][1].calls if len(replies) > 1 else ()
    return all(
        (went_well := _successes(call, turn[:place])) and (went_well > 1 or _among(call, before))
        for call in last.calls
    )


def used(messages: list[Message]) -> set[str]:
    """The names of the tools that went well since the user's last message."""
    return {message.name for message in _turn(messages) if isinstance(message, ToolMessage) and message.ok}


def _turn(messages: list[Message]) -> list[Message]:
    """What came since the user's last message; looks no further back, however long the conversation is."""
    begin = len(messages)
    while begin and not isinstance(messages[begin - 1], UserMessage):
        begin -= 1
    return messages[begin:]


def _successes(call: ToolCall, messages: list[Message]) -> int:
    """How often exactly this call was made in `messages` and went well."""
    asked: dict[str, bool] = {}
    count = 0
    for message in messages:
        if isinstance(message, AssistantMessage):
            for earlier in message.calls:
                asked[earlier.id] = earlier.arguments == call.arguments and _same(call, earlier)
        elif isinstance(message, ToolMessage) and message.ok and asked.get(message.call_id):
            count += 1
    return count


def _among(call: ToolCall, calls: tuple[ToolCall, ...]) -> bool:
    return any(_same(call, other) for other in calls)


def _same(one: ToolCall, other: ToolCall) -> bool:
    """Whether two calls are the same in JSON, in which 1, 1.0 and true differ."""
    if one.name != other.name or one.arguments != other.arguments:
        return False
    return json.dumps(one.arguments, sort_keys=True) == json.dumps(other.arguments, sort_keys=True)


def _recent(messages: list[Message], size: int) -> list[Message]:
    """The last `size` messages, from a user message on; all of them for 0.

    The cut moves in steps of half a window, so that a prompt cache survives most turns.
    """
    if not size or len(messages) <= size:
        return messages
    step = max(1, size // 2)
    start = -(-(len(messages) - size) // step) * step
    while start < len(messages) - 1 and not isinstance(messages[start], UserMessage):
        start += 1
    return messages[start:]
