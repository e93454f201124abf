"""Loads the low-level llama.cpp bindings alone, without the package's own layer, and keeps the log short."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import sys
import types
from collections import deque
from typing import Any

from models.errors import EngineError
from models.hardware import missing_features

_PACKAGE = "llama_cpp"
_WARNING = 3
_ERROR = 4


class Library:
    """The bindings module `api` and the last complaints of the native library in `complaints`."""

    def __init__(self) -> None:
        """Check the processor, then load. EngineError cpu_features_missing or model_load_failed."""
        missing = missing_features()
        if missing:
            raise EngineError("cpu_features_missing", features=", ".join(missing))
        os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # a debugger on a dying child would look like a hang
        self.complaints: deque[str] = deque(maxlen=20)
        self.api: Any = _import()
        self._log = self.api.llama_log_callback(self._listen)
        self.api.llama_log_set(self._log, None)
        self.api.llama_backend_init()

    @property
    def version(self) -> str:
        """Which build of the library this is, as far as stored states are concerned."""
        try:
            release = importlib.metadata.version("llama-cpp-python")
        except importlib.metadata.PackageNotFoundError:
            release = ""
        path = str(getattr(getattr(self.api, "_lib", None), "_name", ""))
        return f"{release} {os.path.getsize(path) if os.path.isfile(path) else 0}"

    def _listen(self, level: int, text: bytes, _data: Any) -> None:
        if level in (_WARNING, _ERROR):
            line = text.decode("utf-8", "replace")
            self.complaints.append(line.strip())
            sys.stderr.write(line)
            sys.stderr.flush()


def _import() -> Any:
    """The module llama_cpp.llama_cpp. The package's __init__ would pull in numpy, a disk cache and more:
    seven times the start-up time, for code the worker never calls."""
    if _PACKAGE not in sys.modules:
        spec = importlib.util.find_spec(_PACKAGE)
        if spec is None or spec.submodule_search_locations is None:
            raise EngineError("model_load_failed", path="", reason="llama-cpp-python is not installed")
        package = types.ModuleType(_PACKAGE)
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules[_PACKAGE] = package
    try:
        return importlib.import_module("llama_cpp.llama_cpp")
    except (OSError, RuntimeError) as error:
        raise EngineError("model_load_failed", path="", reason=str(error)) from error
