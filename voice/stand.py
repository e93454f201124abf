"""The loudspeaker in use: the one that is wished for, or the system's own while that is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from voice.errors import VoiceError
from voice.loudspeaker import Loudspeaker
from voice.mouth import Mouth

if TYPE_CHECKING:
    from voice.sound import Samples


class Stand:
    """Makes and closes loudspeakers for a mouth. One thread calls it; `trouble` comes in theirs."""

    def __init__(
        self,
        mouth: Mouth,
        far: Callable[[Samples, float], None],
        trouble: Callable[[VoiceError], None],
    ) -> None:
        self.number = 0
        """Counts the loudspeakers, so that the fault of an earlier one is known for what it is."""
        self._mouth = mouth
        self._far = far
        self._trouble = trouble
        self._wished = ""
        self._device = ""
        self._volume = 1.0
        self._horn: Loudspeaker | None = None

    @property
    def lacks(self) -> str:
        """The id of the loudspeaker that is wished for and not in use; "" when it is."""
        return self._wished if self._wished != self._device else ""

    def use(self, device: str, volume: float) -> None:
        """Speak through `device` from now on, empty for the system's own."""
        self._volume = volume
        if self._horn is not None and (device, device) == (self._wished, self._device):
            self._horn.volume = volume
            return
        self._wished = device
        self._put(device)

    def prepare(self) -> None:
        """Open the loudspeaker, because something will be said soon. A fault shows when it is said."""
        if self._horn is not None:
            try:
                self._horn.open()
            except VoiceError:
                return

    def replace(self) -> bool:
        """Go on with the system's own loudspeaker in place of the chosen one; False when that is the one
        that failed, or does not work either."""
        if not self._device:
            return False
        self._put("")
        assert self._horn is not None
        try:
            self._horn.open()
        except VoiceError:
            return False
        return True

    def close(self) -> None:
        """Close the loudspeaker; the mouth is closed before."""
        if self._horn is not None:
            self._horn.close()
            self._horn = None

    def _put(self, device: str) -> None:
        self.number += 1
        old, self._device = self._horn, device
        horn = Loudspeaker(device, self._mouth.on_mark, self._far, self._trouble, self._volume)
        self._horn = horn
        self._mouth.play_on(horn)
        if old is not None:
            old.close()
