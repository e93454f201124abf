"""What LM Studio and Ollama hold is found and answered from in place; hostile manifests are only listed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from models.errors import EngineError
from models.foreign import LmStudio, Ollama, stores
from models.generation import LoadOptions
from models.library import Library, ModelFile
from models.worker_client import LocalEngine
from tests.models import gguf_file, projector_file
from tests.models.conversation import answer, ask, play, user
from tests.models.splitter import split

LAYER = "application/vnd.ollama.image."


class OllamaStore:
    """A store as Ollama lays it out."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "blobs").mkdir(parents=True)

    def blob(self, source: Path, *, linked: bool = False) -> dict[str, Any]:
        """The layer, without its type, of a blob with the content of `source`."""
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
        path = self.root / "blobs" / f"sha256-{digest}"
        if not path.exists():
            (os.link if linked else shutil.copy)(source, path)
        return {"digest": f"sha256:{digest}", "size": path.stat().st_size}

    def manifest(self, name: str, *layers: dict[str, Any]) -> Path:
        """Write the manifest `name` (host/namespace/model/tag)."""
        told = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": {
                "mediaType": "application/vnd.docker.container.image.v1+json",
                "digest": "x",
                "size": 1,
            },
            "layers": list(layers),
        }
        return self.raw(name, json.dumps(told))

    def raw(self, name: str, text: str) -> Path:
        path = self.root / "manifests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def library(self) -> Library:
        return Library((self.root / "none",), stores=(Ollama((self.root,)),))


def layer(kind: str, told: dict[str, Any]) -> dict[str, Any]:
    return {"mediaType": LAYER + kind} | told


@pytest.fixture
def store(tmp_path: Path) -> OllamaStore:
    return OllamaStore(tmp_path / "ollama")


def listed(store: OllamaStore) -> ModelFile:
    (file,) = store.library().list()
    return file


def test_the_engine_answers_from_a_blob_of_ollama(weights: Path, store: OllamaStore, tmp_path: Path) -> None:
    eye = projector_file.projector(tmp_path / "eye.gguf")
    store.manifest(
        "registry.ollama.ai/library/smollm2/135m",
        layer("model", store.blob(weights)),
        layer("projector", store.blob(eye)),
        layer("template", {"digest": "sha256:" + 64 * "0", "size": 3}),
    )
    library = store.library()
    file = library.find("smollm2:135m")
    assert (file.origin, file.title, file.architecture) == ("ollama", "smollm2:135m", "llama")
    assert file.path.parent == store.root / "blobs"
    assert file.projector is not None

    async def scene(engine: LocalEngine) -> None:
        options = LoadOptions(str(file.path), threads=1, window=512, projector=str(file.projector))
        asked = user("Name the colours of a rainbow.")
        from_blob = await answer(engine, ask(options, asked))
        assert engine.info is not None
        assert engine.info.sees
        from_file = await answer(engine, ask(LoadOptions(str(weights), threads=1, window=512), asked))
        assert from_blob.text == from_file.text != ""

    play(scene)


def test_names_are_those_of_ollama_and_tags_of_one_file_are_one_model(
    store: OllamaStore, tmp_path: Path
) -> None:
    one = store.blob(gguf_file.whole(tmp_path / "one.gguf"))
    other = store.blob(gguf_file.whole(tmp_path / "two.gguf", gguf_file.METADATA | {"general.name": "Two"}))
    for name in ("library/llama3.2/latest", "library/llama3.2/3b", "someone/tuned/q4"):
        store.manifest(f"registry.ollama.ai/{name}", layer("model", one if "llama" in name else other))
    store.manifest("hf.co/maker/Name-GGUF/latest", layer("model", other))
    library = store.library()
    assert [file.name for file in library.list()] == ["llama3.2:3b", "someone/tuned:q4"]
    for name in ("llama3.2:latest", "llama3.2", "llama3.2:3b"):
        assert library.find(name).name == "llama3.2:3b"
    for name in ("hf.co/maker/Name-GGUF:latest", "hf.co/maker/Name-GGUF", "someone/tuned:q4"):
        assert library.find(name).name == "someone/tuned:q4"


