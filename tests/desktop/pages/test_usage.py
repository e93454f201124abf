"""The usage page shows what was used by time and by model, marks what is not known, and keeps caps."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.bridge import Bridge
from desktop.pages.usage import UsagePage
from desktop.theme import DARK, LIGHT
from runtime.errors import OrionError
from runtime.messages import Usage
from runtime.usage_record import Call, Sum, UsageRecord
from tests.desktop.doubles import RecordingBridge

PATIENCE_MS = 20_000
PAID = Sum(3, 12_000, 9_000, 0, 400, 0, 1.25, 0, 0)
HERE = Sum(2, 500, 0, 0, 40, 0, 0.0, 0, 0)
STRANGE = Sum(1, 100, 0, 0, 10, 0, 0.0, 1, 1)


def report(*models: tuple[str, str, bool, Sum], span: str = "7d", **changes: Any) -> dict[str, Any]:
    total = sum((found for *_name, found in models), Sum())
    made: dict[str, Any] = {
        "range": span,
        "step": "day",
        "since": 0.0,
        "total": asdict(total),
        "periods": [
            {"bucket": "2026-11-20", **asdict(Sum())},
            {"bucket": "2026-11-21", **asdict(total)},
        ],
        "models": [
            {"provider": provider, "model": model, "local": local, **asdict(found)}
            for provider, model, local, found in models
        ],
        "caps": [
            {"setting": "spending.daily_usd", "limit": 2.0, "spent": 1.8},
            {"setting": "spending.monthly_usd", "limit": 0.0, "spent": 0.0},
            {"setting": "spending.session_usd", "limit": 0.5, "spent": 0.0},
        ],
        "prices": [{"provider": "openai", "date": "2026-11-18", "source": "https://example.org"}],
        "own_prices": "home/pricing.yaml",
    }
    return made | changes


MIXED = (("openai", "gpt-6-luna", False, PAID), ("local", "small", True, HERE), ("x", "odd", False, STRANGE))


@pytest.fixture
def bridge() -> RecordingBridge:
    made = RecordingBridge()
    made.answers["usage"] = lambda span: report(*MIXED, span=span)
    made.answers["save_settings"] = {"spending": {}}
    return made


@pytest.fixture
def page(qtbot: QtBot, bridge: RecordingBridge) -> UsagePage:
    made = UsagePage(bridge, LIGHT)
    qtbot.addWidget(made)
    made.show()
    bridge.settle()
    return made


def cells(page: UsagePage) -> list[list[str]]:
    model = page.models.model()
    rows, columns = range(model.rowCount()), range(model.columnCount())
    return [[str(model.data(model.index(y, x))) for x in columns] for y in rows]


def test_cost_and_tokens_are_shown_by_model(page: UsagePage) -> None:
    assert page.total.text() == "At least $1.25"
    assert page.words.text() == "6 calls, 12,600 tokens in (9,000 of them cached), 450 out"
    assert cells(page) == [
        ["openai/gpt-6-luna", "$1.25", "3", "12,000", "9,000", "400"],
        ["local/small (on this machine)", "free", "2", "500", "0", "40"],
        ["x/odd", "unknown", "1", "100", "0", "10"],
    ]
    assert "The price of 1 call is not known" in page.notes.text()
    assert "The tokens of 1 answer are a guess" in page.notes.text()
    assert "2026-11-18" in page.notes.text()


def test_each_bar_tells_its_day_and_the_caption_follows(page: UsagePage) -> None:
    assert page.chart.accessibleName() == "Cost by day"
    words = [bar.accessibleName() for bar in page.chart.bars]
    assert words[0] == "Friday 20 November: nothing"
    assert words[1] == "Saturday 21 November: at least $1.25, 6 calls, 13,050 tokens"
    assert page.caption.text() == "Cost by day"
    page.chart.bars[1].setFocus()
    assert page.caption.text() == words[1]


def test_a_range_is_asked_for_and_said(page: UsagePage, bridge: RecordingBridge) -> None:
    assert bridge.last("usage") == ("today",)
    for span in ("7d", "30d", "all"):
        page.span.setCurrentIndex(page.span.findData(span))
        assert bridge.last("usage") == (span,)
    bridge.settle()


def test_tokens_can_be_shown_instead_and_stay_chosen(page: UsagePage, bridge: RecordingBridge) -> None:
    page.measure.setCurrentIndex(page.measure.findData("tokens"))
    assert page.caption.text() == "Tokens by day"
    assert page.chart.bars[1].value.amount == 13_050
    page.refresh()
    bridge.settle()
    assert page.measure.currentData() == "tokens"


def test_where_all_was_free_tokens_are_shown(page: UsagePage, bridge: RecordingBridge) -> None:
    bridge.answers["usage"] = report(("local", "small", True, HERE))
    page.refresh()
    bridge.settle()
    assert page.total.text() == "Free"
    assert page.measure.currentData() == "tokens"
    assert page.chart.bars[1].value.amount == 540


def test_where_nothing_was_used_it_says_so(page: UsagePage, bridge: RecordingBridge) -> None:
    bridge.answers["usage"] = report(span="30d", periods=[])
    page.refresh()
    bridge.settle()
    assert page.figures.isHidden()
    assert page.empty.text() == "No model was asked in the last 30 days."
    bridge.answers["usage"] = report(*MIXED)
    page.refresh()
    bridge.settle()
    assert page.empty.isHidden()
    assert not page.figures.isHidden()


def test_a_record_that_cannot_be_read_is_a_sentence(page: UsagePage, bridge: RecordingBridge) -> None:
    bridge.answers["usage"] = OrionError("usage_unusable", path="usage.db", reason="damaged")
    page.refresh()
    bridge.settle()
    assert "usage.db" in page.empty.text()
    assert page.figures.isHidden()


def test_caps_show_how_much_is_used(page: UsagePage) -> None:
    caps = page.caps
    assert caps.words["spending.daily_usd"].text() == "$1.80 of $2.00 used"
    assert caps.used["spending.daily_usd"].value() == 90
    assert caps.used["spending.daily_usd"].property("tone") == "warning"
    assert caps.used["spending.monthly_usd"].isHidden()
    assert caps.fields["spending.monthly_usd"].text() == "none"
    assert caps.words["spending.session_usd"].text() == "in each chat"
    for field in caps.fields.values():
        assert field.accessibleName()
        assert field.accessibleDescription()


def test_a_cap_is_saved_at_once(qtbot: QtBot, page: UsagePage, bridge: RecordingBridge) -> None:
    field = page.caps.fields["spending.monthly_usd"]
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "12.5")
    with qtbot.waitSignal(page.saved):
        field.setValue(12.5)
        bridge.settle()
    assert bridge.last("save_settings") == ({"spending.monthly_usd": 12.5},)


def test_a_theme_can_be_changed(page: UsagePage) -> None:
    page.set_theme(DARK)
    page.grab()


def test_the_real_record_is_shown_and_a_cap_is_kept(qtbot: QtBot, fresh_home: Path) -> None:
    fresh_home.mkdir(parents=True)
    record = UsageRecord(fresh_home / "usage.db")
    record.add(Call(time.time(), "s", "t", "openai", "m", False, Usage(1000, 50), 0.5, 1.0))
    record.close()
    bridge = Bridge()
    with qtbot.waitSignal(bridge.ready, timeout=PATIENCE_MS):
        bridge.start()
    page = UsagePage(bridge, LIGHT)
    qtbot.addWidget(page)
    qtbot.waitUntil(lambda: page.models.rowCount() == 1, timeout=PATIENCE_MS)
    assert page.total.text() == "$0.50"
    with qtbot.waitSignal(page.saved, timeout=PATIENCE_MS):
        page.caps.fields["spending.daily_usd"].setValue(2.0)
    qtbot.waitUntil(
        lambda: page.caps.words["spending.daily_usd"].text() == "$0.50 of $2.00 used", timeout=PATIENCE_MS
    )
    assert bridge.close()
