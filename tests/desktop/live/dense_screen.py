"""A view on a screen of another density: pixels are drawn exactly, clicks hit those they point to."""

from __future__ import annotations

import os
import sys
from typing import Any


def main(ratio: str) -> int:
    """Draw, compare and click; 0 and the word exact where all is."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ["QT_SCALE_FACTOR"] = ratio
    from PySide6.QtCore import QPoint, QRect, Qt
    from PySide6.QtGui import QImage
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    app = QApplication([])
    from desktop.live.frames import FrameBox
    from desktop.live.screen_view import ScreenView
    from desktop.theme import LIGHT
    from tests.desktop.live.sandbox_double import desktop_picture, frame_of

    frames, picture = FrameBox(), desktop_picture(640, 400)
    view = ScreenView(LIGHT, frames)
    view.resize(int(700 / float(ratio)), int(440 / float(ratio)))
    view.show()
    frames.open(640, 400)
    frames.put(frame_of(picture))
    view.on_pictured()
    app.processEvents()
    fit = view.fit
    assert fit is not None
    shown = view.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    shown.setDevicePixelRatio(1.0)
    inner = QRect(80, 80, 500, 300)  # beside the pointer
    assert shown.copy(inner.translated(fit.left, fit.top)) == picture.copy(inner)
    steps: list[dict[str, Any]] = []
    view.steered.connect(steps.extend)
    view.set_holder("user")
    for x in range(3, 440, 31):
        spot = QPoint(int((fit.left + x + 40) / fit.ratio), int((fit.top + 100) / fit.ratio))
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        hit = (steps[-1], steps[-2])[1]
        expected = int(spot.x() * fit.ratio - fit.left), int(spot.y() * fit.ratio - fit.top)
        assert (hit["x"], hit["y"]) == expected, (hit, expected)
    sys.stdout.write("exact\n")
    view.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
