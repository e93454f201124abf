"""A window with its conductor, and a bridge that only records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from desktop.conductor import Conductor
from desktop.conversations import Conversations
from desktop.drafts import Drafts
from desktop.icons import program_icon
from desktop.live.live_conductor import LiveConductor
from desktop.pages import pages
from desktop.theme import LIGHT
from desktop.tray import Tray
from desktop.voice_conductor import VoiceConductor
from desktop.window import MainWindow
from desktop.window_state import WindowState
from tests.desktop.doubles import RecordingBridge, card, event, listed, overview


class Stage:
    """A window, its conductor and the bridge behind them."""

    def __init__(self, home: Path) -> None:
        self.bridge = RecordingBridge()
        self.bridge.answers["open"] = lambda session, profile=None, private=False: card(
            session or "s1", private=private, rows=[]
        )
        self.bridge.answers["retry"] = lambda session: card(session, title="Budget", busy=True, rows=[])
        self.bridge.answers["card"] = lambda session: card(session, title="Budget")
        self.bridge.answers["sessions"] = [listed("s1", "Budget"), listed("s2", "Two")]
        self.window = MainWindow(LIGHT, pages(), WindowState())
        self.talks = Conversations(self.bridge)
        self.drafts = Drafts(home / "drafts")
        self.conductor = Conductor(self.window, self.talks, self.drafts, Tray(program_icon(), self.window))
        self.voice = VoiceConductor(self.window, self.bridge, self.talks)
        self.live = LiveConductor(self.window, self.bridge)
        self.conductor.escapes.append(self.voice.take_escape)
        self.window.set_page_maker(lambda page: page.make(self.bridge, LIGHT))
        self.talks.begin(overview(sessions=[listed("s1", "Budget")]), "s1")
        self.bridge.settle()

    def happen(self, *bodies: Any, session: str = "s1") -> None:
        for body in bodies:
            self.bridge.happened.emit(event(body, session))
