"""The container engine of this machine or another: found, asked in threads, and its faults given a code."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sandbox import guidance, unix_transport
from sandbox.errors import SandboxError
from sandbox.ssh_tunnel import PATIENCE, SshTunnel

T = TypeVar("T")
Make = Callable[[float], Any]
"""Makes a client of docker-py that waits that many seconds for an answer; who calls it closes the client."""

ANSWER = 20.0
"""Seconds the engine may take to answer a request."""

KNOCK = 4.0
"""Seconds an engine may take to say that it is there."""

_VERSION = re.compile(r"\d+\.\d+\.\d+")

OLDEST = (1, 40)
"""The oldest version of the engine's interface that has all that a machine needs (Docker 19.03, Podman 3)."""


class Engine:
    """A Docker or Podman engine. Made by `find`, closed by whoever asked for it.

    Every request runs in a thread of the engine's own, with a limit in time; no event loop is blocked.
    """

    def __init__(self, make: Make, host: str, tunnel: SshTunnel | None = None) -> None:
        self.host = host
        self.make = make
        self._tunnel = tunnel
        self.client = make(ANSWER)
        self._threads = ThreadPoolExecutor(4, "engine")
        self._info: dict[str, Any] | None = None

    @classmethod
    async def find(cls, host: str = "", env: Mapping[str, str] | None = None) -> Engine:
        """The engine at `host`, else that of DOCKER_HOST or the chosen context, else the first that answers
        at the usual places. Raises SandboxError engine_missing, _stopped, _refused, _old, _failed or, for an
        address that was named, _unreachable or _ssh_failed."""
        chosen = dict(os.environ if env is None else env)
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Found] = loop.create_future()

        def search() -> None:
            try:
                result = _search(host, chosen)
            except SandboxError as error:
                _tell(loop, found, None, error)
            except Exception as error:  # noqa: BLE001  (the edge of a thread)
                _tell(loop, found, None, SandboxError("engine_failed", reason=_short(error)))
            else:
                _tell(loop, found, result, None)

        threading.Thread(target=search, name="engine-search", daemon=True).start()
        return cls(*await found)

    async def call(self, work: Callable[[Any], T]) -> T:
        """Run `work(client)` in a thread. Raises SandboxError for every fault of the engine."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._guarded, work)

    def _guarded(self, work: Callable[[Any], T]) -> T:
        import docker.errors
        import requests.exceptions
        import urllib3.exceptions

        try:
            return work(self.client)
        except SandboxError:
            raise
        except docker.errors.DockerException as error:  # one of its kinds is also an error of requests
            hang_up(error)
            raise failure(error) from error
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise SandboxError("engine_gone", host=self.host, reason=_short(error)) from error

    async def info(self) -> dict[str, Any]:
        """What the engine says of itself and its machine; asked once."""
        if self._info is None:
            self._info = await self.call(_about)
        return self._info

    async def answers(self) -> bool:
        """Whether the engine is still there."""
        return await self.fault() is None

    async def fault(self) -> SandboxError | None:
        """Why the engine does not answer: engine_gone; None where it does."""
        patience = PATIENCE if self._tunnel is not None else KNOCK
        try:
            await asyncio.wait_for(self.call(lambda client: client.ping()), patience)
        except SandboxError as error:
            reason = str(error.fields.get("reason", error.code))
        except TimeoutError:
            reason = f"no answer within {patience:.0f} s"
        else:
            return None
        return SandboxError("engine_gone", host=self.host, reason=reason)

    async def close(self) -> None:
        """End the connections; idempotent. Requests under way end by their own limits."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.client.close()
        if self._tunnel is not None:
            await asyncio.to_thread(self._tunnel.close)


