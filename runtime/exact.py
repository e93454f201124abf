"""Numbers that stay exact as long as they can: rationals, then decimals of 60 digits, bounded in size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction

from runtime.errors import OrionError

Number = Fraction | Decimal

MAX_BITS = 13_000
MAX_FACTORIAL = 1_400
MAX_ANGLE = Decimal("1e40")
DIGITS = 20

_TRAPS = [InvalidOperation, DivisionByZero, Overflow]
_WORK = Context(prec=60, Emax=99_999, Emin=-99_999, traps=_TRAPS)
_WIDE = Context(prec=110, Emax=99_999, Emin=-99_999, traps=_TRAPS)
_SHOWN = Context(prec=DIGITS, rounding=ROUND_HALF_UP)
_NOTHING = Decimal("1e-45")

PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"
)
E = Decimal("2.71828182845904523536028747135266249775724709369995957496696762772407663")
CONSTANTS: dict[str, Decimal] = {"pi": PI, "π": PI, "e": E, "tau": _WIDE.multiply(PI, Decimal(2))}


class ArithmeticFault(OrionError):
    """An expression that cannot be computed; the code says whether it is wrong, undefined or too large."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A result: `text` for people, `exact` when no digit was rounded away."""

    text: str
    exact: bool


def add(left: Number, right: Number) -> Number:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return _bounded(left + right)
    return _WORK.add(decimal(left), decimal(right))


def multiply(left: Number, right: Number) -> Number:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return _bounded(left * right)
    return _WORK.multiply(decimal(left), decimal(right))


def divide(left: Number, right: Number) -> Number:
    if right == 0:
        raise ArithmeticFault("calculator_zero")
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return _bounded(left / right)
    return _WORK.divide(decimal(left), decimal(right))


def floor_divide(left: Number, right: Number) -> Number:
    return floor(divide(left, right))


def remainder(left: Number, right: Number) -> Number:
    """What is left of a floored division; its sign is that of `right`."""
    return add(left, negate(multiply(right, floor_divide(left, right))))


def negate(value: Number) -> Number:
    return -value if isinstance(value, Fraction) else _WORK.minus(value)


def power(base: Number, exponent: Number) -> Number:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if exponent.denominator == 1:
            return _whole_power(base, exponent.numerator)
        root = _root(base, exponent.denominator) if exponent.denominator <= 64 else None
        if root is not None:
            return _whole_power(root, exponent.numerator)
    if base < 0:
        raise ArithmeticFault("calculator_undefined", operation="a root of a negative number")
    if base == 0:
        if exponent < 0:
            raise ArithmeticFault("calculator_zero")
        return Fraction(0)
    return _WORK.power(decimal(base), decimal(exponent))


def factorial(value: Number) -> Number:
    number = whole(value, "factorial")
    if number < 0:
        raise ArithmeticFault("calculator_undefined", operation="the factorial of a negative number")
    if number > MAX_FACTORIAL:
        raise ArithmeticFault("calculator_large")
    return Fraction(math.factorial(number))


def floor(value: Number) -> Number:
    return _bounded(Fraction(math.floor(_bounded(Fraction(value)))))


def _ceil(value: Number) -> Number:
    return negate(floor(negate(value)))


def _round(value: Number, places: Number = Fraction(0)) -> Number:
    """To the nearest, halves away from zero, as people round."""
    scale = _whole_power(Fraction(10), whole(places, "round"))
    scaled = _bounded(Fraction(value)) * scale
    nearest: int = math.floor(abs(scaled) + Fraction(1, 2))
    return _bounded((nearest if scaled >= 0 else -nearest) / scale)


def _sqrt(value: Number) -> Number:
    return power(value, Fraction(1, 2))


def _ln(value: Number) -> Number:
    if value <= 0:
        raise ArithmeticFault("calculator_undefined", operation="the logarithm of zero or less")
    return Fraction(0) if value == 1 else _WORK.ln(decimal(value))


def _log(value: Number, base: Number = Fraction(10)) -> Number:
    if base == 1:
        raise ArithmeticFault("calculator_undefined", operation="a logarithm to the base 1")
    result = divide(_ln(value), _ln(base))
    nearest = Fraction(round(result)) if _abs(result) <= MAX_BITS else None
    if nearest is not None and isinstance(value, Fraction) and isinstance(base, Fraction):
        near = abs(decimal(add(result, -nearest))) < _NOTHING
        if near and _whole_power(base, nearest.numerator) == value:
            return nearest
    return result


def _exp(value: Number) -> Number:
    return Fraction(1) if value == 0 else _WORK.exp(decimal(value))


def _sin(value: Number) -> Number:
    return Fraction(0) if value == 0 else _sine(_angle(value))


def _cos(value: Number) -> Number:
    return Fraction(1) if value == 0 else _sine(_WIDE.add(_angle(value), _WIDE.divide(PI, Decimal(2))))


def _tan(value: Number) -> Number:
    cosine = _cos(value)
    if cosine == 0:
        raise ArithmeticFault("calculator_undefined", operation="the tangent of a right angle")
    return divide(_sin(value), cosine)


