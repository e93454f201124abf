"""Whose turn it is to speak: a table of states and inputs, and nothing that happens by itself.

Beside the state three facts are kept, because what follows on the end of something depends on what else goes
on: utterances that are still being understood, an answer that is awaited, and words not heard yet. Where the
table says REST, they decide: understand first, then speak, then wait, then be idle. The loudspeaker is let
speak in the state speaking only; in every other state what is said is kept until then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from voice.events import TurnState

TAP = 0.150
"""A key that comes up within so many seconds was touched by accident."""

MUTE = 120.0
"""Seconds after which a key that is held without a word is taken for stuck."""

LONGEST = 30 * 60.0
"""Seconds after which an utterance ends whatever is said."""

Input = Literal[
    "press",  # the key goes down
    "release",  # the key comes up, or is stuck: the utterance is over
    "cancel",  # the utterance is thrown away; also what a tap is
    "voice_onset",  # hands-free: somebody begins to speak
    "voice_end",  # hands-free: nobody speaks any more
    "final",  # an utterance has been understood
    "expect",  # the agent begins to work on an answer
    "say",  # a chunk of an answer that will be spoken
    "answer_end",  # the answer has no more chunks
    "heard_all",  # everything said so far has been heard, or the loudspeaker is silent as ordered
    "hush",  # stop speaking, expect nothing
    "trouble",  # the device that the state needs is lost
]
INPUTS: tuple[Input, ...] = get_args(Input)
STATES: tuple[TurnState, ...] = get_args(TurnState)

Action = Literal[
    "listen",  # begin an utterance, or let the key have the one that the voice began
    "finish",  # no more sound belongs to the utterance: understand it
    "abandon",  # throw away the utterance: the open one, or else those not understood yet
    "silence",  # stop the loudspeaker at once; what was not heard is dropped
]

REST: Final = "rest"
"""In the table: whatever state the facts ask for."""

Target = Literal["idle", "hearing", "thinking", "speaking", "interrupted", "rest"]
Row = dict[Input, tuple[Target, tuple[Action, ...]]]

_CALM: Row = {
    "press": ("hearing", ("listen",)),
    "release": (REST, ()),
    "cancel": (REST, ("abandon",)),
    "voice_onset": ("hearing", ("listen",)),
    "voice_end": (REST, ()),
    "final": (REST, ()),
    "expect": (REST, ()),
    "say": (REST, ()),
    "answer_end": (REST, ()),
    "heard_all": (REST, ()),
    "hush": (REST, ("silence",)),
    "trouble": (REST, ()),
}
"""Nobody speaks."""

_LISTENING: Row = {
    "press": ("hearing", ("listen",)),
    "release": (REST, ("finish",)),
    "cancel": (REST, ("abandon",)),
    "voice_onset": ("hearing", ()),
    "voice_end": (REST, ("finish",)),
    "final": ("hearing", ()),
    "expect": ("hearing", ()),
    "say": ("hearing", ()),
    "answer_end": ("hearing", ()),
    "heard_all": ("hearing", ()),
    "hush": ("hearing", ("silence",)),
    "trouble": (REST, ("finish",)),
}
"""The user speaks."""

TABLE: dict[TurnState, Row] = {
    "idle": _CALM,
    "thinking": _CALM,
    "hearing": _LISTENING,
    "speaking": _CALM
    | {
        "press": ("interrupted", ("silence", "listen")),
        "voice_onset": ("interrupted", ("silence", "listen")),
        "trouble": (REST, ("silence",)),
    },
    "interrupted": _LISTENING
    | {
        "press": ("interrupted", ("listen",)),
        "voice_onset": ("interrupted", ()),
        "final": ("interrupted", ()),
        "expect": ("interrupted", ()),
        "say": ("interrupted", ()),
        "answer_end": ("interrupted", ()),
        "hush": ("interrupted", ("silence",)),
    },
}
"""What every input means in every state: the next state, and what is to be done, in this order."""


@dataclass(slots=True)
class Turns:
    """The machine: `state` and the facts. One thread steps it."""

    state: TurnState = "idle"
    pending: int = 0
    awaited: bool = False
    unheard: bool = False

    def step(self, said: Input) -> tuple[Action, ...]:
        """Take `said` in and return what to do. The new state is `state`."""
        target, actions = TABLE[self.state][said]
        self._remember(said)
        for action in actions:
            if action == "silence":
                self.unheard = False
            elif action == "finish":
                self.pending += 1
            elif action == "abandon" and self.state not in ("hearing", "interrupted"):
                self.pending = 0
        self.state = self.rest() if target == "rest" else target
        return actions

    def rest(self) -> TurnState:
        """The state in which nobody listens, by the facts alone."""
        if self.pending:
            return "thinking"
        if self.unheard:
            return "speaking"
        return "thinking" if self.awaited else "idle"

    def _remember(self, said: Input) -> None:
        match said:
            case "final":
                self.pending = max(0, self.pending - 1)
            case "expect":
                self.awaited = True
            case "answer_end":
                self.awaited = False
            case "say":
                self.unheard = True
            case "heard_all" if self.state != "interrupted":
                self.unheard = False
            case "hush":
                self.awaited = self.unheard = False
            case _:
                pass


@dataclass(slots=True)
class Key:
    """The push-to-talk key: repeats and strays are left out, a tap is a cancel, and a stuck key comes up by
    itself. Times are seconds of one clock."""

    down: float | None = None

    def press(self, now: float) -> Input | None:
        """The input that this press is; None when the key is down already."""
        if self.down is not None:
            return None
        self.down = now
        return "press"

    def release(self, now: float) -> Input | None:
        """The input that this release is; None when the key is up already."""
        if self.down is None:
            return None
        held, self.down = now - self.down, None
        return "cancel" if held < TAP else "release"

    def cancel(self) -> None:
        """The utterance was thrown away: the release that follows is nothing."""
        self.down = None

    def stuck(self, now: float, spoke: float) -> bool:
        """Whether the key has been down for too long; `spoke` is when speech was last heard."""
        if self.down is None:
            return False
        return now - self.down > LONGEST or now - max(self.down, spoke) > MUTE
