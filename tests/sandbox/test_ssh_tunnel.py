"""An engine of another machine, through a real sshd on loopback with keys of the test's own."""

from __future__ import annotations

import asyncio
import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from sandbox.container import MachineConfig, code_machine
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.machine import Machine
from sandbox.shell import GuestShell
from sandbox.ssh_tunnel import SshTunnel
from tests.conftest import missing

PATIENCE = 20.0


@dataclass
class Remote:
    """A running sshd. `address` leads to it, `env` finds the engine there, with an ssh that knows it."""

    folder: Path
    address: str
    env: dict[str, str]

    def told(self, *options: str) -> dict[str, str]:
        """An environment whose ssh has further options."""
        folder = self.folder / f"bin-{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        program = folder / "ssh"
        words = " ".join(["/usr/bin/ssh", "-F", str(self.folder / "client"), *options])
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="ascii")
        program.chmod(0o700)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def remote(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """Another machine with this run's engine, reached by SSH."""
    daemon = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if daemon is None or shutil.which("ssh") is None or shutil.which("docker") is None:
        missing("sshd, ssh and docker")
    assert daemon is not None
    folder = tmp_path_factory.mktemp("remote")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd wants this empty folder, as its package makes it
    (folder / "server").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n"
        "PidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n"
        f"StrictModes no\nPermitRootLogin prohibit-password\nSetEnv DOCKER_HOST={engine.host}\n",
        encoding="ascii",
    )
    key = " ".join((folder / "host.pub").read_text("ascii").split()[:2])
    (folder / "known").write_text(f"[127.0.0.1]:{port} {key}\n", encoding="ascii")
    (folder / "client").write_text(
        f"Host *\n IdentityFile {folder}/user\n IdentitiesOnly yes\n UserKnownHostsFile {folder}/known\n",
        encoding="ascii",
    )
    command = [daemon, "-D", "-e", "-f", str(folder / "server")]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while not _listens(port):
            assert server.poll() is None, "sshd ended"
            assert time.monotonic() < deadline, "sshd does not listen"
        made = Remote(folder, f"ssh://{getpass.getuser()}@127.0.0.1:{port}", {})
        made.env = made.told()
        yield made
    finally:
        server.terminate()
        server.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _carriers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.name() in ("ssh", "sh", "cat")]


def _refusal(address: str, env: dict[str, str]) -> str:
    async def find() -> None:
        await (await Engine.find(address, env)).close()

    with pytest.raises(SandboxError) as refused:
        asyncio.run(find())
    assert refused.value.code == "engine_ssh_failed"
    return str(refused.value.fields["reason"])


def test_a_machine_lives_on_an_engine_behind_ssh(
    remote: Remote, config: Callable[[str], MachineConfig]
) -> None:
    async def run() -> None:
        engine = await Engine.find(remote.address, remote.env)
        assert engine.host == remote.address
        machine = Machine(engine, code_machine(config("ssh")))
        try:
            guest = await machine.start()
            ran = await GuestShell(guest.control).run("head -c 3000000 /dev/zero | tr '\\0' x; echo; id -un")
            assert ran.output.endswith("orion\n")
            await machine.stop()
            assert (await machine.status()).phase == "absent"
        finally:
            await machine.reset()
            await engine.close()
        assert not _carriers()

    asyncio.run(run())


def test_an_ssh_that_dies_is_an_engine_that_is_gone(
    remote: Remote, config: Callable[[str], MachineConfig]
) -> None:
    async def run() -> None:
        engine = await Engine.find(remote.address, remote.env)
        machine = Machine(engine, code_machine(config("cut")))
        try:
            await machine.start()
            lost = asyncio.create_task(machine.wait_lost())
            for process in _carriers():
                process.kill()
            assert (await asyncio.wait_for(lost, PATIENCE)).code in ("guest_gone", "engine_gone")
            assert await (await machine.start()).control.call("desk") is not None
        finally:
            await machine.reset()
            await engine.close()

    asyncio.run(run())


def test_what_ssh_says_is_the_reason(remote: Remote) -> None:
    nobody = remote.told("-o", "IdentityFile=/dev/null", "-o", "IdentityAgent=none")
    assert "verification failed" in _refusal(
        remote.address, remote.told("-o", "UserKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes")
    )
    assert "Connection refused" in _refusal("ssh://127.0.0.1:9", remote.env)
    assert "denied" in _refusal(remote.address.replace("ssh://", "ssh://x"), nobody)
    assert "no such file or directory" in _refusal(f"{remote.address}/no/such.sock", remote.env)


@pytest.mark.parametrize(
    "address", ["ssh://", "ssh://-oProxyCommand=x", "ssh://a:secret@host", "ssh://host:none", "ssh://-l@host"]
)
def test_an_address_that_makes_no_sense_is_refused(address: str) -> None:
    with pytest.raises(SandboxError) as refused:
        SshTunnel.open(address, dict(os.environ))
    assert refused.value.code == "engine_ssh_failed"
    assert "secret" not in str(refused.value)


def test_without_ssh_it_is_said() -> None:
    assert "no ssh" in _refusal("ssh://somewhere", {"PATH": "/nowhere"})


def _echoing(folder: Path) -> SshTunnel:
    """A tunnel whose ssh says again what it hears, and at the end that it is over."""
    program = folder / "ssh"
    program.write_text("#!/bin/sh\ncat\necho over\n", encoding="ascii")
    program.chmod(0o700)
    return SshTunnel.open("ssh://host", {"PATH": str(folder)})


@pytest.mark.parametrize("address", ["ssh://me:geheim@there", "ssh://me:geheim@there:port"])
@pytest.mark.parametrize("path", ["", os.environ.get("PATH", "")])
def test_a_password_is_told_nobody(address: str, path: str) -> None:
    with pytest.raises(SandboxError) as refused:
        SshTunnel.open(address, {"PATH": path})
    assert "geheim" not in str(refused.value.fields)


def test_one_direction_may_end_before_the_other(tmp_path: Path) -> None:
    tunnel = _echoing(tmp_path)
    place = Path(tunnel.address.removeprefix("unix://"))
    assert place.parent.stat().st_mode & 0o777 == 0o700
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(PATIENCE)
            line.connect(str(place))
            line.sendall(b"hello\n")
            line.shutdown(socket.SHUT_WR)
            said = b""
            while piece := line.recv(100):
                said += piece
        assert said == b"hello\nover\n"
        assert tunnel.fault() == ""
    finally:
        tunnel.close()
    assert not place.exists()


def test_closing_ends_what_is_open(tmp_path: Path) -> None:
    tunnel = _echoing(tmp_path)
    lines = []
    for _ in range(3):
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(PATIENCE)
        line.connect(tunnel.address.removeprefix("unix://"))
        line.sendall(b"x")
        assert line.recv(1) == b"x"
        lines.append(line)
    tunnel.close()
    tunnel.close()
    for line in lines:
        assert line.recv(100) in (b"", b"over\n")
        line.close()
