"""The account of one session: asks before each model call, pays for it after, and tells what it cost."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from runtime import services
from runtime.chain import Link
from runtime.errors import Field, OrionError
from runtime.messages import AssistantMessage, Image, Usage
from runtime.providers.provider import Notices, Request, Traits
from runtime.spending import Spending
from runtime.usage_record import Call, Sum

BYTES_PER_TOKEN, IMAGE_TOKENS = 3, 1500
"""For the guess at a call that was never counted; text has rarely more tokens than this."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What a call cost in US dollars, and the turn and the session with it; None where the price of a call
    is not known. `notices` tell what the user should know of it."""

    cost: float | None
    turn: float | None
    session: float | None
    notices: Notices = ()


FREE = Bill(0.0, None, None)
"""Nothing was asked of a model, or of none that costs anything."""


@dataclass(slots=True)
class Purse:
    """The account of one session in this process. `private` ones remember only here what they spent."""

    spending: Spending
    session: str
    private: bool
    _kept: dict[str, Sum] = field(default_factory=dict)

    def allow(self, traits: Traits, model: str) -> None:
        """Agree to a call, or raise as Spending.allow; a model on this machine costs nothing."""
        if not traits.local:
            self.spending.allow(traits.name, model, self._spent)

    def pay(
        self,
        traits: Traits,
        model: str,
        turn: str,
        usage: Usage,
        seconds: float,
        *,
        estimated: bool = False,
    ) -> Bill:
        """Write down a call that was made. Never raises: what keeps it from being counted is a notice."""
        notices: list[tuple[str, dict[str, Field]]] = []
        cost: float | None = 0.0 if traits.local else None
        if not traits.local:
            try:
                cost = self.spending.prices.cost(traits.name, model, usage)
            except OrionError as error:
                notices.append((error.code, error.fields))
        named = ("", "") if self.private else (self.session, turn)
        call = Call(
            self.spending.now(), *named, traits.name, model, traits.local, usage, cost, seconds, estimated
        )
        if self.private:
            self._keep(turn, call)
        try:
            self.spending.add(call)
            if cost:
                standing = self.spending.standing(self._spent)
                notices += [("cap_near", cap.refusal().fields) for cap in standing if cap.crossed(cost)]
            return Bill(cost, _known(self._total(turn)), _known(self._total()), tuple(notices))
        except OrionError as error:
            notices.append((error.code, error.fields))
            return Bill(cost, None, None, tuple(notices))

    def _spent(self) -> float:
        return self._total().cost

    def _total(self, turn: str = "") -> Sum:
        if self.private:
            return self._kept.get(turn, Sum())
        return self.spending.total(self.session, turn)

    def _keep(self, turn: str, call: Call) -> None:
        one = Sum(1, cost=call.cost or 0.0, unknown=int(call.cost is None))
        for name in ("", turn):
            self._kept[name] = self._kept.get(name, Sum()) + one


def _known(total: Sum) -> float | None:
    return None if total.unknown else total.cost


def seller(link: Link) -> Traits:
    """The traits of the model of `link`, named for who sells it: the provider at its own address, else the
    host, since the same name may cost something else there."""
    traits = link.provider.traits(link.model)
    if traits.local:
        return traits
    try:
        address = services.address(traits.name, link.profile.base_url)
        host = services.host_of(services.place(address))
    except OrionError:
        return traits
    known = services.SERVICES.get(traits.name)
    own = known is not None and services.host_of(services.place(known.address)) == host
    return traits if own else replace(traits, name=host)


def guess(request: Request, written: str) -> Usage:
    """The tokens of a call of which nobody told them and `written` came, rather too many than too few."""
    size = _bytes(request.system)
    pictures = 0
    for message in request.messages:
        size += _bytes(message.text)
        if isinstance(message, AssistantMessage):
            size += sum(len(json.dumps(call.arguments)) for call in message.calls)
        else:
            pictures += sum(isinstance(part, Image) for part in message.parts)
    size += sum(len(tool.description) + len(json.dumps(tool.parameters)) for tool in request.tools)
    prompt = size // BYTES_PER_TOKEN + IMAGE_TOKENS * pictures
    return Usage(prompt, _bytes(written) // BYTES_PER_TOKEN)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
