"""What happens inside the voice child: orders and the news of its parts pass through one thread, which steps
the turns and does what they ask for."""

from __future__ import annotations

import contextlib
import itertools
import math
import queue
import threading
import time
from collections.abc import Callable
from typing import Protocol

from voice.config import VoiceConfig
from voice.devices import Device, Watch, devices, watch
from voice.ears import Canceller, Detector, Ears, Report
from voice.errors import VoiceError
from voice.events import Devices, Final, State, Trouble, VoiceEvent
from voice.frames import BrokenFrame, Edge, Frame, Rank, Touch, configuration
from voice.hearing import Hearing, Listening
from voice.mouth import Mouth
from voice.onset import Change
from voice.parts import Parts
from voice.stand import Stand
from voice.tts.choice import Speaker, choose
from voice.turns import Action, Input, Key, Turns

BEAT = 5.0
"""Seconds between two signs of life."""

PULSE = 1.0
"""Seconds between two looks at the clock while something may take too long."""

WAITING = 20_000
"""Orders that may wait; the reader of the pipe waits when there are more."""


class Outlet(Protocol):
    """Where events and frames go (voice/wire.py)."""

    def tell(self, event: VoiceEvent) -> None: ...
    def send(self, frame: Frame) -> None: ...


class Child:
    """The parts of the child, and the thread in which they are led. `accept` is for the pipe's thread;
    `serve` returns after `stop`, and `close` then ends everything."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._inbox: queue.PriorityQueue[tuple[int, int, Callable[[], None]]] = queue.PriorityQueue(WAITING)
        self._count = itertools.count()
        self._greeted = False
        self._stopped = threading.Event()
        self._beaten = -math.inf
        self._config = VoiceConfig()
        self._turns, self._key = Turns(), Key()
        self._told: set[str] = set()
        self._state = State("idle")
        self._configured = self._ending = False
        self._devices: Devices | None = None
        self._watch: Watch | None = None
        self._hearing = Hearing(self._on_final, self._on_trouble)
        self._mouth = Mouth(outlet.tell, self._on_mouth, self._on_mute)
        self._parts = Parts()
        report = Report(outlet.tell, self._on_change, self._on_deaf, lambda: self._post(self._announce))
        self._ears = Ears(self._parts.microphone(""), self._hearing, report)
        self._stand = Stand(self._mouth, self._ears.far, self._on_horn)

    # --- called in other threads --------------------------------------------------------------------------

    def accept(self, frame: Frame) -> None:
        """Take an order from the pipe. BrokenFrame when it is none that fits here."""
        if frame["t"] == "configure":
            config = configuration(frame)
            self._post(lambda: self._configure(config), Rank.CONTROL if self._greeted else Rank.SYSTEM)
            self._greeted = True
            return
        if not self._greeted:
            raise BrokenFrame("the first frame has to be a configuration")
        match frame:
            case {"t": "key", "do": touch, "answer": answer}:
                self._post(lambda: self._touch(touch, answer))
            case {"t": "say", "text": text, "answer": answer}:
                self._post(lambda: self._mouth.say(text, answer), Rank.DATA)
            case {"t": "answer", "do": edge, "answer": answer}:
                self._post(lambda: self._edge(edge, answer), Rank.CONTROL)

    def stop(self) -> None:
        """Let `serve` return soon."""
        self._stopped.set()
        with contextlib.suppress(queue.Full):  # then there is enough to wake it
            self._inbox.put_nowait((False, next(self._count), lambda: None))

    def _post(self, call: Callable[[], None], rank: Rank = Rank.SYSTEM) -> None:
        """Have `call` called in the child's thread. System frames overtake; all others keep their order."""
        self._inbox.put((rank is not Rank.SYSTEM, next(self._count), call))

    def _on_final(self, final: Final, thrown: bool) -> None:
        if thrown:  # in the child's own thread, which has stepped already
            self._outlet.tell(final)
        else:
            self._post(lambda: self._understood(final))

    def _on_trouble(self, error: VoiceError) -> None:
        self._post(lambda: self._tell_once(error))

    def _on_deaf(self, error: VoiceError, lost: bool) -> None:
        self._post(lambda: self._deaf(error) if lost else self._tell_once(error))

    def _on_mute(self, error: VoiceError) -> None:
        number = self._stand.number
        self._post(lambda: self._mute(error, number))

    def _on_horn(self, error: VoiceError) -> None:
        if error.code == "loudspeaker_gone":
            self._on_mute(error)
        else:
            self._on_trouble(error)

    def _on_change(self, change: Change) -> None:
        self._post(lambda: self._spoke(change))

    def _on_mouth(self, ended: bool) -> None:
        self._post(lambda: self._moved(ended))

    def _on_devices(self, found: tuple[Device, ...]) -> None:
        self._post(lambda: self._plugged(found))

    # --- the child's thread -------------------------------------------------------------------------------

    def serve(self) -> None:
        """Do what is posted until `stop`."""
        while not self._stopped.is_set():
            urgent = self._ears.is_open or self._key.down is not None
            try:
                call = self._inbox.get(timeout=PULSE if urgent else BEAT)[2]
            except queue.Empty:
                pass
            else:
                call()
            self._look_at_the_clock()

    def close(self) -> None:
        """End all parts; nothing is told afterwards."""
        self._stopped.set()
        self._parts.close()
        if self._watch is not None:
            self._watch.close()
        self._mouth.close()
        self._ears.close()
        self._hearing.close()
        self._parts.unload()
        self._stand.close()

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        if now - self._beaten >= BEAT:
            self._beaten = now
            self._outlet.send({"t": "beat"})
        self._ears.tick()
        if self._key.stuck(now, self._ears.spoke):
            self._key.cancel()
            self._step("release")

    # --- orders -------------------------------------------------------------------------------------------

    def _configure(self, config: VoiceConfig) -> None:
        old, self._config = self._config, config
        first = not self._configured
        self._configured = True
        self._told.clear()
        if first or _voices(config) != _voices(old):
            self._choose_voices(config, at_once=old.online_voices and not config.online_voices)
        if first or config.recogniser != old.recogniser or config.threads != old.threads:
            self._parts.use_recogniser(config.recogniser, config.threads)
        if first:
            self._parts.do(self._watch_devices)
            self._parts.load_hearing(self._loaded)
        self._stand.use(config.loudspeaker, config.volume)
        if first or config.microphone != old.microphone:
            self._ears.set_source(self._parts.microphone(config.microphone))
        if config.hands_free != old.hands_free:
            if not self._hearing.by_key:
                self._step("voice_end")
            self._ears.set_hands_free(config.hands_free)
        self._announce()
        if first:
            self._outlet.send({"t": "ready"})

    def _choose_voices(self, config: VoiceConfig, *, at_once: bool) -> None:
        """Speak with other voices: when they are warm, or from the next clause on because not a word more
        may leave this machine. Those that another configuration has overtaken are not used."""
        speaker = choose(config, self._on_trouble)

        def use(warmed: Speaker) -> None:
            if _voices(config) == _voices(self._config):
                self._mouth.speak_with(warmed)
            else:
                warmed.close()

        if at_once:
            use(speaker)
        else:
            self._parts.warm(speaker, lambda warmed: self._post(lambda: use(warmed)))

    def _touch(self, touch: Touch, answer: int) -> None:
        """What the key did, in a window that has said answers up to `answer`."""
        now = time.monotonic()
        said: Input | None = None
        match touch:
            case "press":
                self._told.clear()  # whoever tries again is told again
                said = self._key.press(now)
            case "release":
                said = self._key.release(now)
            case "cancel":
                self._key.cancel()
                said = "cancel"
            case "hush":
                said = "hush"
        if said is not None:
            self._step(said, answer)

    def _edge(self, edge: Edge, answer: int) -> None:
        if edge == "expect":
            self._ending = False
            self._mouth.expect(answer)
            self._stand.prepare()
            self._step("expect")
        elif self._mouth.end(answer):
            self._ending = True
        else:
            self._step("answer_end")

    # --- news ---------------------------------------------------------------------------------------------

    def _understood(self, final: Final) -> None:
        self._outlet.tell(final)
        self._step("final")

    def _spoke(self, change: Change) -> None:
        if not self._hearing.by_key and self._config.hands_free:
            self._step("voice_onset" if change == "onset" else "voice_end")

    def _moved(self, ended: bool) -> None:
        """The mouth has something new to say, or has said all; or the end of an answer has come through."""
        if self._mouth.unheard:
            self._step("say")
        if ended and self._ending:
            self._ending = False
            self._step("answer_end")
        if not self._mouth.unheard and self._turns.unheard:
            self._step("heard_all")

    def _deaf(self, error: VoiceError) -> None:
        """The microphone is gone or never was there; what was heard so far is what was said."""
        self._tell_once(error)
        self._ears.lose()
        if self._turns.state in ("hearing", "interrupted"):
            self._step("trouble")

    def _mute(self, error: VoiceError, number: int) -> None:
        """The loudspeaker is gone: another one goes on, or the answer ends here."""
        if number != self._stand.number:
            return
        self._tell_once(error)
        if self._stand.replace():
            self._mouth.gate(self._turns.state == "speaking")
        elif self._turns.state == "speaking":
            self._step("trouble")

    def _plugged(self, found: tuple[Device, ...]) -> None:
        """Devices came or went."""
        named = {
            kind: tuple((device.id, device.name) for device in found if device.kind == kind)
            for kind in ("microphone", "loudspeaker")
        }
        if (event := Devices(named["microphone"], named["loudspeaker"])) == self._devices:
            return
        self._devices = event
        self._told.clear()
        self._ears.moved()
        self._outlet.tell(event)
        if self._config.hands_free and not self._ears.is_open:
            self._ears.set_hands_free(True)
        lacking = self._stand.lacks
        if lacking and self._turns.state != "speaking" and lacking in dict(named["loudspeaker"]):
            self._stand.use(lacking, self._config.volume)

    # --- what follows -------------------------------------------------------------------------------------

    def _step(self, said: Input, answer: int = 0) -> None:
        actions = self._turns.step(said)
        for action in actions:
            self._act(action, said, answer)
        self._mouth.gate(self._turns.state == "speaking")
        self._announce()
        if "silence" in actions and self._turns.state == "interrupted":
            self._step("heard_all")

    def _act(self, action: Action, said: Input, answer: int) -> None:
        match action:
            case "silence":
                self._mouth.silence(answer)
            case "listen":
                self._ears.listen(self._words, by_key=said == "press")
            case "finish":
                self._hearing.finish()
                self._ears.rest()
            case "abandon":
                self._hearing.abandon()
                self._ears.rest()

    def _words(self) -> Listening | None:
        try:
            return self._parts.words(self._config, self._outlet.tell, self._on_trouble)
        except VoiceError as error:
            self._tell_once(error)
            return None

    def _announce(self) -> None:
        state = State(self._turns.state, self._ears.attentive, self._ears.is_open)
        if state != self._state:
            self._state = state
            self._outlet.tell(state)

    def _tell_once(self, error: VoiceError) -> None:
        if str(error) not in self._told:
            self._told.add(str(error))
            self._outlet.tell(Trouble(error.code, error.fields))

    # --- in the thread of the parts -----------------------------------------------------------------------

    def _loaded(self, detector: Detector, canceller: Canceller) -> None:
        """All is loaded that keeps a processor from hearing; what is said from now on is heard whole."""
        self._ears.canceller, self._ears.detector = canceller, detector
        self._post(self._announce)

    def _watch_devices(self) -> None:
        self._on_devices(devices())
        self._watch = watch(self._on_devices)


def _voices(config: VoiceConfig) -> tuple[object, ...]:
    """The part of a configuration that decides who speaks."""
    named = (config.voice, config.language, config.rate)
    return (*named, config.online_voices, config.proxy, config.piper, config.piper_voices)
