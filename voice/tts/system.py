"""The voices of the operating system, through its own program that writes speech into a WAV file."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from voice.errors import VoiceError
from voice.tts.program import NO_WINDOW, child_environment, read_wav
from voice.tts.voice import Sound

PREFIX = "system:"
SECONDS = 15.0
_WORDS_A_MINUTE = 175

_ESPEAK_LANGUAGES = """
en af ar be bg bn bs ca cs cy da de el eo es et eu fa fi fr ga gu he hi hr hu hy id is it ja ka kk kn ko ku ky
la lt lv mk ml mr ms mt my ne nl no pa pl pt ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi zh
"""
_ESPEAK_NAMES = {"no": "nb", "zh": "cmn"}

_MAC_NAMES = {
    "en": "Samantha",
    "ar": "Majed",
    "cs": "Zuzana",
    "da": "Sara",
    "de": "Anna",
    "el": "Melina",
    "es": "Mónica",
    "fi": "Satu",
    "fr": "Thomas",
    "he": "Carmit",
    "hi": "Lekha",
    "hu": "Tünde",
    "id": "Damayanti",
    "it": "Alice",
    "ja": "Kyoko",
    "ko": "Yuna",
    "nl": "Xander",
    "no": "Nora",
    "pl": "Zosia",
    "pt": "Luciana",
    "ro": "Ioana",
    "ru": "Milena",
    "sk": "Laura",
    "sv": "Alva",
    "th": "Kanya",
    "tr": "Yelda",
    "uk": "Lesya",
    "vi": "Linh",
    "zh": "Tingting",
}

_WINDOWS_LANGUAGES = "en ar ca cs da de el es fi fr he hi hu it ja ko nl no pl pt ro ru sv th tr zh"
_SAPI = (
    "Add-Type -AssemblyName System.Speech; [Console]::InputEncoding = [Text.Encoding]::UTF8; "
    "$s = New-Object System.Speech.Synthesis.SpeechSynthesizer; "
    "$c = [Globalization.CultureInfo]::GetCultureInfo($env:ORION_SAY_LANGUAGE); "
    "$v = $s.GetInstalledVoices() | Where-Object { $_.Enabled -and "
    "$_.VoiceInfo.Culture.TwoLetterISOLanguageName -eq $c.TwoLetterISOLanguageName } | "
    "Select-Object -First 1; "
    "if (-not $v) { [Console]::Error.Write('no voice for this language is installed'); exit 2 }; "
    "$s.SelectVoice($v.VoiceInfo.Name); $s.Rate = [int]$env:ORION_SAY_RATE; "
    "$s.SetOutputToWaveFile($env:ORION_SAY_FILE); $s.Speak([Console]::In.ReadToEnd()); $s.Dispose()"
)


@dataclass(frozen=True)
class Order:
    """One call of a program: its arguments and what is added to its environment; the text is its input."""

    arguments: list[str]
    environment: dict[str, str] = field(default_factory=dict)


Ordering = Callable[[str, str, float, Path], Order]
"""Makes the Order of (program, language, rate, file to write)."""


def espeak_order(program: str, language: str, rate: float, file: Path) -> Order:
    """espeak-ng(1): UTF-8 on standard input, no marks are interpreted without -m."""
    pace = str(round(_WORDS_A_MINUTE * rate))
    name = _ESPEAK_NAMES.get(language, language)
    return Order([program, "-v", name, "-s", pace, "-b", "1", "-w", str(file), "--stdin"])


def say_order(program: str, language: str, rate: float, file: Path) -> Order:
    """say(1) of macOS."""
    shape = ["--file-format=WAVE", "--data-format=LEI16@22050", "-o", str(file), "-f", "-"]
    return Order([program, "-v", _MAC_NAMES[language], "-r", str(round(_WORDS_A_MINUTE * rate)), *shape])


def sapi_order(program: str, language: str, rate: float, file: Path) -> Order:
    """System.Speech of Windows, whose rates run from -10 to 10 for a third to three times the pace."""
    pace = str(round(min(max((rate - 1) * 10 if rate >= 1 else (1 - 1 / rate) * 10, -10), 10)))
    told = {"ORION_SAY_LANGUAGE": language, "ORION_SAY_RATE": pace, "ORION_SAY_FILE": str(file)}
    return Order([program, "-NoProfile", "-NonInteractive", "-Command", _SAPI], told)


def offered() -> list[SystemVoice]:
    """A voice for each language of the first program that is found here; nothing is started."""
    if sys.platform == "darwin":
        choices = [("say", list(_MAC_NAMES), say_order)]
    elif sys.platform == "win32":
        choices = [("powershell", _WINDOWS_LANGUAGES.split(), sapi_order)]
    else:
        choices = [(name, _ESPEAK_LANGUAGES.split(), espeak_order) for name in ("espeak-ng", "espeak")]
    for name, languages, order in choices:
        if (program := shutil.which(name)) is not None:
            return [SystemVoice(program, language, order) for language in languages]
    return []


class SystemVoice:
    """The system's voice for one language; a process for each text, nothing in between."""

    def __init__(self, program: str, language: str, order: Ordering) -> None:
        self.name = PREFIX + language
        self.languages = (language,)
        self._program = program
        self._order = order
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def load(self) -> None:
        """See Voice; there is nothing to load."""

    def speak(self, text: str, rate: float) -> Iterator[Sound]:
        """The sound of the whole `text`, once it is made; see Voice."""
        words = text.replace("[[", " ").replace("]]", " ").split()  # brackets would be orders to the program
        if not words:
            return
        with tempfile.TemporaryDirectory(prefix="orion-say-") as folder:
            file = Path(folder) / "said.wav"
            if not self._made(self._order(self._program, self.languages[0], rate, file), " ".join(words)):
                return
            samples, sample_rate = read_wav(file, self.name)
        yield Sound(samples, sample_rate, len(words))

    def stop(self) -> None:
        """End the process; see Voice."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process; see Voice."""
        self.stop()

    def _made(self, order: Order, text: str) -> bool:
        """Whether the file was written; False when `stop` came first."""
        with self._lock:
            self._stopped = False
            self._process = process = self._started(order)
        try:
            _, told = process.communicate(text.encode(), SECONDS)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.communicate()
            raise VoiceError("voice_slow", voice=self.name, seconds=round(SECONDS)) from error
        finally:
            with self._lock:
                self._process = None
        if self._stopped:
            return False
        if process.returncode:
            reason = told.decode(errors="replace").strip()[-200:] or f"exit {process.returncode}"
            raise VoiceError("voice_broken", voice=self.name, reason=reason)
        return True

    def _started(self, order: Order) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                order.arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=child_environment() | order.environment,
                creationflags=NO_WINDOW,
            )
        except OSError as error:
            raise VoiceError("voice_broken", voice=self.name, reason=error.strerror or str(error)) from error
