"""Prompts and calls of any model: in its template's form, told in words where that is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from models.engine import TemplateSource
from models.generation import JsonObject
from models.speech import Speech

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
HERMES = (
    "{% if tools %}<|im_start|>system\n{% for t in tools %}{{ t | tojson }}\n{% endfor %}<|im_end|>\n"
    "{% endif %}"
    "{% for m in messages %}{% if m.role == 'tool' %}<|im_start|>user\n<tool_response>\n{{ m.content }}\n"
    "</tool_response><|im_end|>\n{% else %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}\n<tool_call>\n"
    '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}'
    "\n</tool_call>{% endfor %}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
AS_TEXT = HERMES.replace("c.function.arguments | tojson", "c.function.arguments")
NO_HISTORY = HERMES.replace(
    "{% if m.role == 'tool' %}", "{% if m.role == 'tool' %}{{ raise_exception('no tool results') }}"
)
TAGS = HERMES.replace(
    '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}',
    "<function={{ c.function.name }}>\n{% for k, v in c.function.arguments.items() %}<parameter={{ k }}>\n"
    "{{ v }}\n</parameter>\n{% endfor %}</function>",
)
TOOL: JsonObject = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
    },
}
HISTORY: list[JsonObject] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is there?"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "abc123def", "type": "function", "function": {"name": "look", "arguments": '{"at": "ü"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "abc123def", "name": "look", "content": "a clock"},
]


def speech(template: str, name: str = "") -> Speech:
    return Speech(TemplateSource(template, "", "<|im_end|>", ()), name)


def heard(made: Speech, reply: str, tools: list[JsonObject]) -> list[tuple[str, Any]]:
    """The calls in a reply to HISTORY."""
    parser = made.prompt(HISTORY, tools, {}).parser()
    assert parser is not None
    parser.feed(reply)
    parser.finish()
    return [(call.name, json.loads(call.arguments)) for call in parser.reply.calls]


@pytest.mark.parametrize(
    ("template", "acting"),
    [
        (HERMES, "guaranteed"),
        (AS_TEXT, "guaranteed"),
        (TAGS, "parsed"),
        (CHATML, "fallback"),
        ("", "fallback"),
    ],
)
def test_a_model_says_how_sure_its_calls_are(template: str, acting: str) -> None:
    made = speech(template)
    assert made.acting == acting
    assert made.tools_in_template == (acting != "fallback")
    assert (made.prompt(HISTORY, [TOOL], {}).trigger() is None) == (acting == "parsed")


@pytest.mark.parametrize("template", [HERMES, AS_TEXT])
def test_earlier_calls_stand_as_the_model_wrote_them(template: str) -> None:
    prompt = speech(template).prompt(HISTORY, [TOOL], {})
    assert not prompt.notice
    assert '<tool_call>\n{"name": "look", "arguments": {"at": "ü"}}\n</tool_call>' in prompt.text
    assert "<tool_response>\na clock" in prompt.text


@pytest.mark.parametrize(
    ("template", "reply"),
    [
        (HERMES, '<tool_call>\n{"name": "look", "arguments": {"at": "sea"}}\n</tool_call>'),
        (TAGS, "<tool_call>\n<function=look>\n<parameter=at>\nsea\n</parameter>\n</function>\n</tool_call>"),
        (CHATML, 'I look.\n<tool_call>\n{"name": "look", "arguments": {"at": "sea"}}\n</tool_call>'),
        (HERMES, '```json\n{"name": "look", "arguments": {"at": "sea"}}\n```'),
    ],
)
def test_a_call_is_heard_in_the_form_of_the_model(template: str, reply: str) -> None:
    assert heard(speech(template), reply, [TOOL]) == [("look", {"at": "sea"})]


def test_a_template_without_tools_is_told_of_them_in_words_and_the_prompt_grows_at_its_end_only() -> None:
    made = speech(CHATML)
    first = made.prompt(HISTORY[:2], [TOOL], {}).text
    later = made.prompt(HISTORY, [TOOL], {}).text
    assert "look(at: string)" in first
    assert later.startswith(first)
    assert '<tool_call>\n{"name": "look", "arguments": {"at": "ü"}}\n</tool_call>' in later
    assert "look: a clock" in later


def test_without_tools_nothing_is_told_and_nothing_is_taken_for_a_call() -> None:
    prompt = speech(CHATML).prompt(HISTORY[:2], [], {})
    assert "tool" not in prompt.text
    assert prompt.parser() is None
    assert prompt.trigger() is None


def test_a_template_that_refuses_results_gets_them_in_words_with_a_notice() -> None:
    prompt = speech(NO_HISTORY).prompt(HISTORY, [TOOL], {})
    assert "no tool results" in prompt.notice
    assert "a clock" in prompt.text
    assert "look" in prompt.text


def test_a_template_that_fails_altogether_gives_way_to_a_plain_form_that_keeps_calls() -> None:
    made = speech("{{ 1 / 0 }}")
    prompt = made.prompt(HISTORY, [TOOL], {})
    assert made.notice
    assert "ZeroDivisionError" in prompt.notice
    assert "a clock" in prompt.text
    assert '"name": "look"' in prompt.text
    assert heard(made, '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call>', [TOOL])


def test_a_model_that_answers_in_fences_is_asked_for_a_list_and_sees_its_own_form_again() -> None:
    made = speech(HERMES, "Qwen2.5 Coder 0.5B Instruct")
    prompt = made.prompt(HISTORY, [TOOL], {})
    assert '```json\n[{"name": "look", "arguments": {"at": "ü"}}]\n```' in prompt.text
    assert "JSON list" not in made.prompt(HISTORY, [], {}).text
    trigger = prompt.trigger()
    assert trigger is not None
    assert '[{\\"name\\": \\"' in trigger.feed("```json")
    calls = ", ".join(f'{{"name": "look", "arguments": {{"at": "{at}"}}}}' for at in "ab")
    assert heard(made, f"```json\n[{calls}]\n```", [TOOL]) == [("look", {"at": "a"}), ("look", {"at": "b"})]


def test_a_model_made_to_answer_is_asked_for_it_behind_the_last_result() -> None:
    made = speech(HERMES)
    text = made.prompt(HISTORY, [TOOL], {}, answer=True).text
    assert "<|im_start|>user\nNow answer me in plain words" in text
    assert text.index("a clock") < text.index("Now answer me")
    assert "Now answer me" not in made.prompt(HISTORY[:2], [TOOL], {}, answer=True).text
    strict = speech(
        HERMES.replace(
            "{% for",
            "{% if messages[-1].role == 'user' and messages|length > 2 %}"
            "{{ raise_exception('the assistant must follow a result') }}{% endif %}{% for",
            1,
        )
    )
    told = strict.prompt(HISTORY, [TOOL], {}, answer=True)
    assert "a clock\n\nNow answer me in plain words" in told.text
    assert not told.notice


def test_an_odd_history_is_rendered_somehow() -> None:
    odd: list[JsonObject] = [
        {"role": "tool", "tool_call_id": "x", "content": "orphan"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": [{"type": "text", "text": "Go"}, {"type": "image"}]},
    ]
    for template in (HERMES, AS_TEXT, TAGS, CHATML, NO_HISTORY):
        assert "Go" in speech(template).prompt(odd, [TOOL], {}).text
