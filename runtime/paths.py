"""Where the user's data lives on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_dir

from runtime.errors import OrionError


@dataclass(frozen=True, slots=True)
class Home:
    """The folders of one installation; `ORION_HOME` moves all, `ORION_WORKSPACE_PATH` the workspace."""

    root: Path
    workspace: Path

    @property
    def settings_file(self) -> Path:
        return self.root / "settings.yaml"

    @property
    def rules_file(self) -> Path:
        return self.root / "rules.json"

    @property
    def network_file(self) -> Path:
        return self.root / "network.yaml"

    @property
    def keys_file(self) -> Path:
        """Which keys lie in the system's keyring; never a key."""
        return self.root / "keys.yaml"

    @property
    def exams_file(self) -> Path:
        """What exams found out about the model files."""
        return self.root / "exams.json"

    @property
    def profiles(self) -> Path:
        return self.root / "profiles"

    @property
    def sessions(self) -> Path:
        return self.root / "sessions"

    @property
    def index(self) -> Path:
        return self.root / "index.db"

    @property
    def usage_file(self) -> Path:
        """The record of model calls, without anything that was said."""
        return self.root / "usage.db"

    @property
    def changes(self) -> Path:
        return self.root / "changes"

    @property
    def weights(self) -> Path:
        return self.root / "weights"

    @property
    def models_file(self) -> Path:
        """Which model files are used where they lie."""
        return self.root / "models.yaml"

    @property
    def downloads(self) -> Path:
        """What is being fetched; nothing here is used as a model."""
        return self.root / "downloads"

    @property
    def cache(self) -> Path:
        """What may be deleted at any time."""
        return self.root / "cache"

    @property
    def audit(self) -> Path:
        return self.root / "audit"

    @property
    def states(self) -> Path:
        """What engines keep of conversations; a cache that may be deleted at any time."""
        return self.root / "cache" / "states"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    def create(self) -> None:
        """Make the folders. Raises OrionError `home_unwritable` when the place cannot be written."""
        folders = (self.profiles, self.sessions, self.changes, self.weights, self.audit, self.logs)
        for folder in (self.root, *folders, self.workspace):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OrionError(
                    "home_unwritable", path=str(folder), reason=error.strerror or type(error).__name__
                ) from error


def find_home(root: Path | None = None) -> Home:
    """The home at `root`, at `ORION_HOME`, or at the platform's place for user data."""
    chosen = root or Path(os.environ.get("ORION_HOME") or user_data_dir("Orion", appauthor=False))
    chosen = chosen.expanduser().absolute()
    workspace = os.environ.get("ORION_WORKSPACE_PATH")
    return Home(chosen, Path(workspace).expanduser().absolute() if workspace else chosen / "workspace")
