"""The sandbox's screen scaled to the pane, of which only what changed is scaled again."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage, QPainter

from desktop.live.geometry import Fit


class ScaledScreen:
    """A picture in device pixels, without its place in the viewport. Main thread only."""

    def __init__(self) -> None:
        self._source = QImage()
        self._fit: Fit | None = None
        self.image = QImage()
        """What to draw; the source itself where each of its pixels is one device pixel."""
        self.scaled_pixels = 0
        """Pixels of the screen that were scaled so far."""

    def set_fit(self, fit: Fit) -> None:
        """Scale to another size; nothing happens when only the place is another."""
        before, self._fit = self._fit, fit
        same = before is not None and (before.width, before.height) == (fit.width, fit.height)
        if not (same and before is not None and before.guest == fit.guest):
            self._make()

    def take(self, image: QImage, changed: tuple[QRect, ...]) -> list[QRect]:
        """The screen is `image` now and differs in `changed`; returns where the scaled picture differs."""
        fresh = image.size() != self._source.size()
        self._source = image
        if self._fit is None or fresh:
            self._make()
            return [self.image.rect()]
        if self.image.isNull():
            return []
        if self._one_to_one():
            self.image = image
            return list(changed)
        return [self._scale(rect) for rect in changed]

    def _one_to_one(self) -> bool:
        fit = self._fit
        return fit is not None and (fit.width, fit.height) == fit.guest

    def _make(self) -> None:
        fit, source = self._fit, self._source
        if fit is None or source.isNull() or (source.width(), source.height()) != fit.guest:
            self.image = QImage()
        elif self._one_to_one():
            self.image = source
        else:
            self.image = QImage(fit.width, fit.height, QImage.Format.Format_RGB32)
            self._scale(source.rect())

    def _scale(self, rect: QRect) -> QRect:
        """Scale the part around `rect` anew; returns its place in the scaled picture."""
        fit = self._fit
        if fit is None:
            return QRect()
        part, place = fit.tiled(rect)
        self.scaled_pixels += part.width() * part.height()
        painter = QPainter(self.image)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        if fit.exact:
            painter.drawImage(place, self._source, part)
        elif fit.width > fit.guest[0]:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            place = place.adjusted(-2, -2, 2, 2) & self.image.rect()  # neighbours shine into the edge
            painter.setClipRect(place)
            painter.drawImage(self.image.rect(), self._source)
        else:
            small = self._source.copy(part).scaled(
                place.size(), Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
            painter.drawImage(QPoint(place.x(), place.y()), small)
        painter.end()
        return place
