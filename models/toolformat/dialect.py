"""What chat templates expect of Jinja beyond its own defaults: a tag, filters, variables, leniency."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from jinja2 import ChainableUndefined, nodes
from jinja2.environment import Environment
from jinja2.ext import Extension
from jinja2.parser import Parser


class Generation(Extension):
    """`{% generation %}…{% endgeneration %}` marks what a model writes for training; it prints its body."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The nodes between the two tags."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def extend(environment: Environment) -> Environment:
    """Teach a (sandboxed) environment what templates of model files use; returns it."""
    environment.add_extension(Generation)
    environment.undefined = ChainableUndefined
    environment.filters["from_json"] = json.loads
    environment.filters["tojson"] = _listed(environment.filters["tojson"])
    return environment


def may_append(value: object, attribute: str) -> bool:
    """Whether a sandbox that forbids changes should allow this one: a list grows within its limits."""
    return attribute == "append" and isinstance(value, list)


def variables(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Names under which older templates look for the tools and for the day."""
    return {
        "functions": json.dumps([tool["function"] for tool in tools], indent=4),
        "xml_tools": tools or None,
        "datetime": datetime.now().astimezone().strftime("%d %b %Y"),
    }


def _listed(tojson: Callable[..., str]) -> Callable[..., str]:
    """A `tojson` that also takes what `map` and `select` return."""

    def listed(value: Any, *positional: Any, **options: Any) -> str:
        plain = value if isinstance(value, str | bytes | dict | list | tuple) else None
        if plain is None and hasattr(value, "__iter__"):
            value = list(value)
        return tojson(value, *positional, **options)

    return listed