def _about(client: Any) -> dict[str, Any]:
    """What the engine says of itself. Podman without rights names limits as kept that it only takes note of:
    it can keep those of the control groups that were handed down to it."""
    about = dict(client.info())
    if about.get("Rootless") and (found := _VERSION.match(str(about.get("ServerVersion", "")))):
        api = client.api
        more = api._result(api._get(f"{api.base_url}/v{found[0]}/libpod/info"), json=True)
        kept = more["host"].get("cgroupControllers") or []
        for limit, controller in (("MemoryLimit", "memory"), ("PidsLimit", "pids"), ("CpuCfsQuota", "cpu")):
            about[limit] = controller in kept
    return about


def hang_up(error: BaseException) -> None:
    """Close the connection of a request that failed; docker-py leaves that of a stream open."""
    answer = getattr(error, "response", None)
    if answer is not None:
        answer.close()


def failure(error: Exception) -> SandboxError:
    """The error of the sandbox for one of docker-py."""
    text = _short(error)
    if "no space left" in text.lower():
        return SandboxError("engine_disk_full", reason=text)
    return SandboxError("engine_failed", reason=text)


def _tell(
    loop: asyncio.AbstractEventLoop,
    found: asyncio.Future[Found],
    result: Found | None,
    error: SandboxError | None,
) -> None:
    def settle() -> None:
        if found.done():
            if result is not None and result.tunnel is not None:
                result.tunnel.close()
            return
        if error is not None:
            found.set_exception(error)
        elif result is not None:
            found.set_result(result)

    with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(settle)


# --- where an engine may be ----------------------------------------------------------------------------


class Found(NamedTuple):
    """What makes a client, the address, and what leads there where that is another machine."""

    make: Make
    host: str
    tunnel: SshTunnel | None = None


def _search(host: str, env: Mapping[str, str]) -> Found:
    """Try the places in order."""
    wanted = host or env.get("DOCKER_HOST", "")
    problems: list[SandboxError] = []
    for address, options in [(wanted, _tls(env))] if wanted else _places(env):
        try:
            if address.startswith("ssh://"):
                return _through(address, env)
            return Found(_knock(address, options), address)
        except SandboxError as error:
            problems.append(error)
    for code in ("engine_ssh_failed", "engine_refused", "engine_old", "engine_failed", "engine_stopped"):
        for problem in problems:
            if problem.code == code and not (wanted and code == "engine_stopped"):
                raise problem
    if wanted:
        raise SandboxError("engine_unreachable", host=wanted)
    if shutil.which("docker") or shutil.which("podman"):
        raise SandboxError("engine_stopped", host="", steps=guidance.starting())
    raise SandboxError("engine_missing", steps=guidance.installing())


def _tls(env: Mapping[str, str]) -> dict[str, Any]:
    """The certificates that DOCKER_TLS_VERIFY and DOCKER_CERT_PATH name, as Docker's client reads them."""
    from docker.utils import kwargs_from_env

    options = dict(kwargs_from_env(dict(env)))
    options.pop("base_url", None)
    return options


