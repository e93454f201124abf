"""`orion context-stats`: how a model's window would be shared, from the command line."""

from __future__ import annotations

import json

from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.host import Host
from runtime.cli.lookup import find_session
from runtime.cli.terminal import Terminal

_BAR = 24


def context_stats(
    terminal: Terminal, text: str, *, profile: str, model: str, session: str, as_json: bool
) -> ExitCode:
    """Print the share of each part of the context if `text` were said now."""
    with Host() as host:
        found = host.run(find_session, host.runtime.sessions, session) if session else None
        opened = host.call(host.runtime.open, found, profile=profile or None, private=found is None)
        try:
            if model:
                host.call(opened.use, model=model)
            stats = host.call(opened.context_stats, text)
        finally:
            host.call(opened.close)
    terminal.answer(json.dumps(stats, indent=2) + "\n" if as_json else _table(stats))
    return ExitCode.OK


def _table(stats: dict[str, int]) -> str:
    names = {
        "system": _("system prompt"),
        "directives": _("directives"),
        "memory": _("memory"),
        "documents": _("documents"),
        "tools": _("tools"),
        "history": _("history"),
        "message": _("this message"),
        "answer": _("kept for the answer"),
        "free": _("free"),
    }
    window = max(stats["window"], 1)
    lines = [_("The model reads {window} tokens at once.").format(window=stats["window"]), ""]
    for key, name in names.items():
        share = stats[key] / window
        lines.append(
            f"{name:<20} {stats[key]:>8}  {share:>4.0%}  {'▪' * min(round(share * _BAR), _BAR)}".rstrip()
        )
    return "\n".join(lines) + "\n"
