"""What the user can do about a fault with one click, beside the sentence that names it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from desktop.conversations import Conversations
from desktop.window import MainWindow
from resources.sentences import sentence
from resources.translation import _

Way = tuple[str, Callable[[], object]]
Fields = dict[str, Any]
LOCAL = "orion-local"


class WaysOut:
    """Offers ways out of the faults of a turn, most promising first; says nothing of faults without one."""

    def __init__(self, window: MainWindow, talks: Conversations) -> None:
        self._window = window
        self._talks = talks

    def offer(self, code: str, fields: Fields) -> None:
        """Show the sentence of `code` with what can be done about it, if anything can."""
        if ways := self._ways(code, fields):
            self._window.toast.offer(sentence(code, **fields), *ways)

    def _ways(self, code: str, fields: Fields) -> list[Way]:
        match code:
            case "context_overflow":
                return self._shorter(fields)
            case "model_too_large" | "worker_out_of_memory":
                return self._smaller(fields)
            case "host_not_allowed":
                host = str(fields["host"])
                words = _("Allow {host}").format(host=host[:40])
                allow = partial(self._talks.allow_host, host, str(fields["provider"]))
                return [(words, allow), *self._here()]
            case "key_missing" | "key_rejected":
                return [(_("Enter a key"), partial(self._window.show_page, "services")), *self._here()]
            case "cap_reached":
                return [(_("Raise the cap"), partial(self._window.show_page, "usage")), *self._here()]
            case "price_unknown":
                return [(_("Change the caps"), partial(self._window.show_page, "usage")), *self._here()]
            case "quota_spent" | "provider_unavailable" | "provider_unreachable" | "provider_timeout":
                return [(_("Try again"), self._talks.retry), *self._here()]
            case "rate_limited" | "reply_cut_short" | "reply_malformed":
                return [(_("Try again"), self._talks.retry), *self._here()]
        return []

    def _here(self) -> list[Way]:
        """Let the model on this machine answer, where it is not the one that failed."""
        if self._talks.card.get("provider") == "local":
            return []
        return [(_("Use the model on this machine"), partial(self._talks.retry_with, profile=LOCAL))]

    def _shorter(self, fields: Fields) -> list[Way]:
        tokens, window = int(fields.get("prompt_tokens", 0)), int(fields.get("window", 0))
        if not tokens or not window:
            return []
        return [(_("Shorten and retry"), partial(self._talks.shorten, tokens, window))]

    def _smaller(self, fields: Fields) -> list[Way]:
        """A smaller context, fewer layers on the graphics card, a smaller model."""
        ways: list[Way] = []
        if window := int(fields.get("suggested_window", 0)):
            words = _("Use a context of {tokens}").format(tokens=window)
            ways.append((words, partial(self._talks.retry_with, settings={"local_model.window": window})))
        if (layers := int(fields.get("suggested_layers", -1))) >= 0:
            words = _("Put {count} layers on the graphics card").format(count=layers)
            ways.append((words, partial(self._talks.retry_with, settings={"local_model.gpu_layers": layers})))
        if model := str(fields.get("suggested_model", "")):
            words = _("Use {model}").format(model=model[:40])
            ways.append((words, partial(self._talks.retry_with, model=model)))
        return ways
