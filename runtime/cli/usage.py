"""`orion usage`: what the models used and cost, from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from resources.translation import _
from runtime.amounts import dollars, priced
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal, visible
from runtime.paths import find_home
from runtime.spending import Spending
from runtime.usage_report import Range, remarks

Row = dict[str, Any]
_NARROWEST = 20
_COLUMNS = "{:>6}  {:>11}  {:>11}  {:>9}  {:>10}"


def usage(terminal: Terminal, span: Range, *, as_json: bool) -> ExitCode:
    """Print the figures of a stretch of time by model; nothing is written, not even a missing home."""
    spending = Spending(find_home())
    try:
        report = spending.report(span)
    finally:
        spending.close()
    if as_json:
        terminal.answer(json.dumps(report, indent=2) + "\n")
        return ExitCode.OK
    width = terminal.width if terminal.out_tty else 120
    for line in table(report, width):
        terminal.answer(line + "\n")
    for remark in remarks(report):
        terminal.note(remark)
    return ExitCode.OK


def table(report: Row, width: int) -> Iterator[str]:
    """The lines of the table: one a model, then the total and how much of the caps is used."""
    names = {"today": _("Today"), "7d": _("7 days"), "30d": _("30 days"), "all": _("All time")}
    title = names[report["range"]]
    if not report["models"]:
        yield f"{title}: {_('no model was asked.')}"
        return
    headings = _COLUMNS.format(_("calls"), _("in"), _("cached"), _("out"), _("cost"))
    shown = [(visible(f"{row['provider']}/{row['model']}"), row) for row in report["models"]]
    room = max(_NARROWEST, width - len(headings) - 2)
    longest = min(room, max(len(title), *(len(name) for name, _row in shown)))
    yield f"{title:<{longest}}  {headings}"
    for name, row in shown:
        fitting = name if len(name) <= longest else name[: longest - 1] + "…"
        yield f"{fitting:<{longest}}  {_figures(row, bool(row['local']))}"
    if len(shown) > 1:
        only_here = all(row["local"] for _name, row in shown)
        yield f"{_('total'):<{longest}}  {_figures(report['total'], only_here)}"
    for cap in report["caps"]:
        if cap["limit"] and cap["setting"] != "spending.session_usd":
            name = _("cap for a day") if cap["setting"] == "spending.daily_usd" else _("cap for a month")
            spent = _("{spent} of {limit}").format(spent=dollars(cap["spent"]), limit=dollars(cap["limit"]))
            yield f"{name}: {spent}"


def _figures(row: Row, local: bool) -> str:
    counts = (row["calls"], row["prompt"], row["cached"], row["completion"])
    return _COLUMNS.format(*(f"{count:,}" for count in counts), priced(row, local=local))
