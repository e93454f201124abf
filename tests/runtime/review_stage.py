"""A user's folder, a copy of it and the review between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runtime.proposals import Proposal
from runtime.review import Review
from runtime.synced_workspace import SyncedWorkspace
from runtime.workspace import Limits, Workspace
from tests.runtime.folder_copy import FolderCopy, files


class Stage:
    """A user's folder, a copy and the review between them."""

    def __init__(self, folder: Path, limits: Limits | None = None, **how: Any) -> None:
        self.folder = folder
        self.limits = limits
        self.how = how
        self.host = folder / "host"
        self.copy = FolderCopy(folder / "copy")
        self.told: list[tuple[str, int]] = []
        self.restart()

    def restart(self, *, attached: bool = True) -> None:
        """A new process with the same home."""
        workspace = Workspace.create(self.host, self.folder / "changes", self.limits)
        synced = SyncedWorkspace(workspace, **self.how)
        self.review = Review(workspace, self.folder / "changes", told=self._tell, synced=synced)
        if attached:
            self.review.attach(self.copy, "volume 1")

    def _tell(self, session: str, count: int) -> None:
        self.told.append((session, count))

    def put(self, path: str, content: str | bytes, root: Path | None = None) -> None:
        target = (root or self.copy.root) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def user(self, path: str, content: str | bytes) -> None:
        self.put(path, content, self.host)

    async def begun(self, **contents: str) -> None:
        """The user's files, sent to the copy; `_` in a name stands for a dot."""
        for name, content in contents.items():
            self.user(name.replace("_", "."), content)
        await self.review.push()

    async def worked(self, turn: str = "t1") -> tuple[Proposal, ...]:
        await self.review.collect("s1", turn)
        return self.review.pending

    def equal(self) -> bool:
        return files(self.host) == files(self.copy.root)
