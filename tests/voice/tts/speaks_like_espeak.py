"""Not espeak-ng: a small program with the part of its command line that is used, and faults on demand."""

from __future__ import annotations

import argparse
import struct
import sys
import threading
import wave
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", required=True)
    parser.add_argument("-s", type=int, required=True)
    parser.add_argument("-b", choices=["1"], required=True)
    parser.add_argument("-w", required=True)
    parser.add_argument("--stdin", action="store_true", required=True)
    told = parser.parse_args()
    text = sys.stdin.buffer.read().decode()
    Path(sys.argv[0] + ".calls").write_text(f"{told.v} {told.s} {text}")
    if "hang" in text:
        threading.Event().wait()
    if told.v == "cmn":
        sys.exit("Error: The specified espeak-ng voice does not exist.")
    with wave.open(told.w, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(22_050)
        file.writeframes(struct.pack("<h", 8000) * (len(text.split()) * 2205))


if __name__ == "__main__":
    main()
