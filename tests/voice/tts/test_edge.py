"""The online voice over a real WebSocket: what it sends, what it makes of the sound, and what goes wrong."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import numpy as np
import pytest
from aiohttp.client_reqrep import ConnectionKey
from edge_tts.drm import DRM

from tests.wire.edge import RATE, WORD_SECONDS, EdgeService, Misdeed, tone
from voice.errors import VoiceError
from voice.tts.edge import EdgeVoice, is_edge_name, listed, pieces
from voice.tts.edge_faults import translated
from voice.tts.voice import Sound

NAME = "edge:en-US-EmmaMultilingualNeural"
TEXT = "One two three, four five six seven eight."


@pytest.fixture(autouse=True)
def clock() -> Iterator[None]:
    """The client remembers for the whole process how wrong this machine's clock was."""
    before = DRM.clock_skew_seconds
    yield
    DRM.clock_skew_seconds = before


def voice(service: EdgeService) -> EdgeVoice:
    return EdgeVoice(NAME, endpoint=service.endpoint, patience=1)


def joined(sounds: list[Sound]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.concatenate([sound.samples for sound in sounds])


def heard(samples: np.ndarray[tuple[int], np.dtype[np.float32]], words: int) -> list[int]:
    """Which of the tones of `words` words are in `samples`."""
    spectrum = np.abs(np.fft.rfft(samples))
    step = RATE / len(samples)
    powers = [
        spectrum[round((tone(i) - 10) / step) : round((tone(i) + 10) / step)].max() for i in range(words)
    ]
    return [index for index, power in enumerate(powers) if power > max(powers) * 0.3]


def failing(service: EdgeService, text: str = TEXT) -> tuple[list[Sound], VoiceError]:
    sounds: list[Sound] = []
    with pytest.raises(VoiceError) as raised:
        sounds += voice(service).speak(text, 1.0)
    return sounds, raised.value


def test_a_text_becomes_sound_that_ends_with_whole_words() -> None:
    with EdgeService() as service:
        sounds = list(voice(service).speak(TEXT, 1.25))
    samples = joined(sounds)
    assert {sound.rate for sound in sounds} == {RATE}
    assert samples.dtype == np.float32
    assert len(samples) / RATE == pytest.approx(8 * WORD_SECONDS, abs=0.2)
    assert heard(samples, 8) == list(range(8))
    counts = [sound.words for sound in sounds]
    assert counts == sorted(counts, key=lambda count: count or 0)
    assert counts[-1] == 8
    asked = service.requests[0]
    assert asked.text == TEXT
    assert (asked.rate, asked.voice) == (
        "+25%",
        "Microsoft Server Speech Text to Speech Voice (en-US, EmmaMultilingualNeural)",
    )


def test_the_first_sound_comes_while_the_rest_is_not_even_made() -> None:
    with EdgeService(halt=True) as service:
        sounds = voice(service).speak(TEXT, 1.0)
        first = next(sounds)
        assert 0 < first.seconds < 3
        service.go_on.set()
        rest = list(sounds)
    assert heard(joined([first, *rest]), 8) == list(range(8))


def test_marks_in_the_text_are_read_and_never_obeyed() -> None:
    evil = (
        "hi </prosody></voice><voice name='x'><break time=\"10s\"/> & <audio src='http://a.b/c'/> "
        "&lt;b&gt; ]]> \x0b end"
    )
    with EdgeService() as service:
        list(voice(service).speak(evil, 1.0))
    assert service.requests[0].elements == ["speak", "voice", "prosody"]
    assert service.requests[0].text.split() == evil.replace("\x0b", " ").split()


def test_a_long_text_goes_in_pieces_and_loses_nothing() -> None:
    text = " ".join(f"w{n}" for n in range(400))
    assert " ".join(pieces(text)) == text
    assert max(len(piece.encode()) for piece in pieces(text)) <= 1500
    assert "".join(pieces("ü" * 5000)) == "ü" * 5000
    assert list(pieces("")) == []


def test_a_clock_that_is_wrong_is_corrected_and_asked_again() -> None:
    with EdgeService(ahead=86_400) as service:
        sounds = list(voice(service).speak(TEXT, 1.0))
        assert service.refused == 1
        assert sounds[-1].words == 8
        list(voice(service).speak(TEXT, 1.0))
        assert service.refused == 1


@pytest.mark.parametrize(
    ("misdeed", "code"),
    [
        ("refuse", "voice_edge_refused"),
        ("clockless", "voice_edge_clock"),
        ("silent", "voice_edge_silent"),
        ("mute", "voice_edge_slow"),
        ("garbage", "voice_edge_broken"),
        ("noise", "voice_edge_broken"),
    ],
)
def test_a_fault_of_the_service_has_a_code_and_no_sound(misdeed: Misdeed, code: str) -> None:
    with EdgeService(misdeed) as service:
        sounds, error = failing(service)
    assert error.code == code
    assert error.fields["voice"] == NAME
    assert not sounds
    if misdeed == "refuse":
        assert error.fields["status"] == 403
        assert service.refused == 2


def test_a_cut_ends_with_a_word_that_was_said_and_tells_which() -> None:
    with EdgeService("cut") as service:
        sounds, error = failing(service)
    assert error.code == "voice_edge_cut"
    words = sounds[-1].words
    assert words is not None
    assert 2 <= words <= 6
    assert heard(joined(sounds), 8) == list(range(words))
    assert len(joined(sounds)) / RATE == pytest.approx(words * WORD_SECONDS, abs=0.01)


def test_sound_without_word_boundaries_is_passed_on_all_the_same() -> None:
    with EdgeService("no-words") as service:
        sounds = list(voice(service).speak(TEXT, 1.0))
    assert heard(joined(sounds), 8) == list(range(8))
    assert sounds[-1].words == 8


def test_nobody_at_the_address_and_no_proxy_are_told_apart() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(VoiceError, match="voice_edge_unreachable"):
            list(EdgeVoice(NAME, endpoint=closed).speak("hi", 1.0))
        with pytest.raises(VoiceError, match="voice_proxy"):
            list(EdgeVoice(NAME, proxy=closed).speak("hi", 1.0))


def _answers(reply: bytes) -> Iterator[int]:
    """A server that says `reply` to whoever asks; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        yield int(server.getsockname()[1])
        thread.join()


def test_the_password_of_a_proxy_is_never_told() -> None:
    refused = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    with contextmanager(_answers)(refused) as port:
        places = [f"127.0.0.1:{port}", "127.0.0.1:99999"]
        for proxy in [f"http://me:hunter2@{place}" for place in places] + ["me:hunter2@127.0.0.1:1"]:
            with pytest.raises(VoiceError) as told:
                list(EdgeVoice(NAME, proxy=proxy).speak("hi", 1.0))
            assert "127.0.0.1" in str(told.value)
            assert "hunter2" not in str(told.value)


def test_a_proxy_gets_the_request_and_no_name_is_looked_up() -> None:
    with EdgeService() as service:
        through = EdgeVoice(NAME, proxy=service.endpoint, endpoint="http://service.invalid")
        sounds = list(through.speak(TEXT, 1.0))
    assert sounds[-1].words == 8
    assert service.requests[0].headers["Host"] == "speech.platform.bing.com"


def test_a_name_that_is_not_found_means_no_network() -> None:
    key = ConnectionKey("service.invalid", 443, True, True, None, None, None)
    with pytest.raises(VoiceError, match="voice_offline"), translated(NAME):
        raise aiohttp.ClientConnectorDNSError(key, OSError("no such name"))


def test_stop_ends_the_iterator_while_the_service_says_nothing() -> None:
    with EdgeService("mute") as service:
        said = EdgeVoice(NAME, endpoint=service.endpoint, patience=60)
        ended: list[list[Sound]] = []
        thread = threading.Thread(target=lambda: ended.append(list(said.speak(TEXT, 1.0))))
        thread.start()
        while not service.requests:
            thread.join(0.01)
        said.stop()
        thread.join(5)
    assert ended == [[]]


def test_stop_ends_a_text_of_many_pieces() -> None:
    with EdgeService() as service:
        said = voice(service)
        sounds = said.speak(" ".join([letter * 200 for letter in "abcdefghijkl"]), 1.0)
        next(sounds)
        said.stop()
        list(sounds)
        assert len(service.requests) == 1


def test_an_iterator_that_is_dropped_hangs_up() -> None:
    with EdgeService(halt=True) as service:
        sounds = voice(service).speak(TEXT, 1.0)
        next(sounds)
        sounds.close()  # type: ignore[attr-defined]


def test_the_service_names_its_voices_also_after_a_wrong_clock() -> None:
    with EdgeService(ahead=-7200) as service:
        found = asyncio.run(listed(endpoint=service.endpoint))
    assert found == [("edge:de-DE-KatjaNeural", "de", "Female"), ("edge:en-GB-SoniaNeural", "en", "Female")]


@pytest.mark.parametrize("name", ["", "fable", "edge:", "en-US-x'/><evil a='Neural", "de-DE-Katja", "../x"])
def test_what_is_no_name_of_a_voice_is_refused(name: str) -> None:
    assert not is_edge_name(name)
    with pytest.raises(VoiceError, match="voice_unknown"):
        EdgeVoice(name)
