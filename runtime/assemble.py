"""The only place that picks classes: builds the runtime of one process and closes it again."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import resources
from runtime import model_folders
from runtime.connections import connect
from runtime.errors import OrionError
from runtime.exam_record import ExamRecord
from runtime.hooks import Hooks
from runtime.house import House
from runtime.journal import Journal
from runtime.keys import Keys
from runtime.messages import JsonObject, ToolCall
from runtime.network import PULL, Network
from runtime.offers import Offers, files
from runtime.paths import Home, find_home
from runtime.profiles import Notice, Profile, Profiles
from runtime.providers.connection import Connection
from runtime.providers.patience import Patient
from runtime.providers.provider import PRIVATE, ModelInfo, NativeTool, Provider, Traits
from runtime.providers.scripted import ScriptedProvider, load_script
from runtime.roles import Roles
from runtime.rules import RuleBook
from runtime.session import Session
from runtime.sessions import SessionStore
from runtime.settings import Sandbox, Settings, load_settings, save_settings
from runtime.spending import Spending
from runtime.tools.bash import Bash
from runtime.tools.browser import BrowserTool
from runtime.tools.calculator import Calculator
from runtime.tools.computer import ComputerTool
from runtime.tools.computer_elements import ComputerElements
from runtime.tools.delete_file import DeleteFile
from runtime.tools.echo import Echo
from runtime.tools.edit_file import EditFile
from runtime.tools.list_directory import ListDirectory
from runtime.tools.read_file import ReadFile
from runtime.tools.registry import ToolRegistry
from runtime.tools.run_code import RunCode
from runtime.tools.runtime_info import RuntimeInfo
from runtime.tools.search_files import SearchFiles
from runtime.tools.str_replace_based_edit_tool import StrReplaceBasedEditTool
from runtime.tools.tool import Result, Tool
from runtime.tools.write_file import WriteFile
from runtime.workspace import Workspace

if TYPE_CHECKING:
    from models.library import Library
    from runtime.agent_computer import AgentComputer
    from runtime.conversation import Conversation
    from runtime.conversation_events import ConversationEvent
    from runtime.model_shelf import ModelShelf
    from runtime.ollama_shelf import OllamaShelf

TOOLS: tuple[Callable[[], Tool], ...] = (
    Bash,
    BrowserTool,
    Calculator,
    ComputerElements,
    ComputerTool,
    DeleteFile,
    Echo,
    EditFile,
    ListDirectory,
    ReadFile,
    RunCode,
    RuntimeInfo,
    SearchFiles,
    StrReplaceBasedEditTool,
    WriteFile,
)


def _scripted(runtime: Runtime, profile: Profile) -> Provider:
    beside = runtime.profiles.folder(profile.name) / profile.model
    return ScriptedProvider(
        load_script(beside if beside.exists() else resources.path("scripts", profile.model))
    )


def _local(runtime: Runtime, profile: Profile) -> Provider:
    from runtime.providers.local import LocalProvider

    return LocalProvider(runtime.library, lambda: runtime.settings.local_model, states=runtime.home.states)


def _anthropic(runtime: Runtime, profile: Profile) -> Provider:
    from runtime.providers.anthropic import AnthropicProvider

    return Patient(AnthropicProvider(runtime.connection(profile)))


def _ollama(runtime: Runtime, profile: Profile) -> Provider:
    from runtime.providers.ollama import OllamaProvider

    return Patient(OllamaProvider(runtime.connection(profile)))


def _openai(runtime: Runtime, profile: Profile) -> Provider:
    from runtime.providers.openai import make

    return Patient(make(runtime.connection(profile), profile.api))


# A client per process and address of a service, per profile where its whole configuration matters.
PROVIDERS: dict[str, Callable[[Runtime, Profile], Provider]] = {
    "anthropic": _anthropic,
    "local": _local,
    "ollama": _ollama,
    "openai": _openai,
    "scripted": _scripted,
}
PER_PROFILE = frozenset({"scripted"})


class Runtime:
    """The agent of one process. Made by `assemble`, used from the loop that made it."""

    def __init__(self, home: Home, door: str) -> None:
        self.home = home
        self.door = door
        self._faults: list[Notice] = []
        self.settings = self._settings()
        self.profiles = Profiles(home.profiles)
        self.sessions = SessionStore(home.sessions, home.index, door)
        self.hooks = Hooks(after_tool=[self._changed])
        self.spending = Spending(home)
        self.network = Network(home)
        self.keys = Keys(home.keys_file)
        self.registry = ToolRegistry(tool() for tool in TOOLS)
        self._providers: dict[str, Provider] = {}
        self.offers = Offers(self.profiles, self._provider, self.models)
        self._shelves: dict[str, OllamaShelf] = {}
        self._open: dict[str, Session] = {}
        self._private: Session | None = None
        self._conversations: list[Conversation] = []
        self._deleted: set[str] = set()
        self.exams = ExamRecord(home.exams_file)
        self.roles = Roles(self.exams, lambda: self.library, lambda: self.settings.local_model.model)
        self._house = House(
            home=home,
            profiles=self.profiles,
            registry=self.registry,
            rules=RuleBook(home.rules_file),
            workspace=Workspace.create(home.workspace, home.changes),
            hooks=self.hooks,
            spending=self.spending,
            provider=self._provider,
            bounded_iterations=lambda: self.settings.agent.bounded_iterations,
            autonomy=lambda: self.settings.agent.autonomy,
            computer=lambda: self.computer,
            native=self._native,
            permit=self.roles.permit,
            preferred=self.roles.preferred,
        )

    @cached_property
    def library(self) -> Library:
        """The model files on this machine."""
        return model_folders.library(self.home, lambda: self.settings.models.folders)

    @cached_property
    def shelf(self) -> ModelShelf:
        """The models on this machine and those that can be fetched."""
        from runtime.model_shelf import ModelShelf

        return ModelShelf(self)

    @cached_property
    def computer(self) -> AgentComputer:
        """The agent's own computer, which is off until someone needs it."""
        from runtime.agent_computer import AgentComputer

        return AgentComputer(self)

    @property
    def workspace(self) -> Workspace:
        return self._house.workspace

    @property
    def sandbox(self) -> Sandbox:
        """The settings of the agent's computer as they are now."""
        return self.settings.sandbox

    def working(self, session: str) -> Session | None:
        """The session of that id if it is open in this process."""
        found = self._private if session == PRIVATE else self._open.get(session)
        return None if found is None or found.closed else found

    def _changed(self, _call: ToolCall, result: Result) -> Result:
        """A tool that changed the user's folder: the copy in the computer is no longer up to date."""
        if "change" in result.details and "computer" in self.__dict__:
            self.computer.outdated()
        return result

    def _native(self, model: str) -> tuple[NativeTool, ...]:
        """The tools of the computer that a service defines itself for `model`, in the size it sees."""
        from runtime.providers.anthropic_models import native_tools
        from sandbox.scaling import Scaling

        width, height = Scaling(self.sandbox.screen_width, self.sandbox.screen_height).model
        return native_tools(model, width, height)

    def _settings(self) -> Settings:
        try:
            return load_settings(self.home.settings_file)
        except OrionError as error:
            self._faults.append((error.code, error.fields))
            return Settings()

    def _made(self, profile: Profile) -> Provider:
        make = PROVIDERS.get(profile.provider)
        if make is None:
            known = ", ".join(sorted(PROVIDERS))
            raise OrionError("provider_unknown", provider=profile.provider, profile=profile.name, known=known)
        return make(self, profile)

    def _provider(self, profile: Profile, model: str) -> Provider:
        own = profile.name if profile.provider in PER_PROFILE else ""
        key = f"{profile.provider} {profile.base_url} {profile.api} {own}"
        if key not in self._providers:
            self._providers[key] = self._made(profile)
        return self._providers[key]

    def made(self, provider: str) -> list[Provider]:
        """The clients of `provider` that this process has used so far."""
        return [client for key, client in self._providers.items() if key.split(" ")[0] == provider]

    def connection(self, profile: Profile) -> Connection:
        """How the profile's provider reaches its service. Raises OrionError `address_invalid`."""
        return connect(profile, self.keys, self.network)

    async def try_service(self, provider: str, address: str) -> list[ModelInfo]:
        """The models that the service at `address` offers now. Raises OrionError as a call of it fails."""
        profile = Profile(name="trial", provider=provider, model="", base_url=address)
        client = self._made(profile)
        try:
            return await client.models()
        finally:
            await client.close()

    def ollama(self, profile: str = "orion-ollama", address: str = "") -> OllamaShelf:
        """The models on the disk of the Ollama server at `address`, else of the profile's; the same object
        each time, which the runtime closes. Raises OrionError `profile_unknown`, `profile_not_ollama`
        (name, provider), `address_invalid`."""
        from runtime.ollama_shelf import OllamaShelf

        found = Profile(name="trial", provider="ollama", model="", base_url=address)
        if not address:
            found = self.profiles.get(profile)
        if found.provider != "ollama":
            raise OrionError("profile_not_ollama", fault="user", name=profile, provider=found.provider)
        way = self.connection(found)
        if way.base_url not in self._shelves:
            pulling = replace(way, old_client=partial(self.network.old_client, way.provider, purpose=PULL))
            forget = partial(self.offers.forget, way.provider)
            self._shelves[way.base_url] = OllamaShelf(way, pulling, forget)
        return self._shelves[way.base_url]

    async def open(
        self, session_id: str | None = None, *, profile: str | None = None, private: bool = False
    ) -> Session:
        """The session, new unless an id is given; the same object while it is open in this process.

        Raises OrionError `session_unknown`, `session_locked` (pid, door), `format_newer`,
        `profile_unknown`. The runtime closes it; `Session.close` may be called earlier.
        """
        agent = self.settings.agent
        chosen = profile or agent.profile
        model = agent.model if chosen == agent.profile else ""
        if session_id is None or profile is not None:
            self.profiles.get(chosen)
        if private:
            journal = Journal(None)
            journal.append("session", title="")
            journal.append("mode", profile=chosen, model=model)
            self._private = Session(self._house, PRIVATE, journal, None)
            return self._private
        if session_id is None:
            session_id = self.sessions.create(chosen, model)
        elif session_id in self._open and not self._open[session_id].closed:
            return self._open[session_id]
        session = Session(self._house, session_id, *self.sessions.open(session_id))
        self._open[session_id] = session
        if profile is not None and session.profile != profile:
            await session.use(profile=profile)
        return session

    async def delete(self, session_id: str) -> str:
        """Close the session if it is open here and put it aside; the token for `sessions.restore`."""
        if session_id in self._open:
            await self._open.pop(session_id).close()
        token = self.sessions.delete(session_id)
        self._deleted.add(session_id)
        self._forget_deleted()
        return token

    def _forget_deleted(self) -> None:
        """Remove what engines keep of deleted sessions."""
        from models.state_store import remove_states

        for session_id in self._deleted:
            remove_states(self.home.states, session_id)

    def traits(self, profile: Profile) -> Traits | None:
        """What the profile's provider can do and where it runs; None where there is no such provider."""
        try:
            return self._provider(profile, profile.model).traits(profile.model)
        except OrionError:
            return None

    def save_settings(self, changes: dict[str, object]) -> Settings:
        """Check and write `changes` (dotted names); raises OrionError naming what is wrong."""
        self.settings = save_settings(self.home.settings_file, changes)
        return self.settings

    def conversation(
        self, on_event: Callable[[ConversationEvent], None], command: Sequence[str] | None = None
    ) -> Conversation:
        """The voice of this process for one door, closed by the runtime if not earlier; nothing starts before
        it is used. `command` starts another child than the program's own."""
        from runtime.conversation import Conversation

        made = Conversation(self, on_event, command)
        self._conversations.append(made)
        return made

    def models(self) -> list[JsonObject]:
        """What a picker offers of the files on this machine; see offers.files."""
        return files(self.library, self.settings.local_model.model)

    async def choose(self, name: str, session: str = "") -> JsonObject:
        """Let new conversations, or the stored `session`, use the model `name`, which may stand behind its
        provider and a slash. Returns its row; see Offers. Raises OrionError `model_unknown` (name, known)."""
        row = await self.offers.find(name)
        if session:
            opened = await self.open(session)
            if opened.profile != row["profile"]:
                await opened.use(profile=row["profile"])
            await opened.use(model=row["name"])
            await opened.close()
        else:
            model = "" if row["default"] else row["name"]
            self.save_settings({"agent.profile": row["profile"], "agent.model": model})
        return row

    def health(self) -> list[Notice]:
        """What keeps this program from working as it should, as codes and fields."""
        found = [*self._faults, *self.profiles.notices(), *self.spending.notices()]
        found += self.network.notices() + self.keys.notices() + self.exams.notices()
        found += model_folders.notices(self.home)
        if (name := self.settings.agent.profile) in self.profiles.names():
            found += self.registry.notices(self.profiles.get(name))
        if not os.access(self.home.root, os.W_OK):
            found.append(("home_unwritable", {"path": str(self.home.root), "reason": "read-only"}))
        if self.library.empty():
            found.append(("model_missing", {"path": str(self.home.weights)}))
        return found

    async def close(self) -> None:
        """Close voice and sessions, then downloads and providers, then the store; nobody waits for the
        keyring."""
        self.keys.close()
        for conversation in self._conversations:
            await conversation.close()
        for session in self._open.values():
            await session.close()
        if "computer" in self.__dict__:
            await self.computer.close()
        if "shelf" in self.__dict__:
            await self.shelf.close()
        for server in self._shelves.values():
            await server.close()
        for provider in self._providers.values():
            await provider.close()
        self._forget_deleted()
        self.spending.close()
        self.sessions.close()


@asynccontextmanager
async def assemble(home: Path | None = None, door: str = "window") -> AsyncIterator[Runtime]:
    """The runtime of this process; `door` names it to others. Raises OrionError `home_unwritable`."""
    place = find_home(home)
    place.create()
    runtime = Runtime(place, door)
    try:
        yield runtime
    finally:
        await runtime.close()
