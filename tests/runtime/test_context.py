"""The prompt fits what the model may do, and a model that goes in circles is noticed."""

from __future__ import annotations

from pathlib import Path

from runtime.context import build, repeats_itself, system_prompt, used
from runtime.journal import Journal
from runtime.messages import AssistantMessage, Message, Text, ToolCall, ToolMessage, UserMessage
from runtime.profiles import Profile
from runtime.transcript import Transcript

SAID = UserMessage((Text("Go."),))


def step(number: int, *calls: str, ok: bool = True) -> list[Message]:
    """A reply with these calls, and their results."""
    made = tuple(ToolCall(f"{number}-{at}", name, {"path": name}) for at, name in enumerate(calls))
    results = [ToolMessage(call.id, call.name, (Text("done"),), ok=ok) for call in made]
    return [AssistantMessage("", calls=made), *results]


def test_the_same_calls_at_once_again_are_a_circle() -> None:
    assert not repeats_itself([SAID, *step(1, "write", "read")])
    assert repeats_itself([SAID, *step(1, "write", "read"), *step(2, "write", "read")])
    assert repeats_itself([SAID, *step(1, "write", "read"), *step(2, "read")])


def test_looking_again_after_a_change_is_none_but_the_third_time_is() -> None:
    looked = [SAID, *step(1, "read"), *step(2, "edit"), *step(3, "read")]
    assert not repeats_itself(looked)
    assert repeats_itself([*looked, *step(4, "edit"), *step(5, "read")])


def test_failed_calls_may_be_tried_again_and_a_new_message_begins_anew() -> None:
    assert not repeats_itself([SAID, *step(1, "write", ok=False), *step(2, "write")])
    assert not repeats_itself([SAID, *step(1, "read"), SAID, *step(2, "read")])
    assert not repeats_itself([])


def test_a_reply_that_only_repeats_is_not_shown_again() -> None:
    profile = Profile(name="mine", provider="local", model="m")
    journal = Journal(None)
    journal.append("user", text="Go.", source="test")
    for ident in "ab":
        call = {"id": ident, "name": "write", "arguments": {}, "error": ""}
        journal.append("assistant", text="", reasoning=[], calls=[call])
        parts = [{"type": "text", "text": "done"}]
        journal.append("tool_result", call=ident, ok=True, kind="", parts=parts, details={}, seconds=0.1)
    transcript = Transcript(journal.records)
    request = build("s", profile, "m", "Act.", transcript, ())
    assert request.answer
    assert [message.role for message in request.messages] == ["user", "assistant", "tool"]
    assert [message.role for message in transcript.messages][-2:] == ["assistant", "tool"]


def test_what_went_well_in_this_turn_is_used() -> None:
    earlier = [SAID, *step(1, "list"), SAID, *step(2, "write"), *step(3, "read", ok=False)]
    assert used(earlier) == {"write"}
    assert used([]) == set()


def test_a_model_that_may_act_gets_the_prompt_for_it(tmp_path: Path) -> None:
    profile = Profile(name="mine", provider="local", model="m", system_prompt="own.local.md")
    (tmp_path / "own.local.md").write_text("Talk.", "utf-8")
    assert system_prompt(profile, tmp_path, tmp_path, tools=True) == "Talk."
    (tmp_path / "own.tools.md").write_text("Act.", "utf-8")
    assert system_prompt(profile, tmp_path, tmp_path, tools=True) == "Act."
    assert system_prompt(profile, tmp_path, tmp_path) == "Talk."
