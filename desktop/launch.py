"""The one entry point: a child's main, the window, or the command line."""

from __future__ import annotations

import gc
import sys
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    """Run what `argv` (without the program's name) asks for and return the exit code.

    `--worker NAME …` is a child of this program, nothing at all is the window, anything else is the command
    line. Without a display the window's place is taken by the terminal chat, after one line that says so.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if arguments[:1] == ["--worker"]:
        return _worker(arguments[1:])
    if arguments:
        return _command_line(arguments)
    from desktop.display import obstacle

    code = obstacle()
    if code:
        from resources.sentences import sentence

        sys.stderr.write(sentence(code) + "\n")
        return _command_line(["chat"])
    gc.disable()  # the window collects by its own timer, and nothing is worth collecting while it loads
    from desktop.application import run

    return run()


def _worker(arguments: list[str]) -> int:
    """Become the child `arguments[0]`; 2 for a name nobody knows."""
    if arguments[:1] == ["llama"]:
        from models.worker import main as llama

        return llama(arguments[1:])
    if arguments[:1] == ["kernels"]:
        from models.kernels import main as kernels

        return kernels(arguments[1:])
    if arguments[:1] == ["voice"]:
        from voice.worker import main as voice

        return voice(arguments[1:])
    if arguments[:1] == ["ocr"]:
        from sandbox.ocr_worker import main as ocr

        return ocr(arguments[1:])
    from resources.sentences import sentence

    sys.stderr.write(sentence("worker_unknown", name=" ".join(arguments)) + "\n")
    return 2


def _command_line(arguments: list[str]) -> int:
    from runtime.cli import main as command_line

    return command_line(arguments)


if __name__ == "__main__":
    if not getattr(sys, "frozen", False):
        sys.path[0] = str(Path(__file__).resolve().parent.parent)
    sys.exit(main())
