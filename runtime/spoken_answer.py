"""Keeps account of what was handed to the voice, so that what was heard can be told answer by answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """Of the answer `of` (a journal record's id) only its beginning `text` was heard; with `whole` all."""

    of: str
    text: str
    whole: bool


@dataclass(slots=True)
class _Stretch:
    """A run of text from one reply. `of` is None for words of the program's own, "" for a reply that has no
    record yet; `before` was heard of that reply earlier; `late` came when the voice was done already."""

    of: str | None
    text: str = ""
    before: str = ""
    late: bool = False


class SpokenAnswer:
    """What is spoken in one go: stretches of replies and words of the program's own, in order.

    `add`, `aside` and `name` while it is handed to the voice, `cut` once when the voice tells what was heard;
    `rest` is then what is missing. What is added later is missing too, and no answer was cut short by it.
    """

    def __init__(self) -> None:
        self._stretches: list[_Stretch] = []
        self._heard = 0
        self._over = False
        self._kept = True

    @property
    def text(self) -> str:
        """All of it, as it was handed to the voice."""
        return "".join(stretch.text for stretch in self._stretches)

    @property
    def over(self) -> bool:
        """Whether the voice has told what was heard."""
        return self._over

    @property
    def unnamed(self) -> bool:
        """Whether a part of it belongs to a reply that has no record yet."""
        return any(stretch.of == "" for stretch in self._stretches)

    def add(self, text: str, of: str = "", before: str = "") -> None:
        """More of a reply: the one under way, or the record `of`, of which `before` was heard earlier."""
        last = self._stretches[-1] if self._stretches else None
        if last is None or last.of != of or before:
            last = _Stretch(of, "", before, late=self._over)
            self._stretches.append(last)
        last.text += text

    def aside(self, text: str) -> None:
        """Words that belong to no reply."""
        self._stretches.append(_Stretch(None, text))

    def name(self, record: str) -> list[Share]:
        """The reply under way is complete, or broke off, as `record` (None was stored: ""). What is to be
        stored of it now, where the voice has already told."""
        open_ones = [stretch for stretch in self._stretches if stretch.of == ""]
        for stretch in open_ones:
            stretch.of = record or None
        return [share for share in self._shares() if share.of == record] if self._over and open_ones else []

    def cut(self, heard: str, *, whole: bool, kept: bool = True) -> list[Share]:
        """The voice is done with it, `heard` of it; what is to be stored: an answer that was cut short
        (unless `kept` is false), and one that is complete after it had been cut short before."""
        text = self.text
        self._over, self._kept = True, kept
        self._heard = len(text) if whole else _common(text, heard)
        return [share for share in self._shares() if share.of]

    def rest(self) -> Iterator[tuple[str, str, str]]:
        """What was not heard of the replies: record ("" for the one under way), text, and what was heard of
        that reply before it."""
        for stretch, count in self._counted():
            if stretch.of is not None and stretch.text[count:].strip():
                yield stretch.of, stretch.text[count:], stretch.before + stretch.text[:count]

    def _shares(self) -> Iterator[Share]:
        for stretch, count in self._counted():
            if stretch.of is None or stretch.late:
                continue
            whole = not stretch.text[count:].strip()
            if (stretch.before and whole) or (self._kept and not whole):
                yield Share(stretch.of, stretch.before + stretch.text[: None if whole else count], whole)

    def _counted(self) -> Iterator[tuple[_Stretch, int]]:
        """Each stretch and how many of its characters were heard."""
        left = self._heard
        for stretch in self._stretches:
            yield stretch, min(left, len(stretch.text))
            left = max(left - len(stretch.text), 0)


def _common(text: str, heard: str) -> int:
    """How many characters both begin with, and none of white space at the end of them."""
    count = next((n for n, (a, b) in enumerate(zip(text, heard, strict=False)) if a != b), None)
    shared = text[: min(len(text), len(heard)) if count is None else count]
    return len(shared.rstrip())
