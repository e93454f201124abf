"""Not Piper: a small program with Piper's command line, one tone for a text, and faults on demand.

With `old` in its name it names its files on standard output, as rhasspy/piper does, otherwise in a log line
on standard error, as piper1-gpl does. It notes its arguments and texts in NAME.onnx.calls beside the model.
"""

from __future__ import annotations

import argparse
import math
import struct
import sys
import threading
import time
import wave
from pathlib import Path

RATE = 22_050


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("-d", "--output-dir", "--output_dir", required=True)
    parser.add_argument("--length-scale", "--length_scale", type=float, default=1.0)
    told = parser.parse_args()
    calls = Path(told.model + ".calls")
    with calls.open("a") as notes:
        notes.write(f"began {told.length_scale}\n")
    sys.stderr.write("INFO:__main__:Loaded voice in 0.1 second(s)\n")
    for line in sys.stdin:
        text = line.strip()
        if not text:
            continue
        with calls.open("a") as notes:
            notes.write(f"{text}\n")
        if "crash" in text:
            sys.exit("the model has no such phoneme")
        if "hang" in text:
            threading.Event().wait()
        say(text, Path(told.output_dir), told.length_scale)
    with calls.open("a") as notes:
        notes.write("ended\n")


def say(text: str, folder: Path, scale: float) -> None:
    path = folder / f"{time.monotonic_ns()}.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        count = int(0.1 * len(text.split()) * scale * RATE)
        file.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(n / 10))) for n in range(count)))
    if "old" in Path(sys.argv[0]).name:
        sys.stdout.write(f"{path}\n")
    else:
        sys.stderr.write(f"INFO:__main__:Wrote {path}\n")


if __name__ == "__main__":
    main()
