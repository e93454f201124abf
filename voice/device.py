"""A microphone or loudspeaker of this machine as a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from voice.errors import Field, VoiceError

Kind = Literal["microphone", "loudspeaker"]
What = Literal["busy", "gone", "missing", "muted", "refused", "replaced", "unplugged", "unusable"]

_CODES: dict[Kind, dict[What, str]] = {
    "microphone": {
        "busy": "microphone_busy",
        "gone": "microphone_gone",
        "missing": "microphone_missing",
        "muted": "microphone_muted",
        "refused": "microphone_refused",
        "replaced": "microphone_replaced",
        "unplugged": "microphone_unplugged",
        "unusable": "microphone_unusable",
    },
    "loudspeaker": {
        "busy": "loudspeaker_busy",
        "gone": "loudspeaker_gone",
        "missing": "loudspeaker_missing",
        "muted": "loudspeaker_muted",
        "refused": "loudspeaker_refused",
        "replaced": "loudspeaker_replaced",
        "unplugged": "loudspeaker_unplugged",
        "unusable": "loudspeaker_unusable",
    },
}


@dataclass(frozen=True)
class Device:
    """A microphone or loudspeaker.

    `id` is stable over restarts, `name` is what people call it, `rate` its own samples a second,
    `default` whether the system uses it unless told otherwise, `muted` whether the system keeps it silent,
    `port` where PortAudio has it now (meaningless for devices of a sound server).
    """

    id: str
    name: str
    kind: Kind
    rate: int
    default: bool
    channels: int = 2
    muted: bool = False
    port: int = field(default=-1, compare=False)


def ordered(found: Iterable[Device]) -> tuple[Device, ...]:
    """The system's own first, then by name; of those with the same name the later ones are numbered."""
    made: list[Device] = []
    taken: dict[tuple[str, str], int] = {}
    for device in sorted(found, key=lambda device: (device.name, device.id)):
        count = taken[device.kind, device.name] = taken.get((device.kind, device.name), 0) + 1
        mark = "" if count == 1 else f" ({count})"
        unique = device.id if device.id.startswith("pulse:") else device.id + mark
        made.append(replace(device, id=unique, name=device.name + mark))
    return tuple(sorted(made, key=lambda device: not device.default))


def fault(kind: Kind, what: What, **fields: Field) -> VoiceError:
    """The error of a microphone or loudspeaker; its sentence has `name`, and `other` or `reason` besides."""
    return VoiceError(_CODES[kind][what], **fields)
