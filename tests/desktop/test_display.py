"""A missing or dead display is told before Qt would abort."""

from __future__ import annotations

import socket

from desktop.display import obstacle


def test_no_display_is_named() -> None:
    assert obstacle({}, "linux") == "display_missing"


def test_a_display_that_does_not_answer_is_named() -> None:
    assert obstacle({"DISPLAY": ":63999"}, "linux") == "display_unreachable"
    assert obstacle({"DISPLAY": "nonsense"}, "linux") == "display_unreachable"


def test_a_listening_display_is_enough() -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0/tmp/.X11-unix/X63998")
        server.listen()
        assert obstacle({"DISPLAY": ":63998"}, "linux") in ("", "display_library_missing")


def test_other_platforms_and_a_chosen_plugin_are_trusted() -> None:
    assert obstacle({}, "win32") == ""
    assert obstacle({}, "darwin") == ""
    assert obstacle({"QT_QPA_PLATFORM": "offscreen"}, "linux") == ""
    assert obstacle({"WAYLAND_DISPLAY": "wayland-0"}, "linux") == ""
