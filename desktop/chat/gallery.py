"""`python -m desktop.chat.gallery OUT.png [--dark] [--scale N]`: a picture of every kind of row."""

from __future__ import annotations

import argparse
import os
from typing import Any

ANSWER = """## A reading plan that fits your week

You asked for something **small enough to keep**. Here is a plan in *three steps*, with `notes/plan.md` as the
place where it lives, and ~~no spreadsheet~~.

1. Pick one book and one fixed time
   - mornings work best for most people
   - twenty minutes are enough
2. Write one line after each sitting
3. Look back on Sunday

- [x] Choose the book
- [ ] Block the time in the calendar

> A plan is a promise to a person you have not met yet.
>
> > Nested, for good measure.

| Day | Minutes | Pages |
|:----|:-------:|------:|
| Monday | 20 | 14 |
| Wednesday | 25 | 18 |

```python
def pages(minutes: int, pace: float = 0.7) -> int:
    \"\"\"How far one gets in `minutes`.\"\"\"
    return round(minutes * pace)  # rounded, because nobody counts halves


print(pages(20))
```

At this pace $p = \\frac{14}{20} \\leq 1$, so $x^2 + \\alpha_1$ stays small. More at https://example.org/reading.

---

אפשר לקרוא גם מימין לשמאל, with English inside."""

DIFF = """--- a/notes/plan.md
+++ b/notes/plan.md
@@ -1,2 +1,3 @@
 # Plan
-Read more.
+Read 20 minutes on Monday and Wednesday.
+Write one line after each sitting."""


def rows() -> list[dict[str, Any]]:
    """One stored row of every kind, in an order that reads like a conversation."""
    time = 1_760_000_000.0
    tool = {"kind": "tool", "time": time, "risk": "medium", "failure": "", "text": "", "details": {}}
    written = {"diff": DIFF, "files": ["notes/plan.md"], "change": "c1"}
    calls = [
        {"id": "t1", "name": "write_file", "arguments": {"path": "notes/plan.md", "text": "# Plan"}}
        | {"status": "ok", "seconds": 1.2, "details": written, "text": "Wrote 3 lines."},
        {
            "id": "t2",
            "name": "write_file",
            "arguments": {"path": "notes/old.md"},
            "status": "ok",
            "seconds": 0.1,
        }
        | {"details": {"files": ["notes/old.md"], "change": "c2", "undone": True}},
        {"id": "t3", "name": "read_file", "arguments": {"path": "notes/missing.md"}, "status": "failed"}
        | {
            "seconds": 0.02,
            "failure": "error",
            "text": "There is no file notes/missing.md in the workspace.",
        },
        {
            "id": "t4",
            "name": "send_mail",
            "arguments": {"to": "ann@example.org"},
            "status": "denied",
            "seconds": 0,
        },
        {
            "id": "t5",
            "name": "run_command",
            "arguments": {"command": "make all"},
            "status": "unknown",
            "seconds": 0,
        },
        {
            "id": "t6",
            "name": "write_file",
            "arguments": {"path": "notes/log.md"},
            "status": "waiting",
            "seconds": 0,
        },
    ]
    thought = "The user wants a plan. Keep it short, make it concrete."
    answer = {"kind": "assistant", "id": "a1", "text": ANSWER, "reasoning": thought, "thinking_seconds": 3.2}
    return [
        {"kind": "user", "id": "u1", "text": "Can you make me a reading plan for the week?", "time": time},
        answer | {"partial": False, "stop_reason": "stop", "time": time},
        *[tool | call for call in calls],
        {"kind": "user", "id": "u2", "text": "And what about the weekend?\nשבת שלום", "time": time},
        {"kind": "assistant", "id": "a2", "text": "On the weekend you could", "reasoning": "", "time": time}
        | {"thinking_seconds": 0, "partial": True, "stop_reason": "cancelled"},
        {"kind": "notice", "code": "interrupted", "fields": {}, "time": time},
        {"kind": "notice", "code": "compaction", "fields": {"before": 9000, "after": 2000}, "time": time},
        {"kind": "notice", "code": "model_missing", "fields": {"model": "example"}, "time": time},
    ]


def main(argv: list[str] | None = None) -> None:
    """Write the picture named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--width", type=int, default=900)
    chosen = parser.parse_args(argv)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["QT_SCALE_FACTOR"] = str(chosen.scale)

    from PySide6.QtWidgets import QApplication

    from desktop.chat.view import ChatView
    from desktop.theme import apply, theme_for

    application = QApplication([])
    theme = theme_for(application, "dark" if chosen.dark else "light")
    apply(application, theme)
    view = ChatView()
    view.set_theme(theme)
    view.resize(chosen.width, 600)
    view.show_rows(rows())
    for row in (view.canvas.rows[1], view.canvas.rows[3]):
        row.open = True
        view.canvas.touch(row)
    view.show()
    view.resize(chosen.width, min(6000, view.canvas.content_height()))
    view.resize(chosen.width, min(6000, view.canvas.content_height()))
    while view.canvas.highlighter.busy:
        view.canvas.highlighter.work()
    view.grab().save(chosen.out)


if __name__ == "__main__":
    main()
