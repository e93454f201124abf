"""The reading child: asked over its pipes, replaced when it fails, gone when it is closed."""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from sandbox.errors import SandboxError
from sandbox.eyes import Eyes, Line

CHILD = """
import json, struct, sys
while header := sys.stdin.buffer.read(4):
    picture = sys.stdin.buffer.read(struct.unpack(">I", header)[0])
    if picture == b"die":
        sys.exit(3)
    if picture == b"hang":
        sys.stdin.buffer.read()
    answer = {"error": "no picture"} if picture == b"bad" else {
        "lines": [{"text": picture.decode(), "x": 1, "y": 2, "width": 30, "height": 4, "score": 0.9}]
    }
    data = json.dumps(answer).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
    sys.stdout.buffer.flush()
"""
COMMAND = (sys.executable, "-c", CHILD)
LAUNCH = Path(__file__).resolve().parents[2] / "desktop" / "launch.py"


def test_lines_come_back_one_picture_after_the_other() -> None:
    async def check() -> None:
        eyes = Eyes(COMMAND)
        both = list(await asyncio.gather(eyes.read(b"one"), eyes.read(b"two")))
        assert both == [[Line("one", 1, 2, 30, 4, 0.9)], [Line("two", 1, 2, 30, 4, 0.9)]]
        await eyes.close()
        await eyes.close()

    asyncio.run(check())


@pytest.mark.parametrize("picture", [b"die", b"bad", b"hang"])
def test_a_child_that_fails_is_replaced(picture: bytes) -> None:
    async def check() -> None:
        eyes = Eyes(COMMAND, patience=1.5 if picture == b"hang" else 20.0)
        await eyes.read(b"one")
        with pytest.raises(SandboxError) as failed:
            await eyes.read(picture)
        assert failed.value.code == "eyes_failed"
        assert [line.text for line in await eyes.read(b"again")] == ["again"]
        await eyes.close()

    asyncio.run(check())


def test_a_command_that_is_not_there_is_said() -> None:
    async def check() -> None:
        with pytest.raises(SandboxError):
            await Eyes(("no-such-program-of-orion",)).read(b"one")

    asyncio.run(check())


def test_the_real_child_reads_a_picture() -> None:
    image = Image.new("RGB", (420, 90), "white")
    ImageDraw.Draw(image).text((20, 25), "Invoice 4711 total 99.50", "black", ImageFont.load_default(30))
    png = io.BytesIO()
    image.save(png, "PNG")

    async def check() -> None:
        eyes = Eyes((sys.executable, str(LAUNCH), "--worker", "ocr", "1"), patience=100)
        try:
            lines = await eyes.read(png.getvalue())
        finally:
            await eyes.close()
        assert "4711" in " ".join(line.text for line in lines)
        assert all(0 <= line.x < 420 and 0 <= line.y < 90 for line in lines)

    asyncio.run(check())
