"""What one check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """`what` was found under `name`, and how to `mend` it; `mend` is empty when there is nothing to do.

    fail: the program cannot do its work. warn: a part is missing that it can do without.
    """

    name: str
    status: Status
    what: str
    mend: str = ""

    def as_dict(self) -> dict[str, str]:
        """The check as plain data."""
        return {"name": self.name, "status": self.status, "what": self.what, "mend": self.mend}
