"""A sound server of a test's own: its loudspeaker is recorded, and sound is played into its microphone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

Samples = NDArray[np.float32]
Which = Literal["microphone", "loudspeaker"]

RATE = 48_000
"""Frames a second of recordings, whatever the rate of the loudspeaker."""

PATIENCE = 10.0
"""Seconds that anything on the stage may take."""

PROGRAMS = ("pulseaudio", "pactl", "pacat", "parec", "setpriv")

ALSA = """
pcm.!default { type pulse }
ctl.!default { type pulse }
pcm.pulse { type pulse hint { show on description "PulseAudio" } }
ctl.pulse { type pulse }
"""


class StageError(Exception):
    """The stage could not be made or did not react in time; the text says which part."""


def absent() -> list[str]:
    """The programs of a stage that this machine lacks."""
    return [program for program in PROGRAMS if shutil.which(program) is None]


class SoundStage:
    """A private PulseAudio with the sink `speaker` and the source `microphone`, used as a context.

    It needs no other sound server and no rights. `environment` is what programs must have to find it and
    nothing else; the stage changes no environment itself. Nothing of it is left after the context.
    """

    def __init__(self, folder: Path, rate: int = 48_000) -> None:
        self.folder = folder
        self.rate = rate
        self._socket = folder / "pulse.socket"
        self._modules: dict[str, str] = {}
        self._rates: dict[str, int] = {}
        self._server: subprocess.Popen[bytes] | None = None
        self._players: list[subprocess.Popen[bytes]] = []

    @property
    def environment(self) -> dict[str, str]:
        """Variables under which PulseAudio's and ALSA's programs use this stage only."""
        return {
            "PULSE_SERVER": f"unix:{self._socket}",
            "PULSE_RUNTIME_PATH": str(self.folder),
            "PULSE_STATE_PATH": str(self.folder),
            "PULSE_COOKIE": str(self.folder / "cookie"),
            "PULSE_CLIENTCONFIG": str(self.folder / "client.conf"),
            "ALSA_CONFIG_PATH": str(self.folder / "asound.conf"),
        }

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "asound.conf").write_text(ALSA, encoding="utf-8")
        (self.folder / "client.conf").write_text("autospawn = no\nenable-shm = no\n", encoding="utf-8")
        self._start()
        # Streams of a default source follow it when it changes, so the listeners begin while it is another.
        other = self.pactl("load-module", "module-null-source", "source_name=other")
        self.pactl("set-default-source", "other")
        self.plug("loudspeaker")
        self.plug("microphone")
        self.pactl("unload-module", other)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        del kind, error, trace
        for process in [*self._players, *([self._server] if self._server else [])]:
            _end(process)

    # --- devices ------------------------------------------------------------------------------------------

    def plug(self, which: Which) -> None:
        """Plug the loudspeaker or the microphone in; it becomes the system's own."""
        if which == "loudspeaker":
            self._add_sink("speaker", "Desk Speaker", self.rate)
            self.pactl("set-default-sink", "speaker")
            return
        if "mic_sink" not in self._modules:
            self._add_sink("mic_sink", "Air", 48_000)
        self._add_source("microphone", "Desk Microphone", "mic_sink")
        self.pactl("set-default-source", "microphone")

    def unplug(self, which: Which) -> None:
        """Pull the device out while programs may use it."""
        self.pactl("unload-module", self._modules.pop("speaker" if which == "loudspeaker" else "microphone"))

    def add(self, name: str, description: str, which: Which = "loudspeaker", rate: int = 48_000) -> None:
        """Plug in one more device; the sink of a microphone `name` is `name`_sink."""
        if which == "loudspeaker":
            self._add_sink(name, description, rate)
            return
        self._add_sink(f"{name}_sink", f"Air of {name}", rate)
        self._add_source(name, description, f"{name}_sink")

    def remove(self, name: str) -> None:
        """Pull out a device that was added."""
        self.pactl("unload-module", self._modules.pop(name))

    def crash(self) -> None:
        """Let the sound server die; nothing works any more."""
        assert self._server is not None
        self._server.kill()
        self._server.wait()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let the sound server answer nobody."""
        assert self._server is not None
        self._server.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._server.send_signal(signal.SIGCONT)

    @contextmanager
    def loopback(self, gain_db: float = -6.0, delay_ms: int = 80) -> Iterator[None]:
        """Let the microphone hear the loudspeaker: quieter by `gain_db` and `delay_ms` later."""
        about = f"source=speaker.monitor sink=mic_sink latency_msec={delay_ms} adjust_time=0 remix=no"
        module = self.pactl("load-module", "module-loopback", *about.split())
        self.wait(lambda: self._input_of(module) is not None, "the loopback")
        self.pactl("set-sink-input-volume", str(self._input_of(module)), f"{gain_db}dB")
        try:
            yield
        finally:
            self.pactl("unload-module", module)

    # --- sound --------------------------------------------------------------------------------------------

    def say(
        self, sound: Samples | Path, rate: int = 16_000, *, into: str = "mic_sink", wait: bool = True
    ) -> Said:
        """Play samples (mono, at `rate`) or a sound file into the microphone.

        With `wait` it returns when the last sample was heard; else `Said.wait` does that.
        """
        if isinstance(sound, Path):
            sound, rate = soundfile.read(sound, dtype="float32", always_2d=False)
        samples = np.ascontiguousarray(sound, dtype=np.float32)
        if rate != self._rates[into]:  # the server's own resampler clicks at both ends
            samples = np.ascontiguousarray(soxr.resample(samples, rate, self._rates[into]))
            rate = self._rates[into]
        # The first milliseconds of a stream do not always get out.
        samples = np.concatenate([np.zeros((rate // 50, *samples.shape[1:]), np.float32), samples])
        channels = 1 if samples.ndim == 1 else samples.shape[1]
        form = [f"--rate={rate}", f"--channels={channels}", "--format=float32le", "--raw"]
        command = ["pacat", "--playback", f"--device={into}", "--latency-msec=40", *form]
        path = self.folder / f"said-{len(self._players)}.raw"
        path.write_bytes(samples.tobytes())
        with path.open("rb") as source:
            process = self._run(command, stdin=source)
        self._players.append(process)
        said = Said(process, time.monotonic())
        if wait:
            said.wait(len(samples) / rate)
        return said

    def record(self, device: str = "speaker.monitor") -> Recording:
        """What the loudspeaker gets, as a context that is recording when it is entered."""
        return Recording(self, device)

    # --- the server ---------------------------------------------------------------------------------------

    def pactl(self, *arguments: str) -> str:
        """The answer of PulseAudio's own control program."""
        done = subprocess.run(
            ["pactl", *arguments],
            env=os.environ | self.environment | {"LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        if done.returncode:
            raise StageError(f"pactl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout.strip()

    def wait(self, ready: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Return as soon as `ready`; a stage that is not ready in time is an error that names `what`."""
        deadline, pause = time.monotonic() + seconds, threading.Event()
        while not ready():
            if time.monotonic() > deadline:
                raise StageError(f"waited {seconds:.0f} s in vain for {what}")
            pause.wait(0.005)

    def _start(self) -> None:
        listen = f"module-native-protocol-unix socket={self._socket} auth-anonymous=1"
        options = ["--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes"]
        # Who is not root would ask for its turn at the bus of the system.
        first = "yes" if os.geteuid() == 0 else "no"
        options += [
            f"--realtime={first}",
            f"--high-priority={first}",
            "--log-target=stderr",
            "--log-level=error",
        ]
        self._server = self._run(["pulseaudio", "-n", *options, "-L", listen])
        self.wait(lambda: self._socket.exists() or self._has_ended(), "PulseAudio")
        if self._has_ended():
            raise StageError(f"PulseAudio did not start: {(self.folder / 'log').read_text()[-500:]}")

    def _has_ended(self) -> bool:
        return self._server is None or self._server.poll() is not None

    def _add_sink(self, name: str, description: str, rate: int) -> None:
        """A null sink that works in steps of 10 ms, as hardware does.

        Left alone it renders 2 s at once and then sleeps. A listener keeps the steps short; the pause makes
        the server take them up without waiting for the end of the first 2 s.
        """
        kind = "abstract" if description.startswith("Air") else "sound"
        words = f"sink_properties=\"device.description='{description}' device.class={kind}\""
        module = ["module-null-sink", f"sink_name={name}", f"rate={rate}", words]
        self._modules[name], self._rates[name] = self.pactl("load-module", *module), rate
        listener = ["parec", f"--device={name}.monitor", "--latency-msec=10", "--raw"]
        self._players.append(self._run(listener, stdout=subprocess.DEVNULL))
        self.wait(lambda: f"{name}.monitor" in self.listened(), f"the listener of {name}")
        for paused in ("1", "0"):
            self.pactl("suspend-sink", name, paused)

    def _add_source(self, name: str, description: str, sink: str) -> None:
        words = f"source_properties=\"device.description='{description}'\""
        module = ["module-remap-source", f"master={sink}.monitor", f"source_name={name}", words]
        self._modules[name] = self.pactl("load-module", *module)

    def listened(self) -> set[str]:
        """The sources from which somebody records."""
        names = dict(line.split("\t")[:2] for line in self.pactl("list", "short", "sources").splitlines())
        lines = self.pactl("list", "short", "source-outputs").splitlines()
        return {names.get(line.split("\t")[1], "") for line in lines}

    def _input_of(self, module: str) -> int | None:
        for part in self.pactl("list", "sink-inputs").split("Sink Input #")[1:]:
            if f"Owner Module: {module}\n" in part:
                return int(part.split("\n", 1)[0])
        return None

    def _run(self, command: list[str], **streams: object) -> subprocess.Popen[bytes]:
        """Start a program of the stage; it ends with this process, however that ends."""
        with (self.folder / "log").open("ab") as log:
            given = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log} | streams
            return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
                ["setpriv", "--pdeathsig", "TERM", *command], env=os.environ | self.environment, **given
            )


class Said:
    """Sound on its way into the microphone; `begun` is when its program was started."""

    def __init__(self, process: subprocess.Popen[bytes], begun: float) -> None:
        self.begun = begun
        self._process = process

    def wait(self, seconds: float = 0.0) -> None:
        """Return when the last sample was heard; `seconds` is how long the sound is."""
        if self._process.wait(seconds + PATIENCE):
            raise StageError(f"pacat ended with {self._process.returncode}")

    def stop(self) -> None:
        """Fall silent at once."""
        _end(self._process)


class Recording:
    """What a loudspeaker got, mono at `RATE`, growing in a thread of its own until the context ends."""

    rate = RATE

    def __init__(self, stage: SoundStage, device: str) -> None:
        form = ["--format=float32le", f"--rate={RATE}", "--channels=1", "--raw", "--latency-msec=5"]
        self._command = ["parec", f"--device={device}", *form]
        self._stage = stage
        self._changed = threading.Condition()
        self._pieces: list[Samples] = []
        self._arrivals: list[tuple[float, int]] = []
        self._thread = threading.Thread(target=self._read, name="stage recording")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._process = self._stage._run(self._command, stdout=subprocess.PIPE)
        self._thread.start()
        self.wait(lambda: len(self.samples) > 0, "the first recorded sample")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        del kind, error, trace
        assert self._process is not None
        _end(self._process)
        self._thread.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def samples(self) -> Samples:
        """All samples so far."""
        with self._changed:
            return np.concatenate([np.zeros(0, np.float32), *self._pieces])

    def arrival(self, index: int) -> float:
        """When (time.monotonic) the sample with number `index` had arrived."""
        with self._changed:
            return next(moment for moment, count in self._arrivals if count > index)

    def wait(self, ready: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Return as soon as `ready`, which is asked again whenever sound has arrived."""
        deadline = time.monotonic() + seconds
        while not ready():
            with self._changed:
                self._changed.wait(0.05)
            if time.monotonic() > deadline:
                raise StageError(f"waited {seconds:.0f} s in vain for {what}")

    def wait_for_sound(self, level: float = 0.01, after: int = 0) -> int:
        """The index of the first sample above `level` at or after index `after`, once it has arrived."""
        self.wait(lambda: bool((np.abs(self.samples[after:]) > level).any()), "sound")
        return after + int(np.argmax(np.abs(self.samples[after:]) > level))

    def wait_for_more(self, count: int) -> None:
        """Return when more than `count` samples have arrived."""
        self.wait(lambda: len(self.samples) > count, "more samples")

    def wait_for_silence(self, seconds: float = 0.3, level: float = 0.001) -> None:
        """Return when the last `seconds` that arrived are all below `level`."""
        count = int(seconds * RATE)

        def quiet() -> bool:
            tail = self.samples[-count:]
            return len(tail) == count and bool((np.abs(tail) < level).all())

        self.wait(quiet, "silence", 60.0)

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        pipe, rest, total = self._process.stdout.fileno(), b"", 0
        while data := os.read(pipe, 1 << 16):
            now, data = time.monotonic(), rest + data
            whole = len(data) // 4 * 4
            piece, rest = np.frombuffer(data[:whole], np.float32), data[whole:]
            total += len(piece)
            with self._changed:
                self._pieces.append(piece)
                self._arrivals.append((now, total))
                self._changed.notify_all()


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
