"""The client starts, replaces and ends the child, and never waits for it."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.sound_stage import SoundStage
from tests.voice.talk import Talk, bundled
from voice import client as client_module
from voice.client import RESTARTS, default_command
from voice.config import VoiceConfig
from voice.events import Devices, Final, Level, Partial, Speaking, Spoken, State, Trouble
from voice.frames import encode, frame_of
from voice.wire import BROKEN


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


def program(tmp_path: Path, body: str) -> list[str]:
    """The command of a child that does what `body` says; `send` writes an event, `take` reads an order."""
    file = tmp_path / "stranger.py"
    lines = [
        "import os, sys, threading",
        f"sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})",
        "from voice.events import *",
        "from voice.frames import encode, frame_of, read",
        "send = lambda event: os.write(1, encode(frame_of(event)))",
        "take = lambda: read(sys.stdin.buffer.read)",
        body,
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    return [sys.executable, str(file)]


def test_a_killed_child_is_told_once_and_replaced(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk() as talk:
            await talk.until(Devices)
            talk.client.press()
            await talk.listening()
            first = talk.client.pid
            os.kill(first, signal.SIGKILL)
            assert await talk.until(Final) == Final("")
            assert await talk.until(State) == State("idle")
            trouble = await talk.until(Trouble)
            assert (trouble.code, trouble.fields) == ("voice_child_ended", {"reason": "SIGKILL"})
            await talk.until(Devices)
            assert talk.client.pid not in (0, first)
            talk.client.release()
            talk.client.press()
            await talk.listening()
        assert talk.troubles() == ["voice_child_ended"]

    run(story)


def test_closing_ends_the_child_and_what_it_started(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk() as talk:
            talk.client.say("I am in the middle of a sentence, and it is a very long one, as you can hear.")
            await talk.until(Speaking)
            child = psutil.Process(talk.client.pid)
            began = time.monotonic()
        assert time.monotonic() - began < 3
        assert not child.is_running()
        await talk.client.close()

    run(story)


def test_the_end_of_stdin_ends_the_child(sound: SoundStage) -> None:
    with subprocess.Popen(default_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(encode({"t": "configure", "config": bundled().to_json()}))
        process.stdin.flush()
        assert process.stdout is not None
        assert process.stdout.read(4)
        process.stdin.close()
        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "is not ours"),
        (encode({"t": "key", "do": "press", "answer": 0}), "has to be a configuration"),
        (encode({"t": "configure", "config": {"rate": "fast"}}), "cannot be 'fast'"),
    ],
)
def test_a_broken_frame_ends_the_child_with_a_clear_exit(sound: SoundStage, data: bytes, words: str) -> None:
    done = subprocess.run(default_command(), input=data, capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stdout) in ((BROKEN, b""), (BROKEN, encode({"t": "beat"})))
    assert words in done.stderr.decode()


def test_noise_on_the_pipe_never_hangs_the_child(sound: SoundStage) -> None:
    chance = random.Random(7)
    for _ in range(3):
        orders = [encode({"t": "configure", "config": bundled().to_json()})]
        for _ in range(200):
            touch = chance.choice(["press", "release", "cancel", "hush"])
            edge = chance.choice(["expect", "end"])
            number = chance.randrange(5)
            orders += [
                chance.choice(
                    [
                        encode({"t": "key", "do": touch, "answer": number}),
                        encode({"t": "answer", "do": edge, "answer": number}),
                        encode({"t": "say", "text": "word. " * chance.randrange(30), "answer": number}),
                        encode(
                            {"t": "configure", "config": VoiceConfig(rate=chance.random() + 0.5).to_json()}
                        ),
                    ]
                )
            ]
        noise = struct.pack(">I", chance.randrange(2**32)) + chance.randbytes(1000)
        done = subprocess.run(
            default_command(), input=b"".join(orders) + noise, capture_output=True, timeout=30, check=False
        )
        assert done.returncode in (0, BROKEN), done.stderr.decode()[-2000:]


# --- children that are not ours -----------------------------------------------------------------------------


def test_a_child_that_dies_again_and_again_is_given_up_and_may_be_started_anew(tmp_path: Path) -> None:
    async def story() -> None:
        chatter = "import atexit; atexit.register(os.write, 2, b'ALSA lib pcm.c:8: underrun occurred\\n')"
        talk = Talk(
            VoiceConfig(), program(tmp_path, f"{chatter}\nos.write(2, b'no sound here\\n')\nsys.exit(1)")
        )
        async with talk:
            for times in (1, 2):
                last = await talk.until(Trouble, lambda event: event.code == "voice_gave_up")
                assert last.fields["reason"] == "exit code 1: no sound here"
                assert len(talk.troubles()) == times * (RESTARTS + 1)
                assert talk.client.pid == 0
                talk.client.press()
                talk.client.say("nobody hears this")
                await talk.client.start(VoiceConfig())

    run(story)


def test_a_program_that_is_not_there_is_a_trouble(tmp_path: Path) -> None:
    async def story() -> None:
        async with Talk(VoiceConfig(), [str(tmp_path / "nothing")]) as talk:
            assert (await talk.until(Trouble)).code == "voice_child_ended"
            await talk.until(Trouble, lambda event: event.code == "voice_gave_up")

    run(story)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("os.write(1, b'hello, world')\ntake()\ntake()", "is not ours"),
        ("os.write(1, encode({'t': 'told', 'type': 'state', 'event': {}}))\ntake()\ntake()", "are others"),
    ],
)
def test_a_child_that_talks_nonsense_is_replaced(tmp_path: Path, body: str, reason: str) -> None:
    async def story() -> None:
        async with Talk(VoiceConfig(), program(tmp_path, body)) as talk:
            trouble = await talk.until(Trouble)
            assert reason in str(trouble.fields["reason"])

    run(story)


def test_a_child_that_is_silent_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "SILENCE", 0.5)

    async def story() -> None:
        async with Talk(VoiceConfig(), program(tmp_path, "threading.Event().wait(60)")) as talk:
            assert "no sign of life" in str((await talk.until(Trouble)).fields["reason"])

    run(story)


def test_what_a_dead_child_left_open_is_closed(tmp_path: Path) -> None:
    body = """
