"""`orion voice`: the sound devices, speaking a text, listening for one, and the speech services."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal
from runtime.cli.voice_serve import serve

Json = Annotated[bool, typer.Option("--json", help=_("Print JSON for a program to read."))]

app = typer.Typer(
    help=_("Speak, listen, list sound devices, and serve speech to other programs."),
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("serve", help=_("Serve speech and transcriptions to other programs, until Ctrl-C."))(serve)


@app.command(help=_("List microphones and loudspeakers, the system's own first."))
def devices(json: Json = False) -> ExitCode:
    from runtime.cli.voice_commands import devices as run

    return run(Terminal(), as_json=json)


@app.command(help=_("Say TEXT aloud, and end when it was heard."))
def say(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help=_("What to say; '-' reads it from standard input."))
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=_("Write a WAV file instead; it must not exist.")),
    ] = None,
    voice: Annotated[str, typer.Option("--voice", help=_("Voice to use instead of the chosen one."))] = "",
) -> ExitCode:
    from runtime.cli import voice_commands

    if output is not None:
        return voice_commands.write(Terminal(), text, output, voice)
    return voice_commands.say(Terminal(), text, voice)


@app.command(help=_("Listen until something was said, and print it. Ctrl-C ends it."))
def listen(json: Json = False) -> ExitCode:
    from runtime.cli.voice_commands import listen as run

    return run(Terminal(), as_json=json)
