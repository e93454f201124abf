"""The usage page: how much the models were used, what that cost, and the caps on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, get_args

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop import desk_usage
from desktop.bars import BarChart, Value
from desktop.bridge import Bridge, Fields
from desktop.pages.caps import Caps
from desktop.pages.usage_words import Measure, heading, period, summary, top
from desktop.parts import label, line
from desktop.table import ReadingTable
from desktop.theme import Theme, spacing
from resources.sentences import sentence
from resources.translation import _
from runtime.amounts import priced
from runtime.usage_report import Range, remarks

Report = dict[str, Any]


class UsagePage(QScrollArea):
    """The figures as they are when it is shown; `refresh` asks again. `saved` carries all settings after a
    cap was changed."""

    saved = Signal(object)

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._report: Report = {}
        self._chosen: Measure | None = None
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(_("Usage"))
        self.span = _choice(_("Time"), [(name, words()) for name, words in _RANGES.items()], self._on_span)
        kinds = [("cost", _("Cost")), ("tokens", _("Tokens"))]
        self.measure = _choice(_("Shown as"), kinds, self._on_measure)
        self.total = label("", "title", selectable=True)
        self.words = label("", "muted", wrap=True, selectable=True)
        self.chart = BarChart(theme)
        self.caption = label("", "small", wrap=True)
        headers = [_("Model"), _("Cost"), _("Calls"), _("In"), _("Cached"), _("Out")]
        self.models = ReadingTable(_("By model"), headers, right=(1, 2, 3, 4, 5))
        self.notes = label("", "small", wrap=True, selectable=True)
        self.caps = Caps(self._save)
        self.chart.pointed.connect(self._on_pointed)
        self._lay_out()
        self.refresh()

    def refresh(self) -> None:
        """Ask for the figures again."""
        span: Range = self.span.currentData()
        self._bridge.ask(desk_usage.usage, span).then(self._show, self._on_fault)

    def set_theme(self, theme: Theme) -> None:
        self.chart.set_theme(theme)
        self.models.fit()

    def _lay_out(self) -> None:
        body = QWidget()
        body.setMaximumWidth(960)
        column = QVBoxLayout(body)
        column.setContentsMargins(spacing(6), spacing(5), spacing(6), spacing(8))
        column.setSpacing(spacing(3))
        head = QHBoxLayout()
        head.addWidget(label(_("Usage"), "title"))
        head.addStretch(1)
        head.addWidget(self.measure)
        head.addWidget(self.span)
        column.addLayout(head)
        column.addWidget(line())
        self.figures = QWidget()
        inner = QVBoxLayout(self.figures)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(spacing(2))
        for part in (self.total, self.words):
            inner.addWidget(part)
        inner.addSpacing(spacing(2))
        for shown in (self.chart, self.caption):
            inner.addWidget(shown)
        inner.addSpacing(spacing(3))
        inner.addWidget(label(_("By model"), "section"))
        inner.addWidget(self.models)
        inner.addWidget(self.notes)
        self.empty = label("", wrap=True)
        column.addWidget(self.empty)
        column.addWidget(self.figures)
        column.addSpacing(spacing(3))
        column.addWidget(label(_("Caps"), "section"))
        column.addWidget(line())
        column.addWidget(self.caps)
        column.addStretch(1)
        outer = QWidget()
        row = QHBoxLayout(outer)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(body, 100)
        row.addStretch(1)
        self.setWidget(outer)
        self.figures.hide()

    # --- what comes back ------------------------------------------------------------------------------

    def _show(self, report: Report) -> None:
        self._report = report
        used = bool(report["models"])
        self.figures.setVisible(used)
        self.empty.setVisible(not used)
        self.measure.setVisible(used)
        self.empty.setText(_EMPTY[report["range"]]())
        self.caps.show_caps(report["caps"])
        total = report["total"]
        measure = self._chosen or ("cost" if total["cost"] else "tokens")
        self.measure.blockSignals(True)
        self.measure.setCurrentIndex(self.measure.findData(measure))
        self.measure.blockSignals(False)
        if used:
            cost = priced(total, local=all(row["local"] for row in report["models"]))
            self.total.setText(cost[:1].upper() + cost[1:])
            self.words.setText(summary(total))
            self._draw(measure)
            self.models.set_rows([_row(found) for found in report["models"]])
            self.notes.setText("\n".join(remarks(report)))

    def _draw(self, measure: Measure) -> None:
        periods, step = self._report["periods"], self._report["step"]
        values: list[Value] = []
        for found in periods:
            amount = found["cost"] if measure == "cost" else float(found["prompt"] + found["completion"])
            values.append(Value(amount, *period(found, step)))
        self.chart.setAccessibleName(heading(measure, step))
        self.chart.show_values(values, top(measure, max((value.amount for value in values), default=0.0)))
        self._on_pointed("")

    def _on_pointed(self, words: str) -> None:
        shown: Measure = self.measure.currentData()
        self.caption.setText(words or heading(shown, self._report["step"]))

    def _on_span(self) -> None:
        self.refresh()

    def _on_measure(self) -> None:
        chosen: Measure = self.measure.currentData()
        self._chosen = chosen
        if self._report.get("models"):
            self._draw(chosen)

    def _on_fault(self, code: str, fields: Fields) -> None:
        self.figures.hide()
        self.measure.hide()
        self.empty.setText(sentence(code, **fields))
        self.empty.show()

    def _save(self, setting: str, value: float) -> None:
        from desktop.desk import Desk

        def done(values: dict[str, Any]) -> None:
            self.saved.emit(values)
            self.refresh()

        self._bridge.ask(Desk.save_settings, {setting: value}).then(done)


def _choice(name: str, offered: list[tuple[str, str]], run: Callable[[], object]) -> QComboBox:
    made = QComboBox()
    made.setAccessibleName(name)
    for value, words in offered:
        made.addItem(words, value)
    made.currentIndexChanged.connect(partial(_called, run))
    return made


def _called(run: Callable[[], object], _index: int) -> None:
    run()


def _row(found: Report) -> list[str]:
    name = f"{found['provider']}/{found['model']}"
    place = _("{name} (on this machine)").format(name=name) if found["local"] else name
    counts = (found["calls"], found["prompt"], found["cached"], found["completion"])
    return [place, priced(found, local=found["local"]), *(f"{count:,}" for count in counts)]


_RANGES: dict[str, Callable[[], str]] = {
    "today": lambda: _("Today"),
    "7d": lambda: _("7 days"),
    "30d": lambda: _("30 days"),
    "all": lambda: _("All time"),
}
_EMPTY: dict[str, Callable[[], str]] = {
    "today": lambda: _("No model was asked today."),
    "7d": lambda: _("No model was asked in the last 7 days."),
    "30d": lambda: _("No model was asked in the last 30 days."),
    "all": lambda: _("No model was asked yet. What the models use and cost is shown here."),
}
assert tuple(_RANGES) == get_args(Range)
