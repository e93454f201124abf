"""Code in the real machine for it: little memory, few processes, and nothing that outlives a run."""

from __future__ import annotations

import time

import pytest

from sandbox.errors import SandboxError
from sandbox.files import GuestFiles
from sandbox.shell import GuestShell
from tests.sandbox.conftest import Stage


@pytest.fixture(scope="module")
def code(code_machine: Stage) -> GuestShell:
    return GuestShell(code_machine.guest.control)


def test_code_runs_in_little_memory_and_the_guest_lives_on(code_machine: Stage, code: GuestShell) -> None:
    ran = code_machine.run(code.execute("import os\nprint(os.getcwd(), 'DISPLAY' in os.environ)", "python"))
    assert ran.output == "/workspace False\n"
    ran = code_machine.run(code.execute("print('on', flush=True)\nx = bytearray(900_000_000)", "python"))
    assert (ran.output, ran.code, ran.out_of_memory) == ("on\n", -9, True)
    assert code_machine.run(code.execute("echo well", "bash")).output == "well\n"


def test_nothing_that_code_starts_outlives_it(code_machine: Stage, code: GuestShell) -> None:
    hides = """setsid -f sleep 4321
(setsid nohup sleep 4321 >/dev/null 2>&1 &)
python3 -c 'import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execlp("sleep", "sleep", "4321")'
until [ $(pgrep -fc '^sleep 4321$') = 3 ]; do :; done
echo hidden
"""
    assert code_machine.run(code.execute(hides, "bash", timeout=30)).output == "hidden\n"
    assert code_machine.run(code.execute("pgrep -f '^sleep 4321$'; true", "bash")).output == ""


def test_a_bomb_of_processes_is_contained(code_machine: Stage, code: GuestShell) -> None:
    ran = code_machine.run(code.execute(":(){ :|:& };:\nsleep 1000", "bash", timeout=3), 100)
    assert ran.stopped in ("time", "")
    deadline = time.monotonic() + 30
    answer = ""
    while answer != "well\n" and time.monotonic() < deadline:
        try:
            answer = code_machine.run(code.execute("echo well", "bash")).output
        except SandboxError:
            continue
    assert answer == "well\n"


def test_a_full_disk_is_an_answer(code_machine: Stage, code: GuestShell) -> None:
    ran = code_machine.run(
        code.execute("head -c 500000000 /dev/zero >/tmp/full; echo $?; rm /tmp/full", "bash")
    )
    assert "No space left on device" in ran.output or ran.out_of_memory
    files = GuestFiles(code_machine.guest.bulk, anywhere=True)

    async def fill() -> None:
        with pytest.raises(SandboxError) as caught:
            await files.write("/run/full", bytes(40_000_000))
        assert caught.value.code in ("guest_disk_full", "guest_file_forbidden")

    code_machine.run(fill())
    assert code_machine.run(code.execute("echo well", "bash")).output == "well\n"
