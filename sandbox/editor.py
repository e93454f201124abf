"""The text editor of the sandbox as models know it: its commands, and its answers word for word."""

from __future__ import annotations

import posixpath
from collections import OrderedDict
from dataclasses import dataclass

from sandbox.errors import SandboxError
from sandbox.files import GuestFiles
from sandbox.picture_kind import picture_kind

HOME = "/workspace"
AROUND = 4
"""Lines shown before and after a change."""

LONGEST = 5_000_000
SHOWN = 100_000
"""Bytes of a file that is edited, and characters that are shown of it."""

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
LARGEST_PICTURE = 5_000_000
MOST_ENTRIES = 2_000

MOST_FILES, MOST_STEPS, MOST_KEPT = 50, 20, 20_000_000


class EditorFault(Exception):
    """What was wrong, in words for the model."""


@dataclass(frozen=True, slots=True)
class Viewed:
    """The answer to a command: `text`, and of a picture its encoded bytes."""

    text: str
    picture: bytes = b""


class Past:
    """What files were before their changes, so that these can be taken back; bounded, the oldest go first."""

    def __init__(self) -> None:
        self._steps: OrderedDict[str, list[bytes | None]] = OrderedDict()

    def keep(self, path: str, before: bytes | None) -> None:
        """Remember a step; None for a file that was not there."""
        self._steps.setdefault(path, []).append(before)
        self._steps.move_to_end(path)
        del self._steps[path][:-MOST_STEPS]
        while len(self._steps) > MOST_FILES or (len(self._steps) > 1 and self._size() > MOST_KEPT):
            self._steps.popitem(last=False)

    def last(self, path: str) -> bytes | None:
        """What the file was before its last change. Raises EditorFault."""
        if not self._steps.get(path):
            raise EditorFault(f"No edit history found for {path}.")
        return self._steps[path][-1]

    def forget(self, path: str) -> None:
        """The last change was taken back."""
        self._steps[path].pop()

    def _size(self) -> int:
        return sum(len(step or b"") for steps in self._steps.values() for step in steps)


class Editor:
    """Edits through `files`, which must be those of the whole machine. Every command raises EditorFault, and
    SandboxError or PeerGone of the files."""

    def __init__(self, files: GuestFiles, past: Past) -> None:
        self._files, self._past = files, past

    async def view(self, path: str, view_range: list[int] | None = None) -> Viewed:
        """A file with numbered lines, a picture, or a folder two levels deep."""
        path = _checked(path)
        found = await self._files.look(path)
        kind, size = found if found is not None else ("", 0)
        if kind == "link":
            kind = "folder" if await self._is_folder(path) else "file"
        if not kind:
            raise EditorFault(f"The path {path} does not exist. Please provide a valid path.")
        if kind == "folder":
            if view_range is not None:
                raise EditorFault(
                    "The `view_range` parameter is not allowed when `path` points to a directory."
                )
            return Viewed(await self._tree(path))
        if path.lower().endswith(PICTURES):
            if size > LARGEST_PICTURE:
                raise EditorFault(f"The picture {path} has {size} bytes, more than can be shown.")
            data = (await self._files.read(path, limit=LARGEST_PICTURE)).data
            if not picture_kind(data):
                raise EditorFault(f"{path} is no picture that can be shown, whatever it is called.")
            return Viewed(f"The picture {path}, {len(data)} bytes.", data)
        return Viewed(_output(*_piece(_text(await self._read(path), path), view_range), path))

    async def create(self, path: str, file_text: str) -> str:
        """Write a whole file, also over one that is there."""
        path = _checked(path)
        found = await self._files.look(path)
        before = None if found is None else await self._read(path)
        await self._write(path, file_text)
        self._past.keep(path, before)
        return f"File {'created' if found is None else 'overwritten'} successfully at: {path}"

    async def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """Replace the one place where `old_str` stands."""
        path = _checked(path)
        data = await self._read(path)
        text = _text(data, path)
        old, new = _like(text, old_str), _like(text, new_str)
        if not old:
            raise EditorFault("No replacement was performed, `old_str` is empty. To add text, use insert.")
        count = text.count(old)
        if not count:
            raise EditorFault(
                f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}."
            )
        if count > 1:
            lines = _lines_with(text, old)
            raise EditorFault(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines {lines}."
                " Please ensure it is unique"
            )
        at = text.index(old)
        changed = text[:at] + new + text[at + len(old) :]
        await self._write(path, changed)
        self._past.keep(path, data)
        first = text.count("\n", 0, at)
        return _edited(path, changed, first, first + new.count("\n"))

    async def insert(self, path: str, insert_line: int, text: str) -> str:
        """Put `text` after line `insert_line`, 0 for the beginning."""
        path = _checked(path)
        data = await self._read(path)
        before = _text(data, path)
        lines = before.split("\n")
        count = len(lines) - 1 if before.endswith("\n") or not before else len(lines)
        if not 0 <= insert_line <= count:
            raise EditorFault(
                f"Invalid `insert_line` parameter: {insert_line}. It should be within the range of lines of "
                f"the file: {[0, count]}"
            )
        added = text.removesuffix("\n").split("\n")
        if _like(before, "\n") == "\r\n":
            added = [line.removesuffix("\r") + "\r" for line in added]
        changed = "\n".join([*lines[:insert_line], *added, *lines[insert_line:]])
        await self._write(path, changed)
        self._past.keep(path, data)
        return _edited(path, changed, insert_line, insert_line + len(added) - 1)

    async def undo_edit(self, path: str) -> str:
        """Take the last change of a file back."""
        path = _checked(path)
        before = self._past.last(path)
        if before is None:
            await self._files.remove(path)
        else:
            await self._files.write(path, before)
        self._past.forget(path)
        if before is None:
            return f"Last edit to {path} undone successfully. The file is gone, as it was before."
        shown = _output(*_piece(before.decode("utf-8", "replace"), None), path)
        return f"Last edit to {path} undone successfully. {shown}"

    async def _is_folder(self, path: str) -> bool:
        try:
            await self._files.list(path, hashes=False, limit=1, depth=1)
        except SandboxError:
            return False
        return True

    async def _tree(self, path: str) -> str:
        listing = await self._files.list(path, hashes=False, limit=MOST_ENTRIES * 5, depth=2)
        above = posixpath.dirname(f"/{listing.entries[0].path}") if listing.entries else "/"
        shown = [path]
        for entry in listing.entries:
            inner = f"/{entry.path}"[len(above) :].strip("/")
            if not any(part.startswith(".") or part == "node_modules" for part in inner.split("/")):
                shown.append(posixpath.join(path, inner) + ("/" if entry.kind == "folder" else ""))
        text = "\n".join(shown[:MOST_ENTRIES])
        more = "" if listing.complete and len(shown) <= MOST_ENTRIES else "\n[There is more than is shown.]"
        return (
            f"Here's the files and directories up to 2 levels deep in {path}, excluding hidden items "
            f"and node_modules:\n"
            f"{text}{more}\n"
        )

    async def _read(self, path: str) -> bytes:
        found = await self._files.look(path)
        if found is None:
            raise EditorFault(f"The path {path} does not exist. Please provide a valid path.")
        if found[0] == "folder":
            raise EditorFault(
                f"The path {path} is a directory and only the `view` command can be used on directories"
            )
        return (await self._files.read(path, limit=LONGEST)).data

    async def _write(self, path: str, text: str) -> None:
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise EditorFault("The text has half a character in it and cannot be written.") from error
        if len(data) > LONGEST:
            raise EditorFault(f"The text has {len(data)} bytes; at most {LONGEST} are written.")
        await self._files.write(path, data)


