"""One measured figure with its goal and what it is compared with, and how figures are shown and stored."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Figure:
    """A value in `unit` with its goal. `reference` holds bare measurements of the same run in the same unit
    unless their name says another; `peers` the same measurement through other programs."""

    name: str
    value: float
    unit: str
    goal: float
    better: Literal["lower", "higher"]
    reference: dict[str, float] = field(default_factory=dict)
    peers: dict[str, float] = field(default_factory=dict)

    @property
    def met(self) -> bool:
        """Whether the goal is reached on this machine."""
        return self.value <= self.goal if self.better == "lower" else self.value >= self.goal


def percentile(values: Sequence[float], percent: int) -> float:
    """The `percent`-th percentile (1–99), interpolated; of at least one value."""
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def table(figures: Iterable[Figure]) -> str:
    """The figures as lines of text, with what they are compared with below each."""
    lines: list[str] = []
    for figure in figures:
        sign = "≤" if figure.better == "lower" else "≥"
        verdict = "met" if figure.met else "MISSED"
        lines.append(
            f"{figure.name:<22}{_number(figure.value):>10} {figure.unit:<6} goal {sign} "
            f"{_number(figure.goal):<7} {verdict}"
        )
        for title, others in (("", figure.reference), ("peer ", figure.peers)):
            lines += [f"    {_number(value):>18} {title}{name}" for name, value in others.items()]
    return "\n".join(lines)


def store(figures: Iterable[Figure], path: Path) -> None:
    """Write the figures as a JSON list."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [_rounded(asdict(figure)) for figure in figures]
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _rounded(row: dict[str, object]) -> dict[str, object]:
    return {key: _round(value) for key, value in row.items()}


def _round(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _round(item) for key, item in value.items()}
    return value


def _number(value: float) -> str:
    return f"{value:.4g}"
