"""An approval at the terminal is never given by accident, and nothing in it can hide."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runtime.cli.approval import Asker, Decision
from runtime.events import ApprovalRequired
from tests.runtime.cli.streams import Screen, plain, terminal

ASKED = ApprovalRequired(
    id="c1",
    name="write_file",
    arguments={"path": "notes/hello.md", "text": "hello"},
    digest="d",
    risk="medium",
    summary="Write notes/hello.md",
    preview="--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new",
    rules={"session": "every change that can be undone", "once": "exactly this call"},
)


def typed(*answers: str | type[BaseException]) -> Callable[[str], str]:
    left = list(answers)

    def read_line(_prompt: str) -> str:
        answer = left.pop(0)
        if isinstance(answer, str):
            return answer
        raise answer

    return read_line


def decide(asked: ApprovalRequired, *answers: str | type[BaseException]) -> tuple[Decision, str]:
    shown, _out, err = terminal(Screen)
    decision = Asker(shown, typed(*answers)).decide(asked)
    return decision, plain(err.shown())


def test_it_shows_tool_risk_diff_and_what_each_duration_allows() -> None:
    _decision, shown = decide(ASKED, "n")
    for part in ("write_file asks", "medium risk", "Write notes/hello.md", "+new", "-old"):
        assert part in shown
    assert "s  yes, in this session: every change that can be undone" in shown
    assert "y  yes, only this once: exactly this call" in shown
    assert "[s/y/n/e]" in shown
    assert "5 minutes" not in shown


def test_without_a_preview_the_exact_arguments_are_shown() -> None:
    _decision, shown = decide(replace(ASKED, preview=""), "n")
    assert '"path": "notes/hello.md"' in shown


def test_yes_is_for_once() -> None:
    assert decide(ASKED, "y")[0] == Decision("approve")


def test_a_longer_trust_is_chosen_by_its_letter() -> None:
    assert decide(ASKED, "s")[0] == Decision("approve", trust="session")


@pytest.mark.parametrize("answer", ["", " ", "5", "a", "ok", "sure", "x"])
def test_what_is_not_on_offer_asks_again(answer: str) -> None:
    assert decide(ASKED, answer, "n")[0] == Decision("deny")


def test_the_end_of_input_denies() -> None:
    assert decide(ASKED, EOFError)[0] == Decision("deny")


def test_ctrl_c_surfaces() -> None:
    with pytest.raises(KeyboardInterrupt):
        decide(ASKED, KeyboardInterrupt)


def test_an_edit_replaces_the_arguments() -> None:
    decision, _shown = decide(ASKED, "e", '{"path": "b.md", "text": "x"}')
    assert decision == Decision("edit", arguments={"path": "b.md", "text": "x"})


@pytest.mark.parametrize("edited", ["{", "[1]", "null"])
def test_an_edit_that_is_no_object_asks_again(edited: str) -> None:
    decision, shown = decide(ASKED, "e", edited, "n")
    assert decision == Decision("deny")
    assert "arguments" in shown


def test_an_edit_opens_the_users_editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/hello.md/bye.md/ "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    decision, _shown = decide(ASKED, "e")
    assert decision.arguments == {"path": "notes/bye.md", "text": "hello"}


def test_escapes_and_directions_in_arguments_are_shown() -> None:
    sly = replace(ASKED, preview="", summary="\u202egnp.exe", arguments={"path": "a\x1b[8mhidden"})
    shown = decide(sly, "n")[1]
    assert "\\u202egnp.exe" in shown
    assert "\x1b[8m" not in shown
    assert json.dumps("a\x1b[8mhidden")[1:-1] in shown


def test_a_long_preview_says_how_much_is_left() -> None:
    shown = decide(replace(ASKED, preview="+line\n" * 100), "n")[1]
    assert "… 40 more lines" in shown


def test_the_whole_of_a_long_preview_is_shown_when_asked_for() -> None:
    long = replace(ASKED, preview="".join(f"+line {n}\n" for n in range(100)))
    decision, shown = decide(long, "v", "y")
    assert decision == Decision("approve")
    assert "[s/y/n/e/v]" in shown
    assert "+line 99" in shown.partition("Your choice")[2]
    assert "+line 99" not in decide(long, "y")[1]
    assert decide(ASKED, "v", "n")[0] == Decision("deny")


@pytest.mark.parametrize("sign", ["\u200b", "\u061c", "\u2028", "\u00ad", "\u3164"])
def test_signs_that_nobody_sees_are_shown(sign: str) -> None:
    shown = decide(replace(ASKED, preview=f"rm a{sign}b"), "n")[1]
    assert f"rm a{ascii(sign)[1:-1]}b" in shown


def test_why_it_can_be_allowed_only_once_is_said() -> None:
    once = replace(ASKED, rules={"once": "exactly this call"}, why_once="once_outside_text")
    decision, shown = decide(once, "s", "a", "5", "y")
    assert "This chat holds text from outside" in shown
    assert "[y/n/e]" in shown
    assert decision == Decision("approve")
