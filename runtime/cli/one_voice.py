"""The voice child for the length of one command."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import TypeVar

from runtime.errors import OrionError
from runtime.network import Network
from runtime.paths import Home, find_home
from runtime.profiles import Profile, Profiles
from runtime.settings import load_settings
from runtime.voice_entries import ONLINE_HOST
from runtime.voice_setup import voice_config
from voice.client import VoiceClient, default_command
from voice.config import VoiceConfig
from voice.events import Trouble, VoiceEvent

Wanted = TypeVar("Wanted")

FATAL = ("sound_", "voice_child_ended", "voice_gave_up", "voice_none")
"""Beginnings of codes after which no command of voice can go on."""

_AFTERWARDS = 1.0
"""Seconds in which the reason follows what was not heard."""


class OneVoice:
    """Starts the child between `async with` and its end, and hands on its events in order.

    `fatal` are beginnings of codes that end the command beside those of FATAL; other troubles go to `warn`.
    """

    def __init__(
        self, config: VoiceConfig, fatal: tuple[str, ...], warn: Callable[[str, dict[str, object]], None]
    ) -> None:
        self._config = config
        self._fatal = (*FATAL, *fatal)
        self._warn = warn
        self._events: asyncio.Queue[VoiceEvent] = asyncio.Queue()
        self.client = VoiceClient(default_command(), self._events.put_nowait)

    async def __aenter__(self) -> OneVoice:
        await self.client.start(self._config)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.client.close()

    async def reason(self) -> None:
        """Wait a little for a trouble that ends the command, and raise it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_AFTERWARDS):
                await self.until(lambda event: None)

    async def until(self, wanted: Callable[[VoiceEvent], Wanted | None]) -> Wanted:
        """What `wanted` makes of the first event for which that is not None. Raises OrionError for a trouble
        that ends the command."""
        while True:
            event = await self._events.get()
            if isinstance(event, Trouble):
                if event.code.startswith(self._fatal):
                    raise OrionError(event.code, fault="user", **event.fields)
                self._warn(event.code, dict(event.fields))
            found = wanted(event)
            if found is not None:
                return found


def configured(home: Home | None = None, *, hands_free: bool = False, voice: str = "") -> VoiceConfig:
    """The configuration of settings, profile and permissions, as the window has it; `voice` instead of the
    chosen one. Raises OrionError for settings that cannot be read."""
    home = home or find_home()
    home.create()
    settings = load_settings(home.settings_file)
    profile = Profile(name="none", provider="", model="")
    with suppress(OrionError):
        profile = Profiles(home.profiles).get(settings.agent.profile)
    allowed = Network(home).permits(ONLINE_HOST)
    config = voice_config(settings, profile, home, allowed=allowed, hands_free=hands_free)
    return replace(config, voice=voice) if voice else config