def _places(env: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The chosen context of Docker's client first, then where Docker, its desktop and Podman listen."""
    yield from _context(env)
    if sys.platform == "win32":
        for name in ("docker_engine", "dockerDesktopLinuxEngine", "podman-machine-default"):
            yield f"npipe:////./pipe/{name}", {}
        return
    home, run = Path(env.get("HOME", "~")).expanduser(), env.get("XDG_RUNTIME_DIR", "")
    sockets = [Path("/var/run/docker.sock"), home / ".docker/run/docker.sock"]
    sockets += [home / ".docker/desktop/docker.sock", home / ".rd/docker.sock"]
    sockets += [home / ".colima/default/docker.sock", home / ".orbstack/run/docker.sock"]
    if run:
        sockets += [Path(run) / "docker.sock", Path(run) / "podman/podman.sock"]
    sockets += [Path("/run/podman/podman.sock")]
    sockets += [home / ".local/share/containers/podman/machine/podman.sock"]
    for place in sockets:
        yield f"unix://{place}", {}


def _context(env: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    from docker.context import ContextAPI
    from docker.errors import DockerException

    try:
        name = env.get("DOCKER_CONTEXT") or None
        context = ContextAPI.get_context(name) if name else ContextAPI.get_current_context()
        if context is not None and context.Host and context.Name != "default":
            yield context.Host, {"tls": context.TLSConfig} if context.TLSConfig else {}
    except (DockerException, OSError, ValueError, KeyError):
        return


def _through(address: str, env: Mapping[str, str]) -> Found:
    """An engine that ssh leads to. Raises SandboxError."""
    tunnel = SshTunnel.open(address, env)
    try:
        return Found(_knock(tunnel.address, {}, PATIENCE), address, tunnel)
    except BaseException as error:
        said = tunnel.fault() if isinstance(error, SandboxError) else ""
        tunnel.close()
        if said:
            raise SandboxError("engine_ssh_failed", host=address, reason=said) from error
        raise


def _knock(address: str, options: dict[str, Any], patience: float = KNOCK) -> Make:
    """What makes clients of the engine at `address`, which answered. Raises SandboxError."""
    import docker
    import docker.constants
    import docker.errors
    import requests.exceptions

    if address.startswith("unix://"):
        _look(address)
    ours = docker.constants.DEFAULT_DOCKER_API_VERSION
    options = {**options, "base_url": address}
    api = None
    try:
        api = docker.APIClient(version=ours, timeout=patience, **options)
        api.trust_env = False
        found = _spoken(api)
    except docker.errors.APIError as error:
        raise SandboxError("engine_failed", reason=_short(error)) from error
    except (docker.errors.DockerException, requests.exceptions.RequestException, OSError) as error:
        if "permission denied" in str(error).lower():
            raise SandboxError("engine_refused", host=address, steps=guidance.allowing()) from error
        raise SandboxError("engine_stopped", host=address, steps=guidance.starting()) from error
    except (KeyError, TypeError, ValueError) as error:
        raise SandboxError("engine_failed", reason=_short(error)) from error
    finally:
        if api is not None:
            api.close()
    if _numbers(found) < OLDEST:
        raise SandboxError("engine_old", host=address, found=found)
    spoken = min(found, ours, key=_numbers)

    def make(timeout: float) -> Any:
        client = docker.DockerClient(version=spoken, timeout=timeout, max_pool_size=16, **options)
        client.api.trust_env = False  # certificates for the web would replace those of the engine
        if address.startswith("unix://"):
            unix_transport.mend(client)
        return client

    return make


def _spoken(api: Any) -> str:
    """The version of its interface that an engine names in the answer to a ping: Podman takes a second and
    more to put together what it says of itself. Raises as docker-py does, and KeyError."""
    answer = api._get(api._url("/_ping", versioned_api=False))
    api._raise_for_status(answer)
    return str(answer.headers.get("Api-Version") or api.version(api_version=False)["ApiVersion"])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _look(address: str) -> None:
    """Raise SandboxError where the socket of an engine is not there, not ours or answers nobody."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(KNOCK)
        try:
            probe.connect(address.removeprefix("unix://"))
        except FileNotFoundError as error:
            raise SandboxError("engine_missing", steps=guidance.installing()) from error
        except PermissionError as error:
            raise SandboxError("engine_refused", host=address, steps=guidance.allowing()) from error
        except OSError as error:
            raise SandboxError("engine_stopped", host=address, steps=guidance.starting()) from error


def _short(error: Exception) -> str:
    text = str(getattr(error, "explanation", None) or _bottom(error) or error) or type(error).__name__
    return " ".join(text.split())[-400:]


def _bottom(error: BaseException) -> str:
    """What the system said, where libraries have wrapped it in errors of their own."""
    within = [one for one in error.args if isinstance(one, BaseException)]
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return next((said for one in within if (said := _bottom(one))), "")
