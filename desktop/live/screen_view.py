"""The sandbox's screen in the window, drawn sharp, with the agent's actions over it."""

from __future__ import annotations

import time
from math import ceil, floor

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QHideEvent,
    QImage,
    QPainter,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
    QTransform,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QSizePolicy, QStyle, QWidget

from desktop.live.frames import FrameBox, Picture
from desktop.live.geometry import Fit, actual_size, fit_into
from desktop.live.hands import Hands
from desktop.live.marks import Marks
from desktop.live.scaled import ScaledScreen
from desktop.theme import Theme, mix
from resources.translation import _
from runtime.computer_events import ActionSeen, Holder

LEAST_MS = 30
"""Between two pictures; more often than that nobody sees."""
MOVE_MS = 16
BORDER = 3


class ScreenView(QAbstractScrollArea):
    """Takes pictures from `frames` when `on_pictured` says there is one. `steered` carries what the user's
    mouse and keys mean in the sandbox, as steps of its input; `left` that the user left by the chord;
    `entered` whether the user works in it while no agent does."""

    steered = Signal(object)
    left = Signal()
    entered = Signal(bool)

    def __init__(self, theme: Theme, frames: FrameBox, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._frames = frames
        self._scaled = ScaledScreen()
        self._fit: Fit | None = None
        self._guest = (0, 0)
        self._actual = False
        self._drawn: list[QRect] = []
        self.holder: Holder = "nobody"
        self._entered = False
        self.newest = 0.0
        """The guest's time of the picture that is shown."""
        self.marks = Marks(still=not self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration))
        self.hands = Hands(self)
        self.hands.steered.connect(self._on_steered)
        self.hands.left.connect(self.left)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(120, 40)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)
        self.setAccessibleName(_("Screen of the sandbox"))
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().installEventFilter(self.hands)
        self.installEventFilter(self.hands)
        self._clock = time.monotonic
        self._last_taken = 0.0
        self._wait = self._timer("live picture", self._take, single=True)
        self._motion = self._timer("live marks", self._on_motion, single=False)
        self._motion.setInterval(MOVE_MS)
        self._last_step = 0.0

    # --- what it is told ------------------------------------------------------------------------------

    def on_pictured(self) -> None:
        """There is a newer picture than the one shown."""
        since = 1000 * (self._clock() - self._last_taken)
        if not self.isVisible() or self._wait.isActive():
            return
        if since >= LEAST_MS:
            self._take()
        else:
            self._wait.start(ceil(LEAST_MS - since))

    def on_action(self, seen: ActionSeen) -> None:
        """The agent begins or has ended an action."""
        self.marks.see(seen, self._clock())
        self._move()

    def set_holder(self, holder: Holder) -> None:
        """Who is at the wheel; the agent's pointer is hidden while it is the user."""
        self.holder = holder
        self._enter(self._entered and holder == "nobody")
        if holder == "user":
            self.marks.clear()
        self.viewport().update()

    def set_actual_size(self, actual: bool) -> None:
        """100 %, with scroll bars where it does not fit, or the whole screen scaled into the view."""
        self._actual = actual
        self._refit()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.viewport().update()

    def forget(self) -> None:
        """The screen is gone."""
        self.marks.clear()
        self._motion.stop()

    @property
    def fit(self) -> Fit | None:
        """Where the screen lies in the viewport; None before the first picture."""
        return self._fit

    @property
    def image(self) -> QImage:
        """What is shown of the screen, in device pixels."""
        return self._scaled.image

    @property
    def mine(self) -> bool:
        """Whether every key in the picture goes to the sandbox."""
        return self.holder == "user" or self._entered

    # --- inside ---------------------------------------------------------------------------------------

    def _on_steered(self, steps: object) -> None:
        if self.holder == "nobody" and self.hasFocus():
            self._enter(True)
        self.steered.emit(steps)

    def _enter(self, entered: bool) -> None:
        if entered != self._entered:
            self._entered = entered
            self.entered.emit(entered)
        self.hands.set_mine(self.mine)
        self.viewport().update()

    def _timer(self, name: str, slot: object, *, single: bool) -> QTimer:
        made = QTimer(self)
        made.setObjectName(name)
        made.setSingleShot(single)
        made.setTimerType(Qt.TimerType.PreciseTimer)
        made.timeout.connect(slot)
        return made

    def _take(self) -> None:
        picture = self._frames.take()
        if picture is None:
            return
        self._last_taken = self._clock()
        self.show_picture(picture)

    def show_picture(self, picture: Picture) -> None:
        """Draw what changed."""
        size = (picture.image.width(), picture.image.height())
        self.newest = picture.time
        if size != self._guest:
            self._guest = size
            self._refit()
        changed = self._scaled.take(picture.image, picture.changed)
        if self._fit is not None:
            for rect in changed:
                self.viewport().update(self._logical(rect))
        self.marks.point_at(picture.pointer, self._clock())
        self._move()

    def _refit(self) -> None:
        if not all(self._guest):
            return
        ratio, area = self.devicePixelRatioF(), (self.viewport().width(), self.viewport().height())
        if self._actual:
            whole = actual_size(self._guest, area, ratio)
            self._set_bars(whole, area, ratio)
            pan = (
                round(self.horizontalScrollBar().value() * ratio),
                round(self.verticalScrollBar().value() * ratio),
            )
            self._fit = actual_size(self._guest, area, ratio, pan)
        else:
            self._set_bars(None, area, ratio)
            self._fit = fit_into(self._guest, area, ratio)
        self._scaled.set_fit(self._fit)
        self.hands.set_fit(self._fit)
        self.viewport().update()

    def _set_bars(self, whole: Fit | None, area: tuple[int, int], ratio: float) -> None:
        bars = (self.horizontalScrollBar(), self.verticalScrollBar())
        sizes = (0, 0) if whole is None else (ceil(whole.width / ratio), ceil(whole.height / ratio))
        for bar, size, room in zip(bars, sizes, area, strict=True):
            bar.setPageStep(room)
            bar.setSingleStep(40)
            bar.setRange(0, max(0, size - room))

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        del dx, dy
        self._refit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._refit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._refit()
        return super().event(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        return False if self.mine else super().focusNextPrevChild(forward)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.hands.let_go()
        self._enter(False)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.hands.let_go()
        self._motion.stop()
        self._wait.stop()

    # --- drawing --------------------------------------------------------------------------------------

    def _logical(self, rect: QRect) -> QRect:
        """A part of the scaled picture as a rectangle of the viewport."""
        fit = self._fit
        if fit is None:
            return QRect()
        left, top = floor((rect.x() + fit.left) / fit.ratio), floor((rect.y() + fit.top) / fit.ratio)
        right = ceil((rect.x() + rect.width() + fit.left) / fit.ratio)
        bottom = ceil((rect.y() + rect.height() + fit.top) / fit.ratio)
        return QRect(left, top, right - left, bottom - top)

    def _move(self) -> None:
        if not self.isVisible():
            return
        if not self._motion.isActive():
            self._last_step = self._clock()
            self._motion.start()

    def _on_motion(self) -> None:
        now = self._clock()
        goes_on = self.marks.step(now, now - self._last_step)
        self._last_step = now
        if self._fit is None:
            self._motion.stop()
            return
        places = self.marks.places(self._fit, QFontMetricsF(self.font()))
        for rect in (*self._drawn, *places):
            self.viewport().update(rect.adjusted(-2, -2, 2, 2))
        self._drawn = places
        if not goes_on:
            self._motion.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        ground = mix(self._theme.surface, self._theme.text, 0.06)
        fit, image = self._fit, self._scaled.image
        if fit is None or image.isNull():
            painter.fillRect(event.rect(), ground)
            return
        picture = self._logical(image.rect())
        painter.save()
        painter.setClipRegion(event.region() - QRegion(picture.adjusted(1, 1, -1, -1)))
        painter.fillRect(event.rect(), ground)
        painter.restore()
        painter.save()
        painter.setTransform(QTransform.fromScale(1 / fit.ratio, 1 / fit.ratio))
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        part = self._device(event.rect()) & image.rect()
        painter.drawImage(QPoint(fit.left + part.x(), fit.top + part.y()), image, part)
        painter.restore()
        self.marks.draw(painter, fit, self._theme, self._clock(), pointer=not self.mine)
        self._draw_border(painter, picture)

    def _device(self, rect: QRect) -> QRect:
        """A rectangle of the viewport as a part of the scaled picture."""
        fit = self._fit
        if fit is None:
            return QRect()
        left, top = floor(rect.x() * fit.ratio) - fit.left, floor(rect.y() * fit.ratio) - fit.top
        right = ceil((rect.x() + rect.width()) * fit.ratio) - fit.left
        bottom = ceil((rect.y() + rect.height()) * fit.ratio) - fit.top
        return QRect(left, top, right - left, bottom - top)

    def _draw_border(self, painter: QPainter, picture: QRect) -> None:
        """A border says who is at the wheel, a dashed one where the keyboard is."""
        frame = QRectF(picture & self.viewport().rect()).adjusted(1.5, 1.5, -1.5, -1.5)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.mine:
            painter.setPen(QPen(self._theme.warning, BORDER))
            painter.drawRect(frame)
        elif self.hasFocus():
            painter.setPen(QPen(self._theme.accent, 2, Qt.PenStyle.DashLine))
            painter.drawRect(frame)
