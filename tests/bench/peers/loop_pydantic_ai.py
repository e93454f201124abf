"""The scripted loop through pydantic-ai: prints the milliseconds of each step as a JSON list."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

TIMES: list[float] = []


def echo(text: str) -> str:
    """Say it again."""
    TIMES.append(time.perf_counter())
    return text


async def main(steps: int) -> None:
    """Run and print."""
    number = -1

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        nonlocal number
        del messages, info
        number += 1
        said = TextPart(f"Step {number}.")
        call = ToolCallPart("echo", {"text": f"step {number}"}, tool_call_id=f"call-{number}")
        return ModelResponse([said, call] if number < steps else [said])

    agent = Agent(FunctionModel(reply), tools=[echo])
    await agent.run("Go.", usage_limits=UsageLimits(request_limit=steps + 2))
    print(json.dumps([1000 * (after - before) for before, after in itertools.pairwise(TIMES)]))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
