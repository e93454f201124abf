"""Voices of Piper, a separate program of the user's that is started once per voice and never imported."""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from voice.errors import VoiceError
from voice.tts.program import NO_WINDOW, child_environment, read_wav
from voice.tts.voice import Sound

PREFIX = "piper:"
START_SECONDS = 30.0
"""How long the program may take for the first text, with loading its model."""
TEXT_SECONDS = 15.0
END_SECONDS = 2.0
_ERROR_LINES = 5


@dataclass(frozen=True)
class PiperFile:
    """A voice file: `path` is the model, beside it lies its description."""

    name: str
    language: str
    path: Path


def offered(program: str, folder: str) -> list[PiperVoice]:
    """The voices whose model and description (NAME.onnx, NAME.onnx.json) lie in `folder`, by name.

    `program` is the path or name of the user's Piper; without it there are none. A file whose description
    cannot be read is left out.
    """
    command = shutil.which(program) if program else None
    if not command or not folder:
        return []
    files = [_described(path) for path in sorted(Path(folder).glob("*.onnx"))]
    return [PiperVoice(command, file) for file in files if file is not None]


def _described(path: Path) -> PiperFile | None:
    try:
        told = json.loads(path.with_name(path.name + ".json").read_bytes())
        family = told["language"]["family"] if "language" in told else told["espeak"]["voice"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    language = str(family).lower().partition("-")[0].partition("_")[0]
    return PiperFile(PREFIX + path.stem, language, path)


class PiperVoice:
    """One voice, one resident process.

    Both Pipers are spoken to alike: the older one (rhasspy/piper) and piper1-gpl take a text a line on
    standard input, write a WAV file for each into `--output_dir`, and then name it in a line, the first on
    standard output, the other in its log. The files are deleted as soon as they are read.
    """

    def __init__(self, program: str, file: PiperFile) -> None:
        self.name = file.name
        self.languages = (file.language,)
        self._program = program
        self._file = file
        self._process: _Process | None = None

    def load(self) -> None:
        """See Voice; the process starts at the first text, because it wants to be told the pace."""

    def speak(self, text: str, rate: float) -> Iterator[Sound]:
        """The sound of the whole `text`, once it is made; see Voice."""
        line = " ".join(text.split())
        if not line:
            return
        process = self._started(rate)
        try:
            path = process.say(line)
            samples, sample_rate = read_wav(path, self.name)
            path.unlink(missing_ok=True)
        except _GivenUp:
            return
        except VoiceError:
            self.close()
            raise
        yield Sound(samples, sample_rate, len(line.split()))

    def stop(self) -> None:
        """See Voice; what is being made is thrown away when it comes."""
        if (process := self._process) is not None:
            process.give_up()

    def close(self) -> None:
        """End the process; see Voice."""
        process, self._process = self._process, None
        if process is not None:
            process.give_up()
            process.end()

    def _started(self, rate: float) -> _Process:
        if self._process is None or self._process.rate != rate:
            self.close()
            self._process = _Process(self._program, self._file, rate)
        return self._process


class _Process:
    """A running Piper that says texts of one voice at one pace."""

    def __init__(self, program: str, file: PiperFile, rate: float) -> None:
        self.rate = rate
        self._name = file.name
        self._folder = Path(tempfile.mkdtemp(prefix="orion-piper-"))
        self._said: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._last: deque[str] = deque(maxlen=_ERROR_LINES)
        self._silenced = threading.Event()
        self._owed = 0
        self._patience = START_SECONDS
        pace = f"{1 / min(max(rate, 0.25), 4.0):.3f}"
        arguments = ["--model", str(file.path), "--output_dir", str(self._folder), "--length_scale", pace]
        try:
            self._process = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=child_environment() | {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"},
                creationflags=NO_WINDOW,
            )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            reason = error.strerror or str(error)
            raise VoiceError("voice_piper_ended", voice=self._name, reason=reason) from error
        self._reader = threading.Thread(target=self._read, name="piper-reader", daemon=True)
        self._reader.start()

    def say(self, line: str) -> Path:
        """The file with the sound of `line`, which the caller deletes."""
        assert self._process.stdin is not None
        self._silenced.clear()
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._ended() from error
        self._owed += 1
        while True:
            path = self._next()
            self._owed -= 1
            if not self._owed:
                return path
            path.unlink(missing_ok=True)  # of a text that was given up

    def give_up(self) -> None:
        """Let `say` raise now, from another thread."""
        self._silenced.set()
        self._said.put("")

    def end(self) -> None:
        """Let the program finish, or end it; then delete its folder."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _next(self) -> Path:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                line = self._said.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                raise VoiceError("voice_slow", voice=self._name, seconds=round(self._patience)) from None
            if line is None:
                raise self._ended()
            if not line:
                if self._silenced.is_set():
                    raise _GivenUp
                continue
            begin = line.find(str(self._folder))
            if begin >= 0 and line.endswith(".wav"):
                self._patience = TEXT_SECONDS
                return Path(line[begin:])
            self._last.append(line)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if shown := line.decode(errors="replace").strip():
                self._said.put(shown)
        self._said.put(None)

    def _ended(self) -> VoiceError:
        reason = " ".join(self._last)[-300:] or "it said nothing"
        return VoiceError("voice_piper_ended", voice=self._name, reason=reason)


class _GivenUp(Exception):
    """Somebody asked for silence while a text was being made."""
