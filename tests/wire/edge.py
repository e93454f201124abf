"""The wire format of the reading service of Microsoft Edge, as its public client speaks it, on loopback.

A WebSocket: the client sends `speech.config` and `ssml`; the service answers with the text messages
`turn.start`, `audio.metadata` and `turn.end`, and with binary ones: two bytes of length, a header, MP3.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import threading
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from types import TracebackType
from typing import Any, Literal, Self
from xml.etree import ElementTree

import numpy as np
import soundfile
from aiohttp import WSMsgType, web
from edge_tts.drm import generate_sec_ms_gec_v2

Misdeed = Literal["none", "cut", "refuse", "clockless", "silent", "mute", "garbage", "no-words", "noise"]
"""cut: the connection ends in the middle; refuse: 403 always; clockless: 403 with a date nobody can read;
silent: no sound at all; mute: no answer at all; garbage: a binary message that is no sound; no-words: sound
without word boundaries; noise: sound that is no MP3."""

RATE = 24_000
WORD_SECONDS = 0.4
ROOT = "/consumer/speech/synthesize/readaloud"
_FRAME = 720
_TICKS = 10_000_000


def tone(index: int) -> float:
    """The frequency of the word `index`, in hertz."""
    return 400.0 + 100.0 * index


def sung(words: int) -> bytes:
    """MP3 in which every word is a tone of its own."""
    time_axis = np.arange(int(WORD_SECONDS * RATE)) / RATE
    tones = [0.4 * np.sin(2 * np.pi * tone(index) * time_axis) for index in range(words)]
    out = io.BytesIO()
    soundfile.write(out, np.concatenate(tones), RATE, format="MP3", bitrate_mode="CONSTANT")
    return out.getvalue()


@dataclass
class Request:
    """What one connection was asked: `text` as the service would read it, `elements` the marks around it."""

    text: str
    elements: list[str]
    voice: str
    rate: str
    headers: dict[str, str] = field(default_factory=dict)


class EdgeService:
    """The service in a thread of its own; `endpoint` is where it listens.

    `ahead` is how many seconds its clock is ahead of this machine's: a token of other minutes is refused.
    `halt` makes it stop in the middle of the sound until `go_on` is set.
    """

    def __init__(self, misdeed: Misdeed = "none", ahead: float = 0.0, halt: bool = False) -> None:
        self.misdeed = misdeed
        self.requests: list[Request] = []
        self.refused = 0
        self.go_on = threading.Event()
        self._ahead = ahead
        self._halt = halt
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="edge-service")
        self._stop = asyncio.Event()
        self.port = 0

    @property
    def endpoint(self) -> str:
        """What EdgeVoice takes for the service."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.go_on.set()
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    async def _serve(self) -> None:
        application = web.Application()
        application.router.add_get(f"{ROOT}/edge/v1", self._speak)
        application.router.add_get(f"{ROOT}/voices/list", self._voices)
        runner = web.AppRunner(application, handle_signals=False, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    def _refusal(self, request: web.Request) -> web.Response | None:
        clock = time.time() + self._ahead
        late = request.query["Sec-MS-GEC"] != generate_sec_ms_gec_v2(clock)
        if self.misdeed not in ("refuse", "clockless") and not late:
            return None
        self.refused += 1
        date = "some day" if self.misdeed == "clockless" else formatdate(clock, usegmt=True)
        return web.Response(status=403, headers={"Date": date})

    async def _voices(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        names = [("de-DE-KatjaNeural", "de-DE"), ("en-GB-SoniaNeural", "en-GB")]
        listed = [{"ShortName": name, "Locale": locale, "Gender": "Female"} for name, locale in names]
        return web.json_response(listed)

    async def _speak(self, request: web.Request) -> web.StreamResponse:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        socket = web.WebSocketResponse(compress=True)
        await socket.prepare(request)
        config = await socket.receive_str()
        assert "Path:speech.config" in config
        assert '"wordBoundaryEnabled":"true"' in config
        asked = _read(await socket.receive_str(), dict(request.headers))
        self.requests.append(asked)
        if self.misdeed == "mute":
            await socket.receive()
            return socket
        await self._answer(socket, asked.text.split())
        return socket

    async def _answer(self, socket: web.WebSocketResponse, words: list[str]) -> None:
        await socket.send_str(_message("turn.start", {"context": {}}))
        await socket.send_str(_message("response", {"context": {}}))
        data = b"no sound " * 400 if self.misdeed == "noise" else sung(len(words))
        frames = [data[at : at + _FRAME] for at in range(0, len(data), _FRAME)]
        if self.misdeed == "silent":
            frames = []
        if self.misdeed == "garbage":
            await socket.send_bytes(b"\x00\x09Path:text")
        told = 0
        for number, frame in enumerate(frames):
            while (
                self.misdeed != "no-words"
                and told < len(words)
                and told <= number * len(words) // len(frames) + 1
            ):
                await socket.send_str(_boundary(words[told], told))
                told += 1
            await socket.send_bytes(_binary(frame, "Content-Type:audio/mpeg\r\n"))
            if number == len(frames) // 2 and self.misdeed == "cut":
                assert socket._req is not None
                assert socket._req.transport is not None
                await socket._req.drain() if hasattr(socket._req, "drain") else None
                socket._req.transport.close()
                return
            if number == len(frames) // 2 and self._halt:
                await asyncio.to_thread(self.go_on.wait)
        await socket.send_bytes(_binary(b"", ""))
        await socket.send_str(_message("turn.end", {}))
        while (await socket.receive()).type not in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED):
            pass


def _read(message: str, headers: dict[str, str]) -> Request:
    head, _, ssml = message.partition("\r\n\r\n")
    assert "Path:ssml" in head
    tree = ElementTree.fromstring(ssml)
    elements = [re.sub(r"\{.*\}", "", element.tag) for element in tree.iter()]
    voice, prosody = tree[0], tree[0][0]
    return Request("".join(tree.itertext()), elements, voice.attrib["name"], prosody.attrib["rate"], headers)


def _message(path: str, data: dict[str, Any]) -> str:
    kind = "Content-Type:application/json; charset=utf-8"
    return f"X-RequestId:1\r\n{kind}\r\nPath:{path}\r\n\r\n{json.dumps(data)}"


def _boundary(word: str, index: int) -> str:
    bare = word.strip('.,;:!?"()')
    text = {"Text": bare.replace("&", "&amp;"), "Length": len(bare), "BoundaryType": "WordBoundary"}
    times = {"Offset": int(index * WORD_SECONDS * _TICKS), "Duration": int(WORD_SECONDS * _TICKS)}
    return _message(
        "audio.metadata", {"Metadata": [{"Type": "WordBoundary", "Data": times | {"text": text}}]}
    )


def _binary(frame: bytes, kind: str) -> bytes:
    head = f"X-RequestId:1\r\n{kind}X-StreamId:1\r\nPath:audio\r\n".encode()
    return len(head).to_bytes(2, "big") + head + frame
