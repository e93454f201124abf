"""What a person sees of the events of a turn."""

from __future__ import annotations

import json

import pytest

from runtime import events
from runtime.cli.screen import Lines, Screen, arguments_in_short
from runtime.events import Body, Event
from tests.runtime.cli.streams import Pipe, plain, terminal
from tests.runtime.cli.streams import Screen as TerminalStream

TURN: list[Body] = [
    events.UserSaid("m1", "hi", "terminal"),
    events.StateChange("IDLE", "THINKING"),
    events.ModelState("loading", "tiny"),
    events.ThinkingStart(),
    events.ThinkingChunk("Let me "),
    events.ThinkingChunk("see."),
    events.ThinkingComplete(1.25),
    events.ResponseChunk("I will **write**"),
    events.ResponseChunk(" a file."),
    events.ResponseComplete("m2", "…", False, "tool_calls"),
    events.ToolStart("c1", "write_file", {"path": "a.md", "text": "x" * 200}, "medium"),
    events.ToolChunk("c1", "working"),
    events.ToolComplete("c1", "write_file", "ok", {}, 0.0123),
    events.ToolFailed("c2", "read_file", "denied", "not allowed", 0.0),
    events.ResponseChunk("Done."),
    events.ResponseComplete("m3", "Done.", True, "stop"),
    events.UsageReport(10, 20, 0, 0, 41.6, 8192, True),
    events.Done("complete", 2, {"prompt": 10, "completion": 20}, 1.5, "tiny"),
]


def draw(bodies: list[Body], kind: type[Pipe]) -> tuple[str, str]:
    shown, out, err = terminal(kind)
    screen = Screen(shown)
    for number, body in enumerate(bodies, 1):
        screen.draw(Event(number, "s", "t", 1.0, body))
    return out.shown(), err.shown()


def test_a_pipe_gets_the_answer_alone_and_untouched() -> None:
    out, _err = draw(TURN, Pipe)
    assert out == "I will **write** a file.\nDone.\n"


def test_thinking_and_tools_go_to_the_error_stream() -> None:
    _out, err = draw(TURN, Pipe)
    assert "Let me see.\n" in err
    assert "write_file" in err
    assert "read_file  not allowed" in err
    assert "\x1b" not in err


def test_a_terminal_gets_colours_and_figures() -> None:
    out, err = draw(TURN, TerminalStream)
    assert "\x1b[1mwrite\x1b[0m" in out
    assert plain(out) == "I will **write** a file.\nDone.\n"
    assert "20 tokens · 42 tokens/s · 1.5 s · tiny on this machine" in plain(err)


@pytest.mark.parametrize(
    ("cost", "shown"), [(0.0123, "20 tokens · $0.0123 · 1.5 s · big"), (None, "· price not known · 1.5 s")]
)
def test_the_cost_of_a_turn_is_among_the_figures(cost: float | None, shown: str) -> None:
    used = events.UsageReport(10, 20, 0, 0, 0.0, 8192, False, turn_cost=cost)
    _out, err = draw([used, events.Done("complete", 1, {"completion": 20}, 1.5, "big")], TerminalStream)
    assert shown in plain(err)


def test_a_turn_on_this_machine_shows_no_cost() -> None:
    used = events.UsageReport(10, 20, 0, 0, 0.0, 8192, True, cost=0.0, turn_cost=0.0)
    _out, err = draw([used, events.Done("complete", 1, {"completion": 20}, 1.5, "tiny")], TerminalStream)
    assert "20 tokens · 1.5 s · tiny on this machine" in plain(err)


def test_an_error_is_one_sentence() -> None:
    _out, err = draw([events.ErrorRaised("cli_input_empty", {}, "user")], Pipe)
    assert err == "There is no question; give one after orion ask, or pipe one in and write a dash.\n"


def test_json_is_one_event_a_line_and_nothing_else() -> None:
    shown, out, err = terminal()
    lines = Lines(shown)
    for number, body in enumerate(TURN, 1):
        lines.draw(Event(number, "s", "t", 1.0, body))
    found = [json.loads(line) for line in out.shown().splitlines()]
    assert [event["type"] for event in found] == [body.type for body in TURN]
    assert err.shown() == ""


def test_json_keeps_lone_surrogates_and_line_ends() -> None:
    shown, out, _err = terminal()
    Lines(shown).draw(Event(1, "s", "t", 1.0, events.ResponseChunk("a\ud800\u2028\nb\0")))
    assert out.shown().count("\n") == 1
    assert json.loads(out.shown())["text"] == "a\ud800\u2028\nb\0"


@pytest.mark.parametrize("body", TURN)
def test_every_event_can_be_drawn_alone_and_in_ascii(body: Body) -> None:
    shown, _out, _err = terminal(TerminalStream, "ascii")
    Screen(shown).draw(Event(1, "s", "t", 1.0, body))


def test_arguments_fit_on_a_line() -> None:
    assert arguments_in_short({"path": "a.md"}) == "a.md"
    assert arguments_in_short({"a": 1, "b": ["x"]}) == 'a=1  b=["x"]'
    assert arguments_in_short({"text": "one\ntwo " * 50}).endswith("…")
    assert len(arguments_in_short({"text": "one\ntwo " * 50})) <= 60
