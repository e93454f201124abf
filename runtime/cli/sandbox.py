"""`orion sandbox`: the agent's own computer, built, started, looked at and removed from the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal

Json = Annotated[bool, typer.Option("--json", help=_("Print JSON for a program to read."))]

app = typer.Typer(
    help=_("Build, start, look at and remove the computer that the agent works on."),
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command(help=_("Build the image of the computer; some minutes the first time, seconds later."))
def build(
    base: Annotated[str, typer.Option("--base", help=_("Image to build on, instead of Debian's."))] = "",
    network: Annotated[
        str, typer.Option("--network", help=_("Network of the build, for example host."))
    ] = "",
    json: Json = False,
) -> ExitCode:
    from runtime.cli import sandbox_commands

    return sandbox_commands.build(Terminal(), base, network, as_json=json)


@app.command(help=_("Start the computer, or see that it runs."))
def start(json: Json = False) -> ExitCode:
    from runtime.cli import sandbox_commands

    return sandbox_commands.start(Terminal(), as_json=json)


@app.command(help=_("Stop the computer; what lies on /workspace stays."))
def stop(json: Json = False) -> ExitCode:
    from runtime.cli import sandbox_commands

    return sandbox_commands.stop(Terminal(), as_json=json)


@app.command(help=_("Stop the computer and start it anew."))
def restart(json: Json = False) -> ExitCode:
    from runtime.cli import sandbox_commands

    return sandbox_commands.restart(Terminal(), as_json=json)


@app.command(help=_("Open a shell in the computer that runs; 'exit' leaves it."))
def shell() -> ExitCode:
    from runtime.cli import sandbox_shell

    return sandbox_shell.shell(Terminal())


@app.command(help=_("Say what is there: engine, image, computer, limits."))
def status(json: Json = False) -> ExitCode:
    from runtime.cli import sandbox_commands

    return sandbox_commands.status(Terminal(), as_json=json)


@app.command(help=_("Remove the computer with everything on its /workspace."))
def reset(
    yes: Annotated[bool, typer.Option("--yes", "-y", help=_("Remove it without asking."))] = False,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import sandbox_commands

    return sandbox_commands.reset(Terminal(), yes=yes, as_json=json)


@app.command(help=_("Print what the computer's own programs wrote last."))
def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help=_("At most this many lines."))] = 200,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import sandbox_commands

    return sandbox_commands.logs(Terminal(), lines, as_json=json)


@app.command(help=_("Write a picture of the computer's screen as PNG."))
def screenshot(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=_("File to write; it must not exist. Else screenshot.png.")),
    ] = None,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import sandbox_commands

    return sandbox_commands.screenshot(Terminal(), output or Path("screenshot.png"), as_json=json)


@app.command("verify-log", help=_("Check that nobody changed the record of the agent's actions."))
def verify_log(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help=_("Another record than that of this home."))
    ] = None,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import sandbox_commands

    return sandbox_commands.verify_log(Terminal(), file, as_json=json)


@app.command(help=_("Print a compose file of the computer, or write it."))
def compose(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help=_("File to write; it must not exist."))
    ] = None,
) -> ExitCode:
    from runtime.cli import sandbox_commands

    return sandbox_commands.compose(Terminal(), output)


Paths = Annotated[list[str] | None, typer.Argument(metavar="[FILE]...", help=_("Files; without any, all."))]
Parts = Annotated[
    list[int] | None, typer.Option("--part", min=1, help=_("Only this part of the one file; repeatable."))
]


@app.command(help=_("List what the agent changed and you have not decided on, or show one file of it."))
def review(
    file: Annotated[str, typer.Argument(metavar="[FILE]", help=_("A file to show in parts."))] = "",
    json: Json = False,
) -> ExitCode:
    from runtime.cli import sandbox_review

    return sandbox_review.review(Terminal(), file, as_json=json)


@app.command(help=_("Let what the agent changed happen in your folder."))
def apply(files: Paths = None, part: Parts = None) -> ExitCode:
    from runtime.cli import sandbox_review

    return sandbox_review.apply(Terminal(), files or [], part or [])


@app.command(help=_("Take what the agent changed back in its sandbox."))
def reject(files: Paths = None, part: Parts = None) -> ExitCode:
    from runtime.cli import sandbox_review

    return sandbox_review.reject(Terminal(), files or [], part or [])


@app.command(help=_("Take back the last decision, or all that one run did."))
def undo(run: Annotated[str, typer.Option("--run", help=_("The id of a run."))] = "") -> ExitCode:
    from runtime.cli import sandbox_review

    return sandbox_review.undo(Terminal(), run)
