"""What a person would say who reads a Markdown text aloud."""

from __future__ import annotations

import re


def aloud(markdown: str) -> str:
    """`markdown` as words to be spoken; empty when nothing in it can be said. Never raises."""
    return " ".join(re.sub(r"[*_`#|>]+", " ", markdown).split())
