"""Finds the session a person means: by its id, the beginning of it, or the word "last".

The last one is the newest in which something was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.errors import OrionError

if TYPE_CHECKING:
    from runtime.sessions import SessionStore

_ALL = 1_000_000


def find_session(store: SessionStore, wanted: str) -> str:
    """The id of the session meant; OrionError `cli_session_unknown` or `cli_session_ambiguous`."""
    rows = store.list(_ALL)
    ids = [str(row["id"]) for row in rows]
    if wanted == "last" and ids:
        return next((str(row["id"]) for row in rows if row["messages"]), ids[0])
    if wanted in ids:
        return wanted
    found = [known for known in ids if wanted and known.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise OrionError("cli_session_ambiguous", session=wanted, count=len(found))
    raise OrionError("cli_session_unknown", session=wanted)
