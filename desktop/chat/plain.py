"""Text as it may be shown: control characters, lone surrogates and Qt's own sentinels made visible."""

from __future__ import annotations

import re

_SENTINELS = "\ufdd0\ufdd1\ufffc\ufffe\uffff"
_TABLE = (
    {code: 0x2400 + code for code in range(32) if code not in (9, 10)}
    | {0x7F: 0x2421, 0x85: 0x0A, 0x2028: 0x0A, 0x2029: 0x0A, 0x0D: 0x200B}
    | {ord(mark): 0xFFFD for mark in _SENTINELS}
)
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ud800-\udfff" + _SENTINELS + "]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def visible(text: str) -> str:
    """`text` with every character Qt cannot show replaced by one of the same UTF-16 length.

    Because lengths are kept, positions in a document made from the result are positions in `text`.
    """
    if not _UNSAFE.search(text):
        return text
    return _SURROGATE.sub("\ufffd", text.translate(_TABLE))


def without_surrogates(text: str) -> str:
    """`text` with lone surrogates replaced, for places that only carry Unicode (clipboard, screen reader)."""
    return _SURROGATE.sub("\ufffd", text)


def units(text: str) -> int:
    """Length of `text` in UTF-16 units, the measure of positions in Qt."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, start: int, end: int) -> str:
    """The part of `text` between two positions counted in UTF-16 units."""
    if text.isascii():
        return text[start:end]
    return text.encode("utf-16-le", "surrogatepass")[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")
