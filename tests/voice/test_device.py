"""Devices as values: their order, their numbers, and the sentences of their faults."""

from __future__ import annotations

import pytest

from resources.sentences import sentence
from voice.device import _CODES, Device, fault, ordered


def device(name: str, unique: str, *, default: bool = False) -> Device:
    return Device(unique, name, "microphone", 48_000, default)


def test_the_systems_own_comes_first_and_the_rest_by_name() -> None:
    made = ordered(
        [device("Zoom", "pulse:z"), device("Alpha", "pulse:a"), device("Mid", "pulse:m", default=True)]
    )
    assert [each.name for each in made] == ["Mid", "Alpha", "Zoom"]


def test_equal_names_are_numbered_the_same_way_whichever_is_the_systems_own() -> None:
    first = ordered([device("Headset", "pulse:a"), device("Headset", "pulse:b", default=True)])
    second = ordered([device("Headset", "pulse:a", default=True), device("Headset", "pulse:b")])
    assert {each.id: each.name for each in first} == {"pulse:a": "Headset", "pulse:b": "Headset (2)"}
    assert {each.id: each.name for each in first} == {each.id: each.name for each in second}


def test_ids_of_portaudio_are_told_apart_too() -> None:
    made = ordered([device("Headset", "portaudio:Headset"), device("Headset", "portaudio:Headset")])
    assert [each.id for each in made] == ["portaudio:Headset", "portaudio:Headset (2)"]


@pytest.mark.parametrize("kind", ["microphone", "loudspeaker"])
def test_every_fault_has_a_sentence_that_says_what_goes_on(kind: str) -> None:
    for what in _CODES[kind]:  # type: ignore[index]
        error = fault(kind, what, name="Desk", other="Headset", reason="why")  # type: ignore[arg-type]
        said = sentence(error.code, **error.fields)
        assert "{" not in said
        going_on = "typing goes on", "Typing goes on", "written", "writing", "speaks now"
        assert any(word in said for word in going_on), said
