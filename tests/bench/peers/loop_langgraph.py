"""The scripted loop through langgraph: prints the milliseconds of each step as a JSON list."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
import warnings
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

TIMES: list[float] = []


def echo(text: str) -> str:
    """Say it again."""
    TIMES.append(time.perf_counter())
    return text


class Scripted(BaseChatModel):  # type: ignore[misc]
    """Calls echo `steps` times, then answers."""

    steps: int
    number: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: Any, *arguments: Any, **options: Any) -> ChatResult:
        del messages, arguments, options
        number, self.number = self.number, self.number + 1
        call = {"name": "echo", "args": {"text": f"step {number}"}, "id": f"call-{number}"}
        calls = [call] if number < self.steps else []
        said = AIMessage(content=f"Step {number}.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


async def main(steps: int) -> None:
    """Run and print."""
    model = Scripted(steps=steps)

    async def speak(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("speak", speak)
    graph.add_node("tools", ToolNode([echo]))
    graph.add_edge(START, "speak")
    graph.add_conditional_edges("speak", tools_condition)
    graph.add_edge("tools", "speak")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        await graph.compile().ainvoke({"messages": [("user", "Go.")]}, {"recursion_limit": 3 * steps})
    print(json.dumps([1000 * (after - before) for before, after in itertools.pairwise(TIMES)]))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
