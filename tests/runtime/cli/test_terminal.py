"""Any text can be written to any stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtime.cli.terminal import Terminal, exact, visible
from tests.runtime.cli.streams import Pipe, Screen


@given(st.text(alphabet=st.characters()), st.sampled_from(["ascii", "latin-1", "utf-8", "cp1252"]))
def test_nothing_that_cannot_be_encoded_fails(text: str, encoding: str) -> None:
    out, err = Pipe(encoding), Pipe(encoding)
    terminal = Terminal(out, err, {})
    terminal.answer(text)
    terminal.note(text)
    assert out.shown().encode(encoding) == text.encode(encoding, "backslashreplace")


def test_lone_surrogates_become_escapes() -> None:
    out = Pipe()
    Terminal(out, Pipe(), {}).answer("a\udc80b\0c")
    assert out.shown() == "a\\udc80b\0c"


def test_a_pipe_gets_no_colours_and_no_status() -> None:
    err = Pipe()
    terminal = Terminal(Pipe(), err, {})
    terminal.status("loading")
    terminal.note("note", "bad")
    assert err.shown() == "note\n"


def test_no_color_and_dumb_terminals_are_heard() -> None:
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        err = Screen()
        Terminal(Screen(), err, env).note("note", "bad")
        assert err.shown() == "note\n"


def test_the_status_line_goes_away() -> None:
    err = Screen()
    terminal = Terminal(Screen(), err, {"NO_COLOR": "1"})
    terminal.status("loading")
    terminal.answer("hello")
    assert err.shown() == "\r\x1b[Kloading\r\x1b[K"


def test_a_dumb_terminal_gets_no_status_line() -> None:
    err = Screen()
    Terminal(Screen(), err, {"TERM": "dumb"}).status("loading")
    assert err.shown() == ""


def test_a_note_does_not_stick_to_an_open_answer() -> None:
    err = Screen()
    terminal = Terminal(Screen(), err, {"NO_COLOR": "1"})
    terminal.answer("half a line")
    terminal.note("note")
    assert err.shown() == "\nnote\n"


def test_an_answer_does_not_stick_to_an_open_note() -> None:
    err = Screen()
    terminal = Terminal(Screen(), err, {"NO_COLOR": "1"})
    terminal.note("thinking", end="")
    terminal.answer("answer")
    assert err.shown() == "thinking\n"


def test_controls_are_shown_and_directions_only_where_it_matters() -> None:
    assert visible("\x1b[31m\u202eabc\r\n") == "\\x1b[31m\u202eabc\n"
    assert exact("\u202eabc\x9b") == "\\u202eabc\\x9b"
    assert exact("مرحبا") == "مرحبا"
