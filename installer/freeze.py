"""Builds the self-contained folder build/frozen/orion, unless one from the same sources is already there."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FROZEN = ROOT / "build" / "frozen"
ROOMS = ("desktop", "runtime", "voice", "models", "sandbox", "resources")


class FreezeError(Exception):
    """PyInstaller failed; the text is the end of what it said."""


def program() -> Path:
    """The frozen program; built by `freeze`."""
    return FROZEN / "orion" / ("orion.exe" if sys.platform == "win32" else "orion")


def freeze() -> Path:
    """Build if the sources have changed since the last build; returns the program. Raises FreezeError."""
    stamp, wanted = FROZEN / "sources.sha256", _fingerprint()
    if program().exists() and stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return program()
    stamp.unlink(missing_ok=True)
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level=WARN"]
    command += ["--distpath", str(FROZEN), "--workpath", str(ROOT / "build" / "pyinstaller")]
    done = subprocess.run(
        [*command, str(ROOT / "installer" / "orion.spec")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise FreezeError((done.stdout + done.stderr).strip()[-3000:])
    stamp.write_text(wanted, encoding="utf-8")
    return program()


def _fingerprint() -> str:
    digest = hashlib.sha256()
    sources = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*")) if file.is_file()]
    locks = [
        ROOT / "installer" / "locks" / "run.lock",
        ROOT / "installer" / "orion.spec",
        ROOT / "pyproject.toml",
    ]
    for file in [*sources, *locks]:
        if "__pycache__" in file.parts:
            continue
        digest.update(f"{file.relative_to(ROOT)} {file.stat().st_size} ".encode())
        digest.update(b"" if file.suffix == ".gguf" else file.read_bytes())
    return digest.hexdigest()


def main() -> int:
    """Build and say where the program is and how large its folder has become."""
    try:
        built = freeze()
    except FreezeError as problem:
        print(problem, file=sys.stderr)
        return 1
    size = sum(
        file.stat().st_size for file in built.parent.rglob("*") if file.is_file() and not file.is_symlink()
    )
    print(f"{built.relative_to(ROOT)} ({size >> 20} MB with its folder)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
