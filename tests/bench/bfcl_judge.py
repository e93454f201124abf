"""Judges calls by the Berkeley function-calling set's own checker: `python FILE FOLDER < cases`.

FOLDER is the unpacked wheel. Each line of standard input is a JSON object {category, functions, calls,
truth}; for each a line `true` or `false` is printed. A process apart: the checker is foreign code.
"""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any


def main() -> None:
    """Read all cases, then print all verdicts."""
    sys.path.insert(0, str(Path(sys.argv[1]).resolve()))
    settings = types.ModuleType("bfcl_eval.constants.model_config")
    asked = types.SimpleNamespace(underscore_to_dot=False)
    vars(settings)["MODEL_CONFIG_MAPPING"] = {"any": asked}  # the real one imports the client of every vendor
    sys.modules[settings.__name__] = settings
    from bfcl_eval.constants.enums import Language  # type: ignore[import-not-found]
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # type: ignore[import-not-found]

    for line in sys.stdin:
        case: dict[str, Any] = json.loads(line)
        verdict = ast_checker(
            case["functions"], case["calls"], case["truth"], Language.PYTHON, case["category"], "any"
        )
        print(json.dumps(bool(verdict["valid"])), flush=True)


if __name__ == "__main__":
    main()
