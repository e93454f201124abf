"""Judges whether a call follows from the conversation, for models that call tools without need."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import resources
from models.toolformat.figures import as_wanted
from models.toolformat.mentions import WORD, Mentions, common, joins, numbers, pointed, shared, telling

JsonObject = dict[str, Any]

_THIN = 2
"""Telling words of the question below which it says too little to judge a tool by."""

_NAMED = 2
"""Words that a tool's whole name counts for, beside itself, where the question has it."""

_WORTH, _MOST = 1.5, 5.0
"""Nats that a word speaks for a tool, and all together: with one word more than another it is the wanted one
6.5 times as often, with two 25 times, with three or more some 150 times (1,150 questions with several tools
of the Berkeley set, outside of the range that the bench measures)."""

_ENGLISH = 2
"""Common English words from which on a question is taken for one in the language of the tools."""


class Grounds:
    """What the calls of one reply may rest on: `messages` and `tools` have the shape of the OpenAI chat
    interface.

    A call is unfounded if the model invented what the user would have had to say (a number or a date, or all
    that a call needs), or if the tool has to do with nothing in the question. What cannot be told counts as
    said: composed text, codes, paths, choices from a list, numbers and kinds that the tool itself names,
    switches.
    """

    def __init__(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> None:
        functions = (tool.get("function", tool) for tool in tools)
        self._tools = {str(function["name"]): function for function in functions}
        said = "\n".join(part for message in messages for part in _parts(message))
        self._asked = "\n".join(
            part for message in messages if message.get("role") == "user" for part in _parts(message)
        )
        self._said = Mentions(said)
        self._talk = Mentions(
            "\n".join(
                part for message in messages if message.get("role") != "system" for part in _parts(message)
            )
        )
        self._settled: list[tuple[str, JsonObject]] = []
        last = messages[-1].get("role") if messages else ""
        spoken = {word.casefold() for word in WORD.findall(self._asked)}
        self._english = len(spoken & common()) >= _ENGLISH
        self._tellable = last == "user" and self._english

    def concerned(self) -> dict[str, float]:
        """The tools that have a word in common with the question, and how far it speaks for each, in nats: 0
        for the one that fits best, less for the others. A tool fits by the number of those words, and by up
        to two more as far as its name was said. All tools, with 0, where none has such a word, or where
        that cannot be told: the question says too little, has a path, an address or a sum, or is none."""
        rest = telling(self._asked) - _empty()
        if not self._tellable or len(rest) < _THIN or pointed(self._asked):
            return dict.fromkeys(self._tools, 0.0)
        fits: dict[str, float] = {}
        for name, tool in self._tools.items():
            called = telling(name) - _empty()
            said = len(shared(called, rest)) / max(1, len(called))
            fits[name] = len(shared(rest, _words(tool))) + _NAMED * said
        best = max(fits.values(), default=0)
        return {name: max(-_MOST, _WORTH * (fit - best)) for name, fit in fits.items() if fit or not best}

    def settle(self, name: str, arguments: str) -> str | None:
        """The arguments (JSON text) without options that were invented, figures in the form that the tool
        wants (`as_wanted`); None if the call is unfounded.

        Of a further call, behind one that follows, everything required must have been said, and so must that
        in which it differs from an earlier call of the tool. Faulty calls stay as they are.
        """
        tool = self._tools.get(name)
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError):
            return arguments
        if tool is None or not isinstance(given, dict):
            return arguments
        schema = _mapping(tool.get("parameters"))
        required = [key for key in _list(schema.get("required")) if isinstance(key, str)]
        of = {key: _mapping(_mapping(schema.get("properties")).get(key)) for key in given}
        wanted = {key: as_wanted(key, value, of[key], self._said) for key, value in given.items()}
        if wanted != given:
            given, arguments = wanted, json.dumps(wanted, ensure_ascii=False)
        known = {key: self._known(key, value, of[key]) for key, value in given.items()}
        if self._invented(given, [key for key in required if key in given], known):
            return None
        if not self._concerned(tool, given):
            return None
        kept = {
            key: self._spoken_of(value)
            for key, value in given.items()
            if key in required or not (known[key] is False or self._idle(tool, key, value))
        }
        if self._varies(name, kept) or self._beside(name):
            return None
        self._settled.append((name, kept))
        return arguments if kept == given else json.dumps(kept, ensure_ascii=False)

    def _invented(self, given: JsonObject, needed: list[str], known: Mapping[str, bool | None]) -> bool:
        """Whether a needed number or date was never said, or nothing at all of what is needed."""
        if any(known[key] is False and _is_figure(given[key]) for key in needed):
            return True
        verdicts = [known[key] for key in needed]
        return False in verdicts and (bool(self._settled) or True not in verdicts)

    def _known(self, key: str, value: Any, schema: Mapping[str, Any]) -> bool | None:
        """Whether `value` was said; None where it need not have been."""
        if isinstance(value, bool) or value is None or schema.get("enum"):
            return None
        if "default" in schema and schema["default"] == value:
            return None
        named = str(schema.get("description"))
        if isinstance(value, int | float):
            return None if value in numbers(named) else self._said.number(value)
        if isinstance(value, str):
            told = telling(value)
            if told and told <= telling(key):  # it only says what it is
                return self._said.literally(value)
            said = self._said.text(value)
            return None if said is False and value.islower() and shared(told, telling(named)) else said
        inner = _mapping(schema.get("items")) if isinstance(value, list) else {}
        parts = value if isinstance(value, list) else value.values()
        known = [self._known(key, part, inner) for part in parts]
        return True if True in known else False if False in known else None

    def _idle(self, tool: Mapping[str, Any], key: str, value: Any) -> bool:
        """Whether an option is a switch that is on, or a choice, for which the question has no word. What the
        tool says of itself speaks for none of its switches."""
        schema = _mapping(_mapping(_mapping(tool.get("parameters")).get("properties")).get(key))
        choice = bool(schema.get("enum") or _mapping(schema.get("items")).get("enum")) and self._unsaid(value)
        if not self._english or not (choice or value is True) or schema.get("default") == value:
            return False
        words = telling(str(schema.get("description"))) - _empty()
        if value is True:
            words -= shared(words, telling(f"{tool['name']} {tool.get('description')}"))
        return not shared(words | telling(key), telling(self._asked))

    def _spoken_of(self, value: Any) -> Any:
        """`value`; of a list in which some names were said, only these and what cannot be told."""
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            known = [self._talk.text(one) for one in value]
            if True in known:
                return [one for one, said in zip(value, known, strict=True) if said is not False]
        return value

    def _varies(self, name: str, given: JsonObject) -> bool:
        """Whether a call is an earlier one with something else in it that was never said."""
        for other, earlier in self._settled:
            others = [value for key, value in given.items() if key not in earlier or earlier[key] != value]
            if other == name and others and all(map(self._unsaid, others)):
                return True
        return False

    def _beside(self, name: str) -> bool:
        """Whether a tool is called beside others that were, though the question joins nothing and has no word
        for this one that it has not for them."""
        others = {other for other, _ in self._settled if other in self._tools} - {name}
        if not others or not self._tellable or joins(self._asked):
            return False
        asked = telling(self._asked) - _empty()
        taken = {word for other in others for word in shared(asked, _words(self._tools[other]))}
        return shared(asked, _words(self._tools[name])) <= taken

    def _unsaid(self, value: Any) -> bool:
        """Whether a name, a number or a list of such was certainly not said; instructions do not count."""
        if isinstance(value, list):
            return bool(value) and all(map(self._unsaid, value))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return not self._talk.number(value)
        return isinstance(value, str) and self._talk.text(value) is False

    def _concerned(self, tool: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
        """Whether the question has a word in common with the tool, beside those that only became arguments.
        Only questions in the tools' language can be told by their words, and only before the first result; a
        path or an address that was said is sign enough."""
        properties = _mapping(_mapping(tool.get("parameters")).get("properties"))
        if not self._tellable or any(map(self._said.quotes, _texts(given))):
            return True
        free = {key: value for key, value in given.items() if not _mapping(properties.get(key)).get("enum")}
        asked = telling(self._asked)
        copied = shared(asked, {word for text in _texts(free) for word in telling(text)})
        rest = asked - _empty()
        return len(rest - copied) < _THIN or bool(shared(rest, _words(tool)))


def _parts(message: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a message, with the arguments of its calls."""
    content = message.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    for call in message.get("tool_calls") or ():
        arguments = call["function"].get("arguments")
        yield arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _is_figure(value: Any) -> bool:
    """Whether a value is a number, or a text that is mostly digits, as a date is."""
    if not isinstance(value, str):
        return isinstance(value, int | float)
    return 2 * sum(one.isdigit() for one in value) >= sum(one.isalnum() for one in value) > 0


def _texts(value: Any) -> Iterator[str]:
    """All strings inside a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value if isinstance(value, list) else value.values():
            yield from _texts(part)


def _descriptions(tool: Mapping[str, Any]) -> Iterator[str]:
    """What a tool says of itself: its name, what it is for, its arguments and their choices."""
    yield str(tool["name"])
    yield str(tool.get("description") or "")
    yield from _described(tool.get("parameters"))


def _described(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from _described(part)
    if not isinstance(schema, Mapping):
        return
    for key, value in schema.items():
        if key == "properties" and isinstance(value, Mapping):
            for name, inner in value.items():
                yield name
                yield from _described(inner)
        elif key == "description" and isinstance(value, str):
            yield value
        elif key == "enum" and isinstance(value, list):
            yield from map(str, value)
        else:
            yield from _described(value)


def _words(tool: Mapping[str, Any]) -> set[str]:
    """The telling words of a tool."""
    return {word for text in _descriptions(tool) for word in telling(text)} - _empty()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


@cache
def _empty() -> frozenset[str]:
    """Words that stand in questions and in descriptions of whatever tools."""
    return frozenset(resources.text("empty_words.txt").split())
