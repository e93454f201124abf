"""Compares renderings of one template and finds where its marks begin and end."""

from __future__ import annotations

import re

_CLOSERS = ">]})\"'"
_OPEN_TAG = re.compile(r"[<\[][^<>\[\]\s]*$")
_TAG = re.compile(r"<[^<>\s][^<>]*>|\[/?[A-Z][A-Z_ ]*\]")


def common_prefix(texts: list[str]) -> str:
    """What all texts begin with."""
    if not texts:
        return ""
    low, high = min(texts), max(texts)
    size = next((at for at, one in enumerate(low) if at >= len(high) or high[at] != one), len(low))
    return low[:size]


def common_suffix(texts: list[str]) -> str:
    """What all texts end with."""
    return common_prefix([text[::-1] for text in texts])[::-1]


def whole_tags(text: str) -> str:
    """`text` without the beginning of a tag at its end, which two different tags may share."""
    found = _OPEN_TAG.search(text)
    return text[: found.start()] if found else text


def split_between(before: str, between: str, after: str) -> int:
    """Where, in the text between two like things, the first's close ends and the second's open begins.

    `before` is what precedes the first thing, `after` what follows the last. The close is common to `between`
    and `after`, the open to `before` and `between`; where both claim a stretch, the earliest place wins that
    ends a tag, a quote or a line.
    """
    earliest = len(between) - len(common_suffix([before, between]))
    latest = len(common_prefix([between, after]))
    for at in range(earliest, max(latest, earliest) + 1):
        if _is_joint(between, at):
            return at
    for at in range(earliest, len(between) + 1):
        if _is_joint(between, at):
            return at
    return earliest


def _is_joint(text: str, at: int) -> bool:
    if at == 0 or at == len(text):
        return True
    left, right = text[at - 1], text[at]
    return (left in _CLOSERS or left.isspace()) and right not in _CLOSERS.replace("]", "") and right != "\n"


def tags(text: str) -> list[str]:
    """The tags in a text, in order."""
    return [found.group() for found in _TAG.finditer(text)]


def closing_mark(opening: str, text: str) -> str:
    """The mark at the start of `text` that closes what `opening` opened.

    An opening of several tags (`<a>word<b>`) is closed by a mark that ends in its last tag, else by a tag.
    """
    last = tags(opening)[-1] if tags(opening) else ""
    stripped = text.lstrip()
    lead = len(text) - len(stripped)
    found = _TAG.search(stripped)
    if len(tags(opening)) > 1 and last in stripped:
        return stripped[: stripped.index(last) + len(last)]
    if found and not stripped[: found.start()].strip():
        return stripped[: found.end()]
    return text[lead:].split("\n", 1)[0].strip()
