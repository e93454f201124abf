"""What a conversation tells a door besides the events of the voice: plain values that may cross threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runtime.spoken_words import Word
from voice.events import VoiceEvent


@dataclass(frozen=True, slots=True)
class Caption:
    """What is being said: `heard` was heard already of what is spoken in one go, `now` is the piece that
    begins to be heard; both as written. Both are empty when speaking ended."""

    heard: str
    now: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What was said, for the composer: it is not sent by itself (settings: voice.send_at_once)."""

    text: str


@dataclass(frozen=True, slots=True)
class Understood:
    """The whole utterance was one of the words that are acted upon at once and never sent to a model."""

    word: Word


@dataclass(frozen=True, slots=True)
class Asking:
    """The approval `id` is read aloud. `key_words` is what to say to allow it; `by_hand` is whether the voice
    does not count (any more) and the door has to be used."""

    id: str
    key_words: str
    by_hand: bool
    type: Literal["asking"] = "asking"


ConversationEvent = VoiceEvent | Caption | Draft | Understood | Asking
