"""Who speaks is what the last configuration allows, whatever is still being loaded for an earlier one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from voice.child import Child
from voice.config import VoiceConfig
from voice.events import VoiceEvent
from voice.frames import Frame, Rank
from voice.tts.choice import Speaker


class Outlet:
    """Keeps what the child tells."""

    def __init__(self) -> None:
        self.ready = threading.Event()

    def tell(self, event: VoiceEvent) -> None:
        pass

    def send(self, frame: Frame) -> None:
        if frame["t"] == "ready":
            self.ready.set()


@contextmanager
def served(child: Child) -> Iterator[None]:
    thread = threading.Thread(target=child.serve)
    thread.start()
    try:
        yield
    finally:
        child.stop()
        thread.join()
        child.close()


def check(held: bool) -> None:
    assert held


def spoken_here(child: Child) -> bool:
    """Whether the next clause has a speaker, and none of its voices is on another machine."""
    mouth = child._mouth
    with mouth._news:
        speaker = mouth._new_tongue or mouth._tongue
    voices = speaker._voices if isinstance(speaker, Speaker) else ()
    return bool(voices) and not any(voice.name.startswith("edge:") for voice in voices)


def test_a_permission_taken_back_holds_for_the_next_clause() -> None:
    outlet = Outlet()
    child = Child(outlet)
    loaded, done = threading.Event(), threading.Event()
    child._parts.do(lambda: check(loaded.wait(10)))  # everything that is warmed comes late
    with served(child):
        child.accept({"t": "configure", "config": VoiceConfig(online_voices=True).to_json()})
        assert outlet.ready.wait(10)
        child.accept({"t": "configure", "config": VoiceConfig(online_voices=False).to_json()})
        child._post(done.set, Rank.CONTROL)
        assert done.wait(10)
        assert spoken_here(child)
        loaded.set()
        settled = threading.Event()
        child._parts.do(lambda: child._post(settled.set))
        assert settled.wait(20)
        assert spoken_here(child)
