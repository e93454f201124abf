"""Keeps PySide from reading what other modules import."""

from __future__ import annotations

import sys
from typing import Any


def leave_alone() -> None:
    """Have PySide take no module for one that switches its features, which no module of this program does.

    To find out it reads the source of everything that is imported, and touches modules that are half made. A
    module that answers with an import of its own, as pydantic's do, then fails now and then while two threads
    import. Does nothing where PySide has another way.
    """
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda module: False
