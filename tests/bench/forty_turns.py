"""Whether a real model in a small window still knows after forty turns what was said in the first one."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from runtime.assemble import Runtime
from runtime.events import Compaction, Event, ResponseComplete
from runtime.messages import UserMessage
from runtime.providers.provider import Request
from tests.bench.figure import Figure
from tests.bench.local_house import PROFILE, answer, local_house

WINDOW = 4096
TURNS = 40
ANSWER = 48
"""Most tokens of an answer."""
FACT = "Hello! My cat is called Miso, and she is nine years old."
WORD = "miso"
QUESTION = "What is the name of my cat?"
SUBJECTS = (
    "bridges clocks rivers bread lanterns maps violins glaciers harbours libraries orchards kites windmills "
    "deserts stamps tunnels pottery comets lighthouses markets forests trams beehives castles ferries chess "
    "volcanoes gardens telescopes canals puppets mountains bicycles museums islands weaving fountains owls"
)
TALK = (
    "Now to something else, which I have been thinking about for a while, namely {0}. A friend of mine "
    "spent a whole summer, number {1} of her travels, with people who know all about {0}. She wrote long "
    "letters about it: how they began when they were young, what they had to learn first, which tools "
    "they carried, and why nobody in the village understood them. In the evening they sat together and "
    "told one another about {0} in other countries, about prices and the weather, and about what had "
    "changed in the last hundred years. She came home with {1} notebooks, all of them full. Tell me "
    "something about {0} in two sentences."
)


class Record:
    """What one conversation showed: requests as the model got them, answers, and the compactions by turn."""

    def __init__(self) -> None:
        self.turn = 0
        self.asked: list[Request] = []
        self.answers: list[str] = []
        self.cuts: list[int] = []

    def before_model(self, request: Request) -> Request:
        """A hook of the runtime."""
        self.asked.append(request)
        return request

    def take(self, event: Event) -> None:
        """A subscriber of the session."""
        match event.body:
            case Compaction():
                self.cuts.append(self.turn)
            case ResponseComplete(text=text):
                self.answers.append(text)
            case _:
                pass


def measure(*, peers: bool = False) -> list[Figure]:
    """1 or 0 for the fact in what the model was shown last, where turns also must end, compact once at most
    and tell of it; and for the fact in its answer, which is the model's own doing."""
    del peers
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        record, sizes, told = asyncio.run(_talk(Path(folder)))
    said = [message.text.lower() for message in record.asked[-1].messages]
    once = len(record.cuts) == len(set(record.cuts)) == told
    reference = {
        "turns": float(len(record.answers)),
        "compactions": float(len(record.cuts)),
        "most compactions in a turn": float(max(map(record.cuts.count, record.cuts), default=0)),
        "most tokens of a request": float(max(sizes)),
        "shown in the account of what is old": float(WORD in said[0]),
        "found again by the words of the question": float(WORD in said[-1]),
        "time (s)": time.monotonic() - begin,
    }
    reachable = any(WORD in text for text in said) and once and len(record.cuts) > 1 and max(sizes) < WINDOW
    answered = WORD in record.answers[-1].lower()
    return [
        Figure("first_fact_shown", float(reachable), "", 1.0, "higher", reference),
        Figure("first_fact_told", float(answered), "", 1.0, "higher"),
    ]


async def _talk(home: Path) -> tuple[Record, list[int], int]:
    """The conversation, the tokens of its prompts, and how many compactions the chat shows."""
    record = Record()
    profile = {"system_prompt": "orion.local.md", "max_tokens": ANSWER, "temperature": 0.0}
    async with local_house(home, {"local_model.window": WINDOW}, **profile) as runtime:
        runtime.hooks.before_model.append(record.before_model)
        return await _turns(runtime, record)


async def _turns(runtime: Runtime, record: Record) -> tuple[Record, list[int], int]:
    session = await runtime.open(profile=PROFILE)
    stop = session.subscribe(record.take)
    sizes: list[int] = []
    talk = [TALK.format(subject, number + 2) for number, subject in enumerate(SUBJECTS.split()[: TURNS - 2])]
    for text in (FACT, *talk, QUESTION):
        record.turn += 1
        sizes.append((await answer(session, text)).prompt)
    stop()
    told = sum(row.get("code") == "history_shortened" for row in session.rows())
    whole = sum(row["kind"] == "user" for row in session.rows())
    await session.close()
    if whole != TURNS or not isinstance(record.asked[-1].messages[0], UserMessage):
        raise RuntimeError("the conversation is not whole")
    return record, sizes, told
