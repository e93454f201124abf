"""The words of the live pane: where the sandbox is, who is at the wheel, and how an action went."""

from __future__ import annotations

from resources.sentences import sentence
from resources.translation import _
from runtime.computer_events import ComputerState, Holder, Phase, Remedy

VERDICT_SIGNS = {"confirmed": "✓", "no_change": "=", "unclear": "?", "failed": "✕"}


def verdict_words(verdict: str) -> str:
    """How an action went, in a word or two; nothing for an action that changes nothing on the screen."""
    words = {
        "confirmed": _("confirmed"),
        "no_change": _("no change"),
        "unclear": _("unclear"),
        "failed": _("not done"),
    }
    return words.get(verdict, "")


def verdict_sign(verdict: str) -> str:
    """The verdict with its sign, so that its colour is never the only one."""
    return f"{VERDICT_SIGNS[verdict]} {verdict_words(verdict)}" if verdict in VERDICT_SIGNS else ""


def holder_words(holder: Holder, paused: bool, stepping: bool) -> str:
    """Who moves the mouse, for the badge over the picture."""
    if holder == "user":
        return _("You are at the wheel")
    if stepping:
        return _("One step…")
    if paused:
        return _("Paused")
    return _("The agent works") if holder == "agent" else _("Idle")


def title(state: ComputerState) -> str:
    """What a page about the state is called."""
    words = {
        "off": _("The agent's own computer"),
        "unavailable": _("The sandbox cannot run here yet"),
        "no_image": _("The sandbox has to be built once"),
        "building": _("Building the sandbox…"),
        "starting": _("Starting the sandbox…"),
        "running": _("The sandbox is running"),
        "lost": _("The sandbox was lost"),
        "stopping": _("Stopping the sandbox…"),
    }
    return words[state.phase]


def explanation(state: ComputerState) -> str:
    """What a page about the state says: the fault in its sentence, else what is going to happen."""
    if state.code:
        return sentence(state.code, **state.fields)
    words = {
        "off": _(
            "A desktop with a browser, an editor and a terminal, locked in a container. The agent works in "
            "it, you watch, and take the wheel whenever you like. It has no network unless you allow a host, "
            "and it works on a copy of your folder: what it changed is yours to review."
        ),
        "unavailable": _("No container engine answers on this machine."),
        "no_image": _(
            "The desktop and its programs are put together on this machine, once. That takes a few minutes, "
            "about 2 GB on the disk, and the network to fetch the packages."
        ),
        "building": _("You can go on using everything else meanwhile."),
        "starting": _("This takes a few seconds."),
        "lost": _("What it had on the screen is gone; the files of its workspace are kept."),
        "stopping": _("Its files are kept."),
    }
    return words.get(state.phase, "")


def remedy_words(remedy: Remedy, phase: Phase) -> str:
    """What a button says that does something about a state."""
    if remedy == "retry":
        return _("Start again") if phase == "lost" else _("Check again")
    words = {
        "build": _("Build the sandbox"),
        "start": _("Start the sandbox"),
        "stop": _("Stop"),
        "restart": _("Restart"),
        "reset": _("Empty it and start over"),
    }
    return words[remedy]
