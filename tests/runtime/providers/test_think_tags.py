"""Thoughts between tags come apart from the answer, however the text is cut into pieces."""

from __future__ import annotations

import pytest

from runtime.providers.think_tags import ThinkTags


def taken(text: str, step: int) -> tuple[str, str]:
    tags = ThinkTags()
    pairs = [tags.take(text[start : start + step]) for start in range(0, len(text), step)]
    pairs.append(tags.rest())
    return "".join(pair[0] for pair in pairs), "".join(pair[1] for pair in pairs)


@pytest.mark.parametrize("step", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("<think>a < b</thin</think>yes", "a < b</thin", "yes"),
        ("\n<think>why</think>so", "why", "so"),
        ("<think></think>so", "", "so"),
        ("<think>never ends", "never ends", ""),
        ("write <think> so</think>", "", "write <think> so</think>"),
        ("<thin ice", "", "<thin ice"),
        ("<thi", "", "<thi"),
        ("", "", ""),
    ],
)
def test_an_answer_is_taken_apart(text: str, thought: str, said: str, step: int) -> None:
    assert taken(text, step) == (thought, said)


@pytest.mark.parametrize("step", [1, 2, 3, 5, 100])
def test_line_ends_around_the_thought_are_not_part_of_it(step: int) -> None:
    assert taken("<think>\nwhy\n\nnot\n</think>\n\nso\n", step) == ("why\n\nnot", "so\n")