def _abs(value: Number) -> Number:
    return negate(value) if value < 0 else value


def _percent(part: Number, of: Number = Fraction(1)) -> Number:
    return multiply(divide(part, Fraction(100)), of)


def _gcd(*values: Number) -> Number:
    return Fraction(math.gcd(*(whole(value, "gcd") for value in values)))


def _least(*values: Number) -> Number:
    return min(values)


def _greatest(*values: Number) -> Number:
    return max(values)


ANY = 100
FUNCTIONS: dict[str, tuple[Callable[..., Number], int, int]] = {
    "abs": (_abs, 1, 1),
    "ceil": (_ceil, 1, 1),
    "cos": (_cos, 1, 1),
    "exp": (_exp, 1, 1),
    "factorial": (factorial, 1, 1),
    "floor": (floor, 1, 1),
    "gcd": (_gcd, 1, ANY),
    "ln": (_ln, 1, 1),
    "log": (_log, 1, 2),
    "max": (_greatest, 1, ANY),
    "min": (_least, 1, ANY),
    "percent": (_percent, 1, 2),
    "round": (_round, 1, 2),
    "sin": (_sin, 1, 1),
    "sqrt": (_sqrt, 1, 1),
    "tan": (_tan, 1, 1),
}
"""Name → function, fewest and most arguments. Angles are radians; log is to the base 10 unless given."""


def decimal(value: Number) -> Decimal:
    """The value with 60 digits."""
    if isinstance(value, Decimal):
        return value
    return _WORK.divide(Decimal(value.numerator), Decimal(value.denominator))


def whole(value: Number, name: str) -> int:
    """The value as an integer, which `name` needs."""
    if value != int(value):
        raise ArithmeticFault("calculator_whole", name=name)
    return int(value)


def answer(value: Number) -> Answer:
    """The result as text: all digits where they end, else 20 of them, beside the fraction if it is short."""
    if isinstance(value, Decimal):
        return Answer("≈ " + _digits(value), False)
    if value.denominator == 1:
        return Answer(str(value.numerator), True)
    places = _places(value.denominator)
    if places is not None:
        sign, scaled = "-" if value < 0 else "", abs(value.numerator) * 10**places // value.denominator
        shown = str(scaled).rjust(places + 1, "0")
        return Answer(f"{sign}{shown[:-places]}.{shown[-places:]}", True)
    fraction = f"{value} " if len(str(value)) <= 40 else ""
    return Answer(f"{fraction}≈ {_digits(decimal(value))}", bool(fraction))


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ArithmeticFault("calculator_large")
    return value


def _whole_power(base: Fraction, exponent: int) -> Fraction:
    if base == 0 and exponent < 0:
        raise ArithmeticFault("calculator_zero")
    if base == 0 or abs(base) == 1:
        return Fraction(base ** (exponent % 2 if base else min(exponent, 1)))
    bits = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
    if bits * abs(exponent) > MAX_BITS:
        raise ArithmeticFault("calculator_large")
    return _bounded(base**exponent)


def _root(value: Fraction, degree: int) -> Fraction | None:
    """The exact root, if it is rational."""
    if value < 0:
        return None
    top, bottom = _whole_root(value.numerator, degree), _whole_root(value.denominator, degree)
    return None if top is None or bottom is None else Fraction(top, bottom)


def _whole_root(value: int, degree: int) -> int | None:
    if degree == 2:
        root = math.isqrt(value)
    else:
        root, above = 0, 1 << (value.bit_length() // degree + 1)
        while above - root > 1:
            middle = (root + above) // 2
            root, above = (middle, above) if middle**degree <= value else (root, middle)
    return root if root**degree == value else None


def _angle(value: Number) -> Decimal:
    """The angle within one turn around zero, exact to 60 digits."""
    if _abs(value) > MAX_ANGLE:
        raise ArithmeticFault("calculator_large")
    wide = value if isinstance(value, Decimal) else _WIDE.divide(Decimal(value.numerator), value.denominator)
    return _WIDE.remainder_near(wide, CONSTANTS["tau"])


def _sine(angle: Decimal) -> Decimal:
    square = _WIDE.multiply(angle, angle)
    total, term, number = angle, angle, 1
    while term.copy_abs() > Decimal("1e-75"):
        number += 2
        term = _WIDE.divide(_WIDE.multiply(term, square), Decimal(-number * (number - 1)))
        total = _WIDE.add(total, term)
    return Decimal(0) if total.copy_abs() < _NOTHING else _WORK.plus(total)


def _places(denominator: int) -> int | None:
    """How many decimal places a fraction with this denominator has, if they end within sixty."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    return places if rest == 1 and places <= 60 else None


def _digits(value: Decimal) -> str:
    shown = _SHOWN.plus(value).normalize(_SHOWN)
    return f"{shown:f}" if shown == 0 or -8 < shown.adjusted() < 21 else f"{shown:e}"
