"""How the loaded model is spoken to and heard: its prompts, its calls, and what holds them to their form."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from models.engine import TemplateSource
from models.generation import Acting, JsonObject
from models.reasoning import opened_by
from models.template import ChatTemplate
from models.toolformat.constraint import constraint
from models.toolformat.derive import derive
from models.toolformat.fallback import call_text, fallback, result_text, system_block
from models.toolformat.format import ARGUMENTS, NAME, ToolFormat
from models.toolformat.grounds import Grounds
from models.toolformat.stream import StreamParser, primer_of
from models.trigger import Trigger

_derived = lru_cache(maxsize=8)(derive)
_FENCED_HABIT = ("qwen2.5 coder", "qwen2.5-coder")
"""Names of models that answer in fenced JSON whatever their template tells them."""

HASTY = 1_000_000_000
"""Models in files of fewer bytes call tools for everything once they are told of tools; what they call is
judged by the conversation."""

_LISTING = """To act, answer with a JSON list of all the calls that are needed, one for each thing that \
is asked, and nothing else:
```json
[{"name": "TOOL", "arguments": {...}}, {"name": "TOOL", "arguments": {...}}]
```
When no tool fits, or when the results are there, answer in plain words: say what the results say."""

_DONE = "Now answer me in plain words, with what all the results say."
"""What a model is told that must answer."""

WORDS = r"""root ::= first rest*
first ::= [^`<{\[\x00-\x20]
rest ::= [^`<] | "`" [^`] | "<" [^a-zA-Z|/]
"""
"""The grammar of an answer in words, in which no call can begin."""

_RETOLD = "the model's template refuses earlier calls, so they are told to it in words ({reason})"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered request. `known` is the format of calls in the reply, None where no tool was offered; where
    the prompt asks for another form, `held` is that. `judged` is the conversation by which calls are judged,
    empty where the model's own judgement is good enough."""

    text: str
    notice: str = ""
    known: ToolFormat | None = None
    tools: tuple[JsonObject, ...] = ()
    held: ToolFormat | None = None
    judged: tuple[JsonObject, ...] = ()

    @property
    def opening(self) -> str:
        """The mark of reasoning that the prompt leaves open, or ""."""
        return opened_by(self.text)

    def parser(self) -> StreamParser | None:
        """What takes the reply apart; None where no call can be in it."""
        if self.known is None:
            return None
        return StreamParser(self.known, self.tools, primer=primer_of(self.known, self.text))

    def trigger(self, concerned: Callable[[], Mapping[str, float]] | None = None) -> Trigger | None:
        """What holds calls to their form, and calls that are judged to the tools that `concerned` returns;
        None where they are only parsed."""
        if self.known is None:
            return None
        held = constraint(self.held or self.known, self.tools, fence=self.held is None)
        primer = primer_of(self.known, self.text)
        return Trigger(held, primer, concerned if self.judged else None) if held else None

    def grounds(self) -> Grounds | None:
        """What judges calls; None where the model itself is trusted with that."""
        return Grounds(self.judged, self.tools) if self.judged else None


class Speech:
    """The form of one model's conversations, found out once when it is loaded. `name` is the model's own,
    `size` the bytes of its file, 0 for unknown."""

    def __init__(self, source: TemplateSource, name: str = "", size: int = 0) -> None:
        known = _derived(source.text, bos=source.bos, eos=source.eos)
        self._native = known.shows_tools and known.syntax != "none" and not known.fault
        self._known = known if self._native else fallback(known)
        self._hasty = 0 < size < HASTY
        habit = any(one in name.lower() for one in _FENCED_HABIT)
        self._listed = _listed(known) if habit and self._native else None
        self._template = ChatTemplate(
            source.text,
            source.bos,
            source.eos,
            source.controls,
            text_arguments=known.arguments_as == "text",
        )
        self.notice = self._template.render([{"role": "user", "content": "Hello"}], [], {}).notice

    @property
    def tools_in_template(self) -> bool:
        """Whether the model's own template tells it of tools."""
        return self._native

    @property
    def acting(self) -> Acting:
        """How sure calls of this model are."""
        if not self._native:
            return "fallback"
        return "guaranteed" if self._known.constrainable else "parsed"

    def prompt(
        self,
        messages: list[JsonObject],
        tools: list[JsonObject],
        extra: JsonObject,
        *,
        answer: bool = False,
    ) -> Prompt:
        """The prompt for the next reply. Never fails; `notice` says what could not be rendered as it is.
        `answer` asks for words instead of further calls."""
        if answer:
            asked = self._prompt(_asked(messages), tools, extra)
            if asked.notice:  # some templates want the model's answer right behind a result
                asked = self._prompt(_closed(messages), tools, extra)
            return replace(asked, known=None)
        prompt = self._prompt(messages, tools, extra)
        return replace(prompt, judged=tuple(messages)) if self._hasty and tools else prompt

    def _prompt(self, messages: list[JsonObject], tools: list[JsonObject], extra: JsonObject) -> Prompt:
        offered = tuple(tools)
        known = self._known if tools else None
        if self._listed is not None and tools:
            rendered = self._template.render(_with_block(_as_lists(messages), _LISTING), tools, extra)
            if not rendered.notice:
                return Prompt(rendered.text, "", known, offered, self._listed)
        if not self._native:
            told = _with_block(_retold(messages), system_block(tools)) if tools else _retold(messages)
            rendered = self._template.render(told, [], extra)
            return Prompt(rendered.text, rendered.notice, known, offered)
        rendered = self._template.render(_numbered(messages, self._known.id_form), tools, extra)
        if not rendered.notice:
            return Prompt(rendered.text, "", known, offered)
        again = self._template.render(_retold(messages), tools, extra)
        if not again.notice:
            return Prompt(again.text, _RETOLD.format(reason=rendered.notice), known, offered)
        told = _with_block(_retold(messages), system_block(tools)) if tools else _retold(messages)
        last = self._template.render(told, [], extra)
        return Prompt(last.text, rendered.notice, fallback(self._known) if tools else None, offered)


def _asked(messages: list[JsonObject]) -> list[JsonObject]:
    """With the user asking for an answer behind the last result."""
    if not messages or messages[-1]["role"] != "tool":
        return messages
    return [*messages, {"role": "user", "content": _DONE}]


def _closed(messages: list[JsonObject]) -> list[JsonObject]:
    """With the last result asking for an answer."""
    if not messages or messages[-1]["role"] != "tool":
        return messages
    return [*messages[:-1], messages[-1] | {"content": f"{_text(messages[-1])}\n\n{_DONE}"}]


def _listed(known: ToolFormat) -> ToolFormat:
    """Calls as a list in a fenced block."""
    return replace(
        known,
        origin="fallback",
        section_open="```json\n",
        section_close="\n```",
        call_open="",
        call_close="",
        between="",
        layout=f'{{"name": "{NAME}", "arguments": {ARGUMENTS}}}',
        array=True,
        name_path=("name",),
        arguments_path=("arguments",),
        parallel=True,
    )


