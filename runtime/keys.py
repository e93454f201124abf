"""Keys of services: in the keyring of the system or in the environment, never in a file."""

from __future__ import annotations

import importlib
import logging
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from runtime.errors import Field as ErrorField
from runtime.errors import OrionError
from runtime.services import needs_key, title, variables
from runtime.shared_file import SharedFile

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE = "Orion Desktop"
"""The name under which people find the keys in their keyring."""

VERSION = 1
PATIENCE = 30.0
"""Seconds a keyring may take; a locked one asks for its password meanwhile."""

STORES = (
    "keyring.backends.Windows:WinVaultKeyring",
    "keyring.backends.macOS:Keyring",
    "keyring.backends.SecretService:Keyring",
    "keyring.backends.kwallet:DBusKeyring",
    "keyring.backends.libsecret:Keyring",
)
"""The keyrings of systems. No other is used, because others keep their secrets in files."""

log = logging.getLogger(__name__)

_ResultT = TypeVar("_ResultT")


Where = Literal["keyring", "environment", "none"]


class KeyState(TypedDict):
    """Where a key is; `hint` is its last four characters, empty for a short one."""

    where: Where
    hint: str


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str
    place: str
    since: datetime


class _Index(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = Field(default=VERSION, ge=1)
    keys: tuple[_Kept, ...] = ()


class Keys:
    """The keys of this user. A key belongs to one provider at one place (see services.place) and is given to
    no other.

    `index` is the file that tells which keys lie in the keyring, so that it is opened only where one does and
    a change by another process holds at once. Reading the first key may take as long as the keyring asks for
    its password; after that the key is remembered until something changes. Usable from any thread; the owner
    closes it.
    """

    def __init__(self, index: Path) -> None:
        self._index = SharedFile(index, _Index, VERSION)
        self._seen: tuple[int, int, int] | None = None
        self._remembered: dict[tuple[str, str], str] = {}
        self._waiting: set[threading.Event] = set()

    def get(self, provider: str, place: str) -> str:
        """The key, "" where the service may need none. Raises OrionError `key_missing` (provider, variable),
        or `keyring_unusable` where one is kept and the keyring does not give it."""
        if found := self._found(provider, place)[1]:
            return found
        if needs_key(provider, place):
            raise OrionError("key_missing", provider=title(provider), variable=variables(provider, place)[0])
        return ""

    def set(self, provider: str, place: str, key: str) -> None:
        """Keep `key` in the keyring. Raises OrionError `key_empty`, `key_unfit`, or `keyring_unusable` where
        this system has no keyring; nothing is stored then."""
        key = key.strip()
        if not key:
            raise OrionError("key_empty", provider=title(provider))
        if not key.isascii() or not key.isprintable() or " " in key:
            raise OrionError("key_unfit", provider=title(provider))
        name = _account(provider, place)
        self._ask(lambda store: store.set_password(SERVICE, name, key), provider, place)
        fresh = _Kept(provider=provider, place=place, since=datetime.now(UTC).replace(microsecond=0))
        self._index.change(lambda index: _members([*_without(index, provider, place), fresh]))

    def remove(self, provider: str, place: str) -> None:
        """Take the key out of the keyring; one that is not there is ignored. Raises `keyring_unusable`."""
        name = _account(provider, place)

        def delete(store: KeyringBackend) -> None:
            if store.get_password(SERVICE, name) is not None:
                store.delete_password(SERVICE, name)

        self._ask(delete, provider, place)
        self._index.change(lambda index: _members(_without(index, provider, place)))

    def state(self, provider: str, place: str) -> KeyState:
        """Where the key is. Raises as `get`, without `key_missing`."""
        where, found = self._found(provider, place)
        return {"where": where, "hint": _hint(found)}

    def kept(self) -> list[tuple[str, str]]:
        """Provider and place of every key in the keyring, without opening it. Raises OrionError naming what
        is wrong with the index."""
        return [(entry.provider, entry.place) for entry in self._index.read().keys]

    def notices(self) -> list[tuple[str, dict[str, ErrorField]]]:
        """Code and fields of what is wrong with the index."""
        return self._index.notices()

    def _found(self, provider: str, place: str) -> tuple[Where, str]:
        """The key and where it was; a keyring that does not answer matters only where no variable is set."""
        there = _from_environment(provider, place)
        try:
            if kept := self._kept(provider, place):
                return "keyring", kept
        except OrionError:
            if not there:
                raise
        return ("environment", there) if there else ("none", "")

    def _kept(self, provider: str, place: str) -> str:
        if (provider, place) not in self.kept():
            return ""
        signature = self._index.signature()
        if signature != self._seen:
            self._remembered = {}
            self._seen = signature
        remembered = self._remembered  # a change meanwhile begins another one
        if (provider, place) not in remembered:
            name = _account(provider, place)
            found = self._ask(lambda store: store.get_password(SERVICE, name), provider, place)
            remembered[provider, place] = found or ""
        return remembered[provider, place]

    def _ask(self, question: Callable[[KeyringBackend], _ResultT], provider: str, place: str) -> _ResultT:
        """Put a question to the keyring in a thread of its own, because it may wait for a person.

        Raises OrionError `keyring_unusable`.
        """
        from keyring.errors import KeyringError

        answers: list[_ResultT] = []
        reasons: list[str] = []
        over = threading.Event()

        def ask() -> None:
            try:
                answers.append(question(_store()))
            except KeyringError as error:
                reasons.append(str(error) or type(error).__name__)
            except (RuntimeError, OSError) as error:
                reasons.append(str(error))
            except Exception as error:  # noqa: BLE001 (the thread's edge: libraries let faults of their bus through)
                log.warning("the keyring failed: %s", type(error).__name__)
                reasons.append(type(error).__name__)
            finally:
                over.set()

        self._waiting.add(over)
        threading.Thread(target=ask, name="keyring", daemon=True).start()
        over.wait(PATIENCE)
        self._waiting.discard(over)
        if answers:
            return answers[0]
        reason = reasons[0] if reasons else "it did not answer; unlock it"
        raise OrionError("keyring_unusable", reason=reason, variable=variables(provider, place)[0])

    def close(self) -> None:
        """Let nobody wait for the keyring any longer; a question that it was asked stays with it."""
        for over in tuple(self._waiting):
            over.set()


def _from_environment(provider: str, place: str) -> str:
    found = (os.environ.get(name, "").strip() for name in variables(provider, place))
    return next(filter(None, found), "")


def _without(index: _Index, provider: str, place: str) -> list[_Kept]:
    return [entry for entry in index.keys if (entry.provider, entry.place) != (provider, place)]


def _members(keys: list[_Kept]) -> dict[str, Any]:
    return {"keys": [entry.model_dump(mode="json") for entry in keys]}


def _account(provider: str, place: str) -> str:
    return f"{provider} at {place}"


def _hint(key: str) -> str:
    return key[-4:] if len(key) >= 12 else ""


def _store() -> KeyringBackend:
    """The keyring of this system. Raises RuntimeError where there is none."""
    chosen = os.environ.get("PYTHON_KEYRING_BACKEND", "")
    found: list[tuple[float, type[KeyringBackend]]] = []
    for name in STORES:
        module, _colon, kind = name.partition(":")
        if chosen not in ("", f"{module}.{kind}"):
            continue
        backend: type[KeyringBackend] = getattr(importlib.import_module(module), kind)
        if backend.viable:
            found.append((float(backend.priority), backend))
    if not found:
        raise RuntimeError("none is running")
    return max(found, key=lambda pair: pair[0])[1]()
