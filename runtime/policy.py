"""The one gate before every tool call: allowed, refused, or for the user to decide."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from runtime.events import Risk
from runtime.messages import JsonObject
from runtime.pathnames import is_identity
from runtime.profiles import Profile
from runtime.rules import RuleBook, offers
from runtime.tools.tool import Definition

Autonomy = Literal["semi", "auto"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`rule` names what decided: risk, allowlist, stasis, approval or a standing rule."""

    action: Literal["allow", "ask", "deny"]
    risk: Risk
    rule: str


def digest(name: str, arguments: JsonObject) -> str:
    """SHA-256 of the exact call; what was approved is what this hash was made of."""
    exact = json.dumps([name, arguments], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(exact.encode("ascii")).hexdigest()


class Policy:
    """Judges calls for one session under its profile and the user's standing rules. `tainted` says whether
    text from outside has come into the session's context; then permissions are given one call at a time."""

    def __init__(
        self,
        profile: Profile,
        autonomy: Autonomy,
        rules: RuleBook,
        session: str,
        tainted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.profile = profile
        self.autonomy: Autonomy = autonomy
        self.rules = rules
        self._session = session
        self._tainted = tainted

    def judge(self, definition: Definition, arguments: JsonObject) -> Verdict:
        """The verdict on one validated call."""
        name = definition.name
        risk = self.risk(definition)
        if name not in self.profile.allowed_tools:
            return Verdict("deny", risk, "allowlist")
        if self.profile.policy.stasis_mode and risk != "low":
            return Verdict("deny", risk, "stasis")
        demanded = definition.requires_approval or name in self.profile.require_approval
        asks = risk == "high" or (self.autonomy == "semi" and risk == "medium")
        if risk != "low" and self._tainted() and _tells_every_chat(definition, arguments):
            return Verdict("ask", risk, "approval")
        if not (demanded or asks):
            return Verdict("allow", risk, "risk")
        if risk != "high" and self.rules.allows(
            definition, arguments, self._session, tainted=self._tainted()
        ):
            return Verdict("allow", risk, "standing rule")
        return Verdict("ask", risk, "approval")

    def offers(self, definition: Definition, arguments: JsonObject, risk: Risk) -> tuple[dict[str, str], str]:
        """What an approval may hold for, see rules.offers, and the code of why that is only once."""
        tainted = self._tainted()
        why = "once_high_risk" if risk == "high" else "once_outside_text" if tainted else ""
        return offers(definition, arguments, risk, tainted=tainted), why

    def risk(self, definition: Definition) -> Risk:
        """The tool's own risk unless the profile says otherwise."""
        return self.profile.risk.get(definition.name, definition.risk)


def _tells_every_chat(definition: Definition, arguments: JsonObject) -> bool:
    """Whether a call changes what every later chat is told, which text from outside must not do unasked."""
    return definition.undoable and is_identity(str(arguments.get(definition.path_argument, "")))
