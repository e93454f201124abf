"""How the file tools report: a change with its diff for the window, or a refusal the model can act on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from resources.sentences import sentence
from runtime.changes import ChangeSet, Origin
from runtime.pathnames import WorkspaceError
from runtime.tools.tool import Failure, FailureKind, Result, ToolContext, ok

_ARGUMENTS = ("workspace_path_", "workspace_name_", "edit_", "search_pattern", "text_")


def origin(context: ToolContext) -> Origin:
    """Who makes the change, for its record."""
    return Origin(context.session, context.turn, context.call)


def refused(error: WorkspaceError) -> Failure:
    """A refusal as a value; `invalid` when other arguments would help."""
    kind: FailureKind = "invalid" if error.code.startswith(_ARGUMENTS) else "error"
    return Failure(kind, sentence(error.code, **error.fields), {"code": error.code, "fields": error.fields})


async def changed(context: ToolContext, change: Callable[[], ChangeSet], did: str) -> Result:
    """Run a change in a thread and report it with {"diff", "files", "change"}; `did` begins the sentence."""

    def run() -> tuple[ChangeSet, str]:
        made = change()
        return made, context.workspace.diff_text(made)

    try:
        made, diff = await asyncio.to_thread(run)
    except WorkspaceError as error:
        return refused(error)
    if not made.id:
        return ok("Nothing had to change: the file is exactly so already.")
    return ok(f"{did} {', '.join(made.files)}.", diff=diff, files=list(made.files), change=made.id)


async def previewed(preview: Callable[[], str]) -> str:
    """A preview made in a thread; a change that will be refused shows the reason instead."""
    try:
        return await asyncio.to_thread(preview)
    except WorkspaceError as error:
        return sentence(error.code, **error.fields)