def _as_lists(messages: list[JsonObject]) -> list[JsonObject]:
    """Earlier calls in the form of `_listed`."""
    made: list[JsonObject] = []
    for message in messages:
        if calls := message.get("tool_calls"):
            objects = (
                f'{{"name": {json.dumps(call["function"]["name"])}, "arguments": {_arguments(call)}}}'
                for call in calls
            )
            block = f"```json\n[{', '.join(objects)}]\n```"
            text = "\n".join(part for part in (_text(message), block) if part)
            message = {key: value for key, value in message.items() if key != "tool_calls"} | {
                "content": text
            }
        made.append(message)
    return made


def _with_block(messages: list[JsonObject], block: str) -> list[JsonObject]:
    """With `block` at the end of the system prompt."""
    if messages and messages[0]["role"] == "system":
        first = dict(messages[0]) | {"content": f"{messages[0]['content']}\n\n{block}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": block}, *messages]


def _retold(messages: list[JsonObject]) -> list[JsonObject]:
    """Calls and results as plain text; messages of one role that follow one another become one."""
    told: list[JsonObject] = []
    for message in messages:
        role, text = message["role"], _text(message)
        if role == "tool":
            role, text = "user", result_text(str(message.get("name") or "tool"), text)
        calls = [
            call_text(call["function"]["name"], _arguments(call)) for call in message.get("tool_calls") or ()
        ]
        text = "\n".join(part for part in (text, *calls) if part)
        if told and told[-1]["role"] == role:
            told[-1] = told[-1] | {"content": f"{told[-1]['content']}\n{text}"}
        else:
            kept = {key: value for key, value in message.items() if key == "reasoning_content"}
            told.append({"role": role, "content": text} | kept)
    return told


def _numbered(messages: list[JsonObject], form: str) -> list[JsonObject]:
    """With ids as the model's format wants them, where it wants them in a form of its own."""
    if not form:
        return messages
    ids: dict[str, str] = {}
    made: list[JsonObject] = []
    for message in messages:
        if message.get("tool_calls"):
            calls = []
            for call in message["tool_calls"]:
                ids[call["id"]] = form.format(name=call["function"]["name"], index=len(ids))
                calls.append(call | {"id": ids[call["id"]]})
            message = message | {"tool_calls": calls}
        elif "tool_call_id" in message:
            message = message | {"tool_call_id": ids.get(message["tool_call_id"], message["tool_call_id"])}
        made.append(message)
    return made


def _text(message: JsonObject) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _arguments(call: JsonObject) -> str:
    arguments = call["function"].get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
