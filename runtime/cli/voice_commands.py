"""What `orion voice devices`, `say` and `listen` do."""

from __future__ import annotations

import asyncio
import json
import sys
import wave
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.one_voice import OneVoice, configured
from runtime.cli.terminal import Terminal, visible
from runtime.errors import OrionError
from runtime.ledger import Ledger
from runtime.paths import find_home
from runtime.spoken_answer import SpokenAnswer
from runtime.voice_entries import VoiceEntries
from voice.config import VoiceConfig
from voice.errors import VoiceError
from voice.events import Devices, Final, Partial, Spoken, State, VoiceEvent

if TYPE_CHECKING:
    from voice.tts.voice import Sound

Warn = Callable[[str, dict[str, object]], None]


def devices(terminal: Terminal, *, as_json: bool) -> ExitCode:
    """Print the devices. Raises OrionError `devices_missing` where there is none."""
    found = asyncio.run(_devices(terminal))
    if as_json:
        kinds = {"microphones": found.microphones, "loudspeakers": found.loudspeakers}
        rows = {kind: [{"id": id_, "name": name} for id_, name in many] for kind, many in kinds.items()}
        terminal.answer(json.dumps(rows, indent=2) + "\n")
    else:
        for title, many in (
            (_("Microphones"), found.microphones),
            (_("Loudspeakers"), found.loudspeakers),
        ):
            terminal.answer(f"{title}:\n" + "".join(f"  {visible(name)}\n" for _id, name in many))
    if not found.microphones and not found.loudspeakers:
        raise OrionError("devices_missing")
    return ExitCode.OK


async def _devices(terminal: Terminal) -> Devices:
    async with OneVoice(configured(), (), terminal_warning(terminal)) as voice:
        return await voice.until(lambda event: event if isinstance(event, Devices) else None)


def say(terminal: Terminal, text: str, voice: str) -> ExitCode:
    """Say `text` and return when it was heard. Raises OrionError for what cannot be heard."""
    words, config = _given(text), _with_voice(voice)
    asyncio.run(_say(terminal, words, config))
    return ExitCode.OK


async def _say(terminal: Terminal, text: str, config: VoiceConfig) -> None:
    entries, answer = _entered(config, text)
    try:
        async with OneVoice(config, ("loudspeaker_",), terminal_warning(terminal)) as voice:
            voice.client.say(text)
            voice.client.end_of_answer()
            spoken = await voice.until(lambda event: event if isinstance(event, Spoken) else None)
            if not spoken.whole:
                await voice.reason()
                raise OrionError("speech_unheard")
    finally:
        entries.end(answer)


def write(terminal: Terminal, text: str, path: Path, voice: str) -> ExitCode:
    """Write what `say` would say to a new WAV file of 16 bits. Raises OrionError."""
    words, config = _given(text), _with_voice(voice)
    entries, answer = _entered(config, words)
    try:
        out = path.open("xb")
    except FileExistsError:
        raise OrionError("cli_file_exists", path=str(path)) from None
    except OSError as error:
        raise OrionError("cli_file_unwritable", path=str(path), reason=error.strerror or "") from error
    try:
        with out:
            seconds = _write(words, config, out.fileno(), terminal_warning(terminal))
    except OSError as error:
        raise OrionError("cli_file_unwritable", path=str(path), reason=error.strerror or "") from error
    finally:
        entries.end(answer)
        if path.exists() and not path.stat().st_size:
            path.unlink()
    told = _("Written to {file}, {seconds} seconds.").format(file=str(path), seconds=round(seconds, 1))
    terminal.note(told, "good")
    return ExitCode.OK


def _write(text: str, config: VoiceConfig, descriptor: int, warn: Warn) -> float:
    """Make the sound and write it as it comes; how many seconds. Raises OrionError `voice_none`, OSError."""
    rate, samples = 0, 0
    file: wave.Wave_write | None = None
    try:
        for sound in _sounds(text, config, warn):
            if file is None:
                rate = sound.rate
                file = wave.open(open(descriptor, "wb", closefd=False), "wb")  # noqa: SIM115
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(rate)
            data = _as_int16(sound, rate)
            file.writeframes(data)
            samples += len(data) // 2
    finally:
        if file is not None:
            file.close()
    if not samples:
        raise OrionError("speech_nothing_to_say")
    return samples / rate


def _sounds(text: str, config: VoiceConfig, warn: Warn) -> Iterator[Sound]:
    from voice.clauses import Clauses
    from voice.tts.choice import choose

    def trouble(error: VoiceError) -> None:
        if error.code == "voice_none":
            raise OrionError(error.code, fault="user", **error.fields)
        warn(error.code, dict(error.fields))

    clauses = Clauses()
    try:
        speaker = choose(config, trouble)
    except VoiceError as error:
        raise OrionError(error.code, fault="user", **error.fields) from error
    try:
        for clause in [*clauses.add(text), *clauses.end()]:
            yield from speaker.speak(clause)
    finally:
        speaker.close()


def _as_int16(sound: Sound, rate: int) -> bytes:
    """The samples at `rate`, as WAV files hold them; a voice that steps in may have another rate."""
    import numpy as np
    import soxr

    samples = sound.samples
    if sound.rate != rate:
        samples = soxr.resample(samples, sound.rate, rate)
    return (np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()


def listen(terminal: Terminal, *, as_json: bool) -> ExitCode:
    """Print the first utterance; what is understood meanwhile is shown on the error stream."""
    said = asyncio.run(_listen(terminal))
    if as_json:
        row = {key: value for key, value in asdict(said).items() if key != "hands_free"}
        terminal.answer(json.dumps(row) + "\n")
    else:
        terminal.answer(visible(said.text) + "\n")
    return ExitCode.OK


async def _listen(terminal: Terminal) -> Final:
    told = False

    def heard(event: VoiceEvent) -> Final | None:
        nonlocal told
        match event:
            case State(on=True) if not told:
                told = True
                terminal.note(_("Listening: say something."))
            case Partial(text=text) if text:
                terminal.status(text)
            case Final(text=text) if text.strip():
                return event
            case _:
                pass
        return None

    config = configured(hands_free=True)
    async with OneVoice(config, ("microphone_", "recogniser_"), terminal_warning(terminal)) as voice:
        return await voice.until(heard)


def terminal_warning(terminal: Terminal) -> Warn:
    """Says troubles that do not end a command."""
    return lambda code, fields: terminal.fault(code, fields, "warn")


def _given(text: str) -> str:
    words = text
    if text == "-":
        words = sys.stdin.buffer.read().decode("utf-8", "replace") if sys.stdin is not None else ""
    if not words.strip():
        raise OrionError("cli_text_empty")
    return words


def _with_voice(name: str) -> VoiceConfig:
    """The configuration with the voice `name`. Raises OrionError `voice_unknown`."""
    config = configured(voice=name)
    if name:
        from voice.tts.choice import is_there

        if not is_there(config):
            raise OrionError("voice_unknown", fault="user", voice=name)
    return config


def _entered(config: VoiceConfig, text: str) -> tuple[VoiceEntries, SpokenAnswer]:
    """The entry of the network ledger, where a voice on another machine may be used."""

    def refuse(error: OrionError) -> None:
        raise error

    entries, answer = VoiceEntries(Ledger(find_home().audit), refuse), SpokenAnswer()
    entries.online, entries.via = config.online_voices, config.proxy
    answer.aside(text)
    entries.begin(answer, text)
    return entries, answer
