"""A picture is what its bytes say, of a size that can be, and nothing else is one."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sandbox.picture_kind import WIDEST, picture_kind


@pytest.mark.parametrize("form", ["png", "jpeg", "gif", "webp"])
def test_real_pictures_are_told_apart(form: str) -> None:
    packed = io.BytesIO()
    Image.new("RGB", (31, 7)).save(packed, form)
    assert picture_kind(packed.getvalue()) == f"image/{form}"


@pytest.mark.parametrize("form", ["png", "jpeg", "gif"])
def test_edges_that_cannot_be_are_refused(form: str) -> None:
    packed = io.BytesIO()
    Image.new("1", (WIDEST + 1, 1)).convert("L").save(packed, form)
    assert picture_kind(packed.getvalue()) == ""


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"<svg/>", b"#!/bin/sh"])
def test_other_things_are_none(data: bytes) -> None:
    assert picture_kind(data) == ""


@given(st.binary(max_size=80))
def test_any_bytes_are_answered(noise: bytes) -> None:
    assert picture_kind(b"\xff\xd8\xff" + noise) in ("", "image/jpeg")
