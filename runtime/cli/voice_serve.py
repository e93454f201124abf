"""`orion voice serve`: speech and transcriptions for other programs, in the form of OpenAI's interface."""

from __future__ import annotations

import json as json_format
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal
from runtime.errors import OrionError

if TYPE_CHECKING:
    from runtime.paths import Home
    from voice.services.server import SpeechServices

DOOR = "speech services"


def serve(
    host: Annotated[
        str,
        typer.Option("--host", help=_("Address to listen at; one that other machines reach needs a token.")),
    ] = "127.0.0.1",
    speech_port: Annotated[
        int, typer.Option("--speech-port", min=0, max=65535, help=_("Port of /v1/audio/speech; 0 finds one."))
    ] = 5050,
    transcription_port: Annotated[
        int,
        typer.Option(
            "--transcription-port",
            min=0,
            max=65535,
            help=_("Port of /v1/audio/transcriptions; the same one serves both."),
        ),
    ] = 8060,
    token: Annotated[
        str,
        typer.Option(
            "--token",
            envvar="ORION_VOICE_TOKEN",
            help=_("Secret that clients send as their API key; better given in the environment."),
        ),
    ] = "",
    minutes: Annotated[
        float, typer.Option("--minutes", min=0.1, help=_("Longest recording that is taken."))
    ] = 120.0,
    json: Annotated[bool, typer.Option("--json", help=_("Print the addresses as a line of JSON."))] = False,
) -> ExitCode:
    """Serve until Ctrl-C; OrionError says why it cannot listen."""
    from runtime.logs import logging_to
    from runtime.paths import find_home
    from voice.errors import VoiceError
    from voice.services.address import listen

    terminal, home = Terminal(), find_home()
    home.create()
    try:
        speech = listen(host, speech_port, token=token)
        try:
            same = 0 < speech_port == transcription_port
            transcription = speech if same else listen(host, transcription_port, token=token)
        except VoiceError:
            speech.close()
            raise
    except VoiceError as error:
        raise OrionError(error.code, fault="user", **error.fields) from None
    with logging_to(home.logs, door=DOOR), suppress(KeyboardInterrupt):
        services = _services(home, minutes)
        ready = partial(_announce, terminal, speech, transcription, as_json=json)
        _run(services, ready, (speech, transcription), token)
    return ExitCode.OK


def _services(home: Home, minutes: float) -> SpeechServices:
    """The services as the settings have them; nothing of them reaches another machine."""
    from runtime.profiles import Profiles
    from runtime.settings import load_settings
    from runtime.voice_setup import voice_config
    from voice.services.limits import Limits
    from voice.services.server import SpeechServices

    settings = load_settings(home.settings_file)
    profile = Profiles(home.profiles).get(settings.agent.profile)
    config = voice_config(settings, profile, home, allowed=False)
    return SpeechServices(config, Limits(sound=minutes * 60))


def _announce(
    terminal: Terminal, speech: socket.socket, transcription: socket.socket, *, as_json: bool
) -> None:
    """Say where the services are; both take connections already."""
    addresses = {"speech": _url(speech), "transcription": _url(transcription)}
    if as_json:
        terminal.answer(json_format.dumps(addresses) + "\n")
        return
    terminal.note(_("Speech is at {speech}, transcriptions at {transcription}.").format(**addresses), "good")
    terminal.note(_("Ctrl-C ends both."))


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


def _run(
    services: SpeechServices,
    ready: Callable[[], None],
    listening: tuple[socket.socket, socket.socket],
    token: str,
) -> None:
    """Serve until Ctrl-C, which ends it well from the moment at which `ready` is called."""
    import asyncio

    from voice.services.server import serve as answer

    async def work() -> None:
        ready()
        await answer(services, *listening, token)

    services.warm()
    try:
        asyncio.run(work())
    finally:
        if not services.close():
            # A pass of the recogniser cannot be cut, and a person who pressed Ctrl-C should not wait for it.
            os._exit(ExitCode.OK)
