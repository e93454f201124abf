"""The terminal door: commands for a person at a prompt and for scripts."""

from __future__ import annotations

import os
import sys


def main(argv: list[str]) -> int:
    """Run the command line `argv` (without the program's name) and return the exit code.

    Every failure is one sentence on the error stream. Call it on the main thread.
    """
    from runtime.cli.exit_codes import ExitCode, of_error
    from runtime.errors import OrionError

    try:
        from runtime.cli.app import run

        return run(argv)
    except OrionError as error:
        _say(error)
        return of_error(error)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return ExitCode.READER_GONE


def _say(error: Exception) -> None:
    from resources.sentences import sentence
    from runtime.cli.terminal import Terminal
    from runtime.errors import OrionError

    if isinstance(error, OrionError):
        Terminal().note(sentence(error.code, **error.fields), "bad")


def _forget_output() -> None:
    """Point the output at nothing, so that the last flush at exit does not complain again."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
