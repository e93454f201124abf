"""A process with the runtime already imported that forks a child for every request, so that a life starts in
milliseconds."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from tests.soak import download_life, inspection, mortal
from tests.soak.sabotage import Sabotage

_LIVES: dict[str, Callable[[dict[str, Any]], None]] = {
    "live": mortal.plan,
    "inspect": inspection.report,
    "download": download_life.plan,
}


def main() -> None:
    """Serve requests {do: live | inspect | download, home, …}, a JSON line each, until stdin ends.

    Answers with {"pid"} when the child runs and {"status"} when it ended; one child at a time.
    """
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        pid = os.fork()
        if not pid:
            _child(request)
        _answer(pid=pid)
        _, status = os.waitpid(pid, 0)
        _answer(status=os.waitstatus_to_exitcode(status))


def _answer(**facts: int) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def _child(request: dict[str, Any]) -> NoReturn:
    """Never returns into the loop of the nursery; what it says goes to a log in the home."""
    log = os.open(Path(request["home"]) / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = 1
    try:
        if request.get("at"):
            Sabotage(request["at"], request["moment"]).arm()
        _LIVES[request["do"]](request)
        code = 0
    except Exception:  # the boundary of the process
        logging.exception("a child of the nursery failed")
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
