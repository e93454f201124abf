"""Files and long texts that go with a message."""

from __future__ import annotations

import base64
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path

from resources.translation import _
from runtime.errors import OrionError

TEXT_LIMIT = 2_000_000
IMAGE_LIMIT = 10_000_000
LONG_PASTE = 20_000
PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}


@dataclass(frozen=True, slots=True)
class Attachment:
    """Text, or a picture as base64 `data` of `media_type`. `size` is in bytes."""

    name: str
    size: int
    text: str = ""
    media_type: str = ""
    data: str = ""

    @property
    def is_image(self) -> bool:
        return bool(self.media_type)


def read(path: Path, *, images: bool) -> Attachment:
    """Read a file the user dropped. Raises OrionError with a sentence for what cannot be attached: a picture
    where `images` is false, a folder, a binary or too large file, one that cannot be read."""
    kind = mimetypes.guess_type(path.name)[0] or ""
    try:
        if path.is_dir():
            raise OrionError("attachment_folder", name=path.name)
        if path.exists() and not path.is_file():
            raise OrionError("attachment_unreadable", name=path.name, reason=_("not a file"))
        size = path.stat().st_size
        if kind in PICTURES:
            return _picture(path, kind, size, images)
        if size > TEXT_LIMIT:
            raise OrionError("attachment_too_large", name=path.name, size=size, limit=TEXT_LIMIT)
        content = path.read_bytes()
    except OSError as error:
        raise OrionError("attachment_unreadable", name=path.name, reason=error.strerror or "") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OrionError("attachment_binary", name=path.name) from error
    if "\0" in text:
        raise OrionError("attachment_binary", name=path.name)
    return Attachment(path.name, size, text=text)


def pasted(text: str, name: str) -> Attachment:
    """A long pasted text as an attachment called `name`."""
    return Attachment(name, len(text.encode("utf-8", "surrogatepass")), text=text)


def picture(data: bytes, media_type: str, name: str) -> Attachment:
    """A pasted picture."""
    return Attachment(name, len(data), media_type=media_type, data=base64.b64encode(data).decode())


def compose(text: str, attachments: list[Attachment]) -> tuple[str, list[tuple[str, str]]]:
    """The message as the runtime takes it: text with each text file in a fence of its own, and pictures."""
    parts = [text] if text else []
    for one in attachments:
        if not one.is_image:
            longest = max((len(run) for run in re.findall(r"`{3,}", one.text)), default=2)
            fence = "`" * (longest + 1)
            parts.append(f"{one.name}\n{fence}\n{one.text}\n{fence}")
    return "\n\n".join(parts), [(one.media_type, one.data) for one in attachments if one.is_image]


def human_size(size: int) -> str:
    """`size` bytes in words."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1e6:.1f} MB"


def _picture(path: Path, kind: str, size: int, images: bool) -> Attachment:
    if not images:
        raise OrionError("attachment_image_unseen", name=path.name)
    if size > IMAGE_LIMIT:
        raise OrionError("attachment_too_large", name=path.name, size=size, limit=IMAGE_LIMIT)
    return picture(path.read_bytes(), kind, path.name)
