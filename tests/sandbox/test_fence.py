"""Behind the fence nobody becomes somebody else in a namespace of its own, and all else works as before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.guest import fence

FENCE = [sys.executable, "-I", "-S", str(Path(fence.__file__))]

TRIED = """
import ctypes, errno, os, signal
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    made = libc.syscall(number, *arguments)
    if made == 0 and number == {clone}:
        os._exit(0)
    print("made" if made >= 0 else errno.errorcode[ctypes.get_errno()])
call({unshare}, 0x10000000)
call({unshare}, 0x10000000 | 0x00020000)
call({clone}, 0x10000000 | signal.SIGCHLD, None, None, None, None)
call({setns}, os.open("/proc/self/ns/uts", os.O_RDONLY), 0)
call(435, None, 0)
call({clone}, signal.SIGCHLD, None, None, None, None)
"""


def _behind(*command: str) -> str:
    done = subprocess.run([*FENCE, *command], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_namespace_of_users_is_made_or_entered() -> None:
    numbers = fence._MACHINES[os.uname().machine]._asdict()
    said = _behind(sys.executable, "-c", TRIED.format(**numbers)).split()
    assert said == ["EPERM", "EPERM", "EPERM", "EPERM", "ENOSYS", "made"]


def test_threads_and_programs_begin_as_ever() -> None:
    code = """
import subprocess, threading
thread = threading.Thread(target=print, args=("thread",), daemon=True)
thread.start(); thread.join()
print(subprocess.run(["echo", "program"], capture_output=True, text=True).stdout.strip())
print(subprocess.run("echo shell", shell=True, capture_output=True, text=True).stdout.strip())
"""
    assert _behind(sys.executable, "-c", code).split() == ["thread", "program", "shell"]


def test_what_is_started_from_behind_it_is_behind_it() -> None:
    unshare = fence._MACHINES[os.uname().machine].unshare
    code = f"import ctypes; print(ctypes.CDLL(None).syscall({unshare}, 0x10000000))"
    assert _behind("sh", "-c", f"{sys.executable} -c '{code}'").strip() == "-1"


def test_a_processor_that_is_not_known_gets_no_fence() -> None:
    with pytest.raises(OSError, match="no fence is known for vax"):
        fence.program("vax")
