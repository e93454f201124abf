"""A conversation in the form that Ollama's chat takes."""

from __future__ import annotations

import json
from typing import assert_never

from runtime.messages import AssistantMessage, Image, JsonObject, Part, Text, ToolMessage, UserMessage
from runtime.providers.provider import Request

_UNSEEN = "[a picture that cannot be seen]"


class History:
    """Tells one conversation; `own` is the provider whose reasoning goes back.

    Pictures of results come in a message of the user after them. A model that cannot act is told of calls and
    results in words, because its template drops them. `left_out` says whether a picture was.
    """

    def __init__(self, own: str, *, sees: bool, acts: bool) -> None:
        self._own = own
        self._sees = sees
        self._acts = acts
        self._told: list[JsonObject] = []
        self._asked: set[str] = set()
        self._pictures: list[str] = []
        self.left_out = False

    def told(self, request: Request) -> list[JsonObject]:
        """The messages; once."""
        if request.system:
            self._told.append({"role": "system", "content": request.system})
        for message in request.messages:
            if not isinstance(message, ToolMessage):
                self._show()
            match message:
                case UserMessage():
                    text, pictures = self._read(message.parts)
                    self._say("user", text, pictures)
                case AssistantMessage():
                    self._reply(message)
                case ToolMessage():
                    self._result(message)
                case _:
                    assert_never(message)
        self._show()
        return self._told

    def _say(self, role: str, text: str, pictures: list[str]) -> None:
        said: JsonObject = {"role": role, "content": text}
        if pictures:
            said["images"] = pictures
        self._told.append(said)

    def _show(self) -> None:
        """The pictures of the results that were just told."""
        if self._pictures:
            self._say("user", "[pictures of the results above]", self._pictures)
            self._pictures = []

    def _reply(self, message: AssistantMessage) -> None:
        text = message.text
        if message.calls and not self._acts:
            called = [f"[calls {call.name} {json.dumps(call.arguments)}]" for call in message.calls]
            text = "\n".join([text, *called] if text else called)
        said: JsonObject = {"role": "assistant", "content": text}
        if message.calls and self._acts:
            said["tool_calls"] = [
                {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
                for call in message.calls
            ]
            self._asked |= {call.id for call in message.calls}
        if message.reasoning and message.provider == self._own:
            said["thinking"] = "".join(part.text for part in message.reasoning)
        if text or len(said) > 2:
            self._told.append(said)

    def _result(self, message: ToolMessage) -> None:
        text, pictures = self._read(message.parts)
        self._pictures += pictures
        if message.call_id in self._asked:
            given = {"role": "tool", "tool_name": message.name, "tool_call_id": message.call_id}
            self._told.append({**given, "content": text})
        else:
            self._say("user", f"[result of {message.name}]\n{text}", [])

    def _read(self, parts: tuple[Part, ...]) -> tuple[str, list[str]]:
        """The text of `parts`, with a mark for every picture that is not shown, and those that are."""
        words: list[str] = []
        pictures: list[str] = []
        for part in parts:
            match part:
                case Text():
                    words.append(part.text)
                case Image() if self._sees:
                    pictures.append(part.data)
                case Image():
                    words.append(_UNSEEN)
                    self.left_out = True
                case _:
                    assert_never(part)
        return "".join(words), pictures
