"""What sets the agent going: words (and pictures) with the door they came through."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.messages import Image


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One message for a session. The text is kept exactly as given, whatever characters it holds."""

    text: str
    source: str = "window"
    images: tuple[Image, ...] = ()

    def as_data(self) -> dict[str, object]:
        """The payload of its journal record."""
        pictures = [{"media_type": image.media_type, "data": image.data} for image in self.images]
        return {"text": self.text, "source": self.source} | ({"images": pictures} if pictures else {})

    @classmethod
    def from_data(cls, data: dict[str, object]) -> Stimulus:
        """The reverse of `as_data`; missing fields are empty."""
        found = data.get("images")
        pictures = found if isinstance(found, list) else []
        images = tuple(Image(str(picture["media_type"]), str(picture["data"])) for picture in pictures)
        return cls(str(data.get("text", "")), str(data.get("source", "")), images)
