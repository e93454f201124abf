"""The voice child of a conversation: started at its first use, and told anew whatever changed for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from runtime.conversation_events import ConversationEvent
from runtime.errors import OrionError
from runtime.profiles import Profile
from runtime.session import Session
from runtime.spoken_names import Names
from runtime.voice_entries import ONLINE_HOST, VoiceEntries
from runtime.voice_setup import voice_config
from voice.client import VoiceClient
from voice.config import VoiceConfig
from voice.events import Trouble

if TYPE_CHECKING:
    from runtime.assemble import Runtime


class VoiceChild:
    """Configures `client` from the settings, the profile of the chat in front and the permissions, and lets
    `entries` of the network ledger be written where a voice on another machine may speak. `names` are those
    of the chat. Used from the runtime's loop; `emit` gets troubles.
    """

    def __init__(
        self, runtime: Runtime, client: VoiceClient, emit: Callable[[ConversationEvent], None]
    ) -> None:
        self.entries = VoiceEntries(runtime.network.ledger, self._on_unwritable)
        self.names = Names()
        self._runtime = runtime
        self._client = client
        self._emit = emit
        self._session: Session | None = None
        self._config = VoiceConfig()
        self._hands_free: bool | None = None
        self._hands_free_set = runtime.settings.voice.hands_free
        self._refused = False

    def attach(self, session: Session | None) -> None:
        """The chat in front is another."""
        self._session, self.names = session, Names()
        self.refresh()

    async def start(self) -> None:
        """Start the child; does nothing while it runs."""
        if not self._client.pid:
            self._config = self._made()
            await self._client.start(self._config)

    async def hands_free(self, on: bool) -> None:
        """Listen without a key, or no longer, until the setting changes."""
        self._hands_free = on
        if on:
            await self.start()
        self.refresh()

    def settings_changed(self) -> None:
        """Settings, permissions or the profile are others."""
        now = self._runtime.settings.voice.hands_free
        if now is not self._hands_free_set:
            self._hands_free, self._hands_free_set = None, now
        self.refresh()

    def refresh(self) -> None:
        """Tell the child where something changed for it."""
        if not self._client.pid:
            return
        config = self._made()
        if config != self._config:
            self._config = config
            self._client.configure(config)

    def _made(self) -> VoiceConfig:
        runtime = self._runtime
        config = voice_config(
            runtime.settings,
            self._profile(),
            runtime.home,
            allowed=runtime.network.permits(ONLINE_HOST),
            hands_free=self._hands_free,
            hints=self.names.hints(runtime.home.workspace),
        )
        refused = runtime.settings.voice.online_voices and not config.online_voices
        if refused and not self._refused:
            self._emit(Trouble("voice_host_refused", {"host": ONLINE_HOST}))
        self._refused = refused
        self.entries.online, self.entries.via = config.online_voices, config.proxy
        return config

    def _profile(self) -> Profile:
        profiles = self._runtime.profiles
        name = self._session.profile if self._session is not None else self._runtime.settings.agent.profile
        if name in profiles.names():
            return profiles.get(name)
        return Profile(name="none", provider="", model="")

    def _on_unwritable(self, error: OrionError) -> None:
        """Nothing may leave that the ledger cannot hold: the voices of this machine go on."""
        self._emit(Trouble(error.code, error.fields))
        self._client.configure(VoiceConfig.from_json(self._config.to_json() | {"online_voices": False}))
