"""The header says who answers and where that runs."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from desktop.header import Header
from tests.desktop.doubles import card, overview


def make(qtbot: QtBot) -> Header:
    header = Header()
    qtbot.addWidget(header)
    found = overview()
    header.set_choices(found["profiles"], found["models"])
    header.show_card(card(title="Budget"))
    return header


def test_a_local_session_says_so(qtbot: QtBot) -> None:
    header = make(qtbot)
    assert header.title.text() == "Budget"
    assert header.profile.text() == "orion-local"
    assert header.model.text() == "bundled"
    assert header.where.text() == "On this machine"
    assert header.where.property("tone") == "local"
    assert header.private.isHidden()


def test_a_remote_one_names_where_words_go(qtbot: QtBot) -> None:
    header = make(qtbot)
    header.show_card(card(local=False, provider="openai", host="models.example"))
    assert header.where.text() == "Sent to models.example"
    assert header.where.property("tone") == "remote"


def test_a_private_one_is_marked(qtbot: QtBot) -> None:
    header = make(qtbot)
    header.show_card(card(private=True))
    assert not header.private.isHidden()


def test_another_profile_is_chosen_from_the_menu(qtbot: QtBot) -> None:
    header = make(qtbot)
    menu = header.profile.menu()
    menu.aboutToShow.emit()
    assert [action.isChecked() for action in menu.actions()[:2]] == [False, True]
    with qtbot.waitSignal(header.profile_chosen) as chosen:
        menu.actions()[0].trigger()
    assert chosen.args == ["orion-demo"]


def test_a_broken_model_cannot_be_chosen(qtbot: QtBot) -> None:
    header = make(qtbot)
    header.set_choices([], [{"name": "bad", "size": 0, "provider": "local", "error": "truncated"}])
    menu = header.model.menu()
    menu.aboutToShow.emit()
    assert [action.isEnabled() for action in menu.actions()[:1]] == [False]
    header.set_choices([], [])
    menu.aboutToShow.emit()
    assert menu.actions()[0].text() == "No model file was found"


def test_the_model_gives_way_where_it_is_narrow(qtbot: QtBot) -> None:
    header = make(qtbot)
    header.resize(400, 50)
    header.show()
    assert header.model.isHidden()
    assert not header.where.isHidden()
    header.resize(900, 50)
    assert not header.model.isHidden()


def test_a_model_that_only_talks_is_named(qtbot: QtBot) -> None:
    header = make(qtbot)
    header.show_card(card(tools=False))
    assert header.where.text() == "On this machine · chats only"
    assert "cannot use tools" in header.where.toolTip()
    header.show_card(card())
    assert header.where.text() == "On this machine"


def test_how_sure_its_calls_are_is_said_once_it_is_known(qtbot: QtBot) -> None:
    header = make(qtbot)
    plain = header.where.toolTip()
    for calls in ("guaranteed", "parsed", "fallback"):
        header.show_card(card(calls=calls))
        assert header.where.toolTip().startswith(plain)
        assert "tool" in header.where.toolTip().removeprefix(plain).lower()


def test_what_bundled_means_is_marked_and_not_offered_again(qtbot: QtBot) -> None:
    header = make(qtbot)
    local = {"size": 1, "provider": "local", "error": ""}
    header.set_choices([], [{"name": "small", "default": True} | local, {"name": "large"} | local])
    menu = header.model.menu()
    menu.aboutToShow.emit()
    assert [action.isChecked() for action in menu.actions()[:2]] == [True, False]
    assert [model["name"] for model in header.other_models()] == ["large"]
    header.show_card(card(provider="scripted", model="demo.yaml"))
    menu.aboutToShow.emit()
    assert [action.text() for action in menu.actions()] == ["demo", "", "More models…"]


def test_the_models_of_a_service_are_asked_for_when_its_menu_opens(qtbot: QtBot) -> None:
    header = make(qtbot)
    header.show_card(card(local=False, provider="openai", profile="orion", model="big"))
    menu = header.model.menu()
    with qtbot.waitSignal(header.models_wanted) as wanted:
        menu.aboutToShow.emit()
    assert wanted.args == ["orion"]
    row = {"size": 0, "provider": "openai", "profile": "orion", "error": "", "fields": {}}
    header.add_models([row | {"name": "big"}, row | {"name": "bigger"}])
    menu.aboutToShow.emit()
    shown = [action.text() for action in menu.actions()]
    assert shown == ["big", "bigger", "", "Another model…", "", "More models…"]
    with qtbot.waitSignal(header.more_models_requested):
        menu.actions()[5].trigger()
    with qtbot.waitSignal(header.model_chosen) as chosen:
        menu.actions()[1].trigger()
    assert chosen.args == ["bigger"]


def test_the_models_of_a_service_are_asked_for_each_time_the_menu_opens(qtbot: QtBot) -> None:
    header = make(qtbot)
    header.show_card(card(provider="ollama", profile="orion-ollama", model="gemma:2b"))
    row = {"size": 0, "provider": "ollama", "profile": "orion-ollama", "error": "", "fields": {}}
    header.add_models([row | {"name": "gemma:2b"}])
    with qtbot.waitSignal(header.models_wanted) as wanted:
        header.model.menu().aboutToShow.emit()
    assert wanted.args == ["orion-ollama"]
    assert header.model.menu().actions()[0].text() == "gemma:2b"
    header.add_models([row | {"name": "gemma:2b"}, row | {"name": "qwen3:8b"}])
    assert [one["name"] for one in header.other_models()] == ["qwen3:8b"]


def test_a_service_that_cannot_be_asked_says_why_and_its_model_stays_on_offer(qtbot: QtBot) -> None:
    header = make(qtbot)
    header.show_card(card(local=False, provider="openai", profile="orion", model="big"))
    fields = {"provider": "openai", "variable": "OPENAI_API_KEY"}
    row = {"name": "big", "size": 0, "provider": "openai", "profile": "orion"}
    header.add_models([row | {"error": "key_missing", "fields": fields}])
    header.model.menu().aboutToShow.emit()
    action = header.model.menu().actions()[0]
    assert action.isEnabled()
    assert "OPENAI_API_KEY" in action.toolTip()


def test_without_a_session_there_is_nothing_to_pick(qtbot: QtBot) -> None:
    header = make(qtbot)
    header.show_card({})
    assert header.profile.isHidden()
    assert header.where.isHidden()
