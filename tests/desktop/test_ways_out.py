"""Faults of a turn come with what can be done about them."""

from __future__ import annotations

from typing import Any

from runtime.errors import OrionError
from runtime.events import ErrorRaised
from tests.desktop.stage import Stage

REMOTE = {"provider": "openai", "profile": "orion", "local": False}
LARGE: dict[str, Any] = {
    "path": "big.gguf",
    "needed_mb": 9000,
    "available_mb": 4000,
    "window": 8192,
    "suggested_window": 1024,
    "suggested_model": "small",
}


def ways(stage: Stage, code: str, fields: dict[str, Any]) -> list[str]:
    """The names of the ways out that are shown for a fault."""
    stage.window.toast.hide()
    stage.happen(ErrorRaised(code, fields, "user"))
    if stage.window.toast.isHidden():
        return []
    return [made.text() for made in stage.window.toast.buttons if not made.isHidden()]


def take(stage: Stage, place: int) -> None:
    stage.window.toast.buttons[place].click()
    stage.bridge.settle()


def test_a_prompt_too_long_offers_to_shorten(stage: Stage) -> None:
    assert len(ways(stage, "context_overflow", {"prompt_tokens": 9000, "window": 8192})) == 1
    take(stage, 0)
    assert stage.bridge.last("shorten") == ("s1", 9000, 8192)


def test_a_model_too_large_offers_a_smaller_window_and_a_smaller_model(stage: Stage) -> None:
    assert len(ways(stage, "model_too_large", LARGE)) == 2
    assert "9000 MB" in stage.window.toast.text.text()
    take(stage, 0)
    assert stage.bridge.last("save_settings") == ({"local_model.window": 1024},)
    assert stage.bridge.last("retry") == ("s1",)
    ways(stage, "model_too_large", LARGE)
    take(stage, 1)
    assert stage.bridge.last("use") == ("s1", None, "small", None)
    assert stage.bridge.names().count("retry") == 2
    (only,) = ways(stage, "model_too_large", LARGE | {"suggested_window": 0})
    assert "small" in only


def test_fewer_layers_are_offered_where_too_many_were_asked_for(stage: Stage) -> None:
    shown = ways(stage, "model_too_large", LARGE | {"suggested_layers": 12})
    assert shown[1] == "Put 12 layers on the graphics card"
    take(stage, 1)
    assert stage.bridge.last("save_settings") == ({"local_model.gpu_layers": 12},)


def test_a_host_that_is_not_allowed_can_be_allowed_on_the_spot(stage: Stage) -> None:
    stage.talks.card.update(REMOTE)
    fields = {"host": "api.example.com", "provider": "openai"}
    assert ways(stage, "host_not_allowed", fields)[0] == "Allow api.example.com"
    take(stage, 0)
    assert stage.bridge.last("allow_host") == ("api.example.com", "openai")
    assert stage.bridge.last("retry") == ("s1",)


def test_a_service_that_fails_can_be_asked_again_or_replaced(stage: Stage) -> None:
    stage.talks.card.update(REMOTE)
    fields = {"host": "api.example.com", "problem": "no route"}
    assert ways(stage, "provider_unreachable", fields) == ["Try again", "Use the model on this machine"]
    take(stage, 1)
    assert stage.bridge.last("use") == ("s1", "orion-local", None, None)
    assert stage.bridge.last("retry") == ("s1",)


def test_the_model_on_this_machine_is_not_offered_instead_of_itself(stage: Stage) -> None:
    assert ways(stage, "reply_cut_short", {"model": "small"}) == ["Try again"]


def test_a_missing_key_leads_to_where_keys_are_entered(stage: Stage) -> None:
    stage.talks.card.update(REMOTE)
    assert (
        ways(stage, "key_missing", {"provider": "openai", "variable": "OPENAI_API_KEY"})[0] == "Enter a key"
    )


def test_a_fault_without_a_way_out_stays_in_the_chat_alone(stage: Stage) -> None:
    assert ways(stage, "model_too_large", LARGE | {"suggested_window": 0, "suggested_model": ""}) == []
    assert ways(stage, "turn_iterations", {"limit": 5}) == []


def test_a_reached_cap_can_be_raised_or_done_without(stage: Stage) -> None:
    stage.talks.card.update(REMOTE)
    fields = {"cap": "cap for a day", "spent": "$5.00", "limit": "$5.00", "setting": "spending.daily_usd"}
    assert ways(stage, "cap_reached", fields) == ["Raise the cap", "Use the model on this machine"]
    unknown = {"model": "m", "provider": "x", "path": "pricing.yaml"}
    assert ways(stage, "price_unknown", unknown) == ["Change the caps", "Use the model on this machine"]
    stage.bridge.answers["usage"] = OrionError("usage_unusable", path="usage.db", reason="damaged")
    take(stage, 0)
    assert stage.bridge.last("usage") == ("today",)
    assert not stage.window.on_chat
