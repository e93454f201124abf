"""What is known by their names of OpenAI's models and of those behind services that speak like it.

Source: the model pages and the reasoning guide of OpenAI's API documentation, November 2026.
"""

from __future__ import annotations

from dataclasses import dataclass

from runtime.providers.provider import Effort

_FULL = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Kind:
    """A line of models. `window` is how many tokens a prompt may have, 0 where unknown. `thinks`: its effort
    can be set to one of `efforts`, `off` is the one that comes nearest to not thinking, empty where there is
    none; it takes no temperature. `known` is false for models of which the name says nothing."""

    window: int = 0
    thinks: bool = False
    images: bool = False
    efforts: tuple[str, ...] = _FULL
    off: str = ""
    known: bool = True


_MILLION = 922_000
_FIVE = 272_000

_KINDS: tuple[tuple[str, Kind], ...] = (
    ("gpt-6", Kind(_MILLION, thinks=True, images=True, off="low")),
    ("gpt-5.6", Kind(_MILLION, thinks=True, images=True, off="none")),
    ("gpt-5.5", Kind(_MILLION, thinks=True, images=True, off="none")),
    ("gpt-5.4-mini", Kind(_FIVE, thinks=True, images=True, off="none")),
    ("gpt-5.4-nano", Kind(_FIVE, thinks=True, images=True, off="none")),
    ("gpt-5.4", Kind(_MILLION, thinks=True, images=True, off="none")),
    ("gpt-5-chat", Kind(128_000, images=True)),
    ("gpt-5.1-chat", Kind(128_000, images=True)),
    ("gpt-5.2-chat", Kind(128_000, images=True)),
    ("gpt-5.3-chat", Kind(128_000, images=True)),
    ("chat-latest", Kind(128_000, images=True)),
    ("gpt-5-codex", Kind(_FIVE, thinks=True, images=True, off="low")),
    ("gpt-5.1-codex", Kind(_FIVE, thinks=True, images=True, off="low")),
    ("gpt-5.2-codex", Kind(_FIVE, thinks=True, images=True, off="low")),
    ("gpt-5.3-codex", Kind(_FIVE, thinks=True, images=True, off="low")),
    ("gpt-5-pro", Kind(_FIVE, thinks=True, images=True, efforts=("high",), off="high")),
    ("gpt-5.2-pro", Kind(_FIVE, thinks=True, images=True, efforts=("medium", "high"), off="medium")),
    ("gpt-5.", Kind(_FIVE, thinks=True, images=True, off="none")),
    ("gpt-5", Kind(_FIVE, thinks=True, images=True, off="minimal")),
    ("gpt-4.1", Kind(1_014_000, images=True)),
    ("gpt-4o", Kind(128_000, images=True)),
    ("chatgpt-4o", Kind(128_000, images=True)),
    ("gpt-4-turbo", Kind(128_000, images=True)),
    ("gpt-4", Kind(8_192)),
    ("gpt-3.5", Kind(16_385)),
    ("gpt-oss", Kind(131_072)),
    ("o1-mini", Kind(128_000, thinks=True, off="low")),
    ("o1-preview", Kind(128_000, thinks=True, off="low")),
    ("o3-mini", Kind(200_000, thinks=True, off="low")),
    ("o1", Kind(200_000, thinks=True, images=True, off="low")),
    ("o3", Kind(200_000, thinks=True, images=True, off="low")),
    ("o4", Kind(200_000, thinks=True, images=True, off="low")),
)

_SEEING = (
    "-vl", "vision", "llava", "pixtral", "gemma-3", "gemma3", "gemma-4", "gemini", "claude", "llama-4",
    "minicpm-v", "internvl", "glm-4.5v", "glm-4.6v", "grok-4", "mistral-small-3",
    "mistral-medium-3", "moondream",
)  # fmt: skip

_NOT_TALKING = (
    "embed", "whisper", "tts", "dall-e", "moderation", "gpt-image", "chatgpt-image", "realtime", "audio",
    "transcribe", "sora-", "rerank", "babbage", "davinci", "-instruct-0914", "gpt-live",
)  # fmt: skip


def kind(model: str) -> Kind:
    """What is known of `model`, which may carry the name of its maker before a slash."""
    name = model.rpartition("/")[2].lower()
    for start, found in _KINDS:
        if name.startswith(start):
            return found
    return Kind(images=any(mark in name for mark in _SEEING), known=False)


def talks(model: str) -> bool:
    """Whether the model may be one for conversations, by its name."""
    return not any(mark in model.lower() for mark in _NOT_TALKING)


def effort(model: Kind, wanted: Effort) -> str:
    """The word in which the wanted effort is sent; empty: nothing is sent. The nearest one that a known model
    accepts; others get what was asked for."""
    if not wanted:
        return ""
    if wanted == "off":
        return model.off if model.known else "none"
    if not model.known:
        return wanted
    if not model.thinks:
        return ""
    return wanted if wanted in model.efforts else model.efforts[-1]


ROOM: dict[str, int] = {"": 8_192, "off": 0, "minimal": 1_024, "low": 4_096, "medium": 8_192, "high": 24_576}


def room(model: Kind, wanted: Effort) -> int:
    """Tokens for thoughts, on top of the words that are asked for, because services count both together."""
    if model.known and not model.thinks:
        return 0
    if not model.known:
        return ROOM[wanted] if wanted else 0
    return ROOM.get(effort(model, wanted), 0)
