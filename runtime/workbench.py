"""What the turns of one session work with: the desk for its tools, the fitting to a model's window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from runtime import context
from runtime.approvals import Approvals
from runtime.calls import Desk
from runtime.chain import Link
from runtime.export import archive
from runtime.fitting import Fitting
from runtime.gate import Gate
from runtime.history import History
from runtime.house import House
from runtime.messages import JsonObject
from runtime.outlet import Outlet
from runtime.policy import Autonomy, Policy
from runtime.profiles import Profile
from runtime.providers.provider import NativeTool
from runtime.states import StateMachine
from runtime.tools.registry import ALIASES
from runtime.tools.tool import ToolContext


@dataclass(frozen=True, slots=True)
class Workbench:
    """The parts of one session that its turns share; made and owned by the session."""

    house: House
    session: str
    private: bool
    history: History
    outlet: Outlet
    states: StateMachine
    approvals: Approvals = field(default_factory=Approvals)

    def fitting(self, link: Link, chosen: Profile) -> Fitting:
        """What makes the requests for the model of `link`, with the tools of the profile `chosen` here."""
        house, profile = self.house, link.profile
        specs = house.registry.specs(chosen, images=link.provider.traits(link.model).images)
        native = self._native(link, chosen)
        renamed = {ALIASES[tool.name] for tool in native if tool.name in ALIASES}
        specs = tuple(spec for spec in specs if spec.name not in renamed)
        folder = house.profiles.folder(profile.name)
        return Fitting(
            session=self.session,
            link=link,
            system=lambda tools: context.system_prompt(profile, folder, house.home.workspace, tools=tools),
            history=self.history,
            specs=specs,
            native=native,
            archive=self._archive,
            emit=self.outlet.emit,
        )

    def _native(self, link: Link, chosen: Profile) -> tuple[NativeTool, ...]:
        """The allowed ones of the tools that Anthropic defines itself, where the profile wants them."""
        if not (link.profile.computer_use and link.profile.provider == "anthropic"):
            return ()
        found = self.house.native(link.model)
        return tuple(tool for tool in found if ALIASES.get(tool.name, tool.name) in chosen.allowed_tools)

    def desk(self, first: Link, autonomy: Autonomy, limit: int, gate: Gate) -> Desk:
        """The desk at which the calls of a turn are judged and run; `limit` is its most model calls, `first`
        the model that is chosen."""
        house, history, profile, model = self.house, self.history, first.profile, first.model
        images = first.provider.traits(model).images

        def tool_context(call: str, emit: Callable[[str], None]) -> ToolContext:
            facts: JsonObject = {
                "profile": profile.name,
                "provider": profile.provider,
                "model": model,
                "session": self.session,
                "autonomy": autonomy,
                "iteration": history.transcript.iterations,
                "max_iterations": limit,
                "tools": [spec.name for spec in house.registry.specs(profile, images=images)],
            }
            turn = history.transcript.turn
            computer = house.computer()
            root = house.home.root
            return ToolContext(self.session, turn, call, house.workspace, root, facts, emit, computer)

        def waiting(some: bool) -> None:
            if some:
                self.states.to("PAUSED")
            else:
                self.states.back()

        return Desk(
            registry=house.registry,
            policy=Policy(profile, autonomy, house.rules, self.session, lambda: history.transcript.tainted),
            approvals=self.approvals,
            hooks=house.hooks,
            record=history.record,
            emit=self.outlet.emit,
            context=tool_context,
            waiting=waiting,
            listened=lambda: self.outlet.listened,
            gate=gate,
        )

    def _archive(self) -> str:
        """The transcript as Markdown in the archive, before a part of it goes out of the model's sight."""
        if self.private:
            return ""
        title, rows = self.history.journal.title, self.history.rows(running=True)
        return str(archive(self.house.home.sessions, self.session, title, rows))
