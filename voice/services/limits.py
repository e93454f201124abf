"""How much one request may ask of the speech services, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes, characters and seconds; a request beyond one of them is refused with a sentence.

    `places` is how many requests one engine serves and keeps waiting together, `wait` how long a step of
    work may wait for the engine. `stall` is how long a client may send or read nothing.
    """

    body: int = 25 * 1024 * 1024
    characters: int = 100_000
    sound: float = 2 * 3600.0
    places: int = 8
    wait: float = 120.0
    stall: float = 60.0
