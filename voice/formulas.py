"""Formulas in TeX as they are read aloud."""

from __future__ import annotations

import re

from resources.translation import _

_COMMANDS = {
    "times": "times",
    "cdot": "times",
    "div": "divided by",
    "pm": "plus or minus",
    "mp": "minus or plus",
    "leq": "at most",
    "le": "at most",
    "geq": "at least",
    "ge": "at least",
    "neq": "is not equal to",
    "ne": "is not equal to",
    "approx": "is about",
    "equiv": "is equivalent to",
    "sim": "is similar to",
    "to": "to",
    "rightarrow": "to",
    "Rightarrow": "implies",
    "implies": "implies",
    "iff": "if and only if",
    "infty": "infinity",
    "sum": "the sum",
    "prod": "the product",
    "int": "the integral",
    "partial": "partial",
    "nabla": "nabla",
    "in": "in",
    "notin": "not in",
    "subset": "is a subset of",
    "cup": "union",
    "cap": "intersection",
    "forall": "for all",
    "exists": "there is",
    "neg": "not",
    "land": "and",
    "lor": "or",
    "ldots": "and so on",
    "cdots": "and so on",
    "dots": "and so on",
    "log": "log",
    "ln": "natural log",
    "sin": "sine",
    "cos": "cosine",
    "tan": "tangent",
    "lim": "the limit",
    "quad": ",",
    "qquad": ",",
}
_IGNORED = """
left right big Big bigg Bigg text mathrm mathbf mathit mathbb mathcal operatorname displaystyle
limits begin end label nonumber
"""
_SIGNS = {
    "=": "equals",
    "+": "plus",
    "-": "minus",
    "−": "minus",
    "<": "is less than",
    ">": "is greater than",
    "/": "over",
    "*": "times",
    "≤": "at most",
    "≥": "at least",
    "!": "factorial",
    "'": "prime",
    "%": "percent",
}
_GROUP = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
_FRACTION = re.compile(rf"\\[dt]?frac\s*{_GROUP}\s*{_GROUP}")
_ROOT = re.compile(rf"\\sqrt(?:\[([^\]]*)\])?\s*{_GROUP}")
_POWER = re.compile(rf"\^(?:{_GROUP}|\\([A-Za-z]+)|(.))")
_INDEX = re.compile(rf"_(?:{_GROUP}|\\([A-Za-z]+)|(.))")
_DEEPEST = 4


def formula_aloud(tex: str) -> str:
    """`tex`, without the dollar signs around it, in words; readable for common algebra, and never TeX."""
    text = tex
    for _depth in range(_DEEPEST):
        before = text
        text = _FRACTION.sub(rf" \1 {_('over')} \2 ", text)
        text = _ROOT.sub(lambda match: f" {_('the root of')} {match[2]} ", text)
        if text == before:
            break
    text = _POWER.sub(lambda match: _raised(match[match.lastindex or 0]), text)
    text = _INDEX.sub(lambda match: f" {match[match.lastindex or 0]} ", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda match: f" {_command(match[1])} ", text)
    text = re.sub(r"[=+\-−<>/*≤≥!'%]", lambda match: f" {_(_SIGNS[match[0]])} ", text)
    return " ".join(re.sub(r"[\\{}&~^_$|\[\]()]", " ", text).split())


def _raised(power: str) -> str:
    bare = power.strip()
    if not bare:
        return " "
    known = {"2": _("squared"), "3": _("cubed"), "∘": _("degrees"), "circ": _("degrees")}
    return f" {known[bare]} " if bare in known else f" {_('to the power of')} {bare} "


def _command(name: str) -> str:
    if name in _IGNORED.split():
        return ""
    return _(_COMMANDS[name]) if name in _COMMANDS else name
