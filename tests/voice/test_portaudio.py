"""PortAudio's lists as people know their devices, its errors as sentences, and real streams."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest

from tests.sound_stage import SoundStage
from voice.devices import devices, find
from voice.errors import VoiceError
from voice.portaudio import Stream, meaning, of_portaudio, plain_name, renew


def listing(host: int, name: str, inputs: int, outputs: int, rate: float = 48_000.0) -> dict[str, Any]:
    facts = {"name": name, "hostapi": host, "max_input_channels": inputs, "max_output_channels": outputs}
    return facts | {"default_samplerate": rate}


def host(name: str, own_input: int = -1, own_output: int = -1) -> dict[str, Any]:
    return {"name": name, "default_input_device": own_input, "default_output_device": own_output}


def test_windows_lists_each_device_once() -> None:
    listed = [
        listing(0, "Microphone (USB Audio Devi", 2, 0, 44_100),
        listing(1, "Microphone (USB Audio Device)", 2, 0),
        listing(1, "Speakers (Realtek Audio)", 0, 2),
        listing(1, "Headset (Bluetooth)", 0, 2, 44_100),
    ]
    made = of_portaudio(listed, [host("MME", 0), host("Windows WASAPI", 1, 3)])
    assert [(each.id, each.kind, each.rate, each.default, each.port) for each in made] == [
        ("portaudio:Headset (Bluetooth)", "loudspeaker", 44_100, True, 3),
        ("portaudio:Microphone (USB Audio Device)", "microphone", 48_000, True, 1),
        ("portaudio:Speakers (Realtek Audio)", "loudspeaker", 48_000, False, 2),
    ]


def test_ids_outlive_the_numbers_of_cards() -> None:
    before = [listing(0, "USB Mic: Audio (hw:1,0)", 1, 0), listing(0, "default", 32, 32)]
    after = [listing(0, "HDMI (hw:1,3)", 0, 2), listing(0, "USB Mic: Audio (hw:2,0)", 1, 0)]
    first = of_portaudio(before, [host("ALSA", 1, 1)])
    second = of_portaudio(after, [host("ALSA")])
    assert "portaudio:USB Mic: Audio" in {each.id for each in first} & {each.id for each in second}
    assert plain_name("USB Mic: Audio (hw:1,0)") == "USB Mic: Audio"


def test_alsas_plugins_are_no_devices() -> None:
    plugins = [listing(0, name, 2, 2) for name in ("sysdefault", "pulse", "default", "dmix")]
    assert of_portaudio(plugins, [host("ALSA", 2, 2)]) == ()
    card = [*plugins, listing(0, "HDA Intel PCH: ALC257 Analog (hw:0,0)", 2, 2)]
    names = {each.name for each in of_portaudio(card, [host("ALSA", 2, 2)])}
    assert names == {"default", "HDA Intel PCH: ALC257 Analog"}


def test_no_sound_system_is_no_device() -> None:
    assert of_portaudio([], []) == ()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("Error opening InputStream: Device unavailable", -9985), "microphone_busy"),
        (("Unanticipated host error", -9999, (0, -16, "Device or resource busy")), "microphone_busy"),
        (
            ("Unanticipated host error", -9999, (13, -2004287478, "AUDCLNT_E_DEVICE_IN_USE")),
            "microphone_busy",
        ),
        (("Unanticipated host error", -9999, (0, -13, "Permission denied")), "microphone_refused"),
        (("Unanticipated host error", -9999, (13, -2147024891, "Access is denied.")), "microphone_refused"),
        (("Error opening InputStream: Invalid sample rate", -9997), "microphone_unusable"),
    ],
)
def test_errors_become_what_a_person_can_act_on(arguments: tuple[Any, ...], code: str) -> None:
    error = meaning("microphone", "Desk", Exception(*arguments))
    assert (error.code, error.fields["name"]) == (code, "Desk")


def test_a_stream_calls_only_while_it_runs(sound: SoundStage) -> None:
    called = threading.Event()
    before = dict(os.environ)
    stream = Stream(
        find("microphone", "", devices()), lambda data, moment, status: called.set(), lambda: None, 0.04
    )
    assert (stream.rate, stream.channels) == (48_000, 2)
    assert dict(os.environ) == before
    assert not renew()
    for _ in range(2):
        assert not called.is_set()
        stream.start()
        assert called.wait(5)
        stream.halt()
        called.clear()
    stream.close()
    stream.close()
    assert renew()


def test_a_device_that_is_not_there_any_more_is_said_to_be_so(sound: SoundStage) -> None:
    device = find("loudspeaker", "", devices())
    sound.unplug("loudspeaker")
    with pytest.raises(VoiceError) as error:
        find("loudspeaker", device.id, devices())
    assert error.value.code == "loudspeaker_missing"


def test_without_alsas_plugin_the_missing_package_is_named(
    sound: SoundStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = find("microphone", "", devices())
    (sound.folder / "bare.conf").write_text("pcm.!default { type null }\n", encoding="ascii")
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(sound.folder / "bare.conf"))
    assert renew()
    with pytest.raises(VoiceError, match="sound_plugin_missing"):
        Stream(device, lambda data, moment, status: None, lambda: None, 0.04)
