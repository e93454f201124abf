"""Emoji that carry a meaning are read in a few words; those that only decorate are passed over."""

from __future__ import annotations

import re
import unicodedata

from resources.translation import _

_SIGNS = {
    "✅": "done",
    "✔": "done",
    "☑": "done",
    "❌": "no",
    "✖": "no",
    "❎": "no",
    "🚫": "not allowed",
    "⛔": "not allowed",
    "⚠": "warning",
    "❗": "important",
    "❓": "question",
    "ℹ": "note",
}
"""Read wherever they stand."""

_NAMES = {
    "👍": "thumbs up",
    "👎": "thumbs down",
    "❤": "heart",
    "🙂": "smile",
    "😀": "grin",
    "😊": "smile",
    "😂": "tears of joy",
    "😉": "wink",
    "😢": "crying",
    "🎉": "party popper",
    "🔥": "fire",
    "🚀": "rocket",
    "👋": "waving hand",
    "🙏": "folded hands",
    "👏": "clapping hands",
    "⭐": "star",
    "💡": "light bulb",
}
_ONE = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}|[#*0-9]\ufe0f?\u20e3|"
    "[\u203c\u2049\u2139\u2194-\u2199\u21a9\u21aa\u231a-\u23ff\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf"
    "\u2934\u2935\u2b05-\u2b55\u3030\u303d\U0001f000-\U0001faff])"
)
_EMOJI = re.compile(
    rf"{_ONE}[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*(?:\u200d{_ONE}[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)
_RUN = re.compile(rf"(?:{_EMOJI.pattern}\s*)+")
_LEFT = re.compile("[\u200c\u200d\ufe00-\ufe0f\u20e3]|[\U0001f3fb-\U0001f3ff\U000e0000-\U000e007f]")
_MOST = 3


def emoji_aloud(text: str) -> str:
    """`text` with its emoji in words, or without those that decorate: what stands at an end of a sentence."""
    alone = not re.search(r"[^\W_]", _RUN.sub("", text)) if _EMOJI.search(text) else False

    def read(match: re.Match[str]) -> str:
        found = [one.group() for one in _EMOJI.finditer(match[0])]
        inside = _word_ends(text[: match.start()]) and _word_begins(text[match.end() :])
        words = [_word(one) for one in dict.fromkeys(found) if alone or inside or one[0] in _SIGNS]
        said = ", ".join(word for word in words[:_MOST] if word)
        if not said:
            return " "
        begins = not text[: match.start()].strip(" *_-")
        return f" {said}: " if begins and not alone else f" {said} "

    return _LEFT.sub("", _RUN.sub(read, text))


def _word_ends(text: str) -> bool:
    bare = text.rstrip()
    return bool(bare) and (bare[-1].isalnum() or bare[-1] in ",\"'")


def _word_begins(text: str) -> bool:
    return bool(text) and text[0].isalnum() and not text[0].isupper()


def _word(emoji: str) -> str:
    first = emoji[0]
    if known := _SIGNS.get(first) or _NAMES.get(first):
        return _(known)
    if "\U0001f1e6" <= first <= "\U0001f1ff":
        return _("flag")
    if "\u20e3" in emoji:
        return first
    return unicodedata.name(first, "").lower().replace("-", " ").removesuffix(" sign").removesuffix(" symbol")
