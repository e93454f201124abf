"""The bundled model answers at the terminal on a machine without any network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

from tests.runtime.cli.commands import command

NO_NETWORK = ("unshare", "--user", "--map-root-user", "--net")


def _cut_off() -> list[str]:
    """What puts a command into a network name space with nothing in it, where the system allows that."""
    if not shutil.which("unshare"):
        return []
    allowed = subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False).returncode == 0
    return list(NO_NETWORK) if allowed else []


def test_the_bundled_model_answers_without_a_network() -> None:
    ran = subprocess.run(
        [*_cut_off(), *command("ask", "Say hello in five words.", "--json")],
        capture_output=True,
        env=os.environ | {"NO_PROXY": "*"},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    kinds = [event["type"] for event in found]
    assert "response_chunk" in kinds
    assert found[-1]["type"] == "done"
    assert found[-1]["reason"] == "complete"
    assert found[-1]["usage"]["completion"] > 0
    assert "".join(event["text"] for event in found if event["type"] == "response_chunk").strip()
    assert ran.stderr == b""
