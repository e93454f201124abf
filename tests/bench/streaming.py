"""What the window's thread does for each frame of a streaming answer, and its longest stall in use."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from tests.bench.figure import Figure, percentile
from tests.bench.window_house import long_session, probe, scripted_home

Beat = tuple[float, bool]
FRAME_GOAL, STALL_GOAL = 8.0, 50.0
SECTION = (
    "## Part {n}\n\nHere is **part {n}** of the answer, with `code` in it and a [link](https://example.org), "
    "and enough words to wrap over two or three lines of the window.\n\n- first\n- second\n\n"
    "```python\ndef part_{n}(value: int) -> int:\n    return value * {n}\n```\n\n"
)
SECTIONS = 60
DELAY = 0.004
"""Seconds between two words: as fast as a small model writes."""


def measure(*, peers: bool = False) -> list[Figure]:
    """p95 of the frames of one long answer, and the longest round of the loop in a varied use."""
    del peers
    text = "".join(SECTION.format(n=number) for number in range(SECTIONS))
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        home = Path(folder)
        scripted_home(home, text, DELAY)
        other = long_session(home, 10_000, "Long")
        with probe(home, "talk", other) as window:
            streaming: list[Beat] = window.next("beats")["beats"]
            use: list[Beat] = window.next("beats")["beats"]
    frames = [ran for ran, painted in streaming if painted]
    everything = [ran for ran, _ in (*streaming, *use)]
    reference = {
        "median": statistics.median(frames),
        "longest": max(frames),
        "frames": float(len(frames)),
        "setMarkdown of the whole answer": _whole(text),
    }
    stalls = {
        "while the answer streams": max(ran for ran, _ in streaming),
        "rounds over 50 ms": float(sum(ran > STALL_GOAL for ran in everything)),
        "rounds": float(len(everything)),
    }
    return [
        Figure("stream_frame", percentile(frames, 95), "ms", FRAME_GOAL, "lower", reference),
        Figure("stall", max(everything), "ms", STALL_GOAL, "lower", stalls),
    ]


def _whole(text: str) -> float:
    """What Qt takes to lay the finished answer out at once."""
    from PySide6.QtGui import QGuiApplication, QTextDocument

    app = QGuiApplication.instance() or QGuiApplication(["bench", "-platform", "offscreen"])
    begin = time.perf_counter()
    document = QTextDocument()
    document.setTextWidth(760)
    document.setMarkdown(text)
    assert document.size().height() > 0
    assert app is not None
    return 1000 * (time.perf_counter() - begin)
