"""Maps between the pixels of the screen and those of the picture that a model is shown."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.guest.rects import Rect

SIZES = ((1024, 768), (1280, 800), (1366, 768))
"""Sizes that Anthropic's reference computer use recommends: larger pictures are scaled down on the way to a
model, and the coordinates would not fit any more."""

ALIKE = 0.02
"""Two ratios of width to height that differ less look the same."""

Point = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Scaling:
    """A screen of `width` × `height` pixels, as a model sees it: `model` pixels."""

    width: int
    height: int

    @property
    def model(self) -> tuple[int, int]:
        """The size of the model's picture: the screen's own where that is small enough, else the recommended
        one of the same shape, else the screen's shape within the largest of them."""
        if (self.width, self.height) in SIZES or (self.width <= 1280 and self.height <= 800):
            return self.width, self.height
        ratio = self.width / self.height
        alike = [size for size in SIZES if abs(size[0] / size[1] - ratio) < ALIKE]
        if alike:
            return min(alike, key=lambda size: abs(size[0] / size[1] - ratio))
        factor = min(1280 / self.width, 800 / self.height)
        return max(1, round(self.width * factor)), max(1, round(self.height * factor))

    @property
    def same(self) -> bool:
        """Whether nothing is scaled."""
        return self.model == (self.width, self.height)

    def to_screen(self, x: float, y: float) -> Point:
        """The pixel of the screen under the middle of the model's pixel (x, y)."""
        width, height = self.model
        across, down = int((x + 0.5) * self.width / width), int((y + 0.5) * self.height / height)
        return min(max(0, across), self.width - 1), min(max(0, down), self.height - 1)

    def to_model(self, x: float, y: float) -> Point:
        """The model's pixel in which the pixel (x, y) of the screen lies."""
        width, height = self.model
        across, down = int((x + 0.5) * width / self.width), int((y + 0.5) * height / self.height)
        return min(max(0, across), width - 1), min(max(0, down), height - 1)

    def within(self, x: float, y: float) -> bool:
        """Whether the model's picture has a pixel (x, y)."""
        width, height = self.model
        return 0 <= x < width and 0 <= y < height

    def region(self, left: float, top: float, right: float, bottom: float) -> Rect:
        """The part of the screen under a part of the model's picture, at least one pixel of it."""
        width, height = self.model
        x0, y0 = int(left * self.width / width), int(top * self.height / height)
        x1, y1 = -int(-right * self.width // width), -int(-bottom * self.height // height)
        x1, y1 = min(x1, self.width), min(y1, self.height)
        return Rect(x0, y0, max(1, x1 - x0), max(1, y1 - y0))

    def enlarged(self, part: Rect) -> tuple[int, int]:
        """The size at which a part of the screen fills the model's picture without changing its shape."""
        factor = min(self.model[0] / part.width, self.model[1] / part.height)
        return max(1, round(part.width * factor)), max(1, round(part.height * factor))
