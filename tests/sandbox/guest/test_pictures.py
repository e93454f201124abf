"""Pictures that any reader opens, with exactly the pixels of the screen."""

from __future__ import annotations

import io

import numpy
import pytest
from PIL import Image

from sandbox.guest.pictures import jpeg, png


@pytest.mark.parametrize("kind", ["window", "photograph", "one pixel"])
def test_a_png_holds_the_exact_pixels(kind: str) -> None:
    noise = numpy.random.default_rng(7).integers(-3, 4, (90, 130, 3))
    made = {
        "window": numpy.full((90, 130, 3), 200) + (noise > 2) * 40,
        "photograph": noise.cumsum(axis=1) + 128,
        "one pixel": noise[:1, :1] + 9,
    }[kind]
    image = Image.fromarray(made.clip(0, 255).astype(numpy.uint8))
    with Image.open(io.BytesIO(png(image))) as found:
        found.load()
        assert found.format == "PNG"
        assert found.tobytes() == image.tobytes()


def test_a_jpeg_comes_close_and_quality_costs_bytes() -> None:
    image = Image.linear_gradient("L").convert("RGB")
    rough, fine = jpeg(image, 20), jpeg(image, 95)
    assert len(rough) < len(fine)
    with Image.open(io.BytesIO(fine)) as found:
        distance = numpy.abs(numpy.asarray(found, int) - numpy.asarray(image, int))
        assert distance.max() <= 8