def test_a_model_of_the_cloud_and_strange_names_are_passed_over(store: OllamaStore, tmp_path: Path) -> None:
    told = store.blob(gguf_file.whole(tmp_path / "one.gguf"))
    store.manifest("registry.ollama.ai/library/cloud/latest", layer("license", told))
    store.manifest("registry.ollama.ai/library/.hidden/latest", layer("model", told))
    store.manifest("registry.ollama.ai/library/new\nline/latest", layer("model", told))
    store.manifest("registry.ollama.ai/library/deep/er/latest", layer("model", told))
    (store.root / "manifests" / "stray").write_text("{}")
    assert store.library().list() == []


@pytest.mark.parametrize(
    "digest",
    [
        "sha256:../../../../etc/passwd",
        "sha256:" + "a" * 63,
        "sha256:" + "A" * 64,
        "sha256:" + "a" * 64 + "/../x",
        "sha256:" + "a" * 64 + "\n",
        "md5:" + "a" * 64,
        "",
        None,
        7,
        ["sha256:" + "a" * 64],
    ],
)
def test_a_digest_that_is_none_never_becomes_a_path(digest: Any, store: OllamaStore) -> None:
    manifest = store.manifest(
        "registry.ollama.ai/library/evil/latest", layer("model", {"digest": digest, "size": 1})
    )
    file = listed(store)
    assert (file.name, file.error, file.path) == ("evil:latest", "ollama_manifest_broken", manifest)


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{", '{"layers": 7}', "[" * 100_000, '{"layers": {}}', " " * 2_000_000 + "{}", "\0"],
    ids=range(9),
)
def test_what_is_no_manifest_is_listed_as_broken(text: str, store: OllamaStore) -> None:
    store.raw("registry.ollama.ai/library/evil/latest", text)
    assert listed(store).error == "ollama_manifest_broken"
    with pytest.raises(EngineError):
        store.library().find("evil")


def test_layers_that_cannot_be_used_say_why(store: OllamaStore, tmp_path: Path) -> None:
    told = store.blob(gguf_file.whole(tmp_path / "one.gguf"))
    for layers, word in (
        ([layer("tensor", told)], "GGUF"),
        ([layer("model", told), layer("adapter", told)], "adapter"),
        ([layer("model", told), layer("model", told)], "several"),
    ):
        store.manifest("registry.ollama.ai/library/odd/latest", *layers)
        assert word in str(dict(listed(store).fields)["reason"])
    store.manifest("registry.ollama.ai/library/odd/latest", 7, None, "x", {}, [], layer("model", told))  # type: ignore[arg-type]
    assert listed(store).error == ""


def test_a_blob_that_is_missing_short_or_no_file_is_an_error(store: OllamaStore, tmp_path: Path) -> None:
    told = store.blob(gguf_file.whole(tmp_path / "one.gguf"))
    store.manifest("registry.ollama.ai/library/tiny/latest", layer("model", told), layer("projector", told))
    library = store.library()
    assert library.list()[0].error == ""
    (blob,) = (store.root / "blobs").iterdir()
    store.manifest(
        "registry.ollama.ai/library/tiny/latest", layer("model", told | {"size": told["size"] + 9})
    )
    assert library.list()[0].error == "model_file_truncated"
    store.manifest("registry.ollama.ai/library/tiny/latest", layer("model", told))
    blob.write_bytes(blob.read_bytes()[:-40])
    assert library.list()[0].error == "model_file_truncated"
    blob.unlink()
    assert library.list()[0].error == "model_file_missing"
    os.mkfifo(blob)
    assert library.list()[0].error == "model_file_not_gguf"


def test_a_broken_entry_of_another_program_is_not_what_the_user_lacks(store: OllamaStore) -> None:
    store.raw("registry.ollama.ai/library/evil/latest", "{")
    with pytest.raises(EngineError) as caught:
        store.library().find("bundled")
    assert caught.value.code == "model_missing"


def test_a_projector_that_is_gone_leaves_a_model_that_only_reads(store: OllamaStore, tmp_path: Path) -> None:
    told = store.blob(gguf_file.whole(tmp_path / "one.gguf"))
    gone = {"digest": "sha256:" + "b" * 64, "size": 3}
    store.manifest("registry.ollama.ai/library/tiny/latest", layer("model", told), layer("projector", gone))
    assert (listed(store).projector, listed(store).error) == (None, "")


def test_a_picture_encoder_in_the_same_file_is_only_for_ollama(store: OllamaStore, tmp_path: Path) -> None:
    data = gguf_file.header(tensors=(gguf_file.tensor("v.blk.0.attn_q.weight", (8,), 0, 0),))
    (tmp_path / "mixed.gguf").write_bytes(data + b"\0" * (-len(data) % 32 + 32))
    store.manifest("registry.ollama.ai/library/mixed/4b", layer("model", store.blob(tmp_path / "mixed.gguf")))
    assert listed(store).error == "model_file_mixed"


def test_the_folders_of_lm_studio_are_looked_through(tmp_path: Path) -> None:
    home, chosen = tmp_path / "home", tmp_path / "big disk"
    repository = home / ".lmstudio" / "models" / "maker" / "Name-GGUF"
    repository.mkdir(parents=True)
    gguf_file.whole(repository / "Name-Q4_K_M.gguf")
    gguf_file.whole(repository / "Name-Q8_0.gguf")
    eye = projector_file.projector(repository / "mmproj-model-f16.gguf")
    old = home / ".cache" / "lm-studio" / "models" / "maker" / "Old"
    whole = gguf_file.whole(tmp_path / "whole.bin")
    parts = split(whole, old, 2, name="Old-Q4")
    (chosen / "other" / "Far").mkdir(parents=True)
    gguf_file.whole(chosen / "other" / "Far" / "Far.gguf")
    (home / ".lmstudio" / "settings.json").write_text(json.dumps({"downloadsFolder": str(chosen)}))
    library = Library((tmp_path / "none",), stores=(LmStudio(home),))
    files = {file.name: file for file in library.list()}
    assert sorted(files) == ["Far", "Name-Q4_K_M", "Name-Q8_0", "Old-Q4"]
    assert {file.origin for file in files.values()} == {"lmstudio"}
    assert files["Name-Q4_K_M"].projector == files["Name-Q8_0"].projector == eye
    assert files["Old-Q4"].parts == tuple(parts)
    assert library.find("maker/Name-GGUF/Name-Q8_0") == files["Name-Q8_0"]

    (home / ".lmstudio" / "settings.json").write_text("{}")
    assert "Far" not in {file.name for file in library.list()}


@pytest.mark.parametrize("text", ["[", '{"downloadsFolder": 7}', '{"downloadsFolder": "not/absolute"}', "[]"])
def test_broken_settings_of_lm_studio_do_no_harm(text: str, tmp_path: Path) -> None:
    (tmp_path / ".lmstudio").mkdir()
    (tmp_path / ".lmstudio" / "settings.json").write_text(text)
    assert LmStudio(tmp_path).folders() == [
        tmp_path / ".lmstudio" / "models",
        tmp_path / ".cache" / "lm-studio" / "models",
    ]


def test_the_usual_places_are_those_of_the_user_and_of_the_environment(tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{moved}\n")
    studio, ollama = stores({"OLLAMA_MODELS": str(tmp_path / "om")}, tmp_path)
    assert studio.folders()[0] == moved / "models"
    made = OllamaStore(tmp_path / "om")
    made.manifest(
        "registry.ollama.ai/library/tiny/1b", layer("model", made.blob(gguf_file.whole(tmp_path / "a.gguf")))
    )
    assert [file.name for file in Library((tmp_path / "none",), stores=(studio, ollama)).list()] == [
        "tiny:1b"
    ]
    usual = OllamaStore(tmp_path / ".ollama" / "models")
    usual.manifest(
        "registry.ollama.ai/library/own/1b", layer("model", usual.blob(gguf_file.whole(tmp_path / "a.gguf")))
    )
    assert "own:1b" in {
        file.name for file in Library((tmp_path / "none",), stores=stores({}, tmp_path)).list()
    }
