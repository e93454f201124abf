"""The command line: its commands, options and help; the work is in the modules beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from resources.translation import _
from runtime.cli import exit_codes, keys, models, network, sandbox, voice
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal

_EPILOG = "\b\n" + _("Exit codes:") + "\n" + exit_codes.table()

app = typer.Typer(
    name="orion",
    help=_(
        "An AI agent of your own. Without a command the window opens; with one, you stay in the terminal."
    ),
    epilog=_EPILOG,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
sessions_app = typer.Typer(
    help=_("List, show, search, export, fork and delete sessions."),
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(sessions_app, name="sessions")
app.add_typer(models.app, name="models")
app.add_typer(network.app, name="network")
app.add_typer(keys.app, name="keys")
app.add_typer(voice.app, name="voice")
app.add_typer(sandbox.app, name="sandbox")

Json = Annotated[bool, typer.Option("--json", help=_("Print JSON for a program to read."))]
SessionId = Annotated[
    str, typer.Argument(metavar="SESSION", help=_("Its id, the beginning of it, or 'last'."))
]
ProfileOption = Annotated[
    str, typer.Option("--profile", "-p", help=_("Profile to use, for example orion-local."))
]
ModelOption = Annotated[str, typer.Option("--model", "-m", help=_("Model to use instead of the profile's."))]
SessionOption = Annotated[
    str,
    typer.Option("--session", "-s", help=_("Go on in this session: its id, the beginning of it, or 'last'.")),
]
PrivateOption = Annotated[bool, typer.Option("--private", help=_("Store nothing of this session."))]


def _version(wanted: bool) -> None:
    if wanted:
        from runtime.diagnostics import version

        Terminal().answer(f"orion {version()}\n")
        raise typer.Exit


@app.callback()
def orion(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help=_("Print the version and end.")),
    ] = False,
) -> None:
    """Everything of the program that needs no window."""


@app.command(help=_("Ask one question and print the answer as it comes."))
def ask(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help=_("The question; '-' reads it from standard input."))
    ],
    profile: ProfileOption = "",
    model: ModelOption = "",
    session: SessionOption = "",
    timeout: Annotated[
        float | None, typer.Option("--timeout", "-t", min=0.001, help=_("Give up after this many seconds."))
    ] = None,
    json: Annotated[bool, typer.Option("--json", help=_("Print every event as one line of JSON."))] = False,
    private: PrivateOption = False,
) -> ExitCode:
    from runtime.cli.ask import Question
    from runtime.cli.ask import ask as run

    return run(Question(text, profile, model, session, timeout, json, private), Terminal())


@app.command(help=_("Talk with the agent here in the terminal."))
def chat(
    profile: ProfileOption = "",
    model: ModelOption = "",
    session: SessionOption = "",
    private: PrivateOption = False,
) -> ExitCode:
    from runtime.cli.chat import chat as run

    return run(Terminal(), profile=profile, model=model, session=session, private=private)


@app.command("context-stats", help=_("Show how the model's window would be shared if TEXT were said."))
def context_stats(
    text: Annotated[str, typer.Argument(metavar="TEXT")],
    profile: ProfileOption = "",
    model: ModelOption = "",
    session: SessionOption = "",
    json: Json = False,
) -> ExitCode:
    from runtime.cli.context_stats import context_stats as run

    return run(Terminal(), text, profile=profile, model=model, session=session, as_json=json)


@app.command(help=_("Check what works here, and how to mend what does not."))
def doctor(
    json: Json = False,
    gpu: Annotated[
        bool, typer.Option("--gpu", help=_("Prove that the engine uses the graphics card."))
    ] = False,
) -> ExitCode:
    from runtime.cli.doctor import doctor as run

    return run(Terminal(), as_json=json, gpu=gpu)


@app.command(help=_("Show what the models used and cost."))
def usage(
    span: Annotated[
        Literal["today", "7d", "30d", "all"],
        typer.Option("--range", "-r", help=_("Since midnight, in 7 or 30 days, or since the beginning.")),
    ] = "today",
    json: Json = False,
) -> ExitCode:
    from runtime.cli.usage import usage as run

    return run(Terminal(), span, as_json=json)


@app.command(help=_("Print a report without secrets, to send with a question."))
def diagnostics() -> ExitCode:
    from runtime.cli.doctor import report

    return report(Terminal())


@sessions_app.command("list", help=_("List sessions, newest first."))
def list_sessions(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help=_("At most this many."))] = 50,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import sessions

    return sessions.show_list(Terminal(), limit, as_json=json)


@sessions_app.command(help=_("Search the text of all sessions."))
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help=_("At most this many."))] = 20,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import sessions

    return sessions.search(Terminal(), text, limit, as_json=json)


@sessions_app.command(help=_("Print a session."))
def show(session: SessionId, json: Json = False) -> ExitCode:
    from runtime.cli import sessions

    return sessions.show(Terminal(), session, as_json=json)


@sessions_app.command(help=_("Write a session to a file, or to standard output."))
def export(
    session: SessionId,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help=_("File to write; it must not exist."))
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help=_("JSON that can be imported, instead of Markdown."))
    ] = False,
) -> ExitCode:
    from runtime.cli import sessions

    return sessions.export(Terminal(), session, output, as_json=json)


@sessions_app.command("import", help=_("Read an exported session; '-' is standard input."))
def import_session(file: Annotated[str, typer.Argument(metavar="FILE")], json: Json = False) -> ExitCode:
    from runtime.cli import sessions

    return sessions.import_(Terminal(), file, as_json=json)


@sessions_app.command(help=_("Give a session another title."))
def rename(
    session: SessionId, title: Annotated[str, typer.Argument(metavar="TITLE")], json: Json = False
) -> ExitCode:
    from runtime.cli import sessions

    return sessions.rename(Terminal(), session, title, as_json=json)


@sessions_app.command(help=_("Delete a session; the printed token takes it back."))
def delete(session: SessionId, json: Json = False) -> ExitCode:
    from runtime.cli import sessions

    return sessions.delete(Terminal(), session, as_json=json)


@sessions_app.command(help=_("Take back a deletion."))
def restore(token: Annotated[str, typer.Argument(metavar="TOKEN")], json: Json = False) -> ExitCode:
    from runtime.cli import sessions

    return sessions.restore(Terminal(), token, as_json=json)


@sessions_app.command(help=_("Start a new session from a message of another one."))
def fork(
    session: SessionId,
    message: Annotated[
        str, typer.Argument(metavar="MESSAGE", help=_("Id of the message, see 'show --json'."))
    ],
    json: Json = False,
) -> ExitCode:
    from runtime.cli import sessions

    return sessions.fork(Terminal(), session, message, as_json=json)


def run(argv: list[str]) -> int:
    """Run one command line (without the program's name) and return its exit code; raises OrionError,
    ReaderGone and KeyboardInterrupt as the command does."""
    try:
        code = app(
            argv if argv not in ([], ["sessions"], ["models"], ["voice"], ["sandbox"]) else [*argv, "--help"],
            prog_name="orion",
            standalone_mode=False,
        )
    except typer.TyperException as error:
        Terminal().note(error.format_message().replace("\n", " "), "bad")
        return ExitCode.USAGE
    except typer.Abort:
        return ExitCode.INTERRUPTED
    return int(code or 0)
