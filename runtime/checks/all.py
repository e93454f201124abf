"""All checks, in the order in which a person would want to read them."""

from __future__ import annotations

from collections.abc import Iterator

from runtime.checks import extras, machine, model, network, program, sandbox, speech
from runtime.checks.check import Check
from runtime.paths import Home


def every_check(home: Home) -> Iterator[Check]:
    """Run the checks one after the other; those of the engine and the recogniser take about two
    seconds each."""
    yield machine.python()
    yield machine.processor()
    yield machine.memory()
    yield program.home(home)
    yield program.disk(home)
    yield program.workspace(home)
    yield program.settings(home)
    yield from program.profiles(home)
    yield from program.sessions(home)
    bundled = model.bundled()
    yield from bundled
    yield model.engine()
    yield machine.qt()
    yield machine.display()
    yield network.network(home)
    yield network.keys(home)
    yield extras.keyring()
    yield extras.audio()
    yield from speech.speech(home)
    yield sandbox.sandbox(home)
