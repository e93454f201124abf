"""Errors that say whose fault they are, with a code and fields that a door turns into a sentence."""

from __future__ import annotations

from typing import Literal

Fault = Literal["user", "provider", "tool", "bug"]
Field = str | int | float


class OrionError(Exception):
    """A fault the program expects.

    `code` names a sentence in resources/sentences.yaml, `fields` fill it. Both are serialisable and
    hold no secret, so the pair may cross threads, be journalled and be shown.
    """

    def __init__(self, code: str, *, fault: Fault = "user", **fields: Field) -> None:
        super().__init__(code, fields)
        self.code = code
        self.fault: Fault = fault
        self.fields: dict[str, Field] = fields

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.fields.items())
        return f"{self.code}({shown})"
