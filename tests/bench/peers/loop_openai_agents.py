"""The scripted loop through openai-agents: prints the milliseconds of each step as a JSON list."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

TIMES: list[float] = []


@function_tool  # type: ignore[untyped-decorator]
def echo(text: str) -> str:
    """Say it again."""
    TIMES.append(time.perf_counter())
    return text


class Scripted(Model):  # type: ignore[misc]
    """Calls echo `steps` times, then answers."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._number = 0

    async def get_response(self, *arguments: Any, **options: Any) -> ModelResponse:
        """The next reply."""
        del arguments, options
        number, self._number = self._number, self._number + 1
        text = ResponseOutputText(text=f"Step {number}.", type="output_text", annotations=[])
        said = ResponseOutputMessage(
            id=f"message-{number}", content=[text], role="assistant", status="completed", type="message"
        )
        call = ResponseFunctionToolCall(
            arguments=json.dumps({"text": f"step {number}"}),
            call_id=f"call-{number}",
            name="echo",
            type="function_call",
        )
        return ModelResponse([said, call] if number < self._steps else [said], Usage(), None)

    def stream_response(self, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        """Not asked for by this script."""
        raise AssertionError("the script does not stream")


async def main(steps: int) -> None:
    """Run and print."""
    agent = Agent(name="bench", tools=[echo], model=Scripted(steps))
    await Runner.run(agent, "Go.", max_turns=steps + 2, run_config=RunConfig(tracing_disabled=True))
    print(json.dumps([1000 * (after - before) for before, after in itertools.pairwise(TIMES)]))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
