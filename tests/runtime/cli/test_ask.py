"""`orion ask` against a real runtime whose model plays a script."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.cli.commands import Here, command, typist
from tests.runtime.scripted_house import Steps, call, write_profile

WRITE: Steps = [
    {"say": "I will write."},
    call("write_file", path="notes/a.md", text="hello\n"),
    {"say": "All **done**."},
]
SLOW: Steps = [{"say": {"text": "one two three four " * 500, "delay": 0.01}}]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_answer_alone_is_on_the_output(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, [{"think": "Hm."}, {"say": "Hello **you**.\n\n- a\n"}])
    ran = here.run("ask", "hi", "-p", "test")
    assert (ran.code, ran.out) == (0, "Hello **you**.\n\n- a\n")
    assert "Hm." in ran.err


def test_json_is_one_event_a_line_and_ends_in_done(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, [{"think": "Hm."}, {"say": "Hello."}])
    ran = here.run("ask", "hi", "-p", "test", "--json")
    found = events(ran.out)
    assert ran.code == 0
    assert [event["seq"] for event in found] == list(range(1, len(found) + 1))
    assert "".join(event["text"] for event in found if event["type"] == "response_chunk") == "Hello."
    assert (found[-1]["type"], found[-1]["reason"]) == ("done", "complete")
    assert ran.err == ""


def test_a_question_comes_from_standard_input(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, [{"say": "Read."}])
    ran = here.run("ask", "-", "-p", "test", "--json", typed="tschüß \0".encode() + b"\xff\n")
    assert ran.code == 0
    assert events(ran.out)[0]["text"] == "tschüß \0\udcff\n"


def test_an_empty_question_is_a_usage_error(here: Here) -> None:
    ran = here.run("ask", "-")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1


def test_without_a_terminal_an_approval_is_denied_and_said_so(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, WRITE)
    ran = here.run("ask", "hi", "-p", "test")
    assert ran.code == 4
    assert "write_file was not run because it needs an approval" in ran.err
    assert not (fresh_home / "workspace" / "notes" / "a.md").exists()
    assert ran.out == "I will write.\nAll **done**.\n"


def test_a_fault_of_the_provider_is_one_sentence(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, [{"say": "Half"}, {"error": {"code": "disk_full", "path": "/x"}}])
    ran = here.run("ask", "hi", "-p", "test", "-s", "")
    assert ran.code == 7
    assert ran.out == "Half\n"
    assert ran.err.startswith("The disk is full, so /x could not be written")


def test_the_timeout_keeps_what_came(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, SLOW)
    ran = here.run("ask", "hi", "-p", "test", "--timeout", "0.5")
    assert ran.code == 3
    assert ran.out.startswith("one two")
    assert "within 0.5 seconds" in ran.err
    assert "one two" in here.run("sessions", "show", "last").out


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("ask", "hi", "-p", "nobody"), 6, "nobody"),
        (("ask", "hi", "-s", "nothing"), 6, "nothing"),
        (("ask", "hi", "-m", "nothing"), 7, "nothing"),
        (("ask",), 2, "TEXT"),
        (("ask", "hi", "--timeout", "soon"), 2, "--timeout"),
        (("bogus",), 2, "bogus"),
        (("sessions", "show", "nothing"), 6, "nothing"),
        (("sessions", "import", "/no/such/file"), 6, "/no/such/file"),
    ],
)
def test_a_failure_is_one_sentence_and_a_code(
    here: Here, arguments: tuple[str, ...], code: int, word: str
) -> None:
    ran = here.run(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert word in ran.err


def test_a_session_goes_on(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, [{"say": "First."}, {"say": "Second."}])
    here.run("ask", "one", "-p", "test")
    assert here.run("ask", "two", "-s", "last").out == "Second.\n"
    assert len(json.loads(here.run("sessions", "list", "--json").out)) == 1


def test_a_private_question_is_not_stored(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, [{"say": "Psst."}])
    assert here.run("ask", "secret words", "-p", "test", "--private").out == "Psst.\n"
    assert json.loads(here.run("sessions", "list", "--json").out) == []
    stored = b"".join(path.read_bytes() for path in fresh_home.rglob("*") if path.is_file())
    assert b"secret words" not in stored


def test_the_log_keeps_no_word_of_it(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, [{"say": "An answer to remember."}])
    here.run("ask", "a question to remember", "-p", "test")
    log = (fresh_home / "logs" / "orion.jsonl").read_text()
    assert '"done"' in log
    assert "remember" not in log


def test_a_locked_session_is_refused(here: Here, fresh_home: Path) -> None:
    from runtime.sessions import SessionStore

    write_profile(fresh_home, [{"say": "First."}])
    here.run("ask", "one", "-p", "test")
    store = SessionStore(fresh_home / "sessions", fresh_home / "index.db", "window")
    journal, lock = store.open(store.list()[0]["id"])
    try:
        ran = here.run("ask", "two", "-s", "last")
    finally:
        journal.close()
        lock.release()
        store.close()
    assert (ran.code, ran.out) == (5, "")
    assert "window" in ran.err


def test_an_ascii_output_gets_escapes(fresh_home: Path) -> None:
    write_profile(fresh_home, [{"say": "Grüße 表 \udc80"}])
    surroundings = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    ran = subprocess.run(
        command("ask", "hi", "-p", "test"), env=surroundings, capture_output=True, check=False
    )
    assert ran.returncode == 0
    assert ran.stdout.startswith(b"Gr\\xfc\\xdfe \\u8868")


def test_a_reader_that_leaves_ends_it_quietly(fresh_home: Path) -> None:
    write_profile(fresh_home, SLOW)
    child = subprocess.Popen(
        command("ask", "hi", "-p", "test"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.read(1)
    child.stdout.close()
    assert child.wait(30) == 141
    assert child.stderr.read() == b""
    child.stderr.close()


def test_a_full_disk_under_the_output_is_a_sentence(fresh_home: Path) -> None:
    write_profile(fresh_home, [{"say": "Hello."}])
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            command("ask", "hi", "-p", "test"), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert ran.returncode == 1
    assert ran.stderr.decode().startswith("The output cannot be written")
    assert ran.stderr.count(b"\n") == 1


def test_ctrl_c_stops_the_turn_and_keeps_the_partial_answer(here: Here, fresh_home: Path) -> None:
    write_profile(fresh_home, SLOW)
    child = subprocess.Popen(
        command("ask", "hi", "-p", "test", "--json"), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert child.stdout is not None
    for line in child.stdout:
        if b"response_chunk" in line:
            break
    child.send_signal(signal.SIGINT)
    rest = events(child.stdout.read().decode())
    child.stdout.close()
    assert child.wait(30) == 130
    assert (rest[-1]["type"], rest[-1]["reason"]) == ("done", "cancelled")
    assert "\none" in here.run("sessions", "show", "last").out


def test_an_approval_is_asked_at_the_terminal_and_the_file_written(fresh_home: Path) -> None:
    write_profile(fresh_home, WRITE)
    with typist("ask", "hi", "-p", "test") as user:
        shown = user.until("Your choice")
        assert "write_file asks for your approval" in shown
        assert "medium risk" in shown
        assert "+hello" in shown
        user.until("]: ")
        user.type("y\n")
        user.until("All **done**.")
        assert user.ended() == 0
    assert (fresh_home / "workspace" / "notes" / "a.md").read_text() == "hello\n"


def test_no_at_the_terminal_leaves_the_file_unwritten(fresh_home: Path) -> None:
    write_profile(fresh_home, WRITE)
    with typist("ask", "hi", "-p", "test") as user:
        user.until("]: ")
        user.type("n\n")
        assert user.ended() == 4
    assert not (fresh_home / "workspace" / "notes" / "a.md").exists()


def test_edited_arguments_are_what_runs(fresh_home: Path) -> None:
    write_profile(fresh_home, WRITE)
    with typist("ask", "hi", "-p", "test", EDITOR="", VISUAL="") as user:
        user.until("]: ")
        user.type("e\n")
        user.until("as JSON: ")
        user.type('{"path": "notes/b.md", "text": "other"}\n')
        assert user.ended() == 0
    assert (fresh_home / "workspace" / "notes" / "b.md").read_text() == "other"


def test_ctrl_c_at_an_approval_stops_the_turn(fresh_home: Path) -> None:
    write_profile(fresh_home, WRITE)
    with typist("ask", "hi", "-p", "test") as user:
        user.until("]: ")
        user.type("\x03")
        assert user.ended() == 130
    assert not (fresh_home / "workspace" / "notes" / "a.md").exists()


def test_a_second_ctrl_c_leaves_at_once(fresh_home: Path) -> None:
    write_profile(fresh_home, SLOW)
    with typist("ask", "hi", "-p", "test") as user:
        user.until("one two three")
        user.type("\x03\x03")
        assert user.ended() == 130
