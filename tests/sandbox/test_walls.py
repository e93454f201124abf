"""What runs in the machine tries to get out, up and at others: nothing of it works, the host stays usable."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox.container import MachineConfig
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.machine import Machine

Configure = Callable[[str], MachineConfig]

HELPER = """
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)

def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))

def attempt(work):
    try:
        work()
    except OSError as error:
        print("held", errno.errorcode.get(error.errno or 0, str(error)))
    else:
        print("escaped")
"""

DENIED = {"EPERM", "EACCES", "EROFS", "ENOSYS"}

PROBES = {
    "a raw socket": ("socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)", DENIED),
    "a packet socket": ("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", {*DENIED, "EAFNOSUPPORT"}),
    "a network elsewhere": ("socket.create_connection(('192.0.2.1', 80), 3)", {"ENETUNREACH"}),
    "a network elsewhere by IPv6": (
        "socket.create_connection(('2001:db8::1', 80), 3)",
        {"ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"},
    ),
    "a datagram": (
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
        {"ENETUNREACH"},
    ),
    "a mount": ("call(165, b'none', b'/tmp', b'tmpfs', 0, None)", DENIED),
    "an unmount": ("call(166, b'/workspace', 2)", DENIED),
    "another root": ("os.chroot('/tmp')", DENIED),
    "a namespace of users": ("call(272, 0x10000000)", DENIED),
    "a namespace of mounts": ("call(272, 0x00020000)", DENIED),
    "the namespaces of the first process": (
        "call(308, os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)",
        DENIED,
    ),
    "the super-user": ("os.setuid(0)", DENIED),
    "the super-user's group": ("os.setgroups([0])", DENIED),
    "a file of the root": ("open('/etc/orion-was-here', 'w')", {"EROFS", "EACCES"}),
    "the guest's own program": ("open('/opt/orion/sandbox/guest/peer.py', 'a')", {"EROFS", "EACCES"}),
    "the start of the machine": ("open('/opt/orion/start', 'a')", {"EROFS", "EACCES"}),
    "a setting of the kernel": ("open('/proc/sys/kernel/core_pattern', 'w')", {"EROFS", "EACCES"}),
    "the emergency key": ("open('/proc/sysrq-trigger', 'w')", {"EROFS", "EACCES", "ENOENT"}),
    "the kernel's memory": ("open('/dev/mem', 'rb')", {"ENOENT", "EACCES"}),
    "the kernel's log": ("call(103, 3, ctypes.create_string_buffer(64), 64)", DENIED),
    "a device node": ("os.mknod('/tmp/disk', 0o60600, os.makedev(8, 0))", DENIED),
    "a module of the kernel": ("call(175, b'', 0, b'')", DENIED),
    "another kernel": ("call(246, 0, 0, 0, 0)", DENIED),
    "a program in the kernel": ("call(321, 0, ctypes.create_string_buffer(64), 64)", DENIED),
    "a restart": ("call(169, 0xfee1dead, 672274793, 0x1234567, None)", DENIED),
    "the clock": ("time_was = __import__('time').clock_settime(0, 0)", DENIED),
    "a handle of a file": (
        "call(304, os.open('/workspace', os.O_RDONLY), ctypes.create_string_buffer(32), 0)",
        DENIED,
    ),
    "more priority": ("os.nice(-10)", DENIED),
    "fewer limits": ("__import__('resource').setrlimit(7, (2**30, 2**30))", {*DENIED, "not allowed"}),
}
"""What is tried (system calls by their numbers on x86-64), and the ways in which it may be refused."""


FENCED = ["python3", "-I", "-S", "/opt/orion/sandbox/guest/fence.py"]
"""Before a command: as the guest and the start of the machine run everything."""


def _inside(engine: Engine, thing: Any, code: str, user: str = "") -> str:
    """What Python prints in the container."""
    command = [*FENCED, "python3", "-I", "-c", HELPER + textwrap.dedent(code)]
    done = asyncio.run(engine.call(lambda client: thing.exec_run(command, user=user)))
    return bytes(done.output).decode("utf-8", "replace").strip()


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of the calls are those of x86-64")
@pytest.mark.parametrize("what", PROBES)
def test_the_machine_gets_nothing_it_should_not_have(engine: Engine, bare_container: Any, what: str) -> None:
    action, ways = PROBES[what]
    said = _inside(engine, bare_container, f"attempt(lambda: {action.removeprefix('time_was = ')})")
    word, _, way = said.rpartition("\n")[2].partition(" ")
    if "not allowed" in said:
        word, way = "held", "not allowed"
    assert (word, way in ways) == ("held", True), said


def test_a_process_has_no_capability_and_can_get_none(engine: Engine, bare_container: Any) -> None:
    status = dict(
        line.split(":\t", 1)
        for line in _inside(engine, bare_container, "print(open('/proc/self/status').read())").splitlines()
        if ":\t" in line
    )
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[kind], 16) == 0, kind
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert status["Uid"].split() == ["1000"] * 4


def test_a_program_with_the_set_user_bit_stays_who_it_is(engine: Engine, bare_container: Any) -> None:
    said = _inside(
        engine,
        bare_container,
        """
        import subprocess
        mount = ["mount", "-t", "tmpfs", "x", "/tmp"]
        for command in (["su", "-c", "id -u"], ["newgrp", "root"], mount):
            done = subprocess.run(command, input=b"\\n", capture_output=True, timeout=20)
            print("escaped" if done.returncode == 0 and b"0" in done.stdout.split() else "held")
        """,
    )
    assert said.split() == ["held"] * 3


def test_there_is_no_network_but_the_machine_itself(engine: Engine, bare_container: Any) -> None:
    said = _inside(
        engine,
        bare_container,
        """
        print(*sorted(name for _number, name in socket.if_nameindex()))
        try:
            socket.getaddrinfo("example.com", 80)
            print("escaped")
        except socket.gaierror:
            print("held")
        """,
    )
    assert said.splitlines() == ["lo", "held"]


def test_no_engine_listens_inside(engine: Engine, bare_container: Any) -> None:
    said = _inside(
        engine,
        bare_container,
        """
        import stat
        found = []
        for folder, _folders, files in os.walk("/", onerror=None):
            if folder.startswith(("/proc", "/sys")):
                continue
            for name in files:
                path = os.path.join(folder, name)
                try:
                    if stat.S_ISSOCK(os.lstat(path).st_mode):
                        found.append(path)
                except OSError:
                    pass
        print(*sorted(found))
        """,
    )
    for path in said.split():
        assert path.startswith(("/tmp/.X11-unix/", "/run/orion/", "/tmp/dbus-")), path


def test_no_file_of_the_host_is_there(engine: Engine, bare_container: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the host", encoding="utf-8")
    said = _inside(
        engine,
        bare_container,
        f"""
        print(os.path.exists({str(secret)!r}))
        print(os.path.exists("/proc/1/root" + {str(secret)!r}))
        print(*sorted({{line.split()[1] for line in open("/proc/mounts")}}))
        """,
    ).splitlines()
    assert said[:2] == ["False", "False"]
    allowed = ("/proc", "/sys", "/dev")
    ours = {"/", "/tmp", "/run", "/var/tmp", "/home/orion", "/workspace", "/sbin/docker-init"}
    ours |= {"/usr/sbin/docker-init", "/run/podman-init", "/etc/resolv.conf", "/etc/hostname", "/etc/hosts"}
    assert [place for place in said[2].split() if place not in ours and not place.startswith(allowed)] == []


def test_devices_are_the_harmless_ones(engine: Engine, bare_container: Any) -> None:
    said = _inside(engine, bare_container, "print(*sorted(os.listdir('/dev')))")
    harmless = {"console", "core", "fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm"}
    harmless |= {"stderr", "stdin", "stdout", "tty", "urandom", "zero"}
    assert set(said.split()) <= harmless


def test_processes_outside_cannot_be_seen_or_traced(engine: Engine, bare_container: Any) -> None:
    """Neither those of the host nor those of another user in the container, such as the watch of the disk."""
    command = ["sleep", "60"]
    stranger = "65534:65534"
    asyncio.run(engine.call(lambda client: bare_container.exec_run(command, user=stranger, detach=True)))
    said = _inside(
        engine,
        bare_container,
        f"""
        import signal
        print(os.path.exists("/proc/{os.getpid()}/cmdline")
              and b"pytest" in open("/proc/{os.getpid()}/cmdline", "rb").read())
        for name in os.listdir("/proc"):
            if name.isdigit() and os.stat("/proc/" + name).st_uid == 65534:
                attempt(lambda: os.kill(int(name), signal.SIGKILL))
                attempt(lambda: call(101, 16, int(name), 0, 0))
                attempt(lambda: open(f"/proc/{{name}}/mem", "rb"))
                attempt(lambda: open(f"/proc/{{name}}/environ", "rb").read())
        """,
    ).splitlines()
    assert said[0] == "False"
    assert len(said) >= 5
    assert all(line in ("held EPERM", "held EACCES") for line in said[1:]), said


def test_the_numbers_of_the_limits_are_the_kernels_too(engine: Engine, bare_container: Any) -> None:
    made = asyncio.run(engine.call(lambda client: client.api.inspect_container(bare_container.id)))[
        "HostConfig"
    ]
    said = _inside(
        engine,
        bare_container,
        """
        for place in ("pids/pids.max", "pids.max"):
            try:
                print(open("/sys/fs/cgroup/" + place).read().strip())
            except OSError:
                pass
        for place in ("memory/memory.limit_in_bytes", "memory.max"):
            try:
                print(open("/sys/fs/cgroup/" + place).read().strip())
            except OSError:
                pass
        """,
    )
    assert said.splitlines() == [str(made["PidsLimit"]), str(made["Memory"])]


# --- last: what would take the host down ------------------------------------------------------------------


@contextmanager
def _bombed(engine: Engine, config: MachineConfig) -> Iterator[Any]:
    """A small machine that ends after a while whatever happens in it."""
    machine = Machine(engine, config)
    thing = asyncio.run(machine.up())
    client = engine.make(10)
    watchdog = threading.Timer(60, client.api.kill, [thing.id])
    watchdog.start()
    try:
        yield thing
    finally:
        watchdog.cancel()
        watchdog.join()
        asyncio.run(engine.call(lambda client: _killed(client, thing.id)))
        asyncio.run(machine.reset())
        client.close()


def _killed(client: Any, number: str) -> None:
    import docker.errors

    try:
        client.api.kill(number)
    except docker.errors.APIError:
        return


def _small(config: Configure, name: str, **other: Any) -> MachineConfig:
    limits = {"desktop": False, "memory_mb": 256, "cpus": 0.5, "pids": 128}
    return MachineConfig(**{**vars(config(name)), **limits, **other})


def _let_go(engine: Engine, thing: Any, code: str) -> None:
    asyncio.run(engine.call(lambda client: thing.exec_run(["python3", "-I", "-c", code], detach=True)))


def _host_is_usable(engine: Engine, other: Any) -> None:
    """A program of the host and one in another machine answer in time."""
    began = time.monotonic()
    assert subprocess.run(["true"], timeout=20, check=False).returncode == 0
    assert _inside(engine, other, "print('here')") == "here"
    assert time.monotonic() - began < 20


def _stats(engine: Engine, thing: Any) -> dict[str, Any]:
    read = asyncio.run(engine.call(lambda client: client.api.stats(thing.id, stream=False, one_shot=True)))
    assert isinstance(read, dict)
    return read


def test_a_fork_bomb_stays_within_its_number(engine: Engine, config: Configure, bare_container: Any) -> None:
    bomb = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n"
    with _bombed(engine, _small(config, "fork")) as thing:
        _let_go(engine, thing, bomb)
        deadline = time.monotonic() + 30
        while (count := int(_stats(engine, thing)["pids_stats"]["current"])) < 100:
            assert time.monotonic() < deadline, f"only {count} processes"
        _host_is_usable(engine, bare_container)
        assert int(_stats(engine, thing)["pids_stats"]["current"]) <= 128


def test_a_memory_bomb_ends_alone(engine: Engine, config: Configure, bare_container: Any) -> None:
    bomb = "held = []\nwhile True:\n    held.append(bytearray(16 << 20))\n"
    with _bombed(engine, _small(config, "memory")) as thing:
        before = psutil.virtual_memory().available
        done = asyncio.run(engine.call(lambda client: thing.exec_run(["python3", "-I", "-c", bomb])))
        assert done.exit_code != 0
        assert psutil.virtual_memory().available > before - (2 << 30)
        _host_is_usable(engine, bare_container)


@pytest.mark.parametrize("place", ["/tmp", "/home/orion", "/var/tmp", "/dev/shm", "/run/orion"])
def test_a_writable_place_has_an_end(
    engine: Engine, config: Configure, bare_container: Any, place: str
) -> None:
    fill = f"""
    try:
        with open("{place}/fill", "wb") as file:
            for _ in range(4096):
                file.write(bytes(1 << 20))
                file.flush()
        print("escaped")
    except OSError as error:
        print("held", errno.errorcode[error.errno])
    """
    roomy = _small(config, f"fill{place.replace('/', '-')}", memory_mb=1024)
    with _bombed(engine, roomy) as thing:
        assert _inside(engine, thing, fill) == "held ENOSPC"
        _host_is_usable(engine, bare_container)


def test_filling_the_disk_ends_the_machine(engine: Engine, config: Configure, bare_container: Any) -> None:
    """The volume has no size of its own, so the watch ends the machine while the disk has room left."""
    chosen = _small(config, "disk", workspace_mb=96)
    fill = (
        "with open('/workspace/fill', 'wb') as file:\n    while True:\n        file.write(bytes(1 << 20))\n"
    )
    fill += "        file.flush()\n        __import__('time').sleep(0.005)\n"

    async def run() -> SandboxError:
        machine = Machine(engine, chosen)
        try:
            await machine.start()
            thing = await machine.up()
            await engine.call(lambda client: thing.exec_run(["python3", "-I", "-c", fill], detach=True))
            async with asyncio.timeout(60):
                return await machine.wait_lost()
        finally:
            await machine.reset()

    before = shutil.disk_usage("/").free
    lost = asyncio.run(run())
    assert lost.code == "workspace_full", json.dumps(lost.fields)
    assert int(lost.fields["used_mb"]) > 96
    assert before - shutil.disk_usage("/").free < 4 << 30
    _host_is_usable(engine, bare_container)
