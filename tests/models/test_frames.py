"""Frames survive the wire whole, and what is no frame is refused."""

from __future__ import annotations

import asyncio
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.frames import encode, read, read_blocking

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_any_object_comes_back_through_both_readers(frame: dict[str, object]) -> None:
    data = encode(frame) + encode({"next": "\ud800"})

    async def both() -> None:
        stream = asyncio.StreamReader()
        stream.feed_data(data)
        stream.feed_eof()
        assert await read(stream) == frame
        assert await read(stream) == {"next": "\ud800"}
        assert await read(stream) is None

    asyncio.run(both())
    take = io.BytesIO(data).read
    assert read_blocking(take) == frame
    assert read_blocking(take) == {"next": "\ud800"}
    assert read_blocking(take) is None


def test_a_torn_frame_is_the_end() -> None:
    data = encode({"a": 1})
    for length in range(len(data)):
        assert read_blocking(io.BytesIO(data[:length]).read) is None


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff{}", b"\0\0\0\2[]", b"\0\0\0\2{{"])
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"frame|Expecting"):
        read_blocking(io.BytesIO(data).read)
