"""What a service wants is shown beside the composer; a model on this machine shows nothing."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.spent import Spent
from desktop.status import StatusLine
from desktop.theme import LIGHT
from runtime.events import Done, UsageReport
from tests.desktop.doubles import event


def used(
    prompt: int,
    completion: int,
    *,
    local: bool = False,
    turn: float | None = 0.0123,
    session: float | None = 0.45,
) -> UsageReport:
    return UsageReport(
        prompt, completion, 0, 0, 0.0, 8192, local, cost=turn, turn_cost=turn, session_cost=session
    )


@pytest.fixture
def spent(qtbot: QtBot) -> Spent:
    made = Spent()
    qtbot.addWidget(made.widget)
    return made


def test_tokens_and_cost_of_turn_and_chat_are_shown(spent: Spent) -> None:
    spent.add(used(4000, 96))
    assert spent.widget.text() == "4,096 tokens · $0.0123 · chat $0.45"
    assert spent.widget.accessibleName() == (
        "This turn used 4,096 tokens. It cost $0.0123. This chat cost $0.45 so far."
    )
    assert spent.widget.toolTip() == spent.widget.accessibleName()


def test_the_calls_of_a_turn_are_added_and_the_next_turn_begins_anew(spent: Spent) -> None:
    spent.add(used(4000, 96))
    spent.add(used(8000, 4))
    assert spent.widget.text().startswith("12 k tokens")
    spent.end_turn()
    spent.add(used(100, 1))
    assert spent.widget.text().startswith("101 tokens")


def test_an_unknown_price_is_said(spent: Spent) -> None:
    spent.add(used(100, 1, turn=None, session=None))
    assert spent.widget.text() == "101 tokens · price not known"
    assert "not known" in spent.widget.accessibleName()


def test_a_model_here_shows_nothing(spent: Spent) -> None:
    spent.add(used(4000, 96))
    spent.add(used(4000, 96, local=True, turn=0.0, session=0.0))
    assert spent.widget.isHidden()
    assert spent.widget.accessibleName() == ""


def test_it_gives_way_where_the_line_is_short(spent: Spent) -> None:
    spent.add(used(4000, 96))
    spent.fit(1000)
    assert spent.widget.text() == "4,096 tokens · $0.0123 · chat $0.45"
    spent.fit(60)
    assert spent.widget.text() == "$0.0123"
    spent.fit(1000)
    assert "chat" in spent.widget.text()


def test_the_status_line_shows_and_forgets_it(qtbot: QtBot) -> None:
    status = StatusLine(LIGHT)
    qtbot.addWidget(status)
    status.resize(900, 40)
    status.show()
    status.on_event(event(used(4000, 96)))
    texts = [made.text() for made in status.findChildren(QLabel) if made.isVisible()]
    assert "4,096 tokens · $0.0123 · chat $0.45" in texts
    status.on_event(event(Done("complete", 1, {}, 1.0, "m")))
    status.on_event(event(used(10, 1)))
    assert status.spent.widget.text().startswith("11 tokens")
    status.resize(300, 40)
    assert "chat" not in status.spent.widget.text()
    status.reset("IDLE")
    assert status.spent.widget.isHidden()
