"""What a discipline consists of: tasks that are right or wrong, and how many must be right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import resources
from runtime.exam.asking import Answer, Ask, Question
from runtime.messages import JsonObject


@dataclass(frozen=True, slots=True)
class Task:
    """`run` puts its questions and tells whether the model was right. `group` is the kind of task."""

    run: Callable[[Ask], Awaitable[bool]]
    group: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """The tasks of one discipline. It is passed with `least` of them right, and with at least as many of a
    group as `each` says, so that nobody passes who does the same whatever is asked."""

    tasks: tuple[Task, ...]
    least: int
    each: Mapping[str, int] = field(default_factory=dict)

    def passed(self, right: Sequence[bool]) -> bool:
        """Whether these results, one for each task, are enough."""
        groups = Counter(task.group for task, well in zip(self.tasks, right, strict=True) if well)
        return sum(right) >= self.least and all(groups[name] >= n for name, n in self.each.items())


def single(question: Question, mark: Callable[[Answer], bool], group: str = "") -> Task:
    """A task of one question."""

    async def run(ask: Ask) -> bool:
        return mark(await ask(question))

    return Task(run, group)


def data(name: str) -> JsonObject:
    """What resources/exam/`name`.yaml holds; not to be changed."""
    found: JsonObject = resources.yaml(f"exam/{name}.yaml")
    return found


def listed(value: Any) -> list[Any]:
    """`value` as a list: itself, or alone in one."""
    return value if isinstance(value, list) else [value]