if not os.path.exists(MARK):
    open(MARK, "w").close()
    said = [Speaking("One. ", "One.", 1.0), Speaking("Two. ", "Two.", 1.0)]
    for event in (State("speaking"), *said, State("interrupted")):
        send(event)
    os.kill(os.getpid(), 11)
while take():
    pass
""".replace("MARK", repr(str(tmp_path / "mark")))

    async def story() -> None:
        async with Talk(VoiceConfig(), program(tmp_path, body)) as talk:
            await talk.until(Trouble)
        assert talk.told()[4:] == [
            Final(""),
            Spoken("One. ", whole=False),
            State("idle"),
            Trouble("voice_child_ended", {"reason": "SIGSEGV"}),
        ]

    run(story)


def test_orders_go_out_in_order_with_the_number_of_their_answer(tmp_path: Path) -> None:
    body = """
while frame := take():
    if frame["t"] != "configure":
        send(Partial(frame["t"] + " " + frame.get("do", "") + " " + str(frame["answer"]), 0))
"""

    async def story() -> None:
        async with Talk(VoiceConfig(), program(tmp_path, body)) as talk:
            client = talk.client
            client.press()
            client.expect()
            client.say("a")
            client.hush()
            client.say("b")
            client.end_of_answer()
            client.cancel()
            client.say("c")
            client.end_of_answer()
            client.end_of_answer()
            client.expect()
            client.release()
            await talk.until(Partial, lambda event: event.text.startswith("key release"))
        assert [event.text for event in talk.events if isinstance(event, Partial)] == [
            "key press 0",
            "answer expect 1",
            "say  1",
            "key hush 1",
            "say  1",
            "answer end 1",
            "key cancel 1",
            "say  2",
            "answer end 2",
            "answer end 3",
            "answer expect 4",
            "key release 4",
        ]

    run(story)


def test_a_child_that_does_not_read_never_blocks_the_loop_and_loses_only_words(tmp_path: Path) -> None:
    body = f"""
send(Level(0.5))
while not os.path.exists({str(tmp_path / "go")!r}):
    threading.Event().wait(0.01)
says = 0
while frame := take():
    says += frame["t"] == "say"
    if frame["t"] == "key":
        send(Partial(str(says), 0))
"""

    async def story() -> None:
        async with Talk(VoiceConfig(), program(tmp_path, body)) as talk:
            await talk.until(Level)
            began = time.monotonic()
            for _ in range(2_000):
                talk.client.say("x" * 1_000)
            talk.client.press()
            assert time.monotonic() - began < 1
            (tmp_path / "go").touch()
            said = int((await talk.until(Partial)).text)
            assert 100 < said < 1_000

    run(story)


def test_the_child_gets_no_keys_of_services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORION_TEST_API_KEY", "secret")
    monkeypatch.setenv("ORION_TEST_WORD", "word")
    body = (
        "take()\nsend(Partial(str(sorted(n for n in os.environ if n.startswith('ORION_TEST'))), 0))\ntake()"
    )

    async def story() -> None:
        async with Talk(VoiceConfig(), program(tmp_path, body)) as talk:
            assert (await talk.until(Partial)).text == "['ORION_TEST_WORD']"

    run(story)


def test_an_event_is_written_as_the_child_writes_it() -> None:
    assert encode(frame_of(Level(0.5)))[4:] == b'{"t":"meter","type":"level","event":{"level":0.5}}'
