"""The image of the machine: its build context, its name by content, and the build with progress."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import os
import re
import socket
import tarfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sandbox.engine import Engine
from sandbox.errors import SandboxError

NAME = "orion-sandbox"
LABEL = "orion.image"
"""Not that of a machine: a container has the labels of its image too."""

_YOUNG = 3600.0

QUIET = 900.0
"""Seconds a build may go without a word; installing the packages is silent for minutes on a slow disk."""

_ROOM = Path(__file__).resolve().parent
_STEP = re.compile(r"^step (\d+)/(\d+)\s*:\s*(.*)", re.IGNORECASE)
_PROXIES = [name for base in ("http_proxy", "https_proxy", "no_proxy") for name in (base, base.upper())]
"""What a build passes on to the programs that fetch packages."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class ImageBuilder:
    """Builds the image `name` from the files of this room; `image` and `guest` are the folders it takes."""

    def __init__(
        self, image: Path = _ROOM / "image", guest: Path = _ROOM / "guest", name: str = NAME
    ) -> None:
        self._name = name
        self._folders = {"": image, "guest/guest": guest}

    @property
    def tag(self) -> str:
        """The name of the image these files make, for example "orion-sandbox:0123456789ab"."""
        digest = hashlib.sha256()
        for name, mode, data in self._files():
            digest.update(f"{name} {mode:o} {len(data)}\n".encode() + data)
        return f"{self._name}:{digest.hexdigest()[:12]}"

    async def present(self, engine: Engine, tag: str = "") -> bool:
        """Whether the engine has the image (by default that of these files)."""
        import docker.errors

        def look(client: Any) -> bool:
            try:
                client.api.inspect_image(tag or self.tag)
            except docker.errors.ImageNotFound:
                return False
            return True

        return await engine.call(look)

    async def build(
        self, engine: Engine, *, base: str = "", network: str = "", told: Callable[[str, float], None]
    ) -> str:
        """Build the image and return its name; it is also named "latest", and older ones of this name that
        nothing uses are removed. Cancelling ends the build.

        `told(line, part)` hears in the event loop what is being done and how much (0–1) lies behind. `base`
        replaces the Dockerfile's base image and `network` is that of the build (ORION_SANDBOX_BASE and
        ORION_SANDBOX_NETWORK by default). Raises SandboxError build_failed, engine_disk_full, engine_gone.
        """
        loop, tag = asyncio.get_running_loop(), self.tag
        arguments = {name: value for name in _PROXIES if (value := os.environ.get(name))}
        if base := base or os.environ.get("ORION_SANDBOX_BASE", ""):
            arguments["BASE_IMAGE"] = base
        options: dict[str, Any] = {"buildargs": arguments, "tag": tag}
        options["network_mode"] = network or os.environ.get("ORION_SANDBOX_NETWORK") or None
        context = await asyncio.to_thread(self.context)

        def say(line: str, part: float) -> None:
            loop.call_soon_threadsafe(told, line, part)

        build = _Build(engine.make(QUIET), say)
        try:
            await engine.call(lambda client: build.run(context, options))
        except asyncio.CancelledError:
            build.cancel()
            raise
        await engine.call(lambda client: client.api.tag(tag, self._name, "latest", force=True))
        with contextlib.suppress(SandboxError):  # the image is there; the next build tries again
            await engine.call(lambda client: _prune(client, self._name, tag))
        return tag

    def context(self) -> bytes:
        """The build context as a tar archive, the same bytes for the same files."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name, mode, data in self._files():
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), mode
                archive.addfile(entry, io.BytesIO(data))
        return packed.getvalue()

    def _files(self) -> list[tuple[str, int, bytes]]:
        found = [("guest/__init__.py", 0o644, b"")]
        for prefix, folder in self._folders.items():
            for path in sorted(folder.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    name = "/".join(filter(None, (prefix, path.relative_to(folder).as_posix())))
                    data = path.read_bytes().replace(b"\r\n", b"\n")
                    found.append((name, 0o755 if data.startswith(b"#!") else 0o644, data))
        return found


class _Build:
    """One build, run in a thread; `cancel` ends it from another one."""

    def __init__(self, client: Any, say: Callable[[str, float], None]) -> None:
        self._client, self._say = client, say
        self._cancelled = False
        self._answers: list[Any] = []
        client.api.hooks["response"].append(lambda answer, *_rest, **_options: self._answers.append(answer))

    def run(self, context: bytes, options: Mapping[str, Any]) -> None:
        """Send the context and read what the engine says until it is done."""
        spoken: list[str] = []
        part = 0.0
        try:
            stream = self._client.api.build(
                fileobj=io.BytesIO(context),
                custom_context=True,
                rm=True,
                forcerm=True,
                decode=True,
                labels={LABEL: "1"},
                **options,
            )
            for message in stream:
                if self._cancelled:
                    return
                text = str(
                    message.get("stream") or message.get("status") or message.get("error") or ""
                ).strip()
                if "error" in message:
                    raise _failed(text, spoken)
                for line in _COLOURS.sub("", text).splitlines():
                    if step := _STEP.match(line):
                        part = (int(step[1]) - 1) / int(step[2])
                    spoken = [*spoken[-19:], line]
                    self._say(line, part)
        finally:
            # docker-py leaves the connection of a stream open that was not read to its end.
            for answer in self._answers:
                answer.close()
            self._client.close()

    def cancel(self) -> None:
        """Cut the connection, at which the engine stops building, and the thread stops reading."""
        self._cancelled = True
        for answer in list(self._answers):
            with contextlib.suppress(OSError, AttributeError):  # it has ended already
                line = self._client.api._get_raw_response_socket(answer)
                getattr(line, "_sock", line).shutdown(socket.SHUT_RDWR)


def _prune(client: Any, name: str, kept: str) -> None:
    """Remove the images that builds of `name` made before `kept`, except those of containers, those with a
    name that somebody else gave them, and nameless ones so young that a build may be about to name them."""
    import docker.errors

    ours = re.compile(rf"(?:.*/)?{re.escape(name)}:(?:[0-9a-f]{{12}}|latest)")
    in_use = {_plain(thing["ImageID"]) for thing in client.api.containers(all=True)}
    in_use.add(_plain(client.api.inspect_image(kept)["Id"]))
    for image in client.api.images(filters={"label": f"{LABEL}=1"}):
        names = [found for found in image["RepoTags"] or [] if found != "<none>:<none>"]
        strange = not all(ours.fullmatch(found) for found in names)
        young = not names and time.time() - image["Created"] < _YOUNG
        if strange or young or _plain(image["Id"]) in in_use:
            continue
        for found in names or [image["Id"]]:
            with contextlib.suppress(docker.errors.APIError):  # something uses it after all
                client.api.remove_image(found)


def _plain(number: str) -> str:
    return number.removeprefix("sha256:")


def _failed(text: str, spoken: list[str]) -> SandboxError:
    if "no space left" in f"{text} {' '.join(spoken)}".lower():
        return SandboxError("engine_disk_full", reason=text)
    return SandboxError("build_failed", reason=" ".join(text.split())[:400], lines=" / ".join(spoken[-8:]))
