"""Cards say what the catalogue and the hub know, how it would run here, and what is here already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.bandwidth import Speeds
from models.catalogue import Catalogue
from models.fitness import Machine
from models.hardware import Hardware
from models.hub import Described, Found, Shape
from models.hub_files import File, projectors, variants
from runtime.errors import OrionError
from runtime.messages import JsonObject
from runtime.model_cards import Cards, projector_for, titles
from runtime.model_wanted import ask_for_licence, wanted

GB = 1 << 30
CATALOGUE = Catalogue.load()
SPEEDS = Speeds(20e9, {"Q4_K": 4e9, "Q6_K": 4e9, "Q8_0": 8e9, "F16": 8e9}, 1e-5)


def machine(memory: int = 16, disk: int = 100) -> Machine:
    """A machine with so many GB free."""
    here = Hardware("test", 4, 4, 32 * GB, memory * GB, frozenset())
    return Machine(here, (), disk * GB, SPEEDS)


def cards(*here: tuple[str, str], memory: int = 16) -> Cards:
    return Cards(CATALOGUE, machine(memory), [(Path(path), name) for path, name in here])


def described(*files: tuple[str, int], licence: str = "mit", parameters: int = 0) -> Described:
    """The repository maker/Some-GGUF with these files."""
    listed = tuple(File(name, size, "0" * 64) for name, size in files)
    shape = Shape("llama", 8192, parameters)
    return Described(
        "maker/Some-GGUF", "c0", licence, False, listed, variants(listed), projectors(listed), shape
    )


FORMS = (("Some-Q2_K.gguf", 3 * GB), ("Some-Q4_K_M.gguf", 5 * GB), ("Some-Q8_0.gguf", 9 * GB))


def recommended(card: JsonObject) -> list[Any]:
    return [variant["quantisation"] for variant in card["variants"] if variant["recommended"]]


def test_a_repository_outside_the_catalogue_is_judged_by_its_size() -> None:
    card = cards().of_described(described(*FORMS, parameters=8_000_000_000))
    assert (card["title"], card["maker"], card["parameters"]) == ("Some", "maker", 8.0)
    small, usual, large = (variant["fit"] for variant in card["variants"])
    assert small["memory"] < usual["memory"] < large["memory"]
    assert small["tokens_per_second"] > usual["tokens_per_second"] > large["tokens_per_second"] > 0
    assert usual["disk_needed"] == 5 * GB
    unknown = cards().of_described(described(*FORMS))
    assert all(variant["fit"]["tokens_per_second"] > 0 for variant in unknown["variants"])


def test_the_largest_that_runs_well_is_recommended_and_else_the_smallest_that_runs() -> None:
    small = (("Some-Q4_K_M.gguf", GB // 4), ("Some-Q8_0.gguf", GB // 2))
    assert recommended(cards().of_described(described(*small))) == ["Q8_0"]
    assert recommended(cards(memory=8).of_described(described(*FORMS, parameters=8_000_000_000))) == ["Q2_K"]
    assert recommended(cards(memory=1).of_described(described(*FORMS, parameters=8_000_000_000))) == []


def test_what_is_here_is_known_wherever_the_folder_lies() -> None:
    made = cards(("/lmstudio/models/maker/Some-GGUF/Some-Q2_K.gguf", "some"))
    card = made.of_described(described(*FORMS))
    assert [variant["installed"] for variant in card["variants"]] == ["some", "", ""]
    assert card["variants"][0]["fit"]["disk_needed"] == 0


def test_the_catalogue_is_searched_by_all_words() -> None:
    found = [card["id"] for card in cards().known("QWEN3 embedding")]
    assert found == ["Qwen/Qwen3-Embedding-0.6B-GGUF"]
    assert cards().known("qwen3 nonsense") == []


def test_those_that_answer_come_first() -> None:
    kinds = [card["kind"] for card in cards().recommended("")]
    assert kinds.index("embedding") > max(kinds.index("language"), kinds.index("vision"))
    assert set(kinds[kinds.index("embedding") :]) == {"embedding", "speech"}


def test_a_search_result_says_what_it_is() -> None:
    found = Found("m/n-GGUF", "m", "n", 5, 2, "gemma", True, "image-text-to-text", "2026-05-01", Shape())
    card = cards().of_found(found)
    assert (card["title"], card["kind"], card["vision"], card["downloads"]) == ("n", "vision", True, 5)
    assert (card["accept"], card["gated"], card["variants"]) == (True, True, [])


def test_a_projector_comes_along() -> None:
    eyes = (("mmproj-Some-BF16.gguf", 800), ("mmproj-Some-F16.gguf", 900), ("mmproj-Some-Q8_0.gguf", 500))
    some = described(*FORMS, *eyes)
    chosen = projector_for(some, None)
    assert chosen is not None
    assert chosen.name == "mmproj-Some-BF16.gguf"
    made = wanted(some, None, cards().of_described(some), "q4_k_m")
    assert [file.name for file in made.files] == ["Some-Q4_K_M.gguf", "mmproj-Some-BF16.gguf"]
    assert (made.kind, made.into, made.revision) == ("vision", "maker/Some-GGUF", "c0")
    assert made.title == "Some Q4_K_M"


def test_a_split_model_is_fetched_whole_and_found_by_form_or_file() -> None:
    parts = tuple((f"Q8_0/Some-Q8_0-0000{n}-of-00002.gguf", GB) for n in (1, 2))
    some = described(*parts)
    card = cards().of_described(some)
    for said in ("", "Q8_0", parts[0][0], "some-q8_0-00001-of-00002.gguf"):
        assert [file.name for file in wanted(some, None, card, said).files] == [name for name, _ in parts]
    with pytest.raises(OrionError, match="model_file_not_offered"):
        wanted(some, None, card, "Q2_K")
    nothing = described(("README.md", 10))
    with pytest.raises(OrionError, match="model_file_not_offered"):
        wanted(nothing, None, cards().of_described(nothing), "")


def test_a_file_that_the_hub_has_no_more_is_not_asked_for() -> None:
    entry = CATALOGUE.find("Systran/faster-whisper-tiny")
    assert entry is not None
    some = described(("model.bin", 10))
    with pytest.raises(OrionError, match="model_file_not_offered"):
        wanted(some, entry, cards().of_entry(entry, some), "")


def test_a_file_that_has_another_name_by_now_is_found_by_its_form() -> None:
    entry = CATALOGUE.find("qwen3-8b")
    assert entry is not None
    some = described(("Qwen3-8B-v2-Q4_K_M.gguf", 5 * GB), ("Qwen3-8B-v2-Q8_0.gguf", 9 * GB))
    card = cards().of_entry(entry, some)
    assert wanted(some, entry, card, "Qwen3-8B-Q8_0.gguf").files[0].name == "Qwen3-8B-v2-Q8_0.gguf"
    with pytest.raises(OrionError, match="model_file_not_offered"):
        wanted(some, entry, card, "Qwen3-8B-Q2_K.gguf")


def test_nothing_is_said_of_a_file_of_unknown_size() -> None:
    card = cards().of_described(described(("Some-Q2_K.gguf", -1), ("Some-Q4_K_M.gguf", 5 * GB)))
    told = {one["quantisation"]: (one["size"], one["fit"] is None) for one in card["variants"]}
    assert told == {"Q2_K": (0, True), "Q4_K_M": (5 * GB, False)}
    assert recommended(card) == ["Q4_K_M"]


def test_licences_that_have_to_be_accepted_are() -> None:
    llama = next(entry for entry in CATALOGUE.entries if entry.accept)
    free = next(entry for entry in CATALOGUE.entries if not entry.accept)
    for entry, said, asked in (
        (llama, None, True),
        (free, None, False),
        (None, described(licence="gemma"), True),
        (None, described(licence="llama3.2"), True),
        (None, described(licence="apache-2.0"), False),
    ):
        ask_for_licence(entry, said, accepted=True)
        if asked:
            with pytest.raises(OrionError, match="licence_not_accepted"):
                ask_for_licence(entry, said, accepted=False)
        else:
            ask_for_licence(entry, said, accepted=False)


def test_the_catalogue_names_what_lies_where_the_program_puts_it() -> None:
    named = titles(CATALOGUE)
    assert named["Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf"] == "Qwen3 0.6B"
