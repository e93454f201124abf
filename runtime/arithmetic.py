"""Arithmetic from text, by a small grammar of its own; nothing is ever evaluated as program code.

    sum     = product (("+" | "-") product)*
    product = signed (("*" | "/" | "//" | "%" | "mod" | "of") signed)*
    signed  = ("-" | "+") signed | power
    power   = postfix (("**" | "^") signed)?
    postfix = atom ("!" | "%")*
    atom    = number | constant | function "(" sum ("," sum)* ")" | "(" sum ")"

A percent sign before an operand is the remainder, else it divides by a hundred: 10 % 3 is 1, 10 % is 0.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import InvalidOperation, Overflow
from fractions import Fraction
from typing import NamedTuple

from runtime import exact
from runtime.exact import Answer, ArithmeticFault, Number

MAX_LENGTH = 1_000
MAX_DEPTH = 50
MAX_EXPONENT = 3_000

_TOKEN = re.compile(
    r"(?P<number>(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-zπ][A-Za-z0-9_]*)|(?P<sign>\*\*|//|[-+*/^%!(),])|(?P<space>\s+)",
    re.ASCII,
)
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})
_PRODUCTS: dict[str, Callable[[Number, Number], Number]] = {
    "*": exact.multiply,
    "of": exact.multiply,
    "/": exact.divide,
    "//": exact.floor_divide,
    "%": exact.remainder,
    "mod": exact.remainder,
}


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


def calculate(expression: str) -> Answer:
    """The value of an expression of at most 1,000 characters; takes milliseconds whatever it says.

    Raises ArithmeticFault: calculator_syntax, _unknown, _arguments, _whole, _zero, _undefined, _large, _long.
    """
    if len(expression) > MAX_LENGTH:
        raise ArithmeticFault("calculator_long", length=len(expression), limit=MAX_LENGTH)
    try:
        return exact.answer(_Parser(_tokens(expression.translate(_SIGNS))).whole())
    except Overflow as error:
        raise ArithmeticFault("calculator_large") from error
    except InvalidOperation as error:
        raise ArithmeticFault("calculator_undefined", operation=expression[:60]) from error


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ArithmeticFault("calculator_syntax", position=position + 1, found=text[position])
        if match.lastgroup and match.lastgroup != "space":
            tokens.append(_Token(match.lastgroup, match.group(), position + 1))
        position = match.end()
    return [*tokens, _Token("end", "", len(text) + 1)]


class _Parser:
    """Computes while it reads; one method for each line of the grammar."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> Number:
        value = self._sum()
        if self._next.kind != "end":
            raise self._fault()
        return value

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self, *texts: str) -> str:
        """The next token's text if it is one of these, else the empty string."""
        found = self._next
        if found.kind == "end" or found.text not in texts:
            return ""
        self._at += 1
        return found.text

    def _sum(self) -> Number:
        value = self._product()
        while sign := self._take("+", "-"):
            right = self._product()
            value = exact.add(value, right if sign == "+" else exact.negate(right))
        return value

    def _product(self) -> Number:
        value = self._signed()
        while sign := self._take(*_PRODUCTS):
            value = _PRODUCTS[sign](value, self._signed())
        return value

    def _signed(self) -> Number:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ArithmeticFault("calculator_nested", limit=MAX_DEPTH)
        if sign := self._take("-", "+"):
            value = self._signed()
            value = exact.negate(value) if sign == "-" else value
        else:
            value = self._power()
        self._depth -= 1
        return value

    def _power(self) -> Number:
        base = self._postfix()
        return exact.power(base, self._signed()) if self._take("**", "^") else base

    def _postfix(self) -> Number:
        value = self._atom()
        while True:
            if self._take("!"):
                value = exact.factorial(value)
            elif self._next.text == "%" and not self._operand(self._tokens[self._at + 1]):
                self._at += 1
                value = exact.divide(value, Fraction(100))
            else:
                return value

    def _operand(self, token: _Token) -> bool:
        return (
            token.kind == "number"
            or token.text == "("
            or (token.kind == "name" and token.text not in _PRODUCTS)
        )

    def _atom(self) -> Number:
        token = self._next
        if token.kind == "number":
            self._at += 1
            return _number(token)
        if token.kind == "name" and token.text not in _PRODUCTS:
            self._at += 1
            return self._named(token)
        if not self._take("("):
            raise self._fault()
        value = self._sum()
        if not self._take(")"):
            raise self._fault()
        return value

    def _named(self, token: _Token) -> Number:
        name = token.text.lower()
        if name in exact.CONSTANTS:
            return exact.CONSTANTS[name]
        if name not in exact.FUNCTIONS:
            known = ", ".join([*exact.FUNCTIONS, *exact.CONSTANTS])
            raise ArithmeticFault("calculator_unknown", name=token.text, known=known)
        if not self._take("("):
            raise self._fault()
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        if not self._take(")"):
            raise self._fault()
        function, fewest, most = exact.FUNCTIONS[name]
        if not fewest <= len(arguments) <= most:
            raise ArithmeticFault("calculator_arguments", name=name, count=len(arguments))
        return function(*arguments)

    def _fault(self) -> ArithmeticFault:
        token = self._next
        if token.kind == "end":
            return ArithmeticFault("calculator_incomplete")
        return ArithmeticFault("calculator_syntax", position=token.position, found=token.text)


def _number(token: _Token) -> Fraction:
    mantissa, _, exponent = token.text.lower().partition("e")
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > MAX_EXPONENT):
        raise ArithmeticFault("calculator_large")
    return Fraction(mantissa.replace("_", "").rstrip(".") or "0") * Fraction(10) ** int(exponent or 0)
