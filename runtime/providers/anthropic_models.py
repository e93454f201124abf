"""What is known of Anthropic's models by their names: windows, ways of thinking, versions of tools.

Source: the model pages and the migration guides of Anthropic's platform documentation, November 2026.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from runtime.providers.provider import NativeTool

BUDGETS = {"low": 2_048, "medium": 8_192, "high": 16_384}
"""Tokens for thinking. They come on top of what a request asks for, because thinking counts as output."""

LEAST_BUDGET = 1_024


@dataclass(frozen=True, slots=True)
class Kind:
    """A line of models. `window` and `output` in tokens, 0 where unknown.

    `thinking`: not at all, within a budget that is asked for, or as the model sees fit (adaptive), where
    `unasked` says that it thinks unless it is told not to, and `off` is the setting that tells it so, empty
    where it cannot be told. `bound`: its thinking may only be sent back after an unchanged conversation.
    `sampling`: it takes a temperature. `computer` is the newest version of the computer tool it accepts.
    """

    window: int = 200_000
    output: int = 64_000
    thinking: Literal["none", "budget", "adaptive"] = "budget"
    unasked: bool = False
    off: Literal["", "disabled", "between_tools"] = ""
    bound: bool = False
    images: bool = True
    sampling: bool = False
    computer: str = "20250124"


_FIVE = Kind(1_000_000, 128_000, "adaptive", unasked=True, computer="20260801")
_FOUR_SIX = Kind(1_000_000, 128_000, "adaptive", computer="20251124")
_THREE = Kind(200_000, 4_096, "none", computer="")

_KINDS: tuple[tuple[str, Kind], ...] = (
    ("sonnet-5-5", replace(_FIVE, off="between_tools", bound=True)),
    ("haiku-5-5", replace(_FIVE, off="disabled", bound=True)),
    ("sonnet-5", replace(_FIVE, off="disabled")),
    ("opus-5-5", replace(_FIVE, bound=True)),
    ("opus-5", replace(_FIVE, off="disabled")),
    ("opus-4-8", replace(_FOUR_SIX, computer="20260801")),
    ("opus-4-7", _FOUR_SIX),
    ("opus-4-6", _FOUR_SIX),
    ("sonnet-4-6", _FOUR_SIX),
    ("opus-4-5", Kind(computer="20251124")),
    ("sonnet-4", Kind()),
    ("haiku-4", Kind()),
    ("opus-4", Kind(output=32_000)),
    ("3-7-sonnet", Kind()),
    ("3-5-sonnet", replace(_THREE, output=8_192, computer="20241022")),
    ("3-5", replace(_THREE, output=8_192)),
    ("3-", _THREE),
    ("fable-5", replace(_FIVE, bound=True)),
    ("mythos", replace(_FIVE, bound=True)),
)
_NEWER = Kind(thinking="adaptive", unasked=True, bound=True, computer="20260801")
_OTHER = Kind(window=0, output=0, images=False, sampling=True, computer="")


def kind(model: str, learnt: Kind | None = None) -> Kind:
    """What is known of `model`, which may carry the name of a maker or a region before it. `learnt` is what
    the service itself said. A model of another maker behind the same kind of service is taken to be plain."""
    _before, claude, name = model.rpartition("claude-")
    if not claude:
        return learnt or _OTHER
    found = next((known for start, known in _KINDS if name.startswith(start)), None)
    if learnt is None:
        return found or _NEWER
    if found is None:
        return replace(learnt, computer=_NEWER.computer, bound=learnt.thinking == "adaptive")
    return replace(found, window=learnt.window or found.window, output=learnt.output or found.output)


def learn(found: dict[str, Any]) -> Kind:
    """The kind of a model as an entry of the service's own list tells it; members may be missing."""
    abilities = _member(found, "capabilities")
    types = _member(_member(abilities, "thinking"), "types")
    adaptive = _supported(types, "adaptive")
    off: Literal["", "disabled", "between_tools"] = ""
    if _supported(types, "disabled"):
        off = "disabled"
    elif _supported(types, "between_tools"):
        off = "between_tools"
    return Kind(
        window=_number(found, "max_input_tokens"),
        output=_number(found, "max_tokens"),
        thinking="adaptive"
        if adaptive
        else "budget"
        if not types or _supported(types, "enabled")
        else "none",
        unasked=adaptive,
        off=off,
        images=_supported(abilities, "image_input"),
        sampling="claude" not in str(found.get("id", "")),
        computer="",
    )


def native_tools(model: str, width: int, height: int) -> tuple[NativeTool, ...]:
    """The tools for a screen of `width` by `height` pixels, a shell and a text editor, in the newest versions
    that `model` was trained on; none for a model that knows none. Each carries the beta header it needs."""
    version = kind(model).computer
    if not version:
        return ()
    old = "20241022" if version == "20241022" else "20250124"
    beta = f"computer-use-{version[:4]}-{version[4:6]}-{version[6:]}"
    screen = {"display_width_px": width, "display_height_px": height}
    if version == "20260801":
        computer = NativeTool("computer", f"computer_toolset_{version}", {})
    else:
        computer = NativeTool("computer", f"computer_{version}", dict(screen), beta)
    first = beta if old == "20241022" else ""
    shell = NativeTool("bash", f"bash_{old}", {}, first)
    if old == "20241022" or "3-7" in model:
        editor = NativeTool("str_replace_editor", f"text_editor_{old}", {}, first)
    else:
        editor = NativeTool("str_replace_based_edit_tool", "text_editor_20250728", {})
    return computer, shell, editor


def _member(found: object, name: str) -> dict[str, Any]:
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, dict) else {}


def _supported(found: dict[str, Any], name: str) -> bool:
    return _member(found, name).get("supported") is True


def _number(found: dict[str, Any], name: str) -> int:
    value = found.get(name)
    return value if isinstance(value, int) else 0
