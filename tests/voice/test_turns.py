"""Whose turn it is: every pair of state and input, and stories that lead through many of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.events import TurnState
from voice.turns import INPUTS, LONGEST, MUTE, STATES, TAP, Action, Input, Key, Turns

# With no facts beside the state (thinking: an answer is awaited; speaking: words wait).
EXPECTED = """
            idle            thinking          speaking                    hearing          interrupted
press       hearing listen  hearing listen    interrupted silence,listen  hearing listen   interrupted listen
release     idle            thinking          speaking                    thinking finish  thinking finish
cancel      idle abandon    thinking abandon  speaking abandon            idle abandon     idle abandon
voice_onset hearing listen  hearing listen    interrupted silence,listen  hearing          interrupted
voice_end   idle            thinking          speaking                    thinking finish  thinking finish
final       idle            thinking          speaking                    hearing          interrupted
expect      thinking        thinking          speaking                    hearing          interrupted
say         speaking        speaking          speaking                    hearing          interrupted
answer_end  idle            idle              speaking                    hearing          interrupted
heard_all   idle            thinking          idle                        hearing          hearing
hush        idle silence    idle silence      idle silence                hearing silence  interrupted silence
trouble     idle            thinking          idle silence                thinking finish  thinking finish
"""


def pairs() -> list[tuple[TurnState, Input, str, tuple[str, ...]]]:
    lines = EXPECTED.strip("\n").split("\n")
    starts = [lines[0].index(state) for state in lines[0].split()]
    found = []
    for line in lines[1:]:
        for state, low, high in zip(lines[0].split(), starts, [*starts[1:], None], strict=True):
            target, _, actions = line[low:high].strip().partition(" ")
            done = tuple(actions.split(",")) if actions else ()
            found.append((state, line.split()[0], target, done))
    return found  # type: ignore[return-value]


def machine(state: TurnState) -> Turns:
    return Turns(state, awaited=state == "thinking", unheard=state == "speaking")


def test_the_expectations_name_every_pair() -> None:
    assert {(state, said) for state, said, _, _ in pairs()} == {(s, i) for s in STATES for i in INPUTS}


@pytest.mark.parametrize(("state", "said", "target", "actions"), pairs())
def test_every_pair_is_decided(
    state: TurnState, said: Input, target: TurnState, actions: tuple[Action, ...]
) -> None:
    turns = machine(state)
    assert (turns.step(said), turns.state) == (actions, target)


STORIES: dict[str, list[tuple[Input, TurnState]]] = {
    "a question and its answer": [
        ("press", "hearing"),
        ("release", "thinking"),
        ("final", "idle"),
        ("expect", "thinking"),
        ("say", "speaking"),
        ("heard_all", "thinking"),
        ("say", "speaking"),
        ("answer_end", "speaking"),
        ("heard_all", "idle"),
    ],
    "an interruption, understood while the old turn still runs": [
        ("expect", "thinking"),
        ("say", "speaking"),
        ("press", "interrupted"),
        ("heard_all", "hearing"),
        ("release", "thinking"),
        ("final", "thinking"),
        ("answer_end", "idle"),
    ],
    "words that come while somebody speaks wait until he was understood": [
        ("expect", "thinking"),
        ("press", "hearing"),
        ("say", "hearing"),
        ("release", "thinking"),
        ("say", "thinking"),
        ("final", "speaking"),
    ],
    "a tap while it speaks": [
        ("say", "speaking"),
        ("answer_end", "speaking"),
        ("press", "interrupted"),
        ("cancel", "idle"),
        ("heard_all", "idle"),
    ],
    "the second utterance before the first is understood": [
        ("press", "hearing"),
        ("release", "thinking"),
        ("press", "hearing"),
        ("final", "hearing"),
        ("release", "thinking"),
        ("final", "idle"),
    ],
    "thrown away while it is being understood": [
        ("press", "hearing"),
        ("release", "thinking"),
        ("cancel", "idle"),
        ("final", "idle"),
    ],
    "thrown away while the one before is being understood": [
        ("press", "hearing"),
        ("release", "thinking"),
        ("press", "hearing"),
        ("cancel", "thinking"),
        ("final", "idle"),
    ],
    "a second answer while the first is heard": [
        ("expect", "thinking"),
        ("say", "speaking"),
        ("expect", "speaking"),
        ("heard_all", "thinking"),
        ("say", "speaking"),
        ("answer_end", "speaking"),
        ("heard_all", "idle"),
    ],
    "the words of an earlier answer that end late do not count": [
        ("say", "speaking"),
        ("press", "interrupted"),
        ("say", "interrupted"),
        ("heard_all", "hearing"),
        ("cancel", "speaking"),
    ],
}


@pytest.mark.parametrize("story", STORIES)
def test_a_story_leads_through_its_states(story: str) -> None:
    turns = Turns()
    for number, (said, state) in enumerate(STORIES[story]):
        turns.step(said)
        assert turns.state == state, f"{said} ({number})"


@given(st.lists(st.sampled_from(INPUTS), max_size=60))
def test_whatever_comes_it_is_consistent_and_comes_to_rest(said: list[Input]) -> None:
    turns, listening = Turns(), False
    for one in said:
        before = turns.state
        actions = turns.step(one)
        listening = ("listen" in actions or listening) and not {"finish", "abandon"} & set(actions)
        assert listening == (turns.state in ("hearing", "interrupted"))
        assert turns.pending >= 0
        assert (turns.state == "speaking") <= turns.unheard
        if before == "speaking" and turns.state not in ("speaking", "thinking", "idle"):
            assert actions[0] == "silence"
    for one in ("cancel", "hush"):
        turns.step(one)
    while turns.pending:
        turns.step("final")
    assert turns.state == "idle"


def test_a_tap_is_a_cancel_and_a_held_key_a_release() -> None:
    key = Key()
    assert (key.press(1.0), key.release(1.0 + TAP / 2)) == ("press", "cancel")
    assert (key.press(2.0), key.release(2.0 + 2 * TAP)) == ("press", "release")


def test_repeats_and_strays_are_nothing() -> None:
    key = Key()
    assert key.release(0.0) is None
    assert (key.press(1.0), key.press(1.1)) == ("press", None)
    key.cancel()
    assert key.release(2.0) is None


def test_a_key_held_without_a_word_is_stuck_and_speech_keeps_it() -> None:
    key = Key()
    assert not key.stuck(MUTE * 2, 0.0)
    key.press(10.0)
    assert not key.stuck(9.0 + MUTE, 0.0)
    assert key.stuck(11.0 + MUTE, 0.0)
    assert not key.stuck(11.0 + MUTE, 100.0)
    assert key.stuck(11.0 + LONGEST, 10.0 + LONGEST)
