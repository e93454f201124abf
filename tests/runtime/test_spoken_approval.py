"""What counts as allowing a call by voice: as it is said, as it is misheard, and everything that must not."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from resources.sentences import sentence
from runtime.events import ApprovalRequired, Risk
from runtime.spoken_approval import Reading, again, by_hand, given_up, reading


def asked(
    name: str = "write_file", path: str = "notes/todo.md", *, risk: Risk = "medium", append: bool = False
) -> ApprovalRequired:
    return ApprovalRequired(
        "call-1", name, {"path": path, "append": append}, "d1", risk, "Write.", "--- a\n+++ b\n+x\n-y\n", {}
    )


def made(name: str = "write_file", path: str = "notes/todo.md", *, append: bool = False) -> Reading:
    found = reading(asked(name, path, append=append), "path")
    assert found is not None
    return found


@pytest.mark.parametrize(
    "said",
    [
        "Yes, write notes/todo.md.",
        "yes write notes slash todo dot md",
        "Yes, write the file notes todo.",
        "Yeah, please write notes slash to do dot M D",
        "Yep, right notes to do dot em d.",
        "Yes, rite notes todo dot empty",
        "Okay, yes, go ahead and write notes/todo.md, please.",
        "Yes yes, save notes todo",
        "Yes, write nodes todo.",
        "Yes, create the file notes todo dot markdown",
    ],
)
def test_the_key_words_allow_it(said: str) -> None:
    assert made().judge(said) == "approve"


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Yes.",
        "Yes, yes, yes.",
        "Sure.",
        "Go ahead.",
        "Do it.",
        "Write notes todo.",
        "Yes, write it.",
        "Yes, write.",
        "Yes, notes todo.",
        "Yes, write notes.",
        "Yes, write todo.",
        "Yes, write votes todo.",
        "Yes, write notes todo dot txt.",
        "Yes, write notes todo two.",
        "Yes, delete notes todo.",
        "Yes, write notes todo and delete the rest.",
        "Yes, write notes todo, but not today.",
        "Yes, write notes todo later.",
        "Yes, don't write notes todo.",
        "Yes, do not write notes todo.",
        "Yes, never write notes todo.",
        "Yes, cancel write notes todo.",
        "Would you say yes, write notes todo?",
        "Did I say yes write notes todo",
        "Yes, write private notes todo.",
        "Yes, write " + "the " * 40 + "notes todo",
        "Thank you.",
    ],
)
def test_anything_else_does_not(said: str) -> None:
    assert made().judge(said) == "unclear"


@pytest.mark.parametrize(
    "said",
    [
        "No.",
        "No, thanks.",
        "Nope",
        "Don't.",
        "Please don't do that.",
        "Deny it",
        "No, yes, write notes todo",
        "Not now.",
    ],
)
def test_a_refusal_is_one_at_its_beginning(said: str) -> None:
    assert made().judge(said) == "deny"


def test_a_refusal_in_the_language_that_was_heard() -> None:
    assert made().judge("Nein, danke.", "de") == "deny"
    assert made().judge("Ja, notes todo schreiben.", "de") == "unclear"


@pytest.mark.parametrize(
    ("path", "said", "judged"),
    [
        ("report_2026/page2.txt", "Yes, delete report twenty twenty-six page two dot text.", "approve"),
        ("report_2026/page2.txt", "Yes, delete report 2026 slash page 2.", "approve"),
        ("report_2026/page2.txt", "Yes, delete report 2026 page 3.", "unclear"),
        ("report_2026/page2.txt", "Yes, delete report 2025 page 2.", "unclear"),
        ("draft10.md", "Yes, delete draft ten.", "approve"),
        ("draft10.md", "Yes, delete draft one.", "unclear"),
        ("cats.txt", "Yes, delete bats dot text.", "unclear"),
        ("the_file.txt", "Yes, delete the file.", "approve"),
        ("not-now.md", "Yes, delete not now.", "approve"),
        ("meetings.md", "Yes, delete meeting.", "unclear"),
        ("committee.md", "Yes, delete comittee.", "approve"),
        ("über.md", "Yes, delete über.", "approve"),
        ("C:\\work\\plan.md", "Yes, delete C work plan.", "approve"),
        (".env", "Yes, delete env.", "approve"),
    ],
)
def test_names_are_compared_as_they_are_said(path: str, said: str, judged: str) -> None:
    assert made("delete_file", path).judge(said) == judged


@pytest.mark.parametrize("name", ["write_file", "edit_file", "delete_file"])
def test_what_is_read_aloud_never_allows_it_by_its_echo(name: str) -> None:
    question = made(name)
    spoken = question.ask.replace("/", " slash ").replace(".md", " dot md").replace("`", "")
    for text in (spoken, again(), given_up(), by_hand(asked(name))):
        pieces = text.split()
        for begin in range(len(pieces)):
            for end in range(begin + 1, len(pieces) + 1):
                assert question.judge(" ".join(pieces[begin:end])) != "approve"


def test_the_question_names_file_and_change() -> None:
    assert made().ask.startswith(
        "May I write the file `notes/todo.md`? It adds one line. It takes out one line."
    )
    assert made(append=True).ask.startswith("May I write more at the end of `notes/todo.md`?")
    assert made("edit_file").key_words == "yes, edit notes/todo.md"
    assert made().digest == "d1"


@pytest.mark.parametrize(
    "question",
    [
        asked(risk="high"),
        asked("shell"),
        asked(path=""),
        asked(path="/"),
        asked(path="…/…"),
        asked(path="x" * 61),
    ],
)
def test_what_the_voice_may_not_or_cannot_decide(question: ApprovalRequired) -> None:
    assert reading(question, "path") is None
    assert "needs your hand" in by_hand(question)


def test_a_long_babble_is_judged_quickly() -> None:
    question, began = made(), time.process_time()
    for word in ("the", "dot", "notes", "yes"):
        assert question.judge("yes write " + f"{word} " * 5000) == "unclear"
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize("why", ["once_outside_text", "once_new_host", "once_high_risk"])
def test_why_it_can_be_allowed_only_once_is_read_aloud_and_allows_nothing(why: str) -> None:
    found = reading(replace(asked(), why_once=why), "path")
    assert found is not None
    assert sentence(why) in found.ask
    assert found.judge(found.ask) != "approve"
    assert found.judge(sentence(why)) != "approve"
    assert sentence(why) in by_hand(replace(asked(risk="high"), why_once=why))
