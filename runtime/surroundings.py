"""What the agent's computer has around it: its process, and for an action the place it runs in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from runtime.network import Network
from runtime.paths import Home
from runtime.settings import Sandbox
from runtime.workspace import Workspace

if TYPE_CHECKING:
    from runtime.session import Session
    from sandbox.channel import Guest
    from sandbox.computer import Computer


@dataclass(frozen=True, slots=True)
class Place:
    """Where an action runs: the guest of the desktop with its computer, or the guest for code with none."""

    guest: Guest
    computer: Computer | None


class Surroundings(Protocol):
    """What the computer needs of its process."""

    home: Home
    door: str
    network: Network

    @property
    def workspace(self) -> Workspace: ...

    @property
    def sandbox(self) -> Sandbox:
        """The settings as they are now."""
        ...

    def working(self, session: str) -> Session | None:
        """The open session of that id."""
        ...
