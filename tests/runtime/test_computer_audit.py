"""What is entered beside the actions on the screen; a log that is damaged is not gone on with."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runtime.computer_audit import FILE, ComputerAudit
from runtime.errors import OrionError
from sandbox.audit import verify


def test_an_entry_says_who_did_what(tmp_path: Path) -> None:
    audit = ComputerAudit(tmp_path)
    asyncio.run(audit.enter("user", "take_wheel", {}, session="chat"))
    assert verify(tmp_path / FILE).records == 1
    assert '"who":"user"' in (tmp_path / FILE).read_text("ascii")


def test_a_damaged_log_stops_what_would_be_entered(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("no record\n", "ascii")
    with pytest.raises(OrionError, match="audit_unwritable"):
        asyncio.run(ComputerAudit(tmp_path).enter("agent", "bash", {"command": "ls"}))
