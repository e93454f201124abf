"""`orion models`: models found, fetched, examined, chosen and deleted, here, at services and from the hub."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.terminal import Terminal

OLLAMA = "orion-ollama"

app = typer.Typer(
    help=_("Find, fetch, examine, choose and delete models; with --profile also those of an Ollama server."),
    no_args_is_help=True,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help=_("Print JSON for a program to read."))]
Yes = Annotated[
    bool,
    typer.Option("--yes", "-y", help=_("Agree to the licence, and to asking and fetching from the hub.")),
]
Installed = Annotated[
    str, typer.Argument(metavar="NAME", help=_("A model on this machine, as 'orion models list' names it."))
]
OfOllama = Annotated[
    str,
    typer.Option("--profile", "-p", help=_("The profile of an Ollama server, if its models are meant.")),
]
Kind = Annotated[
    Literal["", "language", "vision", "embedding", "speech"],
    typer.Option("--kind", "-k", help=_("Only models of this kind.")),
]


@app.command("list", help=_("List models, those on this machine first."))
def list_models(
    profile: Annotated[str, typer.Option("--profile", "-p", help=_("Only those of this profile."))] = "",
    here: Annotated[
        bool,
        typer.Option("--here", help=_("Everything on this machine, with fit and exams.")),
    ] = False,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import models_list

    if here:
        return models_list.show_here(Terminal(), as_json=json)
    return models_list.show_list(Terminal(), profile, as_json=json)


@app.command(help=_("Let new conversations, or one session, use a model."))
def use(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help=_("Its name, or the provider's, a slash and its name."))
    ],
    session: Annotated[
        str,
        typer.Option(
            "--session", "-s", help=_("Let this session use it: its id, the beginning of it, or 'last'.")
        ),
    ] = "",
    json: Json = False,
) -> ExitCode:
    from runtime.cli import models_list

    return models_list.use(Terminal(), model, session, as_json=json)


@app.command(
    help=_("Search the catalogue, and the hub where that is allowed; without WORDS, what suits here.")
)
def search(
    words: Annotated[list[str] | None, typer.Argument(metavar="WORDS")] = None,
    kind: Kind = "",
    offline: Annotated[bool, typer.Option("--offline", help=_("Look into the catalogue only."))] = False,
    yes: Yes = False,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import models_search

    asked = models_search.Asked(" ".join(words or ()), kind, offline, yes, json)
    return models_search.search(Terminal(), asked)


@app.command(help=_("Show what is known of a model, with all its files and how they would run here."))
def info(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help=_("A model here, in the catalogue, or maker/name of the hub.")),
    ],
    yes: Yes = False,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import models_search

    return models_search.info(Terminal(), name, yes=yes, as_json=json)


@app.command(help=_("Show what this machine offers and how models would run on it; nothing is fetched."))
def fit(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=_("Only this one; otherwise the best of the catalogue."))
    ] = "",
    kind: Kind = "",
    json: Json = False,
) -> ExitCode:
    from runtime.cli import models_search

    return models_search.fit(Terminal(), name, kind, as_json=json)


@app.command(help=_("Fetch a model from the hub, or let an Ollama server fetch one; Ctrl-C lets it rest."))
def pull(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME[:QUANT]",
            help=_("As the catalogue names it, or maker/name of the hub; QUANT is for example Q4_K_M."),
        ),
    ],
    profile: OfOllama = "",
    yes: Yes = False,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import models_pull, ollama_models

    if profile:
        return ollama_models.pull(Terminal(), name, profile, as_json=json)
    return models_pull.pull(Terminal(), name, yes=yes, as_json=json)


@app.command(help=_("List downloads that rest or failed; --stop drops one with what was fetched of it."))
def downloads(
    stop: Annotated[str, typer.Option("--stop", metavar="ID", help=_("The download to drop."))] = "",
    json: Json = False,
) -> ExitCode:
    from runtime.cli import models_pull

    return models_pull.downloads(Terminal(), stop, as_json=json)


@app.command("import", help=_("Take in GGUF files or folders of them."))
def import_models(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…")],
    move: Annotated[bool, typer.Option("--move", help=_("Move the files instead of copying them."))] = False,
    in_place: Annotated[
        bool, typer.Option("--in-place", help=_("Leave the files where they are and use them there."))
    ] = False,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import models_import

    if move and in_place:
        raise typer.BadParameter(_("--move and --in-place exclude each other."))
    mode: models_import.Mode = "move" if move else "in_place" if in_place else "copy"
    return models_import.take(Terminal(), paths, mode, as_json=json)


@app.command(help=_("Find out in about two minutes what a model can do on this machine; nothing leaves it."))
def exam(name: Installed, json: Json = False) -> ExitCode:
    from runtime.cli import models_exam

    return models_exam.exam(Terminal(), name, as_json=json)


@app.command("show", help=_("Show what an Ollama server knows of one of its models."))
def show_model(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=_("The model as Ollama calls it, for example qwen3:8b."))
    ],
    profile: Annotated[
        str, typer.Option("--profile", "-p", help=_("The profile that says where the Ollama server is."))
    ] = OLLAMA,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import ollama_models

    return ollama_models.show(Terminal(), name, profile, as_json=json)


@app.command("delete", help=_("Delete a model from this disk, or from the one of an Ollama server."))
def delete_model(
    name: Installed,
    profile: OfOllama = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help=_("Delete it without asking."))] = False,
    json: Json = False,
) -> ExitCode:
    from runtime.cli import models_delete, ollama_models

    if profile:
        return ollama_models.delete(Terminal(), name, profile, yes=yes)
    return models_delete.delete(Terminal(), name, yes=yes, as_json=json)
