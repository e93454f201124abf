"""What goes with a message arrives whole, and what cannot go is refused in a sentence."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.attachments import TEXT_LIMIT, Attachment, compose, human_size, pasted, read
from resources.sentences import sentence
from runtime.errors import OrionError

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def refusal(path: Path, *, images: bool = False) -> str:
    with pytest.raises(OrionError) as caught:
        read(path, images=images)
    assert "{" not in sentence(caught.value.code, **caught.value.fields)
    return caught.value.code


def test_text_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfh\xc3\xa9\r\nb")
    found = read(tmp_path / "a.txt", images=False)
    assert (found.name, found.text, found.size, found.is_image) == ("a.txt", "hé\r\nb", 9, False)


def test_a_picture_goes_only_where_it_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    assert refusal(tmp_path / "a.png") == "attachment_image_unseen"
    found = read(tmp_path / "a.png", images=True)
    assert found.is_image
    assert base64.b64decode(found.data) == PNG


def test_what_cannot_go_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "nul.txt").write_bytes(b"a\0b")
    (tmp_path / "large.txt").write_bytes(b"a" * (TEXT_LIMIT + 1))
    assert refusal(tmp_path / "binary") == "attachment_binary"
    assert refusal(tmp_path / "nul.txt") == "attachment_binary"
    assert refusal(tmp_path / "large.txt") == "attachment_too_large"
    assert refusal(tmp_path) == "attachment_folder"
    assert refusal(tmp_path / "missing") == "attachment_unreadable"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == "attachment_unreadable"


@given(st.text(alphabet="`ab\n", max_size=80))
def test_a_fence_is_always_longer_than_what_it_holds(text: str) -> None:
    said, pictures = compose("look", [pasted(text, "p")])
    fence = said.split("\n")[3]
    assert set(fence) == {"`"}
    assert fence not in text
    assert said.endswith(f"{fence}\n{text}\n{fence}")
    assert pictures == []


def test_pictures_travel_apart_from_the_text() -> None:
    said, pictures = compose("", [Attachment("a", 1, media_type="image/png", data="QQ==")])
    assert (said, pictures) == ("", [("image/png", "QQ==")])


def test_sizes_are_words() -> None:
    assert [human_size(n) for n in (3, 1500, 2_500_000)] == ["3 B", "2 kB", "2.5 MB"]
