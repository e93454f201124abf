"""A cap is shown with what is used of it, and a new one is saved."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from desktop.pages.caps import Caps

DAY, CHAT = "spending.daily_usd", "spending.session_usd"


def shown(limit: float, spent: float) -> list[dict[str, object]]:
    return [{"setting": DAY, "limit": limit, "spent": spent}]


def test_only_what_the_user_changes_is_saved(qtbot: QtBot) -> None:
    saved: list[tuple[str, float]] = []
    caps = Caps(lambda name, value: saved.append((name, value)))
    qtbot.addWidget(caps)
    caps.show_caps(shown(5.0, 1.0))
    assert (caps.fields[DAY].value(), saved) == (5.0, [])
    caps.fields[DAY].setValue(7.5)
    caps.fields[CHAT].setValue(0.25)
    assert saved == [(DAY, 7.5), (CHAT, 0.25)]


def test_a_cap_warns_when_it_is_nearly_used(qtbot: QtBot) -> None:
    caps = Caps(lambda _name, _value: None)
    qtbot.addWidget(caps)
    for spent, tone, share in ((1.0, "", 20), (4.0, "warning", 80), (9.0, "warning", 100)):
        caps.show_caps(shown(5.0, spent))
        assert (caps.used[DAY].property("tone"), caps.used[DAY].value()) == (tone, share)
    caps.show_caps(shown(0.0, 9.0))
    assert caps.used[DAY].isHidden()
    assert caps.words[DAY].text() == ""
