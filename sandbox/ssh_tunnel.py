"""Carries connections to a container engine on another machine, each by one ssh of the user's own."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from sandbox.errors import SandboxError

PATIENCE = 15.0
"""Seconds that the other machine may take to answer."""

_ENDING = 3.0
"""Seconds that one ssh gets to end, and to say why it did."""

_OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": "10",
    "ControlMaster": "no",
    "ServerAliveInterval": "15",
    "ClearAllForwardings": "yes",
    "ForwardAgent": "no",
    "PermitLocalCommand": "no",
}
"""Nobody is asked anything: keys and known hosts are as the user's own ssh has them. A connection that is
shared already is used, but none is left behind to be shared."""


class SshTunnel:
    """A socket in a folder of this user alone, at `address` ("unix://…"), whose connections lead to the
    engine at `remote` (ssh://[user@]host[:port][/socket]). Made by `open`, closed by whoever opened it, used
    from any thread."""

    def __init__(self, remote: str, command: list[str], environment: Mapping[str, str]) -> None:
        self.remote = remote
        self._command, self._environment = command, environment
        self._folder = tempfile.TemporaryDirectory(prefix="orion-ssh-")  # made for its owner alone
        place = Path(self._folder.name) / "engine.sock"
        self.address = f"unix://{place}"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(place))
        self._listener.listen(32)
        self._waking, self._woken = socket.socketpair()
        self._lock = threading.Lock()
        self._carriers: dict[subprocess.Popen[bytes], threading.Thread] = {}
        self._said = ""
        self._closed = False
        self._thread = threading.Thread(target=self._accept, name="ssh-tunnel", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, remote: str, env: Mapping[str, str]) -> SshTunnel:
        """The tunnel to `remote`; nothing is sent before the first connection. Raises SandboxError
        engine_ssh_failed for an address that is none and where there is no ssh."""
        ssh = shutil.which("ssh", path=env.get("PATH"))
        command = _command(ssh or "ssh", remote)
        if ssh is None or not hasattr(socket, "AF_UNIX"):
            raise SandboxError("engine_ssh_failed", host=remote, reason="this machine has no ssh for it")
        return cls(remote, command, _environment())

    def fault(self) -> str:
        """What ssh said when it last failed, "" where it did not; waits a moment for those that still run."""
        deadline = time.monotonic() + _ENDING
        with self._lock:
            running = list(self._carriers.values())
        for thread in running:
            thread.join(max(0.0, deadline - time.monotonic()))
        return self._said

    def close(self) -> None:
        """End every connection and its ssh, and take the socket away; idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._waking.close()
        self._thread.join()
        with self._lock:
            left = dict(self._carriers)
        for ending in (signal.SIGTERM, signal.SIGKILL):
            for process, thread in left.items():
                if thread.is_alive():
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, ending)  # and what it was told to start
            for thread in left.values():
                thread.join(_ENDING)
        self._folder.cleanup()

    # --- the threads ----------------------------------------------------------------------------------

    def _accept(self) -> None:
        with self._listener, self._woken:
            while True:
                ready, _, _ = select.select([self._listener, self._woken], [], [])
                if self._woken in ready:
                    return
                with contextlib.suppress(OSError):  # it went away again, or ssh cannot be started now
                    connection, _ = self._listener.accept()
                    with connection:
                        self._carry(connection)

    def _carry(self, connection: socket.socket) -> None:
        """Let one ssh have the connection as its input and output: what ends at one side ends at both."""
        end = connection.fileno()
        process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=end,
            stdout=end,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        thread = threading.Thread(target=self._attend, args=(process,), name="ssh-carrier", daemon=True)
        with self._lock:
            self._carriers[process] = thread
        thread.start()

    def _attend(self, process: subprocess.Popen[bytes]) -> None:
        """Keep the last words of one ssh that fails, and bury it."""
        said = b""
        assert process.stderr is not None
        with process.stderr as errors:
            while piece := os.read(errors.fileno(), 4_096):
                said = (said + piece)[-4_096:]
        code = process.wait()
        lines = said.decode("utf-8", "replace").split("\n")
        words = next((line.strip() for line in reversed(lines) if line.strip()), "")
        with self._lock:
            if code > 0 and not self._closed:
                self._said = words[:300] or f"ssh ended with {code}"
            self._carriers.pop(process, None)


def _environment() -> dict[str, str]:
    """The user's own, without the libraries that a frozen program brings along."""
    environment = dict(os.environ)
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        original = environment.pop(f"{name}_ORIG", None)
        if original is not None:
            environment[name] = original
        elif hasattr(sys, "frozen"):
            environment.pop(name, None)
    return environment


def _command(ssh: str, remote: str) -> list[str]:
    """What is run for each connection: the other machine's Docker, else its Podman, speaks for its socket."""
    found = urlsplit(remote)
    try:
        host, port = found.hostname or "", found.port
    except ValueError as error:
        named = f"ssh://{remote.rpartition('@')[2]}"  # a password before it is told nobody
        raise SandboxError("engine_ssh_failed", host=named, reason=str(error)) from error
    user = found.username or ""
    if not host or found.password or host.startswith("-") or user.startswith("-") or found.query:
        named = f"ssh://{host}"
        reason = "an address looks like ssh://user@host and holds no password"
        raise SandboxError("engine_ssh_failed", host=named, reason=reason)
    at = shlex.quote(f"unix://{found.path}") if found.path.strip("/") else ""
    docker = f"docker {f'--host {at} ' if at else ''}system dial-stdio"
    podman = f"podman {f'--url {at} ' if at else ''}system dial-stdio"
    script = f"if command -v docker >/dev/null 2>&1; then exec {docker}; else exec {podman}; fi"
    command = [ssh, "-T", "-x", *(f"-o{name}={value}" for name, value in _OPTIONS.items())]
    command += ["-p", str(port)] if port else []
    command += ["-l", user] if user else []
    return [*command, "--", host, "sh", "-c", shlex.quote(script)]
