"""Renders a conversation with the model file's own Jinja template: foreign code, kept on a short lead."""

from __future__ import annotations

import ctypes
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jinja2.exceptions import SecurityError, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from models.generation import JsonObject
from models.toolformat import dialect

SECONDS = 1.0
"""A template that renders longer is stopped."""

LIMIT = 16 * 1024 * 1024
"""A template that writes more characters than this is stopped."""

JOINT = "\ufdd0"
"""A noncharacter put into control texts found in messages; the tokeniser cuts there and drops it."""

_WIDE = re.compile(r"\d{5}")

_PROBE: JsonObject = {
    "type": "function",
    "function": {
        "name": "probe_of_the_template",
        "description": "Nothing.",
        "parameters": {"type": "object", "properties": {}, "required": []},
    },
}


class TemplateTimeout(Exception):
    """The template ran out of its time."""


_FAULTS = (
    TemplateError,
    TemplateTimeout,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What foreign template code can raise: Jinja's own errors and those of the operations it may use."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt. `notice` is empty, or says why the plain form stands in for the model's own."""

    text: str
    notice: str = ""


@dataclass(slots=True)
class ChatTemplate:
    """A chat template with what it refers to; `controls` are neutralised in messages not by the model.

    `text_arguments` hands calls' arguments over as JSON text, for templates that print them as they are.
    """

    source: str
    bos: str = ""
    eos: str = ""
    controls: tuple[str, ...] = ()
    seconds: float = SECONDS
    text_arguments: bool = False
    _compiled: Any = None
    _broken: str = ""
    _controls: re.Pattern[str] | None = field(default=None)

    def __post_init__(self) -> None:
        markers = [text for text in self.controls if len(text) > 1]
        if markers:
            longest_first = sorted(markers, key=len, reverse=True)
            self._controls = re.compile("|".join(map(re.escape, longest_first)))
        if not self.source.strip():
            self._broken = "the file has no chat template"

    def render(self, messages: list[JsonObject], tools: list[JsonObject], extra: JsonObject) -> Rendered:
        """The prompt that asks for the next reply. Never fails: a template that cannot be rendered, is too
        slow or too long gives way to a plain form with a notice."""
        plain = [self._flat(message) for message in messages]
        if not self._broken:
            try:
                return Rendered(self._run(plain, tools, extra))
            except _FAULTS as error:
                reason = f"{type(error).__name__}: {error}"[:300]
                if isinstance(error, TemplateTimeout):
                    self._broken = reason  # once is enough: the next turn would wait again
                    return Rendered(_plain_form(plain), reason)
                again = self._otherwise(plain, tools, extra)
                return Rendered(_plain_form(plain), reason) if again is None else Rendered(again)
        return Rendered(_plain_form(plain), self._broken)

    def shows_tools(self) -> bool:
        """Whether the template tells the model of tools: rendering one changes the prompt."""
        if self._broken:
            return False
        asked: list[JsonObject] = [{"role": "user", "content": "Hello"}]
        without, with_tool = self.render(asked, [], {}), self.render(asked, [_PROBE], {})
        return not with_tool.notice and _PROBE["function"]["name"] in with_tool.text != without.text

    def _otherwise(
        self, messages: list[JsonObject], tools: list[JsonObject], extra: JsonObject
    ) -> str | None:
        """A second try for templates that want a list where others want nothing when there are no tools, or
        that refuse a system message, which then opens the first user message."""
        attempts = [(messages, extra | {"tools": []})] if not tools else []
        if [message["role"] for message in messages[:2]] == ["system", "user"]:
            both = f"{messages[0]['content']}\n\n{messages[1]['content']}"
            attempts.append(([dict(messages[1]) | {"content": both}, *messages[2:]], extra))
        for changed, variables in attempts:
            try:
                return self._run(changed, tools, variables)
            except _FAULTS:
                continue
        return None

    def _run(self, messages: list[JsonObject], tools: list[JsonObject], extra: JsonObject) -> str:
        with _memory_bound(512 << 20), _bounded(self.seconds):
            if self._compiled is None:
                self._compiled = _environment().from_string(self.source)
            variables: JsonObject = {
                "messages": list(messages),
                "tools": tools or None,
                "documents": None,
                "bos_token": self.bos,
                "eos_token": self.eos,
                "add_generation_prompt": True,
                **dialect.variables(tools),
            }
            pieces: list[str] = []
            length = 0
            for piece in self._compiled.generate(variables | extra):
                length += len(piece)
                if length > LIMIT:
                    raise OverflowError(f"the template wrote more than {LIMIT} characters")
                pieces.append(piece)
        text = "".join(pieces)
        if not text.strip():
            raise ValueError("the template wrote nothing")
        return text

    def _flat(self, message: JsonObject) -> JsonObject:
        """A message as templates expect it: text content, arguments as an object, no smuggled controls."""
        flat = dict(message)
        flat["content"] = _content(message.get("content"))
        if message.get("role") != "assistant" and self._controls is not None:
            flat["content"] = self._controls.sub(_cut, flat["content"])
        if message.get("tool_calls"):
            flat["tool_calls"] = [_call(call, self.text_arguments) for call in message["tool_calls"]]
        return flat


def _cut(found: re.Match[str]) -> str:
    text = found.group()
    return text[0] + JOINT + text[1:]


def _content(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _call(call: JsonObject, as_text: bool) -> JsonObject:
    function = dict(call.get("function", {}))
    if not as_text and isinstance(function.get("arguments"), str):
        try:
            function["arguments"] = json.loads(function["arguments"])
        except ValueError:
            function["arguments"] = {}
    return dict(call) | {"function": function}


def _plain_form(messages: list[JsonObject]) -> str:
    turns = [f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in messages]
    return "".join(turns) + "<|im_start|>assistant\n"


class _Sandbox(ImmutableSandboxedEnvironment):
    """Refuses the operations by which one expression fills the memory."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        sequences = isinstance(left, str | list | tuple) or isinstance(right, str | list | tuple)
        if operator == "*" and sequences and _large(left, right):
            raise SecurityError("a repetition is too long")
        if operator == "**" and (abs(left) > 1e6 or abs(right) > 64):
            raise SecurityError("a power is too large")
        if operator == "%" and isinstance(left, str) and _WIDE.search(left):
            raise SecurityError("a field is too wide")
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return dialect.may_append(obj, attr) or super().is_safe_attribute(obj, attr, value)

    # Jinja's own names for the first three, so that a template's keyword arguments cannot clash.
    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, int) and abs(value) > 1e6 for value in (*args, *kwargs.values())):
            raise SecurityError("a number is too large")
        if isinstance(getattr(__obj, "__self__", None), str) and __obj.__name__.startswith("format"):
            raise SecurityError("str.format is not for templates")
        return super().call(__context, __obj, *args, **kwargs)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = _Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    for name in ("center", "wordwrap", "format", "pprint", "xmlattr", "urlize"):
        environment.filters.pop(name)
    for name in ("lipsum", "cycler", "joiner"):
        environment.globals.pop(name)
    environment.filters["tojson"] = _tojson
    environment.globals |= {"raise_exception": _raise_exception, "strftime_now": _strftime_now}
    dialect.extend(environment)
    return environment


