"""The echo canceller with made-up rooms and with a real loudspeaker that a real microphone hears."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from resources import recogniser_dir
from tests.conftest import missing
from tests.sound_stage import SoundStage
from tests.voice import spoken
from tests.voice.tone import Samples
from voice.echo import EchoCanceller
from voice.loudspeaker import Loudspeaker
from voice.microphone import Microphone
from voice.sound import BLOCK, RATE, Block
from voice.stt.recogniser import Recogniser

ANSWER = (
    "The northern lights appear when particles from the sun meet the upper air. They glow green where there "
    "is oxygen and violet where there is nitrogen. Long winter nights in the far north are the best time to "
    "see them."
)
WISH = "Please stop reading and write a letter to my sister about the garden."


def speech(seconds: float, seed: int) -> Samples:
    """Noise in the rhythm and the colour of speech, as loud as somebody at the desk."""
    chance = np.random.default_rng(seed)
    count = int(seconds * RATE)
    noise = np.convolve(chance.standard_normal(count), np.hanning(9) / 4, mode="same")
    edges = np.arange(0, count + 1600, 1600)
    syllables = np.interp(np.arange(count), edges, chance.uniform(0, 1, len(edges)))
    return np.asarray(0.15 * noise * syllables, np.float32)


def decibels(samples: Samples) -> float:
    return float(10 * np.log10(np.mean(samples.astype(np.float64) ** 2) + 1e-12))


@pytest.fixture
def canceller() -> Iterator[EchoCanceller]:
    made = EchoCanceller()
    made.load()
    yield made
    made.close()


def run(canceller: EchoCanceller, far: Samples, near: Samples, wander: float = 0.0) -> Samples:
    """What is left of `near`, both beginning at the same time, with times that wander by so many seconds."""
    chance, made = np.random.default_rng(3), []
    for at in range(0, len(near) - BLOCK + 1, BLOCK):
        moment = 1000 + at / RATE
        canceller.far(far[at : at + BLOCK], moment + chance.uniform(-wander, wander))
        if at >= 4 * BLOCK:
            begin, block = moment - 4 * BLOCK / RATE, near[at - 4 * BLOCK : at - 3 * BLOCK]
            made.append(canceller.near(block, begin + chance.uniform(-wander, wander)))
    return np.concatenate(made)


@pytest.mark.parametrize("delay", [0.005, 0.03, 0.08])
def test_an_echo_goes_and_a_voice_stays(canceller: EchoCanceller, delay: float) -> None:
    far, voice = speech(8, 1), speech(8, 2)
    voice[: 6 * RATE] = 0
    late = np.concatenate([np.zeros(int(delay * RATE), np.float32), far])
    echo = np.asarray(0.5 * late[: len(far)], np.float32)
    left = run(canceller, far, np.asarray(echo + voice, np.float32), wander=0.004)
    for second in range(1, 5):
        window = slice(second * RATE, (second + 1) * RATE)
        assert decibels(echo[window]) - decibels(left[window]) > 20
    window = slice(int(6.3 * RATE), int(7.8 * RATE))
    assert decibels(left[window]) - decibels(voice[window]) > -9


def test_without_an_echo_the_voice_passes(canceller: EchoCanceller) -> None:
    voice = speech(3, 4)
    left = run(canceller, np.zeros_like(voice), voice)
    assert decibels(left[RATE:]) - decibels(voice[RATE:]) == pytest.approx(0, abs=3)


def test_gaps_in_both_sides_do_no_harm(canceller: EchoCanceller) -> None:
    block = speech(0.02, 5)
    for moment in (10.0, 10.02, 500.0, 499.0, 500.02, 90_000.0):
        canceller.far(block, moment)
        cleaned = canceller.near(block, moment + 0.05)
        assert cleaned.shape == block.shape
        assert np.isfinite(cleaned).all()
    assert len(canceller.near(block, 5.0)) == BLOCK
    canceller.far(np.zeros(0, np.float32), 6.0)
    canceller.far(speech(6, 6), 7.0)


def test_loud_sound_is_cut_and_not_wrapped_around(canceller: EchoCanceller) -> None:
    cleaned = canceller.near(np.full(BLOCK, 3.0, np.float32), 1.0)
    assert np.abs(cleaned).max() <= 1.0


def test_before_loading_and_after_closing_nothing_is_changed() -> None:
    canceller, block = EchoCanceller(), speech(0.02, 1)
    canceller.far(block, 1.0)
    assert canceller.near(block, 1.0) is block
    canceller.load()
    canceller.close()
    canceller.close()
    assert canceller.near(block, 1.0) is block


def test_a_program_that_used_it_ends_by_itself_and_says_nothing() -> None:
    script = (
        "import numpy, threading\nfrom voice.echo import EchoCanceller\ncanceller = EchoCanceller()\n"
        "canceller.load()\nblock = numpy.zeros(320, numpy.float32)\ncanceller.far(block, 1.0)\n"
        "canceller.near(block, 1.0)\nassert threading.active_count() == 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def words(samples: Samples) -> str:
    """What the bundled recogniser understands."""
    if not (recogniser_dir() / "model.bin").is_file():
        missing("the bundled recogniser")
    with closing(Recogniser(recogniser_dir(), threads=2)) as recogniser:
        return recogniser.transcribe(samples, language="en").text


class Room:
    """A microphone beside a loudspeaker: what it hears, and what is left without the echo."""

    def __init__(self, canceller: EchoCanceller) -> None:
        self.raw: list[Samples] = []
        self.left: list[Samples] = []
        self._canceller = canceller

    def on_block(self, block: Block) -> None:
        self.left.append(self._canceller.near(block.samples, block.time))
        self.raw.append(block.samples)

    def reductions(self, begin: int, end: int) -> list[float]:
        """By how many decibels each half second between two blocks is quieter."""
        pairs = [
            (np.concatenate(self.raw[at : at + 25]), np.concatenate(self.left[at : at + 25]))
            for at in range(begin, end - 25, 25)
        ]
        return [decibels(raw) - decibels(left) for raw, left in pairs if decibels(raw) > -45]


def test_it_does_not_hear_itself_on_a_loudspeaker_but_hears_the_person(
    sound: SoundStage, canceller: EchoCanceller
) -> None:
    ended = threading.Event()
    room = Room(canceller)
    microphone = Microphone("", room.on_block, lambda trouble: None)
    loudspeaker = Loudspeaker(
        "", lambda mark, moment: ended.set() if moment == "ended" else None, canceller.far, print
    )
    answer, wish = spoken.speech(ANSWER), spoken.speech(WISH)
    with sound.loopback(gain_db=-6, delay_ms=80):
        microphone.open()
        sound.wait(lambda: len(room.raw) > 10, "the microphone")
        begun = len(room.raw)
        loudspeaker.play(answer, RATE, 1)
        loudspeaker.end(1)
        sound.wait(ended.is_set, "the end of the answer", len(answer) / RATE + 10)
        alone = len(room.raw)
        loudspeaker.play(answer, RATE, 2)
        sound.say(wish)
        sound.wait(lambda: len(room.raw) > alone + 75 + len(wish) // BLOCK, "the wish")
        loudspeaker.close()
        microphone.close()
    reductions = room.reductions(begun + 50, alone - 10)
    raw, left = (np.concatenate(side[alone:]) for side in (room.raw, room.left))
    heard, unhelped = words(left), words(raw)
    lost = spoken.missing(WISH, heard)
    print(f"reduced by {[round(each) for each in reductions]} dB")
    print(f"heard {heard!r}, without the canceller {unhelped!r}")
    # Sound that stood still for a moment on a busy machine is learnt anew, so not every half second counts.
    assert np.median(reductions) > 20
    assert lost <= len(spoken.words(WISH)) // 2
    assert spoken.missing(ANSWER[:60], heard) >= 6
