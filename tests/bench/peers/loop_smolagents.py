"""The scripted loop through smolagents: prints the milliseconds of each step as a JSON list."""

from __future__ import annotations

import itertools
import json
import sys
import time
from typing import Any

from smolagents import Model, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    TokenUsage,
)
from smolagents.monitoring import LogLevel

TIMES: list[float] = []


@tool  # type: ignore[untyped-decorator]
def echo(text: str) -> str:
    """Say it again.

    Args:
        text: What to say.
    """
    TIMES.append(time.perf_counter())
    return text


class Scripted(Model):  # type: ignore[misc]
    """Calls echo `steps` times, then answers."""

    def __init__(self, steps: int) -> None:
        super().__init__(model_id="scripted")
        self._left = steps
        self._steps = steps

    def generate(self, messages: Any, **options: Any) -> ChatMessage:
        """The next reply."""
        del messages, options
        number, self._left = self._steps - self._left, self._left - 1
        name, arguments = ("echo", {"text": f"step {number}"})
        if number == self._steps:
            name, arguments = "final_answer", {"answer": "Done."}
        function = ChatMessageToolCallFunction(arguments=arguments, name=name)
        calls = [ChatMessageToolCall(function=function, id=f"call-{number}", type="function")]
        usage = TokenUsage(input_tokens=1, output_tokens=1)
        return ChatMessage(MessageRole.ASSISTANT, f"Step {number}.", calls, None, usage)


def main(steps: int) -> None:
    """Run and print."""
    agent = ToolCallingAgent([echo], Scripted(steps), max_steps=steps + 2, verbosity_level=LogLevel.OFF)
    agent.run("Go.")
    print(json.dumps([1000 * (after - before) for before, after in itertools.pairwise(TIMES)]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