def _raise_exception(message: str) -> None:
    raise TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)


def _tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None, **options: Any) -> str:
    width = None if indent is None else min(8, int(indent))
    allowed = {name: options[name] for name in ("separators", "sort_keys") if name in options}
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=width, **allowed)


def _large(left: Any, right: Any) -> bool:
    sizes = [len(side) if hasattr(side, "__len__") else abs(side) for side in (left, right)]
    return bool(sizes[0] * sizes[1] > 1e6)


@contextmanager
def _bounded(seconds: float) -> Iterator[None]:
    """Raise TemplateTimeout in this thread when the body takes longer."""
    thread, lock, over = threading.get_ident(), threading.Lock(), False

    def stop() -> None:
        with lock:
            if not over:
                _raise_in(thread, TemplateTimeout)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            over = True
        timer.cancel()
        timer.join()


def _raise_in(thread: int, error: type[Exception]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


@contextmanager
def _memory_bound(extra: int) -> Iterator[None]:
    """Let the body fail with MemoryError after `extra` bytes, where the system can tell them apart."""
    try:
        import resource
    except ImportError:
        yield
        return
    import psutil

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    data = getattr(psutil.Process().memory_info(), "data", 0)
    if not data:
        yield
        return
    resource.setrlimit(resource.RLIMIT_DATA, (data + extra, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
