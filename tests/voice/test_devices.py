"""The devices of this machine, and the news of them, from a real sound server and without one."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

import pytest

from tests.sound_stage import SoundStage
from voice.devices import Device, Watch, devices, find, succeed, watch
from voice.errors import VoiceError

DESK = Device("pulse:desk", "Desk", "microphone", 48_000, True)
ROOM = Device("pulse:room", "Room", "microphone", 44_100, False)


def test_devices_have_the_names_people_know_and_ids_that_stay(sound: SoundStage) -> None:
    sound.add("second", "Second Speaker", rate=44_100)
    assert [(each.id, each.name, each.kind, each.rate, each.default) for each in devices()] == [
        ("pulse:microphone", "Desk Microphone", "microphone", 48_000, True),
        ("pulse:speaker", "Desk Speaker", "loudspeaker", 48_000, True),
        ("pulse:second", "Second Speaker", "loudspeaker", 44_100, False),
    ]


def test_without_a_server_and_cards_there_is_nothing() -> None:
    assert devices() == ()


def test_the_systems_own_is_taken_unless_one_is_chosen() -> None:
    assert find("microphone", "", (DESK, ROOM)) is DESK
    assert find("microphone", "pulse:room", (DESK, ROOM)) is ROOM
    with pytest.raises(VoiceError, match=r"microphone_unplugged\(name=gone\)"):
        find("microphone", "pulse:gone", (DESK, ROOM))
    with pytest.raises(VoiceError, match="loudspeaker_missing"):
        find("loudspeaker", "", (DESK, ROOM))


def own(device: Device, *, yes: bool = True, muted: bool = False) -> Device:
    return Device(device.id, device.name, device.kind, device.rate, yes, muted=muted)


def test_a_stream_stays_while_its_device_does() -> None:
    assert not succeed(DESK, "", (DESK, ROOM), broken=False).reopen
    assert succeed(DESK, "", (DESK, ROOM), broken=True).reopen


def test_the_systems_own_is_followed() -> None:
    now = succeed(DESK, "", (own(ROOM), own(DESK, yes=False)), broken=False)
    assert (now.device.id, now.reopen, now.trouble) == ("pulse:room", True, None)
    now = succeed(DESK, "", (own(ROOM),), broken=False)
    assert str(now.trouble) == "microphone_replaced(name=Desk, other=Room)"


def test_a_chosen_device_is_never_replaced() -> None:
    for present in [(own(ROOM),), ()]:
        with pytest.raises(VoiceError, match=r"microphone_gone\(name=Desk\)"):
            succeed(DESK, "pulse:desk", present, broken=False)


def test_a_chosen_device_is_opened_anew_when_the_server_may_have_moved_its_stream() -> None:
    now = succeed(DESK, "pulse:desk", (own(ROOM), own(DESK, yes=False)), broken=False)
    assert (now.device.id, now.reopen) == ("pulse:desk", True)


def test_being_muted_is_told_when_it_begins() -> None:
    muted = own(DESK, muted=True)
    assert str(succeed(DESK, "", (muted,), broken=False).trouble) == "microphone_muted(name=Desk)"
    assert succeed(muted, "", (muted,), broken=False).trouble is None


@pytest.fixture
def news() -> Iterator[queue.Queue[tuple[Device, ...]]]:
    heard: queue.Queue[tuple[Device, ...]] = queue.Queue()
    watching = watch(heard.put)
    yield heard
    watching.close()


def names(news: queue.Queue[tuple[Device, ...]], wanted: set[str]) -> set[str]:
    """The names of the first news that are `wanted`; the news before are the steps to them."""
    while (got := {each.id.partition(":")[2] for each in news.get(timeout=10)}) != wanted:
        pass
    return got


def test_what_comes_and_goes_is_told(sound: SoundStage, news: queue.Queue[tuple[Device, ...]]) -> None:
    assert names(news, {"microphone", "speaker"})
    sound.unplug("microphone")
    assert names(news, {"speaker"})
    sound.plug("microphone")
    assert names(news, {"speaker", "microphone"})
    sound.crash()
    assert names(news, set()) == set()


def test_a_server_that_comes_later_is_found(sound: SoundStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice.devices._PAUSE", 0.01)
    heard: queue.Queue[tuple[Device, ...]] = queue.Queue()
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("PULSE_SERVER", f"unix:{sound.folder}/nothing")
        watching = Watch(heard.put)
        assert heard.get(timeout=10) == ()
    assert names(heard, {"microphone", "speaker"})
    watching.close()


def test_a_watch_ends_at_once_with_and_without_a_server(sound: SoundStage) -> None:
    for _ in range(20):
        Watch(lambda present: None).close()
        told = threading.Event()
        watching = Watch(lambda present, told=told: told.set())  # type: ignore[misc]
        assert told.wait(10)
        watching.close()
    sound.crash()
    Watch(lambda present: None).close()