def _checked(path: str) -> str:
    if not path.startswith("/"):
        suggested = posixpath.normpath(posixpath.join(HOME, path))
        raise EditorFault(
            f"The path {path} is not an absolute path, it should start with `/`. Maybe you meant {suggested}?"
        )
    return posixpath.normpath(path).replace("//", "/", 1)


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditorFault(
            f"{path} is not UTF-8 text (at byte {error.start}), so it is not edited."
        ) from error


def _like(text: str, given: str) -> str:
    """`given` with the ends of lines that `text` has throughout."""
    windows = "\r\n" in text and text.count("\n") == text.count("\r\n") and "\r\n" not in given
    return given.replace("\n", "\r\n") if windows else given


def _lines_with(text: str, wanted: str) -> list[int]:
    found, at = [], text.find(wanted)
    while at >= 0:
        found.append(text.count("\n", 0, at) + 1)
        at = text.find(wanted, at + 1)
    return found


def _piece(text: str, view_range: list[int] | None) -> tuple[str, int]:
    """The wanted lines and the number of the first."""
    if view_range is None:
        return text, 1
    lines = text.split("\n")
    count = len(lines)
    if len(view_range) != 2:
        raise EditorFault("Invalid `view_range`. It should be a list of two integers.")
    first, last = view_range
    wrong = f"Invalid `view_range`: {view_range}."
    if not 1 <= first <= count:
        raise EditorFault(
            f"{wrong} Its first element `{first}` should be within the range of lines of the file: "
            f"{[1, count]}"
        )
    if last > count:
        raise EditorFault(
            f"{wrong} Its second element `{last}` should be smaller than the number of lines in the file: "
            f"`{count}`"
        )
    if last != -1 and last < first:
        raise EditorFault(
            f"{wrong} Its second element `{last}` should be larger or equal than its first `{first}`"
        )
    return "\n".join(lines[first - 1 : None if last == -1 else last]), first


def _numbered(text: str, first: int) -> str:
    cut = text[:SHOWN]
    shown = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(cut.split("\n"), first))
    rest = len(text) - len(cut)
    return f"{shown}\n[{rest} more characters are not shown; use view_range.]" if rest else shown


def _output(text: str, first: int, path: str) -> str:
    return f"Here's the result of running `cat -n` on {path}:\n{_numbered(text, first)}\n"


def _edited(path: str, text: str, first: int, last: int) -> str:
    start = max(0, first - AROUND)
    snippet = "\n".join(text.split("\n")[start : last + AROUND + 1])
    return (
        f"The file {path} has been edited. Here's the result of running `cat -n` on a snippet of {path}:\n"
        f"{_numbered(snippet, start + 1)}\n"
        "Review the changes and make sure they are as expected. Edit the file again if necessary."
    )
