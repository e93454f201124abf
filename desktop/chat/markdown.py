"""Markdown read into tokens: CommonMark with tables, strikethrough and math, never raw HTML."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

SCHEMES = ("http://", "https://", "mailto:")
_MAX_NESTING = 24
_DEEP = re.compile(r"^((?:[ \t]*>){16})[ \t>]*", re.MULTILINE)
_MATH = re.compile(r"\$\$(?P<two>[^$]{1,2000}?)\$\$|\$(?P<one>(?=[^\s\d])[^$\n]{1,300}?(?<=\S))\$(?!\w)")
_TEX = re.compile(r"\\\((?P<one>.{1,300}?)\\\)|\\\[(?P<two>.{1,2000}?)\\\]", re.DOTALL)
_NAMES = (
    "alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν xi ξ pi π",
    "rho ρ sigma σ tau τ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Pi Π Sigma Σ Phi Φ",
    "Psi Ψ Omega Ω times × cdot · div ÷ pm ± leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ approx ≈ equiv ≡ infty ∞",
    "sum ∑ prod ∏ int ∫ partial ∂ nabla ∇ in ∈ notin ∉ subset ⊂ cup ∪ cap ∩ forall ∀ exists ∃ to →",
    "rightarrow → Rightarrow ⇒ leftarrow ← ldots … dots … cdots ⋯ sqrt √ circ ° neg ¬ land ∧ lor ∨",
    "propto ∝ angle ∠",
)
_WORDS = " ".join(_NAMES).split(" ")
_SYMBOLS = dict(zip(_WORDS[::2], _WORDS[1::2], strict=True))
_RAISED = dict(zip("0123456789+-=()nijkx", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱʲᵏˣ", strict=True))
_LOWERED = dict(zip("0123456789+-=()nijkx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙᵢⱼₖₓ", strict=True))


def tokens(source: str, definitions: str = "") -> list[Token]:
    """The block tokens of `source`; `definitions` are link references from elsewhere in the text.

    Nesting is bounded: quotes deeper than 16 levels are read as 16.
    """
    text = _DEEP.sub(r"\1 ", source)
    return _parser().parse(f"{text}\n\n{definitions}" if definitions else text)


def allowed(target: str) -> bool:
    """Whether a link may be followed: web and mail addresses only."""
    return target.lower().startswith(SCHEMES)


def readable_math(tex: str) -> str:
    """TeX as plain Unicode where that is easy; what is not known stays as written."""
    text = re.sub(r"\\(?:text|mathrm|mathbf|operatorname)\{([^{}]*)\}", r"\1", tex)
    text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", lambda m: f"{_group(m[1])}⁄{_group(m[2])}", text)
    text = re.sub(r"\\sqrt\{([^{}]*)\}", lambda m: f"√{_group(m[1])}", text)
    text = re.sub(r"\\(?:left|right|,|;|!|:)", "", text)
    text = re.sub(r"\\([A-Za-z]+) ?", lambda m: _SYMBOLS.get(m[1], m[0]), text)
    text = re.sub(r"\^(?:\{([^{}]*)\}|(\S))", lambda m: _shift(m[1] or m[2] or "", _RAISED, "^"), text)
    text = re.sub(r"_(?:\{([^{}]*)\}|(\S))", lambda m: _shift(m[1] or m[2] or "", _LOWERED, "_"), text)
    return text.strip()


def _group(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _shift(text: str, table: dict[str, str], mark: str) -> str:
    if all(letter in table for letter in text):
        return "".join(table[letter] for letter in text)
    return f"{mark}({text})" if len(text) > 1 else f"{mark}{text}"


def _math(state: StateInline, silent: bool) -> bool:
    pattern = {"$": _MATH, "\\": _TEX}.get(state.src[state.pos])
    match = pattern.match(state.src, state.pos, state.posMax) if pattern else None
    if match is None:
        return False
    if not silent:
        token = state.push("math", "", 0)
        token.content = match["two"] or match["one"] or ""
    state.pos = match.end()
    return True


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": _MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    # Every target is read as a link; `allowed` decides which of them lead anywhere.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.inline.ruler.before("escape", "math", _math)
    return parser
