"""What voices that are programs of their own share: how they are started, and the WAV files they write."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from voice.errors import VoiceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""Keeps Windows from opening a console for a child."""

_FROZEN = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def child_environment() -> dict[str, str]:
    """This process's environment without what a frozen build set for its own libraries."""
    environment = dict(os.environ)
    if getattr(sys, "frozen", False):
        for name in _FROZEN:
            environment.pop(name, None)
            if (original := os.environ.get(f"{name}_ORIG")) is not None:
                environment[name] = original
    return environment


def read_wav(path: Path, voice: str) -> tuple[NDArray[np.float32], int]:
    """The sound in the file `path`, mono float32, and its rate; a VoiceError about `voice` if it is none."""
    import soundfile

    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, OSError) as error:
        raise VoiceError("voice_broken", voice=voice, reason=str(error)[:200]) from error
    mono: NDArray[np.float32] = samples.mean(axis=1, dtype="float32")
    return mono, int(rate)
