"""Numbers and signs of an English text in words, as far as a voice would misread them.

Voices read whole numbers, decimals, years and ordinals themselves, so "1,250" and "22nd" stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_ONE_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_ONES = _ONE_WORDS.split()
_TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = _TEN_WORDS.split()
_MONTH_NAMES = """
January February March April May June July August September October November December
"""
_MONTHS = _MONTH_NAMES.split()
_PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth"}
_PARTS |= {10: "tenth", 12: "twelfth", 16: "sixteenth", 20: "twentieth", 100: "hundredth"}
_VULGAR = {
    "½": (1, 2),
    "⅓": (1, 3),
    "⅔": (2, 3),
    "¼": (1, 4),
    "¾": (3, 4),
    "⅕": (1, 5),
    "⅛": (1, 8),
    "⅜": (3, 8),
}
_MONEY = {
    "$": "dollar",
    "€": "euro",
    "£": "pound",
    "¥": "yen",
    "₹": "rupee",
    "₿": "bitcoin",
    "USD": "dollar",
    "EUR": "euro",
    "GBP": "pound",
    "CHF": "Swiss franc",
    "JPY": "yen",
}
_SCALES = {
    "k": "thousand",
    "m": "million",
    "b": "billion",
    "bn": "billion",
    "t": "trillion",
    "tn": "trillion",
}
_UNITS = {
    "km": "kilometer",
    "m": "meter",
    "cm": "centimeter",
    "mm": "millimeter",
    "µm": "micrometer",
    "nm": "nanometer",
    "km²": "square kilometer",
    "m²": "square meter",
    "cm²": "square centimeter",
    "m³": "cubic meter",
    "km/h": "kilometer per hour",
    "m/s": "meter per second",
    "mph": "mile per hour",
    "mi": "mile",
    "ft": "foot",
    "kg": "kilogram",
    "g": "gram",
    "mg": "milligram",
    "lb": "pound",
    "lbs": "pound",
    "oz": "ounce",
    "L": "liter",
    "l": "liter",
    "ml": "milliliter",
    "mL": "milliliter",
    "h": "hour",
    "hr": "hour",
    "hrs": "hour",
    "min": "minute",
    "mins": "minute",
    "s": "second",
    "sec": "second",
    "ms": "millisecond",
    "µs": "microsecond",
    "ns": "nanosecond",
    "°C": "degree Celsius",
    "°F": "degree Fahrenheit",
    "°": "degree",
    "Hz": "hertz",
    "kHz": "kilohertz",
    "MHz": "megahertz",
    "GHz": "gigahertz",
    "B": "byte",
    "kB": "kilobyte",
    "KB": "kilobyte",
    "MB": "megabyte",
    "GB": "gigabyte",
    "TB": "terabyte",
    "KiB": "kibibyte",
    "MiB": "mebibyte",
    "GiB": "gibibyte",
    "TiB": "tebibyte",
    "MB/s": "megabyte per second",
    "GB/s": "gigabyte per second",
    "kbit/s": "kilobit per second",
    "Mbit/s": "megabit per second",
    "Mbps": "megabit per second",
    "Gbps": "gigabit per second",
    "W": "watt",
    "kW": "kilowatt",
    "MW": "megawatt",
    "kWh": "kilowatt hour",
    "V": "volt",
    "mA": "milliampere",
    "mAh": "milliampere hour",
    "dB": "decibel",
    "px": "pixel",
    "fps": "frame per second",
    "rpm": "revolution per minute",
    "kcal": "kilocalorie",
    "kJ": "kilojoule",
    "%": "percent",
    "‰": "per mille",
    "x": "times",
    "×": "times",
}
_NO_PLURAL = ("hertz", "percent", "per mille", "times", "kilohertz", "megahertz", "gigahertz")
_SIGNS = {
    "≈": "about",
    "~": "about",
    "≤": "at most",
    "≥": "at least",
    "≠": "is not",
    "×": "times",
    "÷": "divided by",
    "±": "plus or minus",
    "→": "to",
    "⇒": "gives",
    "←": "from",
    "↔": "and",
    "=": "equals",
    "+": "plus",
    "<": "less than",
    ">": "greater than",
    "&": "and",
    "@": "at",
    "§": "section",
    "√": "the root of",
    "∞": "infinity",
    "²": "squared",
    "³": "cubed",
    "^": "to the power of",
    "µ": "micro",
    "Ω": "ohms",
}

_N = r"\d+(?:,\d{3})*(?:\.\d+)?"
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_COIN = "|".join(sorted(map(re.escape, _MONEY), key=len, reverse=True))
_SCALE = r"(k|K|m|M|bn|b|B|tn|thousand|million|billion|trillion)"
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
_VERSIONED = (
    r"[Vv]ersion|[Rr]elease|Python|Node|Node\.js|Java|Qt|PHP|Ruby|Go|Rust|Ubuntu|Debian|macOS|iOS|Android|"
    r"TLS|USB"
)


def cardinal(number: int) -> str:
    """`number` in words up to 99, in digits beyond."""
    if not 0 <= number < 100:
        return str(number)
    if number < 20:
        return _ONES[number]
    return _TENS[number // 10 - 2] + (f"-{_ONES[number % 10]}" if number % 10 else "")


def figures_aloud(text: str) -> str:
    """`text` with dates, money, units, ranges, fractions, versions, telephone numbers and signs in words."""
    for pattern, words in _RULES:
        text = pattern.sub(words, text)
    return text


def _date(year: str, month: str, day: str) -> str | None:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return f"{_MONTHS[int(month) - 1]} {int(day)}, {year}"


def _iso(match: re.Match[str]) -> str:
    said = _date(match[1], match[2], match[3])
    if said is None:
        return match[0]
    return f"{said} at {match[4]}" if match[4] else said


def _slashed(match: re.Match[str]) -> str:
    first, second, year = match[1], match[2], match[3]
    month, day = (first, second) if int(first) <= 12 else (second, first)
    return _date(year, month, day) or match[0]


def _dotted(match: re.Match[str]) -> str:
    return _date(match[3], match[2], match[1]) or match[0]


def _spelled(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match[0])
    plus = "plus " if match[0].lstrip("(").startswith("+") else ""
    return plus + ", ".join(" ".join(group) for group in groups)


def _points(match: re.Match[str]) -> str:
    lead = "version " if match[1] else ""
    return lead + match[2].replace(".", " point ")


def _money(match: re.Match[str]) -> str:
    return _amount(match[1], match[2], match[3] or "")


def _money_after(match: re.Match[str]) -> str:
    return _amount(match[3], match[1], match[2] or "")


def _amount(coin: str, number: str, scale: str) -> str:
    unit = _MONEY[coin]
    big = _SCALES.get(scale.lower(), scale)
    if not big and coin in "$€£" and re.fullmatch(r"\d+(?:,\d{3})*\.\d\d", number):
        whole, cents = number.split(".")
        small = "pence" if coin == "£" else "cent" if int(cents) == 1 else "cents"
        said = _counted(whole, unit) if whole != "0" else ""
        said += (" and " if said and int(cents) else "") + (f"{int(cents)} {small}" if int(cents) else "")
        return said or f"zero {unit}s"
    return f"{number} {big} {_plural(unit)}" if big else _counted(number, unit)


def _counted(number: str, unit: str) -> str:
    return f"{number} {unit if number in ('1', '1.0') else _plural(unit)}"


def _plural(unit: str) -> str:
    if unit in _NO_PLURAL or unit == "yen":
        return unit
    if unit == "foot":
        return "feet"
    head, _, tail = unit.partition(" per ")
    for kind in ("degree",):
        if head.startswith(kind):
            return unit.replace(kind, kind + "s", 1)
    return f"{head}s per {tail}" if tail else f"{head}s"


def _unit(match: re.Match[str]) -> str:
    return _counted(match[1], _UNITS[match[2]])


def _fraction(match: re.Match[str]) -> str:
    over, under = int(match[1]), int(match[2])
    if (over, under) == (24, 7):
        return "24 7"
    return _part(over, under) if under in _PARTS and 0 < over < under else f"{over} over {under}"


def _part(over: int, under: int) -> str:
    if over == 1:
        return f"one {_PARTS[under]}"
    return f"{cardinal(over)} {'halves' if under == 2 else _PARTS[under] + 's'}"


def _vulgar(match: re.Match[str]) -> str:
    over, under = _VULGAR[match[2]]
    if not match[1]:
        return _part(over, under)
    one = f"a {_PARTS[under]}" if over == 1 else _part(over, under)
    return f"{match[1]} and {one}"


def _power(match: re.Match[str]) -> str:
    minus = "minus " if match[2].startswith("-") else ""
    return f"{match[1]} times 10 to the power of {minus}{match[2].lstrip('+-')}"


def _scaled(match: re.Match[str]) -> str:
    return f"{match[1]} {_SCALES[match[2].lower()]}"


def _digits(match: re.Match[str]) -> str:
    return " ".join(match[0].replace(",", ""))


def _sign(match: re.Match[str]) -> str:
    return f" {_SIGNS[match[0]]} "


_Words = str | Callable[[re.Match[str]], str]

_RULES: tuple[tuple[re.Pattern[str], _Words], ...] = (
    (re.compile(r"(?<=\d)[\u00a0\u202f\u2009 ](?=\d{3}(?!\d))(?<=\d[\u00a0\u202f\u2009])"), ","),
    (re.compile(r"[\u00a0\u202f\u2009]"), " "),
    (re.compile(r"[\u2212](?=\d)"), "-"),
    (
        re.compile(
            r"\b(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])"
        ),
        _iso,
    ),
    (re.compile(r"(?<![\w/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\w/])"), _slashed),
    (re.compile(r"(?<![\w.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?![\w]|\.\d)"), _dotted),
    (
        re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)"),
        lambda match: match[0].replace(".", " dot "),
    ),
    (re.compile(r"(?<![\w.])(v)?(\d+(?:\.\d+){2,})(?![\w]|\.\d)"), _points),
    (re.compile(r"(?<![\w.])(v)(\d+(?:\.\d+)?)(?![\w]|\.\d)"), _points),
    (re.compile(rf"\b({_VERSIONED}) (\d+)\.(\d+)(?![\w]|\.\d)"), r"\1 \2 point \3"),
    (re.compile(r"(?<![\w.-])\+\d[\d ()/-]{6,20}\d(?![\w-])|\(\d{3}\) ?\d{3}-\d{4}(?![\w-])"), _spelled),
    (re.compile(r"(?<![\w.-])(?:\d{3}-)?\d{3}-\d{4}(?![\w.-])"), _spelled),
    (re.compile(r"(?<![\w.])\d[\d,]{15,}(?![\w.])"), _digits),
    (re.compile(rf"-(?=(?:{_COIN})\d)"), "minus "),
    (
        re.compile(rf"(?<![\w])({_COIN}) ?({_N})(?: ?{_SCALE}\b)?(?![\d.]\d)"),
        _money,
    ),
    (re.compile(rf"(?<![\w.,])({_N})(?: ?(k|K|million|billion|trillion))? ?({_COIN})(?!\w)"), _money_after),
    (re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[eE]([+-]?\d+)(?!\w)"), _power),
    (re.compile(r"(?<![\w/.])(\d{1,3})/(\d{1,3})(?![\w/.]*\d)(?!\w)"), _fraction),
    (re.compile(rf"(?<![\w.])(\d*)([{''.join(_VULGAR)}])"), _vulgar),
    (re.compile(r"(?<=\d)\s?[x×]\s?(?=\d)"), " by "),
    (re.compile(r"(?<![\w.:-])(\d{1,2}:\d\d)\s?[-–]\s?(\d{1,2}:\d\d)(?![\w:])"), r"\1 to \2"),
    (
        re.compile(rf"(?<![\w.-])({_N})\s?[-–]\s?({_N})(?![\w-]*-)(?=\s|{_UNIT}|[,.;:!?)\]\"']|$)"),
        r"\1 to \2",
    ),
    (re.compile(r"(?<![\w.])-(?=\d)"), "minus "),
    (re.compile(rf"(?<![\w.,])({_N})\s?({_UNIT})(?![\w²³/°])"), _unit),
    (re.compile(rf"(?<![\w.,])({_N})([kKMB])(?!\w)"), _scaled),
    (re.compile(r"\bNo\.? (?=\d)"), "number "),
    (re.compile(r"\bp\. ?(?=\d)"), "page "),
    (re.compile(r"\bpp\. ?(?=\d)"), "pages "),
    (re.compile(r"(?<![\w.:])(\d{1,3}):(\d)(?![\w:])"), r"\1 to \2"),
    (re.compile(r"(?<!\w)#(?=\d)"), "number "),
    (re.compile(r"\bC\+\+(?!\w)"), "C plus plus"),
    (re.compile(r"\b([CF])#"), r"\1 sharp"),
    (re.compile(r"\be\.\s?g\.,?"), "for example,"),
    (re.compile(r"\bi\.\s?e\.,?"), "that is,"),
    (re.compile(r"<?--?>|=>"), " to "),
    (re.compile(r"<="), " at most "),
    (re.compile(r">="), " at least "),
    (re.compile(r"!="), " is not "),
    (re.compile(r"(?<=[A-Za-z])/(?=[A-Za-z])"), " "),
    (re.compile(r"&&"), "&"),
    (re.compile(r"[\s&<>=+^@~]+$"), ""),
    (_SIGN, _sign),
)
