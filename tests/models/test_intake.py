"""Models come in by copy, move or reference; a kill, a full disk or a stop leaves nothing half."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.errors import EngineError
from models.generation import LoadOptions
from models.intake import Intake, Mode, plan, take
from models.library import Library
from models.references import References
from models.transfer import Step, sweep
from models.worker_client import LocalEngine
from tests.conftest import missing
from tests.models import gguf_file, projector_file
from tests.models.conversation import answer, ask, play, user
from tests.models.splitter import split

ROOT = Path(__file__).resolve().parents[2]


class Place:
    """A library's folder, what lies in places of the user, and everything a person can do with them."""

    def __init__(self, folder: Path) -> None:
        self.weights, self.downloads = folder / "weights", folder / "downloads"
        self.downloads.mkdir(parents=True)
        self.references = References(folder / "models.yaml")
        self.library = Library((folder / "none", self.weights), imported=self.references.paths)
        self.steps: list[Step] = []

    def plan(self, *paths: Path) -> list[Intake]:
        return plan(paths, self.library.list())

    def one(self, *paths: Path) -> Intake:
        (made,) = self.plan(*paths)
        return made

    def take(self, intake: Intake, mode: Mode = "copy") -> Path:
        taken = take(intake, mode, self.weights, self.references, self.steps.append)
        assert taken.left == ()
        return taken.path

    def refused(self, intake: Intake, mode: Mode = "copy") -> EngineError:
        with pytest.raises(EngineError) as caught:
            self.take(intake, mode)
        return caught.value

    def visible(self) -> list[str]:
        """What lies in the library's folder, hidden things included."""
        return sorted(path.relative_to(self.weights).as_posix() for path in self.weights.rglob("*"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def parts(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The bundled model in two parts."""
    return split(weights, tmp_path_factory.mktemp("parts"), 2, name="Small")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 128 MB."""
    folder = tmp_path / "small disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        missing("the right to mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def seeing(folder: Path, name: str = "Eye") -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return gguf_file.whole(folder / f"{name}-Q4_0.gguf"), projector_file.projector(folder / "mmproj-f16.gguf")


# --- planning -----------------------------------------------------------------------------------------


def test_a_file_a_set_and_a_folder_are_planned_each_model_once(place: Place) -> None:
    plain = gguf_file.whole(place.downloads / "plain.gguf")
    parts = split(plain, place.downloads / "big", 3, name="Big")
    model, eye = seeing(place.downloads / "eyes")
    planned = {intake.name: intake for intake in place.plan(plain, parts[1], parts[2], place.downloads)}
    assert sorted(planned) == ["Big", "Eye-Q4_0", "plain"]
    assert planned["Big"].files == tuple(parts)
    assert planned["Big"].size == sum(path.stat().st_size for path in parts)
    assert (planned["Eye-Q4_0"].files, planned["Eye-Q4_0"].projector) == ((model,), eye)
    assert planned["Eye-Q4_0"].size == model.stat().st_size + eye.stat().st_size
    assert all(intake.modes == ("copy", "move", "in_place") for intake in planned.values())


def test_what_cannot_be_taken_says_why(place: Place) -> None:
    broken = place.downloads / "broken.gguf"
    broken.write_bytes(b"GGUF")
    text = place.downloads / "notes.txt"
    text.write_text("hello")
    (place.downloads / "empty").mkdir()
    parts = split(gguf_file.whole(place.downloads / "w.bin"), place.downloads / "half", 2, name="Half")
    parts[1].unlink()
    (place.downloads / "ring.gguf").symlink_to(place.downloads / "ring.gguf")
    adapter = gguf_file.whole(
        place.downloads / "adapter.gguf", gguf_file.METADATA | {"general.type": "adapter"}
    )
    for path, code in (
        (broken, "model_file_not_gguf"),
        (text, "model_file_not_gguf"),
        (place.downloads / "empty", "import_nothing"),
        (parts[0], "model_file_part_missing"),
        (adapter, "model_file_other"),
        (place.downloads / "ghost.gguf", "model_file_missing"),
        (place.downloads / "ring.gguf", "model_load_failed"),
        (place.downloads / ("x" * 300), "model_load_failed"),
        (Path("~nobody at all/x.gguf"), "model_file_missing"),
        (Path("zero\0.gguf"), "model_file_missing"),
    ):
        intake = place.one(path)
        assert (intake.error, intake.modes) == (code, ())
        assert place.refused(intake).code == code
    assert not place.weights.exists()


def test_a_projector_comes_with_its_model_and_never_alone(place: Place) -> None:
    model = gguf_file.whole(place.downloads / "Eye-Q4_0.gguf")
    eye = projector_file.projector(place.downloads / "sub-mmproj.gguf")
    eye = eye.rename(place.weights.parent / "mmproj-f16.gguf")
    assert [(intake.error, intake.modes) for intake in place.plan(eye)] == [("projector_alone", ())]
    together = place.one(model, eye)
    assert (together.projector, together.modes) == (eye, ("copy", "move"))
    taken = place.take(together)
    assert place.library.find("Eye-Q4_0").projector == taken.parent / "mmproj-f16.gguf"
    other = gguf_file.whole(place.downloads / "Blind.gguf")
    assert [intake.error for intake in place.plan(model, other, eye)] == ["", "", "projector_alone"]


def test_a_projector_is_known_by_its_header_and_goes_to_the_model_it_is_named_after(place: Place) -> None:
    model, other = (gguf_file.whole(place.downloads / f"{name}-Q4_0.gguf") for name in ("Eye", "Blind"))
    elsewhere = place.downloads / "elsewhere"
    elsewhere.mkdir()
    odd = projector_file.projector(elsewhere / "sight.gguf")
    taken = place.take(place.one(model, odd))
    assert place.library.find("Eye-Q4_0").projector == taken.parent / "mmproj-Eye-Q4_0.gguf"
    named = projector_file.projector(elsewhere / "mmproj-Blind-f16.gguf")
    third = gguf_file.whole(place.downloads / "Third.gguf")
    planned = {intake.name: intake.projector for intake in place.plan(third, other, named)}
    assert planned == {"Third": None, "Blind-Q4_0": named}


def test_what_is_here_already_is_not_taken_again(place: Place) -> None:
    path = gguf_file.whole(place.downloads / "plain.gguf")
    taken = place.take(place.one(path))
    again = place.one(taken)
    assert (again.error, dict(again.fields)["name"]) == ("model_already_here", "plain")
    assert place.refused(place.one(path)).code == "model_file_exists"


def test_a_blob_of_ollama_can_only_be_copied_and_gets_a_name(place: Place) -> None:
    blobs = place.downloads / "blobs"
    blobs.mkdir()
    blob = gguf_file.whole(blobs / f"sha256-{'a' * 64}")
    intake = place.one(blob)
    assert intake.modes == ("copy",)
    assert place.refused(intake, "move").code == "import_mode"
    assert place.take(intake).name == f"sha256-{'a' * 64}.gguf"


@pytest.mark.parametrize("name", ["con.gguf", "a:b?.gguf", "naïve\u202e.gguf", "..gguf", "x" * 200 + ".gguf"])
def test_names_in_the_library_suit_every_system(name: str, place: Place) -> None:
    path = gguf_file.whole(place.downloads / name)
    taken = place.take(place.one(path))
    assert taken.parent == place.weights
    assert len(taken.name) < 130
    assert taken.name.isascii()
    assert not set(taken.name) & set('<>:"/\\|?*')
    assert taken.stem.lower() not in ("con", "nul", "")
    assert place.library.find(taken.stem).path == taken


# --- taking -------------------------------------------------------------------------------------------


def test_a_copy_is_whole_and_the_engine_answers_from_it(parts: list[Path], place: Place) -> None:
    path = place.take(place.one(parts[1]))
    assert place.visible() == ["Small", *(f"Small/{part.name}" for part in parts)]
    assert all((path.parent / part.name).read_bytes() == part.read_bytes() for part in parts)
    total = sum(part.stat().st_size for part in parts)
    running = [step.done for step in place.steps if step.state == "running"]
    checking = [step.done for step in place.steps if step.state == "checking"]
    assert running == sorted(running)
    assert running[-1] == checking[-1] == total == place.steps[0].total

    async def scene(engine: LocalEngine) -> None:
        found = place.library.find("Small")
        told = await answer(engine, ask(LoadOptions(str(found.path), threads=1, window=512), user("Hello")))
        assert told.text

    play(scene)


def test_a_move_takes_no_second_space_and_leaves_nothing_behind(place: Place) -> None:
    model, eye = seeing(place.downloads)
    inode = model.stat().st_ino
    path = place.take(place.one(model), "move")
    assert path.stat().st_ino == inode
    assert (model.exists(), eye.exists()) == (False, False)
    assert place.visible() == ["Eye-Q4_0", "Eye-Q4_0/Eye-Q4_0.gguf", "Eye-Q4_0/mmproj-f16.gguf"]


def test_a_move_leaves_the_projector_that_another_model_needs(place: Place) -> None:
    model, eye = seeing(place.downloads)
    gguf_file.whole(place.downloads / "Eye-Q8_0.gguf")
    place.take(place.one(model), "move")
    assert (model.exists(), eye.exists()) == (False, True)


def test_a_move_from_another_disk_copies_and_then_removes(place: Place, tmp_path: Path, small: Path) -> None:
    path = gguf_file.whole(small / "far.gguf")
    content = path.read_bytes()
    assert place.take(place.one(path), "move").read_bytes() == content
    assert not path.exists()


def test_a_model_in_place_is_listed_and_stays_where_it_is(place: Place) -> None:
    parts = split(gguf_file.whole(place.downloads / "w.bin"), place.downloads, 2, name="There")
    assert place.take(place.one(parts[1]), "in_place") == parts[0]
    found = place.library.find("There")
    assert (found.origin, found.path, found.parts) == ("imported", parts[0], tuple(parts))
    assert not place.weights.exists()
    parts[1].unlink()
    assert place.library.list()[0].error == "model_file_part_missing"


def test_a_stop_drops_the_copy(weights: Path, place: Place) -> None:
    intake = place.one(weights)
    for stop_at in (1, 10, 27):  # the last while it is read back
        asked: list[int] = []

        def stop(asked: list[int] = asked, stop_at: int = stop_at) -> bool:
            asked.append(1)
            return len(asked) > stop_at

        with pytest.raises(EngineError) as caught:
            take(intake, "copy", place.weights, place.references, place.steps.append, stop)
        assert caught.value.code == "import_cancelled"
        assert place.visible() == []


def test_a_file_that_changes_while_it_is_copied_is_not_taken(weights: Path, place: Place) -> None:
    path = Path(shutil.copy(weights, place.downloads / "live.gguf"))

    def grow(step: Step) -> None:
        if step.done < step.total and step.state == "running":
            with path.open("ab") as file:
                file.write(b"more")

    with pytest.raises(EngineError) as caught:
        take(place.one(path), "copy", place.weights, place.references, grow)
    assert caught.value.code == "import_changed"
    assert place.visible() == []


# --- a full disk --------------------------------------------------------------------------------------


def test_a_disk_without_room_is_said_before_a_byte_is_copied(weights: Path, small: Path) -> None:
    place = Place(small / "home")
    (small / "filler").write_bytes(b"x" * (30 << 20))
    error = place.refused(plan([weights])[0])
    assert error.code == "import_disk_full"
    needed, free = int(error.fields["needed_mb"]), int(error.fields["free_mb"])
    assert needed > free
    assert needed == -(-(weights.stat().st_size + (16 << 20)) // (1 << 20))
    assert (place.visible(), place.steps) == ([], [])


def test_a_disk_that_fills_up_in_the_middle_leaves_nothing(weights: Path, small: Path) -> None:
    place = Place(small / "home")

    def fill(step: Step) -> None:
        if step.done > step.total // 3 and not (small / "filler").exists():
            (small / "filler").write_bytes(b"x" * (40 << 20))

    with pytest.raises(EngineError) as caught:
        take(plan([weights])[0], "copy", place.weights, place.references, fill)
    assert caught.value.code == "import_disk_full"
    assert place.visible() == []
    (small / "filler").unlink()
    place.take(plan([weights])[0])
    assert [file.error for file in place.library.list()] == [""]


# --- a kill -------------------------------------------------------------------------------------------

KILLED = """
import os, sys
from pathlib import Path
from models.intake import plan, take
from models.references import References
source, folder, mode, last = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
steps = []
def told(step):
    steps.append(step)
    if len(steps) == last:
        os.kill(os.getpid(), 9)
def audit(event, arguments):
    steps_left = {"os.link": -1, "os.rename": -2, "os.remove": -3}.get(event)
    if steps_left == last and ".probe" not in str(arguments):
        os.kill(os.getpid(), 9)
sys.addaudithook(audit)
take(plan([source])[0], mode, folder, References(folder.parent / "models.yaml"), told)
"""


@pytest.mark.parametrize(
    ("mode", "last"),
    [("copy", 1), ("copy", 40), ("copy", -2), ("move", 13), ("move", -1), ("move", -2), ("move", -3)],
)
def test_a_kill_leaves_nothing_that_looks_whole_and_no_source_lost(
    mode: Mode, last: int, parts: list[Path], tmp_path: Path, small: Path
) -> None:
    place = Place(small / "home" if last > 0 and mode == "move" else tmp_path / "home")
    sources = [place.downloads.parent / part.name for part in parts]
    if last > 0 and mode == "move":
        sources = [tmp_path / part.name for part in parts]
    for part, source in zip(parts, sources, strict=True):
        os.link(part, source)
    contents = [source.read_bytes() for source in sources]
    command = [sys.executable, "-c", KILLED, str(sources[0]), str(place.weights), mode, str(last)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=60)
    listed = place.library.list()
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    if last != -3:
        assert listed == []
        assert all(".incoming-" in name for name in place.visible())
    here = [path.read_bytes() for path in listed[0].parts] if listed else contents
    assert here == contents
    if last != -3:
        assert [source.read_bytes() for source in sources] == contents

    sweep(place.weights)
    assert [name for name in place.visible() if "incoming" in name] == []


def test_what_a_running_import_has_is_not_swept_away(place: Place) -> None:
    path = gguf_file.whole(place.downloads / "plain.gguf")

    def meanwhile(step: Step) -> None:
        sweep(place.weights)

    take(place.one(path), "copy", place.weights, place.references, meanwhile)
    assert place.visible() == ["plain.gguf"]
