"""The memory of sessions: one live sequence in the model's context, and the states of others beside it."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from models import hardware
from models.native import Native
from models.state_store import StateStore
from models.transcript import Transcript

WORTH = 64
"""Tokens; fewer new ones are evaluated again sooner than a state is written."""


@dataclass(slots=True)
class _Saved:
    """The state of a session that is not the live one. The first `kept` of its tokens are on disk."""

    transcript: Transcript
    state: ctypes.Array[ctypes.c_char]
    private: bool
    kept: int


class WarmMemory:
    """The sequences of the model `native`, at most `limit` bytes of states of sessions that are not live.

    Switching sessions copies the state of the live one into the pool (13 ms for 160 MB, measured) instead of
    keeping several sequences in one context, where the attention of each would run over the cells of all.
    What falls out of the pool goes into `store`, unless it is private, and comes back from there.
    """

    def __init__(self, native: Native, limit: int, store: StateStore | None = None) -> None:
        self._native = native
        self._api = native.library.api
        self._limit = limit
        self._store = store
        self._pool: OrderedDict[str, _Saved] = OrderedDict()
        self._live = ""
        self._private = False
        self._kept = 0
        self.transcript = Transcript()
        """What the live sequence holds."""

    def known(self, session: str) -> Transcript:
        """What is remembered of `session`; an empty transcript if nothing is."""
        if session == self._live:
            return self.transcript
        if session not in self._pool and self._store is not None:
            self._recall(session, self._store)
        saved = self._pool.get(session)
        return saved.transcript if saved else Transcript()

    def activate(self, session: str, private: bool) -> None:
        """Make `session` the live one: the present one goes to the pool, an earlier state comes back."""
        if session == self._live:
            self._private = self._private or private
            return
        saved = self._pool.pop(session, None)
        self._set_aside()
        self._api.llama_memory_clear(self._native.memory, False)
        self._live, self._private = session, private
        self.transcript, self._kept = (saved.transcript, saved.kept) if saved else (Transcript(), 0)
        if saved and not self._api.llama_state_seq_set_data(
            self._native.context, _bytes(saved.state), len(saved.state), 0
        ):
            self._api.llama_memory_clear(self._native.memory, False)
            self.transcript, self._kept = Transcript(), 0

    def forget_from(self, position: int) -> int:
        """Drop what the live sequence holds from `position` on; a memory that cannot forget a part (recurrent
        models) forgets all. How many tokens remain."""
        if position >= self.transcript.held:
            return position
        return self.cut(position)

    def cut(self, position: int) -> int:
        """As `forget_from`, whatever the transcript says about how much there is."""
        self._kept = min(self._kept, position)
        if position and self._api.llama_memory_seq_rm(self._native.memory, 0, position, -1):
            return position
        self._api.llama_memory_clear(self._native.memory, False)
        self._kept = 0
        return 0

    def evict(self, session: str) -> None:
        """Forget `session` altogether, on disk too."""
        self._pool.pop(session, None)
        if self._store is not None:
            self._store.remove(session)
        if session == self._live:
            self._api.llama_memory_clear(self._native.memory, False)
            self._live, self._private, self._kept, self.transcript = "", False, 0, Transcript()

    def park(self) -> None:
        """Write every state that is not on disk yet, the live one last, because it is the newest. The memory
        is not used afterwards."""
        self._set_aside()
        for session, saved in self._pool.items():
            self._keep(session, saved)
        self._pool.clear()
        self._live, self.transcript = "", Transcript()

    def _recall(self, session: str, store: StateStore) -> None:
        """Bring a stored state into the pool, if there is one that fits."""
        found = store.load(session)
        if found is not None and found.transcript.held < self._native.window:
            self._pool[session] = _Saved(found.transcript, found.state, False, found.transcript.held)

    def _set_aside(self) -> None:
        """Copy the live state into the pool; states that have no room there go to disk."""
        if not self._live or not self.transcript.held:
            return
        size = self._api.llama_state_seq_get_size(self._native.context, 0)
        while self._pool and size + sum(len(saved.state) for saved in self._pool.values()) > self._limit:
            self._keep(*self._pool.popitem(last=False))
        if size > self._limit and (self._store is None or size > hardware.memory_available() // 2):
            return
        state = ctypes.create_string_buffer(size)
        if self._api.llama_state_seq_get_data(self._native.context, _bytes(state), size, 0) != size:
            return
        saved = _Saved(self.transcript, state, self._private, self._kept)
        if size <= self._limit:
            self._pool[self._live] = saved
        else:
            self._keep(self._live, saved)

    def _keep(self, session: str, saved: _Saved) -> None:
        new = saved.transcript.held - saved.kept
        if self._store is None or saved.private or new < WORTH:
            return
        if self._store.save(session, saved.transcript, saved.state):
            saved.kept = saved.transcript.held


def _bytes(state: Any) -> Any:
    return ctypes.cast(state, ctypes.POINTER(ctypes.c_uint8))
