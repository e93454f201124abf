"""`orion chat` on a terminal of its own, and with a pipe for a keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.cli.commands import Here, typist
from tests.runtime.scripted_house import Steps, call, write_profile

TALK: Steps = [{"say": "First answer."}, {"say": "Second answer."}]
WRITE: Steps = [call("write_file", path="a.md", text="hello\n"), {"say": "Written."}]
SLOW: Steps = [{"say": {"text": "one two three " * 500, "delay": 0.01}}, {"say": "Back again."}]
PROMPT = "› "


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


def test_messages_are_answered_one_after_the_other(fresh_home: Path) -> None:
    write_profile(fresh_home, TALK)
    with typist("chat", "-p", "test") as user:
        user.until(PROMPT)
        user.type("hello\n")
        user.until("First answer.")
        user.until(PROMPT)
        user.type("again\n")
        user.until("Second answer.")
        user.until(PROMPT)
        user.type("\x04")
        assert user.ended() == 0


def test_ctrl_c_stops_the_answer_and_the_chat_goes_on(fresh_home: Path) -> None:
    write_profile(fresh_home, SLOW)
    with typist("chat", "-p", "test") as user:
        user.until(PROMPT)
        user.type("go\n")
        user.until("two three")
        user.type("\x03")
        user.until("Stopped.")
        user.until(PROMPT)
        user.type("more\n")
        user.until("Back again.")
        user.until(PROMPT)
        user.type("\x03")
        user.until("/quit leaves")
        user.until(PROMPT)
        user.type("/quit\n")
        assert user.ended() == 0


def test_a_change_is_approved_and_taken_back(fresh_home: Path) -> None:
    write_profile(fresh_home, WRITE)
    file = fresh_home / "workspace" / "a.md"
    with typist("chat", "-p", "test") as user:
        user.until(PROMPT)
        user.type("write\n")
        user.until("]: ")
        user.type("y\n")
        user.until("Written.")
        user.until(PROMPT)
        assert file.read_text() == "hello\n"
        user.type("/undo\n")
        user.until("Taken back: a.md")
        user.until(PROMPT)
        assert not file.exists()
        user.type("/undo\n")
        user.until("no change in this chat")


def test_a_paste_of_many_lines_is_one_message(fresh_home: Path) -> None:
    write_profile(fresh_home, [{"expect": "one\ntwo\nthree"}, {"say": "Got it."}])
    with typist("chat", "-p", "test") as user:
        user.until(PROMPT)
        user.type("\x1b[200~one\ntwo\nthree\x1b[201~\n")
        user.until("Got it.")


def test_a_dumb_terminal_takes_pastes_and_shows_no_escapes(fresh_home: Path) -> None:
    write_profile(fresh_home, [{"expect": "one\\\ntwo\nthree"}, {"say": "Got **it**."}])
    with typist("chat", "-p", "test", TERM="dumb") as user:
        user.until(PROMPT)
        user.type("one\\\ntwo\nthree\n")
        user.until("Got **it**.")
        user.until(PROMPT)
        assert "\x1b" not in user.raw


def test_a_backslash_continues_the_line(fresh_home: Path) -> None:
    write_profile(fresh_home, [{"expect": "one\ntwo"}, {"say": "Got it."}])
    with typist("chat", "-p", "test") as user:
        user.until(PROMPT)
        user.type("one\\\n")
        user.until("… ")
        user.type("two\n")
        user.until("Got it.")


def test_the_history_is_kept_for_the_owner_only(fresh_home: Path) -> None:
    write_profile(fresh_home, TALK)
    with typist("chat", "-p", "test") as user:
        user.until(PROMPT)
        user.type("remember this\n")
        user.until("First answer.")
        user.until(PROMPT)
        user.type("/quit\n")
        assert user.ended() == 0
    history = fresh_home / "terminal_history"
    assert "remember this" in history.read_text()
    assert history.stat().st_mode & 0o777 == 0o600
    with typist("chat", "-p", "test") as user:
        user.until(PROMPT)
        user.type("\x1b[A\x1b[A")
        user.until("remember this")


def test_an_approval_does_not_enter_the_history(fresh_home: Path) -> None:
    write_profile(fresh_home, WRITE)
    with typist("chat", "-p", "test") as user:
        user.until(PROMPT)
        user.type("write it\n")
        user.until("]: ")
        user.type("n\n")
        user.until("Written.")
        user.until(PROMPT)
        user.type("/quit\n")
        assert user.ended() == 0
    assert (fresh_home / "terminal_history").read_text().split("\n") == ["write it", "/quit", ""]


def test_a_private_chat_leaves_no_history(fresh_home: Path) -> None:
    write_profile(fresh_home, TALK)
    with typist("chat", "-p", "test", "--private") as user:
        user.until("Private: nothing of this session is stored.")
        user.until(PROMPT)
        user.type("forget this\n")
        user.until("First answer.")
        user.until(PROMPT)
        user.type("/quit\n")
        assert user.ended() == 0
    assert not (fresh_home / "terminal_history").exists()


def test_a_pipe_is_a_keyboard_without_a_prompt(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, TALK)
    ran = here.run("chat", "-p", "test", typed=b"hello\n\nagain")
    assert (ran.code, ran.out, ran.err) == (0, "First answer.\nSecond answer.\n", "")


def test_a_pipe_cannot_approve(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, WRITE)
    ran = here.run("chat", "-p", "test", typed=b"write\ny\n")
    assert "needs an approval" in ran.err
    assert not (fresh_home / "workspace" / "a.md").exists()


def test_commands_work_from_a_pipe(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, TALK, loop=True)
    lines = "hello /export /sessions /profile /new /open,last /help /nonsense /undo /quit never"
    script = lines.replace(" ", "\n").replace(",", " ").encode()
    ran = here.run("chat", "-p", "test", typed=script)
    assert "## You" in ran.out
    assert "* test" in ran.err
    assert "hello  (test · test.script)" in ran.err
    assert "/export [FILE]" in ran.err
    assert "There is no command /nonsense" in ran.err
    assert "never" not in ran.out


def test_a_chat_without_a_word_leaves_no_session(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, TALK)
    here.run("chat", "-p", "test", typed=b"/new\n/new\n")
    assert here.run("sessions", "list", "--json").out == "[]\n"


def test_retry_answers_again(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, TALK, loop=True)
    ran = here.run("chat", "-p", "test", typed=b"hello\n/retry\n/continue\n")
    assert ran.out == "First answer.\nFirst answer.\n"
    assert "nothing to go on with" in ran.err


def test_two_slashes_say_one(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, [{"expect": "/etc"}, {"say": "Yes."}])
    assert here.run("chat", "-p", "test", typed=b"//etc\n").out == "Yes.\n"


def test_an_export_does_not_replace_a_file(here: Here, fresh_home: Path, tmp_path: Path) -> None:
    write_profile(fresh_home, TALK, loop=True)
    file = tmp_path / "chat.md"
    ran = here.run("chat", "-p", "test", typed=f"hello\n/export {file}\n/export {file}\n".encode())
    assert "First answer." in file.read_text()
    assert "exists already" in ran.err
