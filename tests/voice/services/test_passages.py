"""Long recordings are cut where it is quiet, and nothing of them is lost or heard twice."""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING

import numpy as np
import pytest
import soundfile

from voice.errors import VoiceError
from voice.services.passages import Passage, Passages
from voice.sound import RATE

if TYPE_CHECKING:
    from voice.sound import Samples

MOST = 3600.0


def noise(seconds: float) -> Samples:
    made = np.random.default_rng(7).standard_normal(int(seconds * RATE)) * 0.1
    return made.astype(np.float32)


def file_of(samples: Samples) -> IO[bytes]:
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, format="WAV", subtype="FLOAT")
    file.seek(0)
    return file


def passages(samples: Samples) -> list[Passage]:
    work = Passages(file_of(samples), MOST)
    found = []
    try:
        while True:
            found.append(work.__next__())
    except StopIteration:
        return found
    finally:
        work.close()


@pytest.mark.parametrize("seconds", [0.01, 1, 27.9, 28.1, 95])
def test_joined_they_are_the_recording(seconds: float) -> None:
    whole = noise(seconds)
    found = passages(whole)
    assert np.array_equal(np.concatenate([passage.samples for passage in found]), whole)
    assert [passage.start for passage in found[1:]] == [passage.end for passage in found[:-1]]
    assert found[0].start == 0
    assert all(len(passage.samples) <= 28 * RATE for passage in found)


def test_the_cut_is_in_the_pause() -> None:
    whole = noise(60)
    whole[22 * RATE : int(22.6 * RATE)] = 0
    first, second, *_ = passages(whole)
    assert 22.1 < first.end < 22.5
    assert second.start == first.end


def test_without_a_pause_passages_are_long_enough_to_be_understood() -> None:
    assert all(len(passage.samples) >= 15 * RATE for passage in passages(noise(90))[:-1])


def test_a_recording_without_a_sample_is_empty() -> None:
    with pytest.raises(VoiceError) as caught:
        passages(noise(0))
    assert caught.value.code == "sound_empty"


def test_closing_before_the_first_passage_closes_the_file() -> None:
    file = file_of(noise(1))
    Passages(file, MOST).close()
    assert file.closed
