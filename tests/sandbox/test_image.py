"""The image is named by what it is made of, builds with progress, and fails with the reason."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import tarfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from installer import containers
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.image import ImageBuilder
from tests.sandbox.conftest import MARK

Told = list[tuple[str, float]]

_FROM = "ARG BASE_IMAGE=none\nFROM ${BASE_IMAGE}\n"


def _folders(place: Path, dockerfile: str) -> ImageBuilder:
    (place / "image").mkdir()
    (place / "guest").mkdir()
    (place / "image" / "Dockerfile").write_text(dockerfile, encoding="utf-8")
    (place / "image" / "start").write_text("#!/bin/sh\n", encoding="utf-8")
    (place / "guest" / "peer.py").write_text("", encoding="utf-8")
    return ImageBuilder(place / "image", place / "guest", f"orion-test-{os.getpid()}")


def test_the_context_is_the_same_for_the_same_files(tmp_path: Path) -> None:
    builder = _folders(tmp_path, "FROM scratch\n")
    first, tag = builder.context(), builder.tag
    (tmp_path / "guest" / "__pycache__").mkdir()
    (tmp_path / "guest" / "__pycache__" / "peer.pyc").write_bytes(b"x")
    (tmp_path / "guest" / "peer.py").touch()
    assert builder.context() == first
    assert builder.tag == tag
    (tmp_path / "guest" / "peer.py").write_text("1", encoding="utf-8")
    assert builder.tag != tag


def test_the_context_holds_the_guest_where_both_sides_import_it(tmp_path: Path) -> None:
    builder = _folders(tmp_path, "FROM scratch\r\n")
    with tarfile.open(fileobj=io.BytesIO(builder.context())) as archive:
        modes = {entry.name: entry.mode for entry in archive}
        dockerfile = archive.extractfile("Dockerfile")
        assert dockerfile is not None
        assert dockerfile.read() == b"FROM scratch\n"
    assert modes == {
        "Dockerfile": 0o644,
        "start": 0o755,
        "guest/__init__.py": 0o644,
        "guest/guest/peer.py": 0o644,
    }


def test_the_real_context_has_no_volume_and_no_address_of_an_index() -> None:
    with tarfile.open(fileobj=io.BytesIO(ImageBuilder().context())) as archive:
        texts = {entry.name: archive.extractfile(entry) for entry in archive}
        for name in ("Dockerfile", "requirements.txt", "start"):
            file = texts[name]
            assert file is not None
            text = file.read().decode()
            assert "VOLUME" not in text
            assert "http://" not in text
            assert "https://" not in text


def _build(engine: Engine, builder: ImageBuilder, base: str) -> Told:
    heard: Told = []

    def told(line: str, part: float) -> None:
        heard.append((line, part))

    asyncio.run(builder.build(engine, base=base, network="host", told=told))
    return heard


@pytest.fixture(scope="module")
def base(engine: Engine) -> str:
    return asyncio.run(engine.call(containers.base_image))


def test_a_build_tells_how_far_it_is(engine: Engine, base: str, tmp_path: Path) -> None:
    # A line of its own for each run, or the engine would take the step from its cache and say nothing.
    builder = _folders(tmp_path, f"{_FROM}RUN echo said {tmp_path} >/dev/stderr\nUSER 1\n")
    try:
        told = _build(engine, builder, base)
        assert asyncio.run(builder.present(engine))
    finally:
        for name in (builder.tag, f"{builder.tag.partition(':')[0]}:latest"):
            asyncio.run(engine.call(partial(_untag, name)))
    assert any(line == f"said {tmp_path}" for line, _part in told)
    parts = [part for _line, part in told]
    assert parts == sorted(parts)
    assert parts[0] == 0.0
    assert parts[-1] >= 0.75
    assert not asyncio.run(builder.present(engine))


def test_a_build_removes_what_older_ones_left_and_nothing_else(
    engine: Engine, base: str, tmp_path: Path
) -> None:
    builders = []
    for number in range(4):
        (tmp_path / str(number)).mkdir()
        builders.append(_folders(tmp_path / str(number), f"{_FROM}RUN echo {number} {tmp_path}\n"))
    old, used, named, last = builders
    name = old.tag.partition(":")[0]
    tags = [builder.tag for builder in builders] + [f"{name}:latest", f"{name}:mine", "orion-test-else:0"]

    def hold(client: Any) -> str:
        made = client.api.create_container(used.tag, ["true"], labels=MARK)
        return str(made["Id"])

    try:
        for builder in (old, used, named):
            _build(engine, builder, base)
            if builder is used:
                held = asyncio.run(engine.call(hold))
            if builder is named:
                asyncio.run(engine.call(lambda client: client.api.tag(named.tag, name, "mine")))
                asyncio.run(engine.call(lambda client: client.api.tag(base, "orion-test-else", "0")))
        _build(engine, last, base)
        there = [asyncio.run(last.present(engine, tag)) for tag in tags]
        assert there == [False, True, True, True, True, True, True]
        asyncio.run(engine.call(lambda client: client.api.remove_container(held)))
    finally:
        for tag in tags:
            with contextlib.suppress(SandboxError):
                asyncio.run(engine.call(partial(_untag, tag)))


def _untag(name: str, client: Any) -> None:
    client.images.remove(name, force=True)


def test_a_build_that_fails_says_the_last_lines(engine: Engine, base: str, tmp_path: Path) -> None:
    builder = _folders(tmp_path, f"{_FROM}RUN echo about to fail; exit 7\n")
    with pytest.raises(SandboxError) as failed:
        _build(engine, builder, base)
    assert failed.value.code == "build_failed"
    assert "about to fail" in str(failed.value.fields["lines"])
    assert "7" in str(failed.value.fields["reason"])


def test_a_cancelled_build_ends(engine: Engine, base: str, tmp_path: Path) -> None:
    builder = _folders(tmp_path, f"{_FROM}RUN echo again; sleep 600\n")

    async def cancel() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(
            builder.build(
                engine,
                base=base,
                network="host",
                told=lambda line, part: begun.set() if line == "again" else None,
            )
        )
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert not asyncio.run(builder.present(engine))
    asyncio.run(_until_no_build_runs(engine))


async def _until_no_build_runs(engine: Engine) -> None:
    def running(client: Any) -> bool:
        commands = [" ".join(thing.attrs["Config"]["Cmd"] or []) for thing in client.containers.list()]
        return any("echo again" in command for command in commands)

    async with asyncio.timeout(20):
        while await engine.call(running):  # noqa: ASYNC110  (the engine tells no event of a build)
            await asyncio.sleep(0.05)


def test_the_real_image_is_there_and_labelled(engine: Engine, image: str) -> None:
    seen = asyncio.run(engine.call(lambda client: client.images.get(image).attrs))
    labels = {key: value for key, value in seen["Config"]["Labels"].items() if key.startswith("orion")}
    assert labels == {"orion.image": "1"}
    assert seen["Config"]["User"] == "orion"
    assert not seen["Config"].get("Volumes")
