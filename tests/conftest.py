"""A hostile house for every test: warnings, leaks and any word to the outside world are failures."""

from __future__ import annotations

import gc
import logging
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import settings
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from shiboken6 import isValid

GRACE = 2.0
"""Seconds that threads and processes of a finished test get to end."""

LAST = ("tests/end2end/", "tests/installer/")
"""Slow rooms run after the quick ones, in this order."""

settings.register_profile("house", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("house")


def pytest_configure(config: pytest.Config) -> None:
    """Cut the run off from this machine's user: own folders, no keys, a screen of the test-bed, no sound."""
    for name in list(os.environ):
        ours = name.startswith(("ORION_", "COMPUTER_USE_", "XDG_")) and name != "XDG_RUNTIME_DIR"
        if ours or name.startswith(("PULSE_", "PIPEWIRE_", "ALSA_")) or "API_KEY" in name:
            del os.environ[name]
    if "TESTBED" not in os.environ:
        os.environ.pop("DISPLAY", None)
        os.environ.pop("WAYLAND_DISPLAY", None)
    os.environ.pop("LANGUAGE", None)
    os.environ.update(LC_ALL="C.UTF-8", TZ="UTC", QT_QPA_PLATFORM="offscreen")
    fresh = tempfile.TemporaryDirectory(prefix="orion-tests-")
    config.add_cleanup(fresh.cleanup)
    os.environ.update(_homes(Path(fresh.name)) | _silence(Path(fresh.name)))
    sys.addaudithook(_guard)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Quick rooms first; a failure in them is seen before the slow ones start."""
    items.sort(
        key=lambda item: next((n for n, room in enumerate(LAST, 1) if item.nodeid.startswith(room)), 0)
    )


def pytest_collection_finish(session: pytest.Session) -> None:
    """What takes minutes is built before the tests, whose time is limited. Qt objects must die in the main
    thread: garbage is collected only there, after each test."""
    from tests.sandbox.prepared import prepare

    if not session.config.option.collectonly:
        prepare(session.items, lambda line: print(line, file=sys.__stderr__))
    gc.collect()
    gc.freeze()
    gc.disable()


# --- nothing leaves loopback --------------------------------------------------------------------------


class NetworkDenied(RuntimeError):
    """A test tried to reach another machine."""


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        sock, address = arguments
        if sock.family in (socket.AF_INET, socket.AF_INET6) and not _loopback(address[0]):
            raise NetworkDenied(f"a test may not reach {address}")
    elif event == "socket.getaddrinfo" and not _loopback(arguments[0]):
        raise NetworkDenied(f"a test may not look up {arguments[0]}")


def _loopback(host: str | bytes | None) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    return name in (None, "", "localhost", "::1", "0.0.0.0", "::") or str(name).startswith("127.")


# --- nothing is shared, nothing is left ---------------------------------------------------------------


def _homes(folder: Path) -> dict[str, str]:
    names = {"ORION_HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data"}
    names |= {"XDG_CACHE_HOME": "cache", "XDG_STATE_HOME": "state"}
    return {variable: str(folder / name) for variable, name in names.items()}


def _silence(folder: Path) -> dict[str, str]:
    """No test uses this machine's loudspeakers and microphones; the fixture `sound` makes its own."""
    (folder / "asound.conf").write_text("pcm.!default { type null }\n", encoding="ascii")
    return {"PULSE_SERVER": f"unix:{folder}/no-sound-server", "ALSA_CONFIG_PATH": str(folder / "asound.conf")}


@pytest.fixture(autouse=True)
def fresh_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own ORION_HOME, which does not exist yet; user folders of the desktop lie beside it."""
    homes = _homes(tmp_path_factory.mktemp("orion"))
    for variable, folder in homes.items():
        monkeypatch.setenv(variable, folder)
    return Path(homes["ORION_HOME"])


@pytest.fixture(scope="module", autouse=True)
def fresh_heap() -> None:
    """Set what earlier files left, mostly imported modules, apart from what is collected after each test:
    going through all of it again costs half a second a test."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def leaves_nothing(fresh_home: Path) -> Iterator[None]:
    """Fail a test that leaves a thread, process, widget, timer or unread task error behind, naming it."""
    del fresh_home
    threads, children, widgets = set(threading.enumerate()), set(_children()), set(_widgets())
    complaints = _AsyncioComplaints()
    logging.getLogger("asyncio").addHandler(complaints)
    yield
    gc.collect()
    left = _left_widgets(widgets) + _left_timers() + _left_threads(threads) + _left_children(children)
    logging.getLogger("asyncio").removeHandler(complaints)
    left += complaints.messages
    if left:
        pytest.fail("left behind: " + "; ".join(left), pytrace=False)


class _AsyncioComplaints(logging.Handler):
    """Collects what asyncio only logs: errors of tasks that nobody awaited."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"asyncio said {record.getMessage()!r}")


def _left_threads(before: set[threading.Thread]) -> list[str]:
    late = [thread for thread in threading.enumerate() if thread not in before]
    for thread in late:
        if not isinstance(thread, threading._DummyThread):
            thread.join(GRACE)
    running = {thread.id for thread in psutil.Process().threads()} if late else set()
    return [f"thread {thread.name}" for thread in late if thread.is_alive() and thread.native_id in running]


def _children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def _left_children(before: set[psutil.Process]) -> list[str]:
    late = [child for child in _children() if child not in before and not _is_tracker(child)]
    _, alive = psutil.wait_procs(late, timeout=GRACE)
    named = [f"process {child.pid} {_command(child)}" for child in alive]
    for child in alive:
        child.kill()
    psutil.wait_procs(alive, timeout=GRACE)
    return named


def _command(child: psutil.Process) -> str:
    try:
        return " ".join(child.cmdline()) or child.name()
    except psutil.Error:
        return "(ended)"


def _is_tracker(child: psutil.Process) -> bool:
    """multiprocessing keeps one such process until the interpreter ends."""
    return "multiprocessing.resource_tracker" in _command(child)


def _widgets() -> list[Any]:
    from PySide6.QtWidgets import QApplication

    return QApplication.topLevelWidgets() if isinstance(QCoreApplication.instance(), QApplication) else []


def _left_widgets(before: set[Any]) -> list[str]:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    late = [widget for widget in _widgets() if widget not in before]
    named = [f"widget {type(widget).__name__}" for widget in late]
    for widget in late:
        widget.close()
        widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return named


def _left_timers() -> list[str]:
    timers = [thing for thing in gc.get_objects() if issubclass(type(thing), QTimer) and isValid(thing)]
    late = [timer for timer in timers if timer.isActive()]
    named = [f"timer {timer.objectName() or 'without a name'} of {timer.parent()}" for timer in late]
    for timer in late:
        timer.stop()
    return named


# --- the test-bed -------------------------------------------------------------------------------------


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> str:
    """The test-bed's private screen, with Qt set to use it in child processes; `make test` provides it."""
    name = os.environ.get("DISPLAY", "")
    if not name:
        missing("a private X display")
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    return name


def missing(component: str) -> None:
    """Skip by name where a component is not there; with CI=1 that is a failure."""
    say = pytest.fail if os.environ.get("CI") else pytest.skip
    say(f"{component} is missing; run the tests with `make test`")
