"""A voice child that plays a script over the real frames: without sound, a test decides what was heard.

As a program: `python scripted_voice.py SCRIPT LOG` plays the JSON steps of SCRIPT and writes each order it
gets as a line of LOG. Steps, one after the other:

    ["await", KIND]          an order: press, release, cancel, hush, expect, end
    ["said", TEXT]           until the chunks of an answer, all answers since the last `told`, hold TEXT
    ["final", TEXT, {…}]     somebody said TEXT; fields of Final
    ["spoken", TEXT, WHOLE]  TEXT of the oldest answer was heard; with WHOLE null all that was said of it
    ["state", STATE]         the turn-taking state
    ["speaking", TEXT]       a piece begins to be heard
    ["trouble", CODE]
    ["die"]                  end at once, with exit code 9

After the last step it reads orders until its stdin ends. The class `Voice` writes scripts and reads logs.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from runtime.conversation_events import ConversationEvent
from voice.events import Final, Speaking, Spoken, State, Trouble, VoiceEvent
from voice.frames import encode, frame_of, read

Step = list[Any]


class Voice:
    """One scripted child and the events of the conversation that uses it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._script, self._log = folder / "voice.json", folder / "voice.log"
        self.events: list[ConversationEvent] = []
        self._arrived = asyncio.Event()

    def command(self, *lives: list[Step]) -> tuple[str, ...]:
        """How to start the child; each start plays the next of `lives`, one after the last only reads."""
        self._script.write_text(json.dumps(lives))
        return (sys.executable, str(Path(__file__)), str(self._script), str(self._log))

    def take(self, event: ConversationEvent) -> None:
        """The conversation's listener."""
        self.events.append(event)
        self._arrived.set()

    async def until(self, holds: Callable[[ConversationEvent], bool], count: int = 1) -> ConversationEvent:
        """The `count`-th event for which `holds`, as soon as there is one."""
        async with asyncio.timeout(10):
            while len(found := [event for event in self.events if holds(event)]) < count:
                self._arrived.clear()
                await self._arrived.wait()
        return found[count - 1]

    async def spoken(self, count: int = 1) -> Spoken:
        """The `count`-th Spoken."""
        found = await self.until(lambda event: isinstance(event, Spoken), count)
        assert isinstance(found, Spoken)
        return found

    async def rested(self, count: int = 1) -> None:
        """Until the child said `count` times that it is idle, which scripts do at their end."""
        await self.until(lambda event: isinstance(event, State) and event.state == "idle", count)

    def orders(self) -> list[dict[str, Any]]:
        """What the child was told so far."""
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []

    def said(self) -> list[str]:
        """The text of every answer that was handed to the child, in order, white space at its ends aside."""
        answers: dict[tuple[int, int], str] = {}
        for order in self.orders():
            if order["t"] == "say":
                key = (order["life"], order["answer"])
                answers[key] = answers.get(key, "") + order["text"]
        return [text.strip() for text in answers.values()]

    def configurations(self) -> list[dict[str, Any]]:
        """Every configuration that was sent."""
        return [order["config"] for order in self.orders() if order["t"] == "configure"]


class _Child:
    """The program."""

    def __init__(self, script: Path, log: Path) -> None:
        lives = json.loads(script.read_text())
        counter = script.with_suffix(".lives")
        self._life = int(counter.read_text()) if counter.exists() else 0
        counter.write_text(str(self._life + 1))
        self._steps: list[Step] = lives[self._life] if self._life < len(lives) else []
        self._log = log.open("a")
        self._out, self._in = os.dup(1), os.dup(0)
        self._unheard = ""
        self._answers: dict[int, str] = {}

    def play(self) -> None:
        for step in self._steps:
            match step:
                case ["await", kind]:
                    while self._order() != kind:
                        pass
                case ["said", text]:
                    while text not in self._unheard:
                        self._order()
                case ["die"]:
                    os._exit(9)
                case _:
                    self._tell(self._event(step))
        while self._order():
            pass

    def _event(self, step: Step) -> VoiceEvent:
        match step:
            case ["final", text, *fields]:
                return Final(text, **(fields[0] if fields else {}))
            case ["spoken", text, whole]:
                oldest = min(self._answers, default=0)
                said = self._answers.pop(oldest, "")
                self._unheard = "".join(self._answers.values())
                return Spoken(said if whole else text, whole=bool(whole))
            case ["state", state]:
                return State(state)
            case ["speaking", text]:
                return Speaking(text, text, 1.0)
            case ["trouble", code]:
                return Trouble(code)
            case _:
                raise ValueError(step)

    def _tell(self, event: VoiceEvent) -> None:
        os.write(self._out, encode(frame_of(event)))

    def _order(self) -> str:
        """Read one order and log it; its name, or "" at the end of stdin."""
        frame = read(self._take)
        if frame is None:
            os._exit(0)
        self._log.write(json.dumps(frame | {"life": self._life}) + "\n")
        self._log.flush()
        if frame["t"] == "say":
            self._answers[frame["answer"]] = self._answers.get(frame["answer"], "") + frame["text"]
            self._unheard += frame["text"]
        if frame["t"] == "answer" and frame["do"] == "end":
            self._answers.setdefault(frame["answer"], "")
        return str(frame.get("do", frame["t"]))

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count and (piece := os.read(self._in, count - len(data))):
            data += piece
        return data


if __name__ == "__main__":
    _Child(Path(sys.argv[1]), Path(sys.argv[2])).play()
