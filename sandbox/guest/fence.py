"""Takes from a process and all that it starts the way to be somebody else in a namespace of its own.

Docker's own filter of system calls forbids that, Podman's does not: it trusts that whoever has no rights
outside such a namespace needs none inside, and much of the kernel is within reach there. Run as a program,
it puts the fence up and becomes the command it is given.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from typing import NamedTuple

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _AT_LEAST, _HAS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NUMBER_AT, _MACHINE_AT, _FLAGS_AT = 0, 4, 16
_NEW_USER = 0x10000000
_X32 = 0x40000000
"""From here on the numbers are those of another interface of x86-64, which nothing here uses."""


class _Machine(NamedTuple):
    """The numbers of a processor: its own one and those of the calls."""

    number: int
    clone: int
    unshare: int
    setns: int
    clone3: int = 435


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 56, 272, 308),
    "aarch64": _Machine(0xC00000B7, 220, 97, 268),
    "riscv64": _Machine(0xC00000F3, 220, 97, 268),
}


class _Program(ctypes.Structure):
    """`struct sock_fprog` of linux/filter.h."""

    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def put_up(machine: str = "") -> None:
    """Put it up around the calling thread and what it starts from now on; nothing takes it down again.
    Raises OSError where the kernel or the processor does not allow for it."""
    steps = program(machine or os.uname().machine)
    libc = ctypes.CDLL(None, use_errno=True)
    held = _Program(len(steps) // 8, steps)
    for arguments in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, ctypes.byref(held), 0, 0)):
        if libc.prctl(*arguments) != 0:
            code = ctypes.get_errno()
            raise OSError(code, f"no fence around the programs: {os.strerror(code)}")


def program(machine: str) -> bytes:
    """The filter for a processor, by the name that the kernel has for it: steps of 8 bytes of classic BPF
    over `struct seccomp_data`. OSError for one that is not known."""
    found = _MACHINES.get(machine)
    if found is None:
        raise OSError(errno.ENOTSUP, f"no fence is known for {machine}")
    refused, unknown = _REFUSE | errno.EPERM, _REFUSE | errno.ENOSYS
    steps = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_EQUAL, 0, 8, found.number),  # programs for another processor: refused
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 7, 0, _X32),
        (_EQUAL, 5, 0, found.setns),
        (_EQUAL, 5, 0, found.clone3),  # its flags cannot be read here; the C library then takes clone
        (_EQUAL, 1, 0, found.unshare),
        (_EQUAL, 0, 4, found.clone),
        (_LOAD, 0, 0, _FLAGS_AT),
        (_HAS, 0, 2, _NEW_USER),
        (_RETURN, 0, 0, refused),
        (_RETURN, 0, 0, unknown),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


if __name__ == "__main__":
    put_up()
    os.execvp(sys.argv[1], sys.argv[1:])
