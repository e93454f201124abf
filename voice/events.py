"""What the voice child tells a door: a closed union of plain values that may cross threads and processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from voice.errors import Field

TurnState = Literal["idle", "hearing", "thinking", "speaking", "interrupted"]


@dataclass(frozen=True)
class Level:
    """How loud the microphone is, 0 to 1 on a scale as loudness is felt; at most 30 a second while it is
    open.
    """

    level: float


@dataclass(frozen=True)
class Partial:
    """What was understood so far of the utterance under way; `stable` is how many of its characters will
    stay.
    """

    text: str
    stable: int = 0


@dataclass(frozen=True)
class Final:
    """What was said, once per utterance; `text` is empty when nothing was. `seconds` of sound were heard.
    `hands_free` is whether it ended without the key, `overheard` whether it began so.
    """

    text: str
    language: str = ""
    seconds: float = 0.0
    hands_free: bool = False
    overheard: bool = False


@dataclass(frozen=True)
class State:
    """The turn-taking state, whenever a part of it changes; `on` is whether the child listens by itself
    (hands-free), `open` whether the microphone is open.
    """

    state: TurnState
    on: bool = False
    open: bool = False


@dataclass(frozen=True)
class Speaking:
    """A piece of the answer begins to be heard: `text` as written in the answer, `spoken` as it is read
    aloud.
    """

    text: str
    spoken: str
    seconds: float


@dataclass(frozen=True)
class Spoken:
    """The answer has been said. `heard` is what really left the loudspeaker, as written; `whole` when
    nothing is missing.
    """

    heard: str
    whole: bool


@dataclass(frozen=True)
class Trouble:
    """One fault, said once; `code` and `fields` make a sentence. Typing always goes on."""

    code: str
    fields: dict[str, Field] = field(default_factory=dict)


@dataclass(frozen=True)
class Devices:
    """The microphones and loudspeakers of this machine, whenever they change: (id, name) with the
    system's own first.
    """

    microphones: tuple[tuple[str, str], ...]
    loudspeakers: tuple[tuple[str, str], ...]


VoiceEvent = Level | Partial | Final | State | Speaking | Spoken | Trouble | Devices
