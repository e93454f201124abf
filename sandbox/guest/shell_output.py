"""What a command prints, bounded: the beginning at once, the end when it is over, a word on the middle."""

from __future__ import annotations


class Output:
    """Keeps at most `limit` bytes of what is fed: half of it goes out as it comes, the other half is the
    latest. Cuts fall between characters of UTF-8."""

    def __init__(self, limit: int) -> None:
        self._head_room = limit // 2
        self._tail_room = limit - limit // 2
        self._ready = bytearray()
        self._tail = bytearray()
        self.total = 0
        self.omitted = 0

    @property
    def flooded(self) -> bool:
        """Whether something is left out already, so that nobody waits for more."""
        return self.omitted > 0

    def feed(self, data: bytes) -> None:
        """More output."""
        self.total += len(data)
        if self._head_room:
            self._ready += data[: self._head_room]
            taken = min(len(data), self._head_room)
            self._head_room -= taken
            data = data[taken:]
            if not self._head_room:
                whole = _whole(self._ready)
                self._tail_room += len(self._ready) - whole
                self._tail += self._ready[whole:]
                del self._ready[whole:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_room:
            self._trim()

    def take(self) -> bytes:
        """What may go out now, once."""
        whole = _whole(self._ready)
        ready = bytes(self._ready[:whole])
        del self._ready[:whole]
        return ready

    def rest(self) -> bytes:
        """At the end: all that has not gone out, with a line where something is missing."""
        if len(self._tail) > self._tail_room:
            self._trim()
        start = bytes(self._ready)
        self._ready.clear()
        if not self.omitted:
            return start + bytes(self._tail)
        tail = bytes(self._tail)
        cut = _begin(tail)
        return start + f"\n[… {self.omitted + cut} bytes left out …]\n".encode() + tail[cut:]

    def _trim(self) -> None:
        surplus = len(self._tail) - self._tail_room
        self.omitted += surplus
        del self._tail[:surplus]


def _whole(data: bytes | bytearray) -> int:
    """Length of `data` without a character that is cut off at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if needed > back else len(data)
    return len(data)


def _begin(data: bytes) -> int:
    """How many bytes at the start of `data` are the end of a character that is cut off."""
    for index, byte in enumerate(data[:4]):
        if byte & 0xC0 != 0x80:
            return index
    return 0
