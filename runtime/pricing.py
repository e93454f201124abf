"""What a model call costs, by a table of prices that the user may set right."""

from __future__ import annotations

import datetime
import re
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

import resources
from runtime import yamlfile
from runtime.messages import Usage
from runtime.shared_file import SharedFile

VERSION = 1
FILE = "pricing.yaml"
MILLION = 1_000_000

_DATED = re.compile(r"(.+?)[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Rates(_Part):
    """US dollars for a million tokens; `cached` and `cache_write` None cost as `input`."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)

    def cost(self, usage: Usage) -> float:
        """US dollars for one call; reasoning is part of the completion."""
        fresh = max(0, usage.prompt - usage.cached - usage.cache_written)
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.cache_write is None else self.cache_write
        dollars = fresh * self.input + usage.cached * cached + usage.cache_written * written
        return (dollars + usage.completion * self.output) / MILLION


class LongRates(Rates):
    """What holds for a call whose prompt has more than `over` tokens."""

    over: int = Field(ge=1)


class Price(Rates):
    """The price of one model."""

    long: LongRates | None = None

    def of(self, usage: Usage) -> float:
        """US dollars for one call."""
        return self.long.cost(usage) if self.long and usage.prompt > self.long.over else self.cost(usage)


class Maker(_Part):
    """The prices of one seller; `date` and `source` say when and where they were read."""

    date: datetime.date | None = None
    source: str = ""
    models: dict[str, Price]


class Table(_Part):
    """One file of prices, by seller: a provider's name, or the host of another address."""

    version: int = Field(default=VERSION, ge=1)
    makers: dict[str, Maker] = Field(default_factory=dict)

    def find(self, provider: str, model: str) -> Price | None:
        """The price of `model`: by its name, else without the date it ends in, else by the longest entry
        with a star. Entries without a star never hold for longer names: a later model is not priced as an
        earlier one whose name it begins with."""
        if provider not in self.makers:
            return None
        prices = self.makers[provider].models
        dated = _DATED.fullmatch(model)
        for name in (model, dated.group(1) if dated else model):
            if name in prices:
                return prices[name]
        begins = [name for name in prices if name.endswith("*") and model.startswith(name[:-1])]
        return prices[max(begins, key=len)] if begins else None


class Prices:
    """The shipped prices with the user's over them. The user's file is read again when it changed."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where the user's pricing.yaml may lie."""
        self.path = folder / FILE
        self._own = SharedFile(self.path, Table, VERSION)

    def cost(self, provider: str, model: str, usage: Usage) -> float | None:
        """US dollars for a call, None where the price is not known.

        Raises OrionError naming file and line when the user's file cannot be used.
        """
        price = self.find(provider, model)
        return None if price is None else price.of(usage)

    def find(self, provider: str, model: str) -> Price | None:
        """The price of a model, None where it is not known; raises as `cost`."""
        return self._own.read().find(provider, model) or self.shipped.find(provider, model)

    @cached_property
    def shipped(self) -> Table:
        """The table that comes with the program."""
        return yamlfile.load(resources.path(FILE), Table)

    def check(self) -> None:
        """Raise what `cost` would raise."""
        self._own.read()
