"""Counts what models cost, and stops before a call that the user's caps do not allow any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from resources.translation import _
from runtime.amounts import dollars
from runtime.errors import OrionError
from runtime.messages import JsonObject
from runtime.paths import Home
from runtime.pricing import Prices
from runtime.providers.provider import Notices
from runtime.settings import VERSION, Caps, Settings
from runtime.shared_file import SharedFile
from runtime.usage_record import Call, Sum, UsageRecord
from runtime.usage_report import Range, day_began, month_began, read

NEAR = 0.8
"""From this part of a cap on the user is told, once."""

CapName = Literal["daily_usd", "monthly_usd", "session_usd"]


@dataclass(frozen=True, slots=True)
class Cap:
    """A limit the user set in the setting `name`, and what was spent of it, in US dollars."""

    name: CapName
    limit: float
    spent: float

    @property
    def reached(self) -> bool:
        """Whether nothing more may be spent."""
        return self.spent >= self.limit

    def words(self) -> str:
        """The cap for people."""
        names = {
            "daily_usd": _("cap for a day"),
            "monthly_usd": _("cap for a month"),
            "session_usd": _("cap for one chat"),
        }
        return names[self.name]

    def crossed(self, cost: float) -> bool:
        """Whether `cost`, which is part of what was spent, is what came near the limit."""
        return self.spent - cost < NEAR * self.limit <= self.spent

    def refusal(self) -> OrionError:
        """What a call is told that this cap forbids; `setting` is for a door that offers to raise it."""
        return OrionError(
            "cap_reached",
            cap=self.words(),
            spent=dollars(self.spent),
            limit=dollars(self.limit),
            setting=f"spending.{self.name}",
        )


class Spending:
    """The accounts of one installation, shared by its processes. Used from one thread; closed by the owner.

    A cap counts what is known to have been spent; the call that reaches it still ends, the next one is not
    made. Caps are read anew where the settings file changed, by whatever process; while it cannot be read,
    no model that costs anything is asked.
    """

    def __init__(self, home: Home, clock: Callable[[], float] = time.time) -> None:
        self.prices = Prices(home.root)
        self._record = UsageRecord(home.usage_file)
        self._settings = SharedFile(home.settings_file, Settings, VERSION)
        self._clock = clock
        self._unwritten: list[Call] = []

    def allow(self, provider: str, model: str, spent: Callable[[], float]) -> None:
        """Agree to a call of a paid model by a session of which `spent` tells how many dollars it spent.

        Raises OrionError `cap_reached` (cap, spent, limit, setting); where a cap is set also
        `price_unknown`, because it could not be kept, and what keeps the record from being read or written.
        """
        if not any(limit for _name, limit in self._caps()):
            return
        self._write()
        for cap in self.standing(spent):
            if cap.reached:
                raise cap.refusal()
        if self.prices.find(provider, model) is None:
            path = str(self.prices.path)
            raise OrionError("price_unknown", provider=provider, model=model, path=path)

    def standing(self, spent: Callable[[], float]) -> list[Cap]:
        """Every cap that is set, for a session that has spent so much. Raises as UsageRecord."""
        caps, now = self._caps(), self._clock()
        found: list[Cap] = []
        if caps.session_usd:
            found.append(Cap("session_usd", caps.session_usd, spent()))
        if caps.daily_usd:
            today = self._record.spent(day_began(now))
            found.append(Cap("daily_usd", caps.daily_usd, today))
        if caps.monthly_usd:
            month = self._record.spent(month_began(now))
            found.append(Cap("monthly_usd", caps.monthly_usd, month))
        return found

    def _caps(self) -> Caps:
        """What the settings file says now. Raises OrionError naming file and line."""
        return self._settings.read().spending

    def add(self, call: Call) -> None:
        """Write a call; one that cannot be written is kept for the next try. Raises as UsageRecord."""
        self._unwritten.append(call)
        self._write()

    def total(self, session: str, turn: str = "") -> Sum:
        """What a session, or one turn of it, used."""
        return self._record.total(session, turn)

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._clock()

    @property
    def path(self) -> Path:
        """Where the record lies."""
        return self._record.path

    def report(self, span: Range) -> JsonObject:
        """The figures of a stretch of time for a page or a table; see `usage_report.read` and `explain`."""
        return self.explain(read(self.path, span, self._clock()))

    def explain(self, found: JsonObject) -> JsonObject:
        """Add to figures the caps [{setting, limit, spent}], when and where the shipped prices were read
        [{provider, date, source}], and the file in which the user may write prices."""
        standing: dict[str, float] = {cap.name: cap.spent for cap in self.standing(lambda: 0.0)}
        caps = [
            {"setting": f"spending.{name}", "limit": limit, "spent": standing.get(name, 0.0)}
            for name, limit in self._caps()
        ]
        makers = self.prices.shipped.makers.items()
        read = [{"provider": name, "date": str(made.date), "source": made.source} for name, made in makers]
        return {**found, "caps": caps, "prices": read, "own_prices": str(self.prices.path)}

    def notices(self) -> Notices:
        """What keeps the user's prices from being used."""
        try:
            self.prices.check()
        except OrionError as error:
            return ((error.code, error.fields),)
        return ()

    def close(self) -> None:
        """Idempotent."""
        self._record.close()

    def _write(self) -> None:
        while self._unwritten:
            self._record.add(self._unwritten[0])
            del self._unwritten[0]
