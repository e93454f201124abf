"""The terminal door: commands for a person at a prompt and for scripts."""

from __future__ import annotations

import os
import sys
import threading


def main(argv: list[str]) -> int:
    """Run the command line `argv` (without the program's name) and return the exit code.

    Every failure is one sentence on the error stream: an expected one here, a mistake of the program by the
    exception hook that stays in place when one passes through. Call it on the main thread.
    """
    from runtime.cli.faults import on_fault, on_thread_fault

    before = sys.excepthook, threading.excepthook
    sys.excepthook, threading.excepthook = on_fault, on_thread_fault
    code = _run(argv)
    sys.excepthook, threading.excepthook = before
    return code


def _run(argv: list[str]) -> int:
    from runtime.cli.exit_codes import ExitCode, of_error
    from runtime.cli.terminal import ReaderGone, Terminal
    from runtime.errors import OrionError

    try:
        from runtime.cli.app import run

        return run(argv)
    except OrionError as error:
        Terminal().fault(error.code, error.fields)
        if error.code == "cli_output_unwritable":
            _forget_output()
        return of_error(error)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except ReaderGone:
        _forget_output()
        return ExitCode.READER_GONE


def _forget_output() -> None:
    """Point the output at nothing, so that the last flush at exit does not complain again."""
    if sys.stdout is not None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
