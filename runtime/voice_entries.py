"""Enters into the network ledger what goes to a voice on another machine, one entry a spoken answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from runtime.errors import OrionError
from runtime.ledger import Entry, Ledger, new_id, now
from runtime.spoken_answer import SpokenAnswer

ONLINE_HOST = "speech.platform.bing.com"
"""Where the online voices are; permissions name this host."""
WHO = "edge-tts"
PURPOSE = "voice"


class VoiceEntries:
    """The entries of one conversation. `sent` counts the bytes of the text that was handed to the voice: a
    voice of this machine may have said some of it, and the frames of the protocol and the sound that comes
    back are not counted.
    """

    def __init__(self, ledger: Ledger, refuse: Callable[[OrionError], None]) -> None:
        """`refuse` is called where the ledger cannot be written: nothing may be sent then."""
        self._ledger = ledger
        self._refuse = refuse
        self._open: dict[int, tuple[Entry, float, SpokenAnswer]] = {}
        self.online = False
        self.via = ""

    def begin(self, answer: SpokenAnswer, text: str) -> None:
        """`text` of `answer` will be said, where `online` by a voice that is reached by the proxy `via`."""
        if self.online and text.strip() and id(answer) not in self._open:
            entry = Entry(new_id(), now(), WHO, PURPOSE, ONLINE_HOST, 443, "WS", via=_place(self.via))
            try:
                self._ledger.begin(entry)
            except OrionError as error:
                self.online = False
                self._refuse(error)
                return
            self._open[id(answer)] = entry, time.monotonic(), answer

    def end(self, answer: SpokenAnswer) -> None:
        """`answer` is over."""
        found = self._open.pop(id(answer), None)
        if found is not None:
            entry, begun, _answer = found
            sent, seconds = len(answer.text.encode("utf-8", "replace")), round(time.monotonic() - begun, 3)
            self._ledger.end(replace(entry, sent=sent, seconds=seconds, status=101))

    def close(self) -> None:
        """Nothing is said any more."""
        for _entry, _begun, answer in list(self._open.values()):
            self.end(answer)


def _place(proxy: str) -> str:
    """Host and port of a proxy's address, without the name and the password that may stand in it."""
    return proxy.rpartition("://")[2].rpartition("@")[2].partition("/")[0]
