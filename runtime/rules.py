"""Standing permissions that outlive one approval: visible, narrow and revocable."""

from __future__ import annotations

import json
import os
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from resources.translation import _
from runtime.errors import OrionError
from runtime.events import Risk, Trust
from runtime.messages import JsonObject
from runtime.tools.tool import Definition

VERSION = 1
FIVE_MINUTES = 300.0
_SHELL_MARKS = frozenset("|&;<>()$`\\\"'\n*?[]#~=%{}!")


Kind = Literal["undoable", "sandbox", "path", "host", "command"]
Scope = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Rule:
    """`kind` undoable, sandbox, path, host or command says what `value` means. `until` is seconds since the
    epoch, 0 for no end; `session` is empty for a rule that holds everywhere."""

    id: str
    tool: str
    kind: Kind
    value: str
    until: float
    session: str

    def covers(self, definition: Definition, arguments: JsonObject) -> bool:
        """Whether a call of this tool with these arguments falls under the rule."""
        if self.kind == "undoable":
            return definition.undoable
        if self.kind == "sandbox":
            return definition.sandboxed
        if definition.name != self.tool:
            return False
        found = scope(definition, arguments)
        if found is None or found[0] != self.kind:
            return False
        if self.kind == "path":
            return self.value in (".", found[1]) or found[1].startswith(self.value + "/")
        return found[1] == self.value

    def text(self) -> str:
        """What it allows, in words."""
        return describe(self.kind, self.tool, self.value)


def describe(kind: str, tool: str, value: str) -> str:
    """A rule in words."""
    match kind:
        case "undoable":
            return _("every change to the workspace that can be undone")
        case "sandbox":
            return _("everything on the agent's own computer, which is cut off from this one")
        case "path":
            return _("{tool} in the folder {value}").format(tool=tool, value=value)
        case "host":
            return _("{tool} to {value}").format(tool=tool, value=value)
        case _:
            return _("{tool} with the command {value}").format(tool=tool, value=value)


def scope(definition: Definition, arguments: JsonObject) -> Scope | None:
    """The narrow thing a longer permission would be bound to, or None where there is none."""
    if definition.path_argument:
        path = PurePosixPath(str(arguments.get(definition.path_argument, "")))
        return None if path.is_absolute() or ".." in path.parts else ("path", str(path.parent))
    if definition.host_argument:
        host = urlsplit(str(arguments.get(definition.host_argument, ""))).hostname
        return ("host", host) if host else None
    if definition.command_argument:
        command = str(arguments.get(definition.command_argument, ""))
        words = command.split()
        return ("command", " ".join(words[:2])) if words and not _SHELL_MARKS & set(command) else None
    return None


def offers(
    definition: Definition, arguments: JsonObject, risk: Risk, *, tainted: bool = False
) -> dict[str, str]:
    """Each trust duration that may be chosen for this call, the recommended one first, with its rule. Only
    once is left for high risk, and for a context with text from outside in it."""
    once = {"once": _("exactly this call")}
    if risk == "high" or tainted:
        return once
    if definition.foreign:
        once = {"once": _("exactly this call, after which this chat can only be given single permissions")}
    if definition.undoable or definition.sandboxed:
        text = describe(_broad(definition), definition.name, "")
        # What brings in text from outside could not be allowed anew after five minutes, only call by call.
        return {"session": text} | once | ({} if definition.foreign else {"5min": text})
    found = scope(definition, arguments)
    if found is None:
        return once
    text = describe(found[0], definition.name, found[1])
    return once | {"5min": text, "session": text, "always": text}


def _broad(definition: Definition) -> Kind:
    return "undoable" if definition.undoable else "sandbox"


class RuleBook:
    """The rules in force; those for always lie in `path`, and which ones were taken back, so that none comes
    again with the session that holds it. Used from the runtime's loop only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rules, self._revoked = self._read() if path.exists() else ([], [])

    def _read(self) -> tuple[list[Rule], list[str]]:
        try:
            data = json.loads(self._path.read_text("utf-8"))
            version = int(data["v"])
            if version <= VERSION:
                rules = [Rule(**entry) for entry in data["rules"]]
                return rules, [str(gone) for gone in data.get("revoked", [])]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise OrionError("rules_unreadable", path=str(self._path), reason=str(error)) from error
        raise OrionError("format_newer", path=str(self._path), found=version, known=VERSION)

    def grant(
        self,
        definition: Definition,
        arguments: JsonObject,
        trust: Trust,
        session: str,
        *,
        tainted: bool = False,
    ) -> Rule | None:
        """Make the rule that an approval with `trust` states; None for once. Raises OrionError
        `trust_refused` when that duration is not on offer."""
        if trust == "once":
            return None
        if trust not in offers(definition, arguments, definition.risk, tainted=tainted):
            raise OrionError("trust_refused", tool=definition.name, trust=trust)
        broad = definition.undoable or definition.sandboxed
        narrow = scope(definition, arguments) or ("path", ".")
        found: Scope = (_broad(definition), "") if broad else narrow
        until = time.time() + FIVE_MINUTES if trust == "5min" else 0.0
        rule = Rule(
            secrets.token_hex(4), definition.name, *found, until, "" if trust == "always" else session
        )
        self.add(rule)
        if trust == "always":
            self._save()
        return rule

    def add(self, rule: Rule) -> None:
        """Put a rule in force, for example one that a reopened session had; not one that was taken back."""
        if rule.id not in self._revoked and all(rule.id != known.id for known in self._rules):
            self._rules.append(rule)

    def allows(
        self, definition: Definition, arguments: JsonObject, session: str, *, tainted: bool = False
    ) -> bool:
        """Whether a rule that has not ended covers the call. In a `tainted` context only the session's own
        rules count, and only for what can be undone or stays on the agent's own computer."""
        now = time.time()
        self._rules = [rule for rule in self._rules if not rule.until or rule.until > now]
        mine = (rule for rule in self._rules if rule.session in ("", session))
        if tainted:
            mine = (rule for rule in mine if rule.session and rule.kind in ("undoable", "sandbox"))
        return any(rule.covers(definition, arguments) for rule in mine)

    def of(self, session: str) -> list[Rule]:
        """The rules that hold in `session`."""
        return [rule for rule in self._rules if rule.session in ("", session)]

    def revoke(self, rule_id: str) -> None:
        """Take a rule back for good; unknown ids are ignored. Raises OrionError `file_unwritable`; it holds
        no more in this process then."""
        gone = [rule for rule in self._rules if rule.id == rule_id]
        self._rules = [rule for rule in self._rules if rule.id != rule_id]
        if gone:
            self._revoked += [rule.id for rule in gone if rule.session]
            self._save()

    def _save(self) -> None:
        entries = [asdict(rule) for rule in self._rules if not rule.session]
        temporary = self._path.with_suffix(".new")
        try:
            data = {"v": VERSION, "rules": entries, "revoked": self._revoked}
            temporary.write_text(json.dumps(data, indent=1), "utf-8")
            os.replace(temporary, self._path)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise OrionError("file_unwritable", path=str(self._path), reason=reason) from error
