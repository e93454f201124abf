"""Tells before Qt loads whether a window can open here, because Qt aborts the process when it cannot."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Mapping


def obstacle(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> str:
    """The code of the sentence that says why no window can open, or "" when one can."""
    if not platform.startswith("linux") or environment.get("QT_QPA_PLATFORM"):
        return ""
    if environment.get("WAYLAND_DISPLAY"):
        return ""
    display = environment.get("DISPLAY", "")
    if not display:
        return "display_missing"
    if not _answers(display):
        return "display_unreachable"
    return "" if _loads("libxcb-cursor.so.0") else "display_library_missing"


def _answers(display: str) -> bool:
    """Whether an X server listens at `display` ("host:number.screen"); under a second."""
    host, _, rest = display.rpartition(":")
    number = rest.split(".")[0]
    if not number.isdigit():
        return False
    if host in ("", "unix"):
        path = f"/tmp/.X11-unix/X{number}"
        return _connects(socket.AF_UNIX, "\0" + path) or _connects(socket.AF_UNIX, path)
    return _connects(socket.AF_INET, (host, 6000 + int(number)))


def _connects(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(address)
        except OSError:
            return False
    return True


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
