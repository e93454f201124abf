"""Pictures of the screen: their kind, and how old ones leave a request in chunks."""

from __future__ import annotations

from runtime.messages import AssistantMessage, Image, Message, Text, ToolMessage, UserMessage
from runtime.pictures import CHUNK, GONE, KEPT, as_image, recent


def _shots(count: int) -> list[Message]:
    shot = [ToolMessage(str(n), "computer", (Text("done"), Image("image/png", str(n)))) for n in range(count)]
    own = UserMessage((Image("image/png", "own"), Text("look")))
    return [own, AssistantMessage("ok"), *shot]


def _shown(messages: tuple[Message, ...]) -> list[str]:
    parts = [part for message in messages if isinstance(message, ToolMessage) for part in message.parts]
    return [part.data for part in parts if isinstance(part, Image)]


def test_the_kind_follows_from_the_bytes() -> None:
    assert as_image(b"\x89PNG\r\n").media_type == "image/png"
    assert as_image(b"\xff\xd8\xff").media_type == "image/jpeg"


def test_few_pictures_all_stay() -> None:
    messages = _shots(KEPT + CHUNK - 1)
    assert recent(messages) == tuple(messages)


def test_old_ones_leave_a_chunk_at_a_time() -> None:
    counts = [len(_shown(recent(_shots(n)))) for n in range(1, 40)]
    assert min(counts[KEPT:]) >= KEPT
    assert max(counts) == KEPT + CHUNK - 1
    before = recent(_shots(KEPT + CHUNK))
    assert _shown(before) == [str(n) for n in range(CHUNK, CHUNK + KEPT)]
    for more in range(1, CHUNK):
        assert recent(_shots(KEPT + CHUNK + more))[: len(before)] == before


def test_the_users_own_pictures_and_all_words_stay() -> None:
    shown = recent(_shots(50))
    assert isinstance(shown[0], UserMessage)
    assert Image("image/png", "own") in shown[0].parts
    first = shown[2]
    assert isinstance(first, ToolMessage)
    assert first.parts == (Text("done"), Text(GONE))
