"""Makes the engines that the child works with, and loads them in a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from voice.config import VoiceConfig
from voice.ears import Canceller, Detector, MakeSource
from voice.errors import VoiceError
from voice.events import VoiceEvent
from voice.hearing import Listening
from voice.keeping import Kept
from voice.microphone import Microphone
from voice.sound import Block

if TYPE_CHECKING:
    from voice.echo import EchoCanceller
    from voice.stt.recogniser import Recogniser
    from voice.tts.choice import Speaker


class Parts:
    """`close` ends the thread, `unload` then what words were made with; all is called by one other thread."""

    def __init__(self) -> None:
        self._recogniser: Recogniser | None = None
        self._canceller: EchoCanceller | None = None
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="voice parts", daemon=True)
        self._thread.start()

    def do(self, job: Callable[[], None]) -> None:
        """Have something done in the thread, after what is loaded there."""
        self._jobs.put(job)

    def microphone(self, device: str) -> MakeSource:
        """What makes the microphone `device`."""

        def make(heard: Callable[[Block], None], trouble: Callable[[VoiceError], None]) -> Microphone:
            return Microphone(device, heard, trouble)

        return make

    def use_recogniser(self, folder: str, threads: int) -> None:
        """Understand with the model in `folder` from the next utterance on; loaded ahead of it."""
        from voice.stt.recogniser import Recogniser

        self._recogniser = made = Recogniser(folder, threads)

        def load() -> None:
            try:
                made.load()
            except VoiceError:
                return  # told when somebody speaks

        self._jobs.put(load)

    def words(
        self,
        config: VoiceConfig,
        tell: Callable[[VoiceEvent], None],
        trouble: Callable[[VoiceError], None],
    ) -> Listening | None:
        """Something that understands one utterance."""
        from voice.stt.utterance import Utterance

        if self._recogniser is None:
            return None
        words: Listening = Utterance(self._recogniser, config.language, config.hints, tell)
        return Kept(words, config.keep_folder, trouble) if config.keep_folder else words

    def warm(self, speaker: Speaker, use: Callable[[Speaker], None]) -> None:
        """Hand the speaker on when it is warm, so that a first clause is said at once."""

        def load() -> None:
            speaker.warm()
            use(speaker)

        self._jobs.put(load)

    def load_hearing(self, use: Callable[[Detector, Canceller], None]) -> None:
        """Load what tells speech from noise, and what takes out the echo."""

        def load() -> None:
            from voice.echo import EchoCanceller
            from voice.stt.silence import Activity

            detector = Activity()
            detector.reset()
            self._canceller = canceller = EchoCanceller()
            canceller.load()
            use(detector, canceller)

        self._jobs.put(load)

    def close(self) -> None:
        """End the thread when what it loads now is loaded."""
        self._jobs.put(None)
        self._thread.join()
        if self._canceller is not None:
            self._canceller.close()

    def unload(self) -> None:
        """Free the recogniser, once nothing is being understood any more."""
        if self._recogniser is not None:
            self._recogniser.close()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
