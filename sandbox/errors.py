"""The one error of the sandbox: a code and fields that the caller turns into a sentence."""

from __future__ import annotations

Field = str | int | float


class SandboxError(Exception):
    """A fault of the container engine, the machine in it or the work there that the program expects.

    `fields` fill the sentence of `code` (resources/sentences.yaml); both are JSON and hold no secret.
    """

    def __init__(self, code: str, **fields: Field) -> None:
        super().__init__(code, fields)
        self.code = code
        self.fields: dict[str, Field] = fields

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.fields.items())
        return f"{self.code}({shown})"
