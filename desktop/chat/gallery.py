"""`python -m desktop.chat.gallery OUT.png [--dark] [--scale N]`: a picture of every kind of row."""

from __future__ import annotations

import argparse
import os
from typing import Any

ANSWER = """## A reading plan that fits your week

You asked for something **small enough to keep**. Here is a plan in *three steps*, with `notes/plan.md` as \
the place where it lives, and ~~no spreadsheet~~.

1. Pick one book and one fixed time
   - mornings work best for most people
2. Look back on Sunday

- [x] Choose the book
- [ ] Block the time in the calendar

> A plan is a promise to a person you have not met yet.

| Day | Minutes | Pages |
|:----|:-------:|------:|
| Monday | 20 | 14 |

```python
def pages(minutes: int, pace: float = 0.7) -> int:
    \"\"\"How far one gets in `minutes`.\"\"\"
    return round(minutes * pace)  # rounded, because nobody counts halves
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
    at = 1_760_000_000.0
    answer = {"kind": "assistant", "thinking_seconds": 3.2, "stop_reason": "stop", "time": at}
    thought = "The user wants a plan. Keep it short, make it concrete."
    written = {"diff": DIFF, "files": ["notes/plan.md"], "change": "c1"}
    undone = {"files": ["notes/old.md"], "change": "c2", "undone": True}
    calls = [
        ("write_file", {"path": "notes/plan.md", "text": "# Plan"}, "ok", written, "Wrote 3 lines."),
        ("write_file", {"path": "notes/old.md"}, "ok", undone, ""),
        ("read_file", {"path": "notes/missing.md"}, "failed", {}, "There is no file notes/missing.md here."),
        ("send_mail", {"to": "ann@example.org"}, "denied", {}, ""),
        ("run_command", {"command": "make all"}, "unknown", {}, ""),
        ("write_file", {"path": "notes/log.md"}, "waiting", {}, ""),
    ]
    tools = [
        {
            "kind": "tool",
            "id": f"t{n}",
            "name": name,
            "arguments": values,
            "status": status,
            "seconds": 1.2 - n,
        }
        | {"failure": "", "details": details, "text": text, "risk": "medium"}
        for n, (name, values, status, details, text) in enumerate(calls)
    ]
    return [
        {"kind": "user", "id": "u1", "text": "Can you make me a reading plan for the week?", "time": at},
        answer | {"id": "a1", "text": ANSWER, "reasoning": thought, "partial": False},
        *tools,
        {"kind": "user", "id": "u2", "text": "And what about the weekend?\nשבת שלום", "time": at},
        answer | {"id": "a2", "text": "On the weekend you could", "reasoning": "", "partial": True},
        {"kind": "notice", "code": "turn_interrupted", "fields": {}, "time": at},
        {
            "kind": "notice",
            "code": "history_shortened",
            "fields": {"before": 9000, "after": 2000},
            "time": at,
        },
        {"kind": "notice", "code": "model_missing", "fields": {"path": "weights"}, "time": at},
    ]


def main(argv: list[str] | None = None) -> None:
    """Write the picture named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--scale", type=float, default=1.0)
    chosen = parser.parse_args(argv)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["QT_SCALE_FACTOR"] = str(chosen.scale)

    from PySide6.QtWidgets import QApplication

    from desktop.chat.view import ChatView
    from desktop.theme import apply, theme_for

    application = QApplication([])
    theme = theme_for(application, "dark" if chosen.dark else "light")
    apply(application, theme)
    view = ChatView(theme=theme)
    view.resize(900, 600)
    view.show_rows(rows())
    for row in (view.canvas.rows[1], view.canvas.rows[3]):
        row.open = True
        view.canvas.touch(row)
    view.show()
    for _round in range(2):
        view.resize(900, view.canvas.content_height())
    while view.canvas.highlighter.busy:
        view.canvas.highlighter.work()
    view.grab().save(chosen.out)


if __name__ == "__main__":
    main()
