"""Nothing is heard where nobody speaks, and short words that were really said are kept."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench.word_errors import without_speech
from tests.voice.stt.sayings import say, silence
from voice.sound import RATE
from voice.stt.recogniser import Recogniser
from voice.stt.silence import WINDOW, Activity, Evidence, invented

SURE = Evidence(speech=0.5, no_speech=0.1, logprob=-0.1)
NOISES = dict(without_speech(10))


@pytest.mark.parametrize("name", NOISES)
def test_nothing_is_heard_in(recogniser: Recogniser, name: str) -> None:
    assert recogniser.transcribe(NOISES[name]).text == ""


@pytest.mark.parametrize("text", ["Thank you.", "Thanks.", "No.", "Stop.", "Okay.", "Bye."])
@pytest.mark.parametrize("gain", [1.0, 0.04])
def test_a_short_word_that_was_said_is_kept(recogniser: Recogniser, text: str, gain: float) -> None:
    heard = recogniser.transcribe(np.float32(gain) * say(text)).text
    assert heard.strip("?!.").lower() == text.strip(".").lower()


def test_a_judge_alone_does_not_refuse_a_stock_phrase() -> None:
    assert not invented("Thank you.", SURE)
    assert not invented("Thank you.", Evidence(0.3, 0.3, -0.6))


@pytest.mark.parametrize(
    "evidence", [Evidence(0.1, 0.1, -0.1), Evidence(0.5, 0.7, -0.1), Evidence(0.5, 0.1, -1.0)]
)
def test_a_small_doubt_refuses_a_stock_phrase_but_no_sentence(evidence: Evidence) -> None:
    assert invented("Thanks for watching!", evidence)
    assert not invented("Delete the second paragraph.", evidence)


def test_doubts_together_refuse_any_words() -> None:
    assert invented("I can do it with both hands.", Evidence(0.3, 0.9, -1.2))


@pytest.mark.parametrize("text", ["", " . . .", "♪♪", "and so on " * 20])
def test_what_is_no_sentence_is_refused_however_sure(text: str) -> None:
    assert invented(text, SURE)


def test_activity_tells_speech_and_forgets_when_asked() -> None:
    activity = Activity()
    spoken = say("Please open the report.")
    whole = spoken[: len(spoken) // WINDOW * WINDOW]
    together = activity.probabilities(whole)
    activity.reset()
    one_by_one = [activity.probability(part) for part in whole.reshape(-1, WINDOW)]
    assert together == pytest.approx(one_by_one, abs=1e-4)
    assert max(one_by_one) > 0.9
    assert max(activity.another().probabilities(silence(1)[: WINDOW * 30])) < 0.1


def test_streams_over_one_network_do_not_disturb_each_other() -> None:
    activity = Activity()
    other = activity.another()
    spoken = say("Please open the report.")[: WINDOW * 40]
    alone = activity.probabilities(spoken)
    activity.reset()
    mixed = []
    for part in spoken.reshape(-1, WINDOW):
        mixed.append(activity.probability(part))
        other.probability(np.zeros(WINDOW, np.float32))
    assert mixed == pytest.approx(alone, abs=1e-4)


def test_speech_after_a_long_silence_is_found(recogniser: Recogniser) -> None:
    samples = np.concatenate((silence(120), say("The meeting begins at noon.")))
    heard = recogniser.transcribe(samples)
    assert heard.text == "The meeting begins at noon."
    assert 119.5 <= heard.segments[0].start <= 121 < len(samples) / RATE
