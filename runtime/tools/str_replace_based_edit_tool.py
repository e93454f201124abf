"""The tool that views and edits text files on the agent's computer, as models were trained to."""

from __future__ import annotations

import base64
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from runtime.errors import OrionError
from runtime.messages import Image
from runtime.tools.computer_result import computer, refused
from runtime.tools.tool import Arguments, Definition, Failure, Result, ToolContext, ok

if TYPE_CHECKING:
    from runtime.agent_computer import Place
    from sandbox.editor import Editor, Past

MOST_SESSIONS = 16

_NEEDS = {
    "view": (),
    "create": ("file_text",),
    "str_replace": ("old_str",),
    "insert": ("insert_line",),
    "undo_edit": (),
}


class EditToolArguments(Arguments):
    command: Literal["view", "create", "str_replace", "insert", "undo_edit"] = Field(
        description="view: a file with numbered lines, a picture, or a folder two levels deep. create: "
        "write a whole file. str_replace: replace the one place where old_str stands. insert: add lines. "
        "undo_edit: take the last change of the file back."
    )
    path: str = Field(description="Absolute path, such as /workspace/notes/plan.md.")
    file_text: str | None = Field(default=None, description="For create: the whole content.")
    old_str: str | None = Field(default=None, description="For str_replace: exact text that stands once.")
    new_str: str | None = Field(
        default=None, description="For str_replace: what takes its place; nothing deletes it."
    )
    insert_line: int | None = Field(
        default=None, description="For insert: the line after which to add; 0 is the beginning."
    )
    insert_text: str | None = Field(default=None, description="For insert: the lines to add.")
    view_range: list[int] | None = Field(
        default=None, description="For view: first and last line, from 1; -1 is the end."
    )


class StrReplaceBasedEditTool:
    """Edits in the sandbox's copy; what reaches the user's folder is reviewed before."""

    def __init__(self) -> None:
        self._pasts: OrderedDict[str, Past] = OrderedDict()

    def definition(self) -> Definition:
        return Definition(
            name="str_replace_based_edit_tool",
            description=(
                "View, create and edit text files on your own computer, a Linux sandbox; the user's files "
                "are in /workspace."
            ),
            arguments=EditToolArguments,
            risk="medium",
            sandboxed=True,
            foreign=True,
        )

    async def execute(self, arguments: EditToolArguments, context: ToolContext) -> Result:
        if missing := _missing(arguments):
            command = arguments.command
            return Failure("invalid", f"Parameter `{missing}` is required for command: {command}")

        async def act(place: Place) -> Result:
            from sandbox.editor import Editor, EditorFault
            from sandbox.files import GuestFiles

            editor = Editor(GuestFiles(place.guest.bulk, anywhere=True), self._past(context.session))
            try:
                return await _done(editor, arguments)
            except EditorFault as fault:
                return Failure("invalid", str(fault))

        try:
            given = arguments.model_dump(exclude_none=True)
            log = {"call": context.call, "action": "edit", "arguments": given}
            return await computer(context).run(context.session, act, yields=False, log=log)
        except OrionError as error:
            return refused(error)

    async def preview(self, arguments: EditToolArguments, context: ToolContext) -> str:
        del context
        removed, added = "", ""
        match arguments.command:
            case "view" | "undo_edit":
                return ""
            case "create":
                added = arguments.file_text or ""
            case "str_replace":
                removed, added = arguments.old_str or "", arguments.new_str or ""
            case "insert":
                added = _inserted(arguments)
        where = f" after line {arguments.insert_line}" if arguments.command == "insert" else ""
        lines = [f"{arguments.command} {arguments.path}{where}"]
        lines += [f"-{line}" for line in removed.split("\n")] if removed else []
        lines += [f"+{line}" for line in added.split("\n")] if added else []
        return "\n".join(lines)

    def _past(self, session: str) -> Past:
        from sandbox.editor import Past

        found = self._pasts.pop(session, None) or Past()
        self._pasts[session] = found
        while len(self._pasts) > MOST_SESSIONS:
            self._pasts.popitem(last=False)
        return found


def _missing(arguments: EditToolArguments) -> str:
    given: dict[str, Any] = arguments.model_dump(exclude_none=True)
    absent = [name for name in _NEEDS[arguments.command] if name not in given]
    if arguments.command == "insert" and not {"insert_text", "new_str"} & given.keys():
        absent.append("insert_text")
    return absent[0] if absent else ""


def _inserted(arguments: EditToolArguments) -> str:
    """The lines to insert: older members of the tool call them `new_str`."""
    return arguments.insert_text if arguments.insert_text is not None else arguments.new_str or ""


def _pictures(data: bytes) -> tuple[Image, ...]:
    from sandbox.picture_kind import picture_kind

    return (Image(picture_kind(data), base64.b64encode(data).decode("ascii")),) if data else ()


async def _done(editor: Editor, arguments: EditToolArguments) -> Result:
    path = arguments.path
    match arguments.command:
        case "view":
            viewed = await editor.view(path, arguments.view_range)
            return ok(viewed.text, *_pictures(viewed.picture), path=path)
        case "create":
            return ok(await editor.create(path, arguments.file_text or ""), path=path)
        case "str_replace":
            return ok(
                await editor.str_replace(path, arguments.old_str or "", arguments.new_str or ""), path=path
            )
        case "insert":
            return ok(await editor.insert(path, arguments.insert_line or 0, _inserted(arguments)), path=path)
        case "undo_edit":
            return ok(await editor.undo_edit(path), path=path)
