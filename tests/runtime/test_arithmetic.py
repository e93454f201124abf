"""The calculator is exact where it can be, close where it cannot, and quick whatever it is given."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some

from resources.sentences import known
from runtime.arithmetic import calculate
from runtime.exact import Answer, ArithmeticFault

EXACT = [
    ("150 * 223.48", "33522"),
    ("0.1 + 0.2", "0.3"),
    ("2^64", "18446744073709551616"),
    ("2**-2", "0.25"),
    ("-2**2", "-4"),
    ("2^3^2", "512"),
    ("(2^3)^2", "64"),
    ("1 - 2 - 3", "-4"),
    ("2 + 3 * 4 / 6", "4"),
    ("7 // 2 + -7 // 2", "-1"),
    ("10 % 3", "1"),
    ("-7 mod 3", "2"),
    ("15% of 80", "12"),
    ("50% * 2", "1"),
    ("200 + 10%", "200.1"),
    ("percent(15, 80)", "12"),
    ("20!", "2432902008176640000"),
    ("3!!", "720"),
    ("-3!", "-6"),
    ("sqrt(16)", "4"),
    ("sqrt(2.25)", "1.5"),
    ("27^(1/3)", "3"),
    ("8^(2/3)", "4"),
    ("0^0", "1"),
    ("(-1)^1000000001", "-1"),
    ("round(2.5) + round(-2.5)", "0"),
    ("round(10/3, 2)", "3.33"),
    ("round(1250, -2)", "1300"),
    ("floor(-2.5)", "-3"),
    ("ceil(-2.5)", "-2"),
    ("floor(pi * 1000)", "3141"),
    ("min(3, 1/2, pi)", "0.5"),
    ("max(3, 1/2, e)", "3"),
    ("abs(-1/8)", "0.125"),
    ("gcd(12, 18)", "6"),
    ("log(1000)", "3"),
    ("log(1/8, 2)", "-3"),
    ("ln(1) + exp(0) + cos(0) + sin(0)", "2"),
    ("1_000 × 2 ÷ 4 − 1", "499"),
    ("1.5e3 + .5 + 2.", "1502.5"),
    ("1/3", "1/3 ≈ 0.33333333333333333333"),
    ("-2/3", "-2/3 ≈ -0.66666666666666666667"),
    ("SQRT(4)", "2"),
]


@pytest.mark.parametrize(("expression", "result"), EXACT)
def test_exact_results(expression: str, result: str) -> None:
    assert calculate(expression) == Answer(result, True)


CLOSE = [
    ("sqrt(2)", "≈ 1.4142135623730950488"),
    ("pi", "≈ 3.1415926535897932385"),
    ("e", "≈ 2.7182818284590452354"),
    ("exp(1)", "≈ 2.7182818284590452354"),
    ("ln(2)", "≈ 0.69314718055994530942"),
    ("sin(pi)", "≈ 0"),
    ("sin(pi/6)", "≈ 0.5"),
    ("cos(pi/3)", "≈ 0.5"),
    ("tan(1)", "≈ 1.5574077246549022305"),
    ("abs(-pi)", "≈ 3.1415926535897932385"),
    ("e^(pi*sqrt(163))", "≈ 262537412640768744"),
    ("pi * 1e25", "≈ 3.1415926535897932385e+25"),
    ("(1/7)^300", "≈ 2.9552076050124080563e-254"),
]


@pytest.mark.parametrize(("expression", "result"), CLOSE)
def test_rounded_results_say_that_they_are(expression: str, result: str) -> None:
    assert calculate(expression) == Answer(result, False)


FAULTS = [
    ("", "calculator_incomplete"),
    ("1 +", "calculator_incomplete"),
    ("(1", "calculator_incomplete"),
    ("sqrt", "calculator_incomplete"),
    ("1,000", "calculator_syntax"),
    ("2 pi", "calculator_syntax"),
    ("1)", "calculator_syntax"),
    ("__import__('os')", "calculator_syntax"),
    ("x.y", "calculator_syntax"),
    ("٣ + 1", "calculator_syntax"),
    ("a" * 10, "calculator_unknown"),
    ("exec(1)", "calculator_unknown"),
    ("sqrt(1, 2)", "calculator_arguments"),
    ("factorial(2.5)", "calculator_whole"),
    ("gcd(1/2)", "calculator_whole"),
    ("1 / 0", "calculator_zero"),
    ("0 ^ -1", "calculator_zero"),
    ("5 mod 0", "calculator_zero"),
    ("sqrt(-1)", "calculator_undefined"),
    ("(-8)^0.3", "calculator_undefined"),
    ("ln(0)", "calculator_undefined"),
    ("log(5, 1)", "calculator_undefined"),
    ("(-1)!", "calculator_undefined"),
    ("tan(pi/2)", "calculator_undefined"),
    ("9**9**9", "calculator_large"),
    ("9^-9^9", "calculator_large"),
    ("2^13000 * 2", "calculator_large"),
    ("1401!", "calculator_large"),
    ("1e9999999", "calculator_large"),
    ("e^e^e^e^e", "calculator_large"),
    ("exp(1e9)", "calculator_large"),
    ("floor(exp(10000))", "calculator_large"),
    ("round(1/3, 9999999)", "calculator_large"),
    ("sin(1e50)", "calculator_large"),
    ("(" * 60 + "1" + ")" * 60, "calculator_nested"),
    ("-" * 60 + "1", "calculator_nested"),
    ("2^" * 60 + "1", "calculator_nested"),
    ("1+" * 600 + "1", "calculator_long"),
]


@pytest.mark.parametrize(("expression", "code"), FAULTS, ids=range(len(FAULTS)))
def test_what_has_no_result_says_why(expression: str, code: str) -> None:
    with pytest.raises(ArithmeticFault) as fault:
        calculate(expression)
    assert fault.value.code == code
    assert code in known()


@pytest.mark.parametrize(
    "piece",
    ["1400!+", "(7^1500)^(1/61)+", "log(7^4600,3)+", "1/3^97+", "sin(9e39)+", "9^.11+", "exp(99)^.7+"],
)
def test_no_expression_takes_long(piece: str) -> None:
    began = time.process_time()
    calculate(piece * (998 // len(piece)) + "1")
    assert time.process_time() - began < 1.0


NUMBERS = some.fractions(min_value=-1000, max_value=1000, max_denominator=50)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_the_four_operations_agree_with_rational_numbers(a: Fraction, b: Fraction, c: Fraction) -> None:
    expression = f"({a}) + ({b}) * ({c}) - ({a})"
    answer = calculate(expression)
    assert answer.exact
    assert Fraction(answer.text.split(" ")[0]) == a + b * c - a


@given(some.floats(min_value=-1e6, max_value=1e6, allow_subnormal=False))
def test_angles_agree_with_the_machine(angle: float) -> None:
    shown = Fraction(angle)
    for name, function in (("sin", math.sin), ("cos", math.cos)):
        answer = calculate(f"{name}({shown})")
        assert float(answer.text.split()[-1]) == pytest.approx(function(angle), abs=1e-12)


@given(some.text(alphabet="0123456789.+-*/^%!() epi,sqrt", max_size=30))
def test_any_text_has_a_result_or_a_reason(expression: str) -> None:
    with suppress(ArithmeticFault):
        assert calculate(expression).text
