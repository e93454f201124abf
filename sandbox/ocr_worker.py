"""The child process that reads text in pictures: pictures come in by stdin, lines go out by stdout."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from sandbox.eyes import LENGTH

LARGEST = 64 * 1024 * 1024
"""Bytes of a picture."""
SURE = 0.5
"""Lines that are read with less certainty are noise."""


def main(arguments: list[str] | None = None) -> int:
    """Serve until stdin ends. Called by the entry point for `--worker ocr`; `arguments` may hold the number
    of threads to use."""
    threads = int(arguments[0]) if arguments else 2
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries write to 1
    reader: Callable[[bytes], list[dict[str, Any]]] | None = None
    while (picture := _received(sys.stdin.buffer)) is not None:
        try:
            reader = reader or _reader(threads)
            answer: dict[str, Any] = {"lines": reader(picture)}
        except Exception as error:  # noqa: BLE001 (a child's main: one unreadable picture ends nothing)
            answer = {"error": f"{type(error).__name__}: {error}"}
        data = json.dumps(answer).encode()
        output.write(LENGTH.pack(len(data)) + data)
        output.flush()
    return 0


def _received(stream: BinaryIO) -> bytes | None:
    """The next picture; None at the end of the stream or after something that is no message."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    if length > LARGEST:
        return None
    data = stream.read(length)
    return data if len(data) == length else None


def _reader(threads: int) -> Callable[[bytes], list[dict[str, Any]]]:
    """The recogniser, with its models out of its own package: nothing is fetched."""
    import logging

    import numpy
    from PIL import Image
    from rapidocr import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    engine = RapidOCR(
        params={
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "Global.use_cls": False,
            "Det.limit_type": "max",  # a small picture is not enlarged first
            "Det.limit_side_len": 2_000,
            "Global.log_level": "error",
        }
    )

    def read(picture: bytes) -> list[dict[str, Any]]:
        with Image.open(io.BytesIO(picture), formats=["PNG"]) as image:
            pixels = numpy.asarray(image.convert("RGB"))[:, :, ::-1]
        found: Any = engine(numpy.ascontiguousarray(pixels))
        if found.boxes is None or found.txts is None or found.scores is None:
            return []
        lines = [_line(*each) for each in zip(found.boxes, found.txts, found.scores, strict=True)]
        return sorted(
            (line for line in lines if line["score"] >= SURE), key=lambda line: (line["y"], line["x"])
        )

    return read


def _line(corners: Any, text: str, score: float) -> dict[str, Any]:
    across, down = [float(corner[0]) for corner in corners], [float(corner[1]) for corner in corners]
    x, y = round(min(across)), round(min(down))
    box = {"x": x, "y": y, "width": round(max(across)) - x, "height": round(max(down)) - y}
    return {"text": text, "score": round(float(score), 3)} | box
