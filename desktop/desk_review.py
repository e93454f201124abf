"""What the window may ask and decide about the sandbox's changes; questions to the desk like its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from desktop.desk import Desk
    from runtime.proposals import Choice
    from runtime.review import Review
    from runtime.sync_book import Decision

Plain = dict[str, Any]
COUNTED = 300
"""Files whose changed lines are counted for the list."""
RUNS = 10
"""Runs that the page offers to undo."""


async def review(desk: Desk) -> Plain:
    """{"proposals": [Proposal with "added" and "removed", None where lines are not counted], "left_out":
    [{"path", "code"}], "undo": the decision just made as {"id", "kind", "count"} or None, "open": ids of the
    decisions that can be taken back, "runs": the newest runs as {"id", "time", "files"}, newest first}."""
    return await _shown(_review(desk))


async def review_detail(desk: Desk, path: str) -> Plain:
    """One proposal with its hunks; see Contents.detail."""
    return await _review(desk).detail(path)


async def review_apply(desk: Desk, choices: list[Plain]) -> Plain:
    """Apply [{"path", "before", "after", "hunks": [numbers] or None}]."""
    found = _review(desk)
    return await _shown(found, await found.apply([_choice(choice) for choice in choices]), len(choices))


async def review_reject(desk: Desk, choices: list[Plain]) -> Plain:
    """Take these back in the sandbox; of a file in conflict the user's stays."""
    found = _review(desk)
    return await _shown(found, await found.reject([_choice(choice) for choice in choices]), len(choices))


async def review_keep_beside(desk: Desk, path: str) -> Plain:
    """Keep the user's file and put the sandbox's beside it."""
    found = _review(desk)
    return await _shown(found, await found.keep_beside([path]), 1)


async def review_compare(desk: Desk, path: str) -> Plain:
    """Show the change from the user's file as it is now to the sandbox's."""
    found = _review(desk)
    await found.compare(path)
    return await _shown(found)


async def review_take_back(desk: Desk, decision: str) -> Plain:
    """Undo a decision: its files wait again."""
    found = _review(desk)
    await found.take_back(decision)
    return await _shown(found)


async def review_undo_run(desk: Desk, run: str) -> Plain:
    """Undo all that a run did in the sandbox, applied or not."""
    found = _review(desk)
    back = await found.undo(run)
    return {**await _shown(found), "undone": len(back)}


def _review(desk: Desk) -> Review:
    return desk.runtime.computer.review


def _choice(given: Plain) -> Choice:
    from runtime.proposals import Choice  # what it brings along would slow the window's start

    hunks = given["hunks"]
    return Choice(given["path"], given["before"], given["after"], None if hunks is None else tuple(hunks))


async def _shown(found: Review, made: Decision | None = None, count: int = 0) -> Plain:
    proposals = await found.look()
    lines = await found.lines(proposals[:COUNTED])
    rows = []
    for one in proposals:
        added, removed = lines.get(one.path, (None, None))
        rows.append({**one.as_dict(), "added": added, "removed": removed})
    return {
        "proposals": rows,
        "left_out": [{"path": path, "code": code} for path, code in sorted(found.left_out.items())],
        "undo": None if made is None else {"id": made.id, "kind": made.kind, "count": count},
        "open": [one.id for one in found.decisions],
        "runs": [
            {"id": one.id, "time": one.time, "files": len(one.steps)} for one in reversed(found.runs[-RUNS:])
        ],
    }
