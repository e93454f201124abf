"""What a real sound server says about its devices, and how soon."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

import pytest

from tests.sound_stage import SoundStage
from voice.pulse import Pulse, PulseDevice, PulseError


def test_it_knows_the_devices_by_the_names_people_know(sound: SoundStage) -> None:
    sound.add("headset", "Headset of Anna", "microphone", rate=44_100)
    sound.pactl("set-source-mute", "headset", "1")
    with contextlib.closing(Pulse()) as pulse:
        facts = pulse.facts()
    assert set(facts.devices) == {
        PulseDevice("microphone", "Desk Microphone", "source", 48_000, 2, False),
        PulseDevice("headset", "Headset of Anna", "source", 44_100, 2, True),
        PulseDevice("speaker", "Desk Speaker", "sink", 48_000, 2, False),
    }
    assert (facts.default_source, facts.default_sink) == ("microphone", "speaker")


def test_waiting_ends_with_a_change_or_a_wake(sound: SoundStage) -> None:
    with contextlib.closing(Pulse()) as pulse:
        pulse.facts()
        sound.unplug("microphone")
        pulse.wait()
        assert all(device.kind == "sink" for device in pulse.facts().devices)
        waker = threading.Thread(target=pulse.wake)
        waker.start()
        pulse.wait()
        waker.join()


def test_a_wake_before_the_wait_is_not_lost(sound: SoundStage) -> None:
    with contextlib.closing(Pulse()) as pulse:
        pulse.wake()
        pulse.facts()
        pulse.wait()


def test_without_a_server_there_is_an_error_at_once() -> None:
    with pytest.raises(PulseError) as error:
        Pulse()
    assert not error.value.refused


def test_a_server_that_ends_ends_the_wait(sound: SoundStage) -> None:
    with contextlib.closing(Pulse()) as pulse:
        pulse.facts()
        sound.crash()
        with pytest.raises(PulseError):
            pulse.wait()


def test_a_server_that_lets_nobody_in_is_told_from_none(
    sound: SoundStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    about = ["auth-anonymous=0", f"auth-cookie={sound.folder}/other"]
    sound.pactl("load-module", "module-native-protocol-tcp", "listen=127.0.0.1", f"port={port}", *about)
    monkeypatch.setenv("PULSE_SERVER", f"tcp:127.0.0.1:{port}")
    with pytest.raises(PulseError) as error:
        Pulse()
    assert error.value.refused


def test_a_server_that_says_nothing_is_given_up(sound: SoundStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice.pulse.PATIENCE", 0.1)
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as mute:
        mute.bind(str(sound.folder / "mute"))
        mute.listen()
        monkeypatch.setenv("PULSE_SERVER", f"unix:{sound.folder}/mute")
        begun = time.monotonic()
        with pytest.raises(PulseError, match="does not answer"):
            Pulse()
        assert time.monotonic() - begun < 5
