"""Cuts the silence around what a voice says, so that it begins at once and pauses as its punctuation asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from voice.tts.voice import Sound

if TYPE_CHECKING:
    from voice.sound import Samples

QUIET = 0.004
"""Samples up to this size are silence (-48 dB)."""

LEAD, TRAIL = 0.02, 0.04
"""Seconds that stay before the first and after the last audible sample: breath and fading."""

PAUSES = {".": 0.28, "!": 0.28, "?": 0.28, "…": 0.28, ":": 0.24, ";": 0.2, ",": 0.12, "–": 0.12, "—": 0.12}
"""Seconds of silence after a clause that ends with this sign."""

SHORTEST, PARAGRAPH = 0.04, 0.4
"""The same after a clause without a sign, and at the end of a paragraph."""


def pause_after(text: str) -> float:
    """How many seconds a reader is silent after `text`."""
    if "\n\n" in text[len(text.rstrip()) :]:
        return PARAGRAPH
    return PAUSES.get(text.rstrip().rstrip("\"'”’)*_`")[-1:], SHORTEST)


def trimmed(sounds: Iterator[Sound], pause: float) -> Iterator[Sound]:
    """The same sound without the silence before it, and with `pause` seconds of silence after it.

    Silence between two pieces stays. A sound that is silence only gives nothing.
    """
    held: list[Sound] = []
    begun = False
    for sound in sounds:
        first, last = _audible(sound.samples)
        if first == last:
            if begun:
                held.append(sound)
            continue
        yield from held
        held = []
        if not begun:
            first = max(0, first - int(LEAD * sound.rate))
            sound = Sound(sound.samples[first:], sound.rate, sound.words)
            last -= first
            begun = True
        last = min(len(sound.samples), last + int(TRAIL * sound.rate))
        yield Sound(sound.samples[:last], sound.rate, sound.words)
        if last < len(sound.samples):
            held = [Sound(sound.samples[last:], sound.rate, sound.words)]
    if begun:
        yield from _silence(held, pause)


def _audible(samples: Samples) -> tuple[int, int]:
    """Where the audible part begins and ends; twice the same where there is none."""
    import numpy as np

    loud = np.flatnonzero(np.abs(samples) > QUIET)
    return (int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, 0)


def _silence(held: list[Sound], pause: float) -> Iterator[Sound]:
    """`pause` seconds of what was held back."""
    for sound in held:
        count = int(pause * sound.rate)
        if count <= 0:
            return
        pause -= len(sound.samples) / sound.rate
        yield Sound(sound.samples[:count], sound.rate, sound.words)
