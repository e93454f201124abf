"""What the voice child is told before it works: devices, models, voices and how to take turns."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class VoiceConfig:
    """Everything the child may know; it is sent whole, and again whenever one thing changes.

    Devices are ids of voice/devices.py, empty for the system's own. `recogniser` is the folder of a
    faster-whisper model. `language` is a two-letter code, empty to detect it. `voice` is the name of one
    of voice/tts, empty to choose by language. `online_voices` is true only after the user allowed the
    service by name; `proxy` is for it. `rate` and `volume` are factors, 1 as recorded. `keep_folder` is
    where sound is kept, empty for nowhere. `hints` are names that may be said.
    """

    microphone: str = ""
    loudspeaker: str = ""
    recogniser: str = ""
    language: str = ""
    voice: str = ""
    rate: float = 1.0
    volume: float = 1.0
    hands_free: bool = False
    online_voices: bool = False
    proxy: str = ""
    piper: str = ""
    piper_voices: str = ""
    threads: int = 2
    keep_folder: str = ""
    hints: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The JSON object of this configuration."""
        return asdict(self) | {"hints": list(self.hints)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> VoiceConfig:
        """The configuration of `data`; unknown names are left out."""
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in data.items() if name in known}
        return cls(**given | {"hints": tuple(given.get("hints", ()))})
