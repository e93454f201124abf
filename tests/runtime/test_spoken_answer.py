"""Whatever is heard of what was handed over is told of the right answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtime.spoken_answer import Share, SpokenAnswer


def two() -> SpokenAnswer:
    answer = SpokenAnswer()
    answer.aside("A moment. ")
    answer.add("One.")
    answer.add(" Two.")
    assert answer.name("a") == []
    answer.aside("\n\n")
    answer.add("Three.")
    assert answer.name("b") == []
    return answer


def test_all_was_heard() -> None:
    assert two().cut("", whole=True) == []


def test_a_cut_in_the_second_reply() -> None:
    answer = two()
    assert answer.cut("A moment. One. Two.\n\nThr", whole=False) == [Share("b", "Thr", False)]
    assert list(answer.rest()) == [("b", "ee.", "Thr")]


def test_a_cut_in_the_first_reply_leaves_nothing_of_the_second() -> None:
    answer = two()
    assert answer.cut("A moment. One. ", whole=False) == [Share("a", "One.", False), Share("b", "", False)]
    assert list(answer.rest()) == [("a", " Two.", "One."), ("b", "Three.", "")]


def test_a_cut_in_the_aside() -> None:
    shares = two().cut("A mom", whole=False)
    assert shares == [Share("a", "", False), Share("b", "", False)]


def test_a_door_that_only_silences_stores_nothing() -> None:
    answer = two()
    assert answer.cut("A moment. One.", whole=False, kept=False) == []
    assert [of for of, _text, _before in answer.rest()] == ["a", "b"]


def test_a_reply_that_broke_off_is_told_once_it_has_a_record() -> None:
    answer = SpokenAnswer()
    answer.add("One. Two")
    assert answer.cut("One.", whole=False) == []
    answer.add(". Three.")
    assert answer.name("a") == [Share("a", "One.", False)]
    assert answer.name("a") == []
    assert list(answer.rest()) == [("a", " Two. Three.", "One.")]


def test_a_reply_that_came_after_the_cut_was_not_cut() -> None:
    answer = two()
    answer.cut("A moment. One. Two.", whole=False)
    answer.add("Four.")
    assert answer.name("c") == []


def test_what_was_said_later_completes_the_answer() -> None:
    answer = SpokenAnswer()
    answer.add(" Two.", "a", "One.")
    assert answer.cut("", whole=True) == [Share("a", "One. Two.", True)]
    again = SpokenAnswer()
    again.add(" Two. Three.", "a", "One.")
    assert again.cut(" Two.", whole=False) == [Share("a", "One. Two.", False)]


def test_the_rest_of_a_running_reply_goes_on_as_one() -> None:
    answer = SpokenAnswer()
    answer.add(" Two.", "", "One.")
    answer.add(" Three.")
    assert answer.unnamed
    answer.name("a")
    assert answer.cut(" Two. Th", whole=False) == [Share("a", "One. Two. Th", False)]


@given(st.lists(st.text(max_size=12), max_size=6), st.integers(0, 80))
def test_every_share_begins_its_reply(replies: list[str], count: int) -> None:
    answer = SpokenAnswer()
    for number, text in enumerate(replies):
        answer.add(text)
        answer.name(f"r{number}")
    heard = answer.text[:count]
    for share in answer.cut(heard, whole=False):
        text = replies[int(share.of[1:])]
        assert text.startswith(share.text)
        assert not share.whole
    missing = "".join(text for _of, text, _before in answer.rest())
    assert len("".join((heard + missing).split())) == len("".join(answer.text.split()))
