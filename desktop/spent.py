"""The figures of a service that wants money: tokens and cost of the turn, and the cost of the chat."""

from __future__ import annotations

from desktop.parts import label
from resources.translation import _
from runtime.amounts import dollars
from runtime.events import UsageReport


class Spent:
    """Feed it the report of each model call; `end_turn` when the turn is over. Of a model on this machine
    nothing is shown, since it costs nothing. `widget` is to be put into a row."""

    def __init__(self) -> None:
        self.widget = label("")
        self._tokens = 0
        self._ended = True
        self._full = self._short = ""
        self.reset()

    def reset(self) -> None:
        """Another chat came to the front."""
        self._tokens, self._ended = 0, True
        self._show("", "", "")

    def end_turn(self) -> None:
        """The next report begins a turn."""
        self._ended = True

    def add(self, report: UsageReport) -> None:
        """One more model call."""
        used = report.prompt + report.completion
        self._tokens = used if self._ended else self._tokens + used
        self._ended = False
        if report.local:
            self._show("", "", "")
            return
        unknown = _("price not known")
        tokens = _("{count} tokens").format(count=_in_short(self._tokens))
        turn = unknown if report.turn_cost is None else dollars(report.turn_cost)
        full = f"{tokens} · {turn}"
        told = _("This turn used {count} tokens.").format(count=f"{self._tokens:,}")
        if report.turn_cost is None:
            told += " " + _("What it cost is not known.")
        else:
            told += " " + _("It cost {cost}.").format(cost=turn)
        if report.session_cost is not None:
            session = dollars(report.session_cost)
            full += " · " + _("chat {cost}").format(cost=session)
            told += " " + _("This chat cost {cost} so far.").format(cost=session)
        self._show(full, "" if report.turn_cost is None else turn, told)

    def fit(self, room: int) -> None:
        """Show all of it where it has `room`, else only the cost of the turn."""
        wide = self.widget.fontMetrics().horizontalAdvance(self._full)
        self.widget.setText(self._full if wide <= room else self._short)
        self.widget.setVisible(bool(self.widget.text()))

    def _show(self, full: str, short: str, told: str) -> None:
        self._full, self._short = full, short
        self.widget.setText(full)
        self.widget.setToolTip(told)
        self.widget.setAccessibleName(told)
        self.widget.setVisible(bool(full))


def _in_short(count: int) -> str:
    """A number of tokens in few characters."""
    if count < 10_000:
        return f"{count:,}"
    return f"{count / 1e6:.1f} M" if count >= 1e6 else f"{count / 1e3:.0f} k"
