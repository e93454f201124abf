"""The network page reads zero until something left, and shows every host with what went there."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QLabel, QPushButton, QTableWidget
from pytestqt.qtbot import QtBot

from desktop.pages.network import NetworkPage, summary
from desktop.theme import LIGHT
from tests.desktop.doubles import RecordingBridge

FAR = "api.far.example"


def reached(**changes: Any) -> dict[str, Any]:
    """A host as the desk tells it."""
    made: dict[str, Any] = {
        "host": FAR,
        "local": False,
        "first": 0.0,
        "last": 60.0,
        "times": 3,
        "sent": 1500,
        "received": 999,
    }
    return made | changes


def entry(**changes: Any) -> dict[str, Any]:
    """A request as the desk tells it."""
    made: dict[str, Any] = {
        "id": "1",
        "time": 60.0,
        "who": "openai",
        "purpose": "model",
        "host": FAR,
        "port": 443,
        "method": "POST",
        "local": False,
        "via": "",
        "status": 200,
        "sent": 1500,
        "received": 999,
        "seconds": 0.5,
        "open": False,
        "refused": "",
    }
    return made | changes


def texts(page: NetworkPage) -> list[str]:
    return [found.text() for found in page.findChildren(QLabel)]


def cells(table: QTableWidget, row: int) -> list[str]:
    items = [table.item(row, column) for column in range(table.columnCount())]
    return [item.text() if item is not None else "" for item in items]


def shown(qtbot: QtBot, bridge: RecordingBridge, **found: Any) -> NetworkPage:
    bridge.answers["network"] = {"allowed": [], "hosts": [], "entries": [], "pulls": 0} | found
    page = NetworkPage(bridge, LIGHT)
    qtbot.addWidget(page)
    bridge.settle()
    return page


def test_it_says_that_nothing_has_left(qtbot: QtBot) -> None:
    page = shown(qtbot, RecordingBridge())
    assert "Nothing has left this machine." in texts(page)
    assert page.findChildren(QTableWidget) == []


def test_what_stays_on_this_machine_has_not_left_it(qtbot: QtBot) -> None:
    page = shown(qtbot, RecordingBridge(), hosts=[reached(host="127.0.0.1", local=True)])
    assert "Nothing has left this machine." in texts(page)
    (table,) = page.findChildren(QTableWidget)
    assert table.accessibleName() == "Reached on this machine"


def test_hosts_and_requests_are_listed_with_bytes_and_times(qtbot: QtBot) -> None:
    entries = [entry(open=True, status=0), entry(status=0, via="proxy.example:3128"), entry()]
    entries.append(entry(status=0, refused="egress_refused"))
    page = shown(qtbot, RecordingBridge(), hosts=[reached()], entries=entries)
    hosts, requests = page.findChildren(QTableWidget)
    assert cells(hosts, 0) == [FAR, "3", "1.5 kB", "999 B", "1970-01-01 00:00", "1970-01-01 00:01"]
    assert [cells(requests, row)[3] for row in range(4)] == [
        "not ended",
        "none",
        "200",
        "refused, nothing was sent",
    ]
    assert cells(requests, 1)[2] == "openai, by proxy"


def test_a_permission_is_taken_back(qtbot: QtBot) -> None:
    bridge = RecordingBridge()
    allowed = [{"host": FAR, "who": "openai", "since": "2026-01-02T03:04:05Z"}]
    page = shown(qtbot, bridge, allowed=allowed)
    assert "for openai, since 2026-01-02 03:04" in texts(page)
    bridge.answers["revoke_host"] = {"allowed": [], "hosts": [], "entries": [], "pulls": 0}
    back = next(found for found in page.findChildren(QPushButton) if found.text() == "Take back")
    assert back.accessibleName() == f"Take back the permission for {FAR}"
    back.click()
    bridge.settle()
    assert bridge.last("revoke_host") == (FAR,)
    assert "None: no host may be reached but this machine." in texts(page)


def test_the_summary_counts_hosts_beyond_this_machine() -> None:
    hosts = [reached(), reached(host="b.example", first=120.0), reached(host="127.0.0.1", local=True)]
    assert summary(hosts) == "3.0 kB went to 2 hosts and 2.0 kB came back since 1970-01-01 00:00."
    assert summary(hosts[:1]).startswith("1.5 kB went to one host")


def test_what_ollama_fetched_by_itself_is_said_to_be_uncounted(qtbot: QtBot) -> None:
    found = [entry(who="ollama", purpose="pull", host="127.0.0.1", local=True)]
    page = shown(qtbot, RecordingBridge(), entries=found, pulls=2)
    said = texts(page)[2]
    assert said.startswith("Ollama was asked to fetch models 2 times.")
    assert said.endswith("what it moves is not counted here.")
    assert "ollama, to fetch a model" in cells(page.findChildren(QTableWidget)[-1], 0)


def test_what_models_were_asked_for_is_said(qtbot: QtBot) -> None:
    found = [entry(who="huggingface", purpose=purpose) for purpose in ("search", "download")]
    page = shown(qtbot, RecordingBridge(), entries=found)
    table = page.findChildren(QTableWidget)[-1]
    assert "huggingface, to look for models" in cells(table, 0)
    assert "huggingface, to fetch a model" in cells(table, 1)
