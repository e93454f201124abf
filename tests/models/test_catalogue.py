"""The shipped catalogue is right in itself, and a wrong one is refused with the place of the fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import resources
from models import footprint
from models.catalogue import Catalogue, CatalogueError, Entry
from models.fitness import offered


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.load()


def test_there_is_something_of_every_kind_and_size(catalogue: Catalogue) -> None:
    kinds = [entry.kind for entry in catalogue.entries]
    assert {kind: kinds.count(kind) > 2 for kind in kinds} == dict.fromkeys(
        ("language", "vision", "embedding", "speech"), True
    )
    talking = [entry.parameters for entry in catalogue.entries if entry.kind == "language"]
    assert min(talking) < 0.4
    assert max(talking) > 30
    assert sum(2 < size < 10 for size in talking) > 9


def test_entries_are_found_by_name_repository_and_title(catalogue: Catalogue) -> None:
    entry = catalogue.find("qwen3-8b")
    assert entry is not None
    assert catalogue.find("qwen/QWEN3-8B-gguf") is entry
    assert catalogue.find(" Qwen3 8B ") is entry
    assert catalogue.find("nobody") is None


def test_a_licence_that_wants_it_must_be_accepted(catalogue: Catalogue) -> None:
    for entry in catalogue.entries:
        free = entry.licence in ("Apache-2.0", "MIT")
        assert entry.accept == (not free), entry.name


def test_sizes_are_those_of_their_quantisation(catalogue: Catalogue) -> None:
    bits = {"Q4_K_M": (3.8, 6.6), "Q8_0": (6.5, 9.2), "MXFP4": (4.2, 5.0)}
    for entry in catalogue.entries:
        if entry.kind == "speech":
            continue
        for variant in entry.variants:
            low, high = bits[variant.quantisation]
            assert low < 8 * variant.size / entry.parameters / 1e9 < high, variant.file
            assert variant.quantisation.lower() in variant.file.lower(), variant.file


def test_shapes_have_as_many_numbers_as_the_model_is_said_to_have(catalogue: Catalogue) -> None:
    """Of dense networks; tables, attention and feed-forward of the shape add up to the parameters."""
    for entry in catalogue.entries:
        if entry.shape is None or entry.active < entry.parameters or entry.shape.attending:
            continue
        assert 0.78 < _numbers(entry) / entry.parameters < 1.2, (entry.name, _numbers(entry))


def test_what_a_token_needs_is_smaller_than_the_file(catalogue: Catalogue) -> None:
    for entry in catalogue.entries:
        for variant in entry.variants:
            load = offered(entry, variant)
            assert sum(load.reads.values()) <= variant.size
            assert footprint.twice(load.matrices) <= variant.size


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"strenght": 3}, "strenght"),
        ({"parameters": "4B"}, "parameters"),
        ({"parameters": -1}, "parameters"),
        ({"kind": "music"}, "kind"),
        ({"repository": "../../etc"}, "repository"),
        ({"licence_url": "http://example.org"}, "https"),
        ({"released": "soon"}, "released"),
        ({"strength": 101}, "strength"),
        ({"vision": True}, "projector"),
        ({"shape": None}, "shape"),
        ({"shape": {"layers": 3}}, "shape"),
        ({"variants": []}, "variant"),
        ({"variants": [{"quantisation": "Q8_0", "files": ["../a.gguf"], "size": 10**9}]}, "plain"),
        ({"variants": [{"quantisation": "Q8_0", "files": ["/a.gguf"], "size": 10**9}]}, "plain"),
        ({"variants": [{"quantisation": "Q8_0", "files": ["a.exe"], "size": 10**9}]}, "GGUF"),
        ({"variants": [{"quantisation": "Q9", "files": ["a.gguf"], "size": 10**9}]}, "Q9"),
        ({"variants": [{"quantisation": "Q8_0", "files": ["a.gguf"], "size": 10}]}, "bits"),
        ({"variants": [{"quantisation": "Q8_0", "files": [], "size": 10**9}]}, "file"),
        ({"name": "Not A Name"}, "name"),
        ({"about": ""}, "about"),
    ],
)
def test_a_wrong_entry_is_refused(change: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogueError) as caught:
        Catalogue.load(written(tmp_path, [ROW | change]))
    assert told in str(caught.value)


def test_a_wrong_file_is_refused(tmp_path: Path) -> None:
    assert len(Catalogue.load(written(tmp_path, [ROW])).entries) == 1
    for data in ([ROW, ROW], [3], None):
        with pytest.raises(CatalogueError):
            Catalogue.load(written(tmp_path, data))
    broken = tmp_path / "broken.yaml"
    for text in ("version: 2\nmodels: []\n", "version: [", "- 1\n", ""):
        broken.write_text(text, "utf-8")
        with pytest.raises(CatalogueError):
            Catalogue.load(broken)
    with pytest.raises(CatalogueError):
        Catalogue.load(tmp_path / "missing.yaml")


def test_the_file_is_where_resources_are() -> None:
    assert resources.path("catalogue.yaml").is_file()


ROW: dict[str, Any] = {
    "name": "small",
    "title": "Small",
    "maker": "Someone",
    "licence": "MIT",
    "licence_url": "https://example.org/licence",
    "kind": "language",
    "parameters": 1.0,
    "window": 4096,
    "languages": ["en"],
    "repository": "maker/Small-GGUF",
    "variants": [{"quantisation": "Q8_0", "files": ["small-Q8_0.gguf"], "size": 1_000_000_000}],
    "shape": {
        "layers": 16,
        "embedding": 2048,
        "feed_forward": 8192,
        "heads": 32,
        "kv_heads": 8,
        "key": 64,
        "vocabulary": 32000,
    },
    "released": "2025-01",
    "strength": 10,
    "about": "A model of the tests.",
}


def written(folder: Path, rows: Any) -> Path:
    path = folder / "catalogue.yaml"
    with path.open("w", encoding="utf-8") as file:
        YAML(typ="safe").dump({"version": 1, "models": rows}, file)
    return path


def _numbers(entry: Entry) -> float:
    """Billions of numbers in a dense network and its projector."""
    shape = entry.shape
    assert shape is not None
    attention = 2 * shape.embedding * shape.key * (shape.heads + shape.kv_heads)
    layers = shape.layers * (attention + 3 * shape.embedding * shape.feed_forward)
    tables = shape.vocabulary * shape.embedding * (1 if shape.tied else 2)
    seen = entry.projector.size / 2 if entry.projector else 0
    return (layers + tables + seen) / 1e9
