"""The window's commands and what the palette offers besides them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from desktop.actions import Command, shown_keys
from desktop.command_palette import Choice
from desktop.conductor import Conductor
from desktop.conversations import Conversations
from desktop.session_list import title_of
from desktop.window import MainWindow
from resources.translation import _

if TYPE_CHECKING:
    from desktop.appearance import Appearance


def commands(
    window: MainWindow, conductor: Conductor, talks: Conversations, looks: Appearance
) -> list[Command]:
    """Everything with a name and mostly a key; the palette and the list of keys are added by the caller."""
    return [
        Command(_("New chat"), ("Ctrl+N",), conductor.new_chat),
        Command(_("New private chat"), ("Ctrl+Shift+N",), lambda: conductor.new_chat(private=True)),
        Command(_("Search all chats"), ("Ctrl+Shift+F",), lambda: _search(window)),
        Command(_("Find in this chat"), ("Ctrl+F",), window.chats.open_find),
        Command(_("Write a message"), ("Ctrl+L",), window.show_chat),
        Command(_("Attach files"), ("Ctrl+O",), window.composer.choose_files),
        Command(_("Stop the answer"), ("Ctrl+.",), talks.cancel),
        Command(_("Answer again"), ("Ctrl+R",), talks.retry),
        Command(_("Next part of the window"), ("F6",), window.focus_next_part),
        Command(_("What fills the model's window"), ("Ctrl+I",), conductor.toggle_context),
        Command(_("Next chat"), ("Ctrl+PgDown",), lambda: _step(window, talks, 1)),
        Command(_("Previous chat"), ("Ctrl+PgUp",), lambda: _step(window, talks, -1)),
        Command(_("Show or hide the sidebar"), ("Ctrl+B",), window.toggle_sidebar),
        Command(_("Settings"), ("Ctrl+,",), lambda: window.show_page("settings")),
        Command(_("Models"), ("Ctrl+M",), lambda: window.show_page("models")),
        Command(_("Permissions"), (), lambda: window.show_page("permissions")),
        Command(_("Services"), (), lambda: window.show_page("services")),
        Command(_("Network"), (), lambda: window.show_page("network")),
        Command(_("Usage"), (), lambda: window.show_page("usage")),
        Command(_("About"), (), lambda: window.show_page("about")),
        Command(_("Larger text"), ("Ctrl++", "Ctrl+="), lambda: looks.step_scale(1)),
        Command(_("Smaller text"), ("Ctrl+-",), lambda: looks.step_scale(-1)),
        Command(_("Normal text size"), ("Ctrl+0",), lambda: looks.set_scale(1.0)),
        Command(_("Light theme"), (), lambda: looks.choose("light")),
        Command(_("Dark theme"), (), lambda: looks.choose("dark")),
        Command(_("Theme of the system"), (), lambda: looks.choose("system")),
        Command(
            _("Export this chat as Markdown"), ("Ctrl+S",), lambda: _export(conductor, talks, "markdown")
        ),
        Command(_("Export this chat as JSON"), (), lambda: _export(conductor, talks, "json")),
        Command(_("Import a chat"), (), conductor.take_in),
        Command(_("Quit"), ("Ctrl+Q",), window.close),
    ]


def choices(found: list[Command], window: MainWindow, talks: Conversations) -> list[Choice]:
    """What the palette lists: commands, then chats."""
    listed = [Choice(command.title, shown_keys(command), command.run) for command in found]
    listed += _switches(window, talks)
    chats = window.sidebar.model.items()
    return listed + [Choice(title_of(item), _("chat"), partial(talks.open, item["id"])) for item in chats]


def _switches(window: MainWindow, talks: Conversations) -> list[Choice]:
    """The other profiles, models and degrees of freedom the chat in front may be given."""
    card = talks.card
    if not card:
        return []
    found: list[Choice] = []
    for profile in window.header.profiles:
        if profile["name"] != card["profile"]:
            title = _("Use profile {name}").format(name=profile["name"])
            found.append(Choice(title, _("profile"), partial(talks.use, profile=profile["name"])))
    for model in window.header.other_models():
        title = _("Use model {name}").format(name=model["name"])
        found.append(Choice(title, _("model"), partial(talks.use, model=model["name"])))
    if card["autonomy"] == "auto":
        found.append(
            Choice(
                _("Ask first before anything that changes something"), "", partial(talks.use, autonomy="semi")
            )
        )
    else:
        found.append(
            Choice(_("Work alone: ask only when the risk is high"), "", partial(talks.use, autonomy="auto"))
        )
    return found


def _search(window: MainWindow) -> None:
    if window.sidebar.isHidden():
        window.toggle_sidebar()
    window.sidebar.focus_search()


def _step(window: MainWindow, talks: Conversations, step: int) -> None:
    items = window.sidebar.model.items()
    if items:
        row = window.sidebar.model.row_of(talks.current) + step
        talks.open(items[row % len(items)]["id"])


def _export(conductor: Conductor, talks: Conversations, form: str) -> None:
    if talks.current:
        conductor.export(talks.current, form)
