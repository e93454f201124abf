"""The image of the machine: its build context, its name by content, and the build with progress."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import re
import tarfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sandbox.engine import Engine, failure
from sandbox.errors import SandboxError

NAME = "orion-sandbox"
LABEL = "orion"

QUIET = 900.0
"""Seconds a build may go without a word; installing the packages is silent for minutes on a slow disk."""

_ROOM = Path(__file__).resolve().parent
_STEP = re.compile(r"^step (\d+)/(\d+)\s*:\s*(.*)", re.IGNORECASE)


class ImageBuilder:
    """Builds the image from the files of this room; `image` and `guest` are the folders that are copied."""

    def __init__(self, image: Path = _ROOM / "image", guest: Path = _ROOM / "guest") -> None:
        self._folders = {"": image, "guest/guest": guest}

    @property
    def tag(self) -> str:
        """The name of the image these files make, for example "orion-sandbox:0123456789ab"."""
        digest = hashlib.sha256()
        for name, mode, data in self._files():
            digest.update(f"{name} {mode:o} {len(data)}\n".encode() + data)
        return f"{NAME}:{digest.hexdigest()[:12]}"

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
        """Build the image and return its name; it is also named "latest". Cancelling ends the build.

        `told(line, part)` hears in the event loop what is being done and how much (0–1) lies behind. `base`
        replaces the Dockerfile's base image and `network` is that of the build (ORION_SANDBOX_BASE and
        ORION_SANDBOX_NETWORK by default). Raises SandboxError build_failed, engine_disk_full, engine_gone.
        """
        loop, cancelled = asyncio.get_running_loop(), threading.Event()
        arguments: dict[str, str] = {}
        if base := base or os.environ.get("ORION_SANDBOX_BASE", ""):
            arguments["BASE_IMAGE"] = base
        options: dict[str, Any] = {"buildargs": arguments, "tag": self.tag}
        options["network_mode"] = network or os.environ.get("ORION_SANDBOX_NETWORK") or None
        context = await asyncio.to_thread(self.context)

        def say(line: str, part: float) -> None:
            if not cancelled.is_set():
                loop.call_soon_threadsafe(told, line, part)

        try:
            await engine.call(lambda client: _build(client, context, options, say, cancelled))
        except asyncio.CancelledError:
            cancelled.set()
            raise
        tag = self.tag
        await engine.call(lambda client: client.api.tag(tag, NAME, "latest", force=True))
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


def _build(
    client: Any,
    context: bytes,
    options: Mapping[str, Any],
    say: Callable[[str, float], None],
    cancelled: threading.Event,
) -> None:
    """Send the context and read what the engine says until it is done."""
    import docker.errors

    spoken: list[str] = []
    part = 0.0
    api = client.api
    before, api.timeout = api.timeout, QUIET
    try:
        stream = api.build(
            fileobj=io.BytesIO(context),
            custom_context=True,
            rm=True,
            forcerm=True,
            decode=True,
            labels={LABEL: "1"},
            **options,
        )
        for message in stream:
            if cancelled.is_set():
                stream.close()
                return
            text = str(message.get("stream") or message.get("status") or message.get("error") or "").strip()
            if "error" in message:
                raise _failed(text, spoken)
            for line in text.splitlines():
                if step := _STEP.match(line):
                    part = (int(step[1]) - 1) / int(step[2])
                spoken = [*spoken[-19:], line]
                say(line, part)
    except docker.errors.DockerException as error:
        raise failure(error) from error
    finally:
        api.timeout = before


def _failed(text: str, spoken: list[str]) -> SandboxError:
    if "no space left" in f"{text} {' '.join(spoken)}".lower():
        return SandboxError("engine_disk_full", reason=text)
    return SandboxError("build_failed", reason=" ".join(text.split())[:400], lines=" / ".join(spoken[-8:]))
