"""Which models can be chosen, by list and by name."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runtime.errors import OrionError
from runtime.messages import JsonObject
from runtime.offers import Offers
from runtime.profiles import Profile, Profiles
from runtime.providers.provider import ModelInfo, Provider, Traits
from runtime.providers.scripted import Script, ScriptedProvider

HERE: JsonObject = {
    "name": "small",
    "path": "small.gguf",
    "size": 5,
    "provider": "local",
    "local": True,
    "default": True,
    "error": "",
    "fields": {},
}


class Service(ScriptedProvider):
    """A service with a list, or with the reason why there is none."""

    def __init__(self, *names: str, refuses: str = "") -> None:
        super().__init__(Script(Path("none"), (), loop=False))
        self.names, self.refuses, self.asked = names, refuses, 0

    def traits(self, model: str) -> Traits:
        return Traits("service", local=False)

    async def models(self) -> list[ModelInfo]:
        self.asked += 1
        if self.refuses:
            raise OrionError(self.refuses, provider="service", host="service.example")
        return [ModelInfo(name, window=100) for name in self.names]


@pytest.fixture
def profiles(tmp_path: Path) -> Profiles:
    for name in ("far", "far-too"):
        text = f"name: {name}\nprovider: service\nmodel: big\nbase_url: https://service.example\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    return Profiles(tmp_path)


def offers(profiles: Profiles, service: Service) -> Offers:
    def provider(profile: Profile, model: str) -> Provider:
        if profile.provider != "service":
            raise OrionError("provider_unknown", provider=profile.provider, profile=profile.name, known="")
        return service

    return Offers(profiles, provider, lambda: [HERE])


def of_service(rows: list[JsonObject]) -> list[JsonObject]:
    return [row for row in rows if row["provider"] == "service"]


def test_each_service_is_listed_once_after_what_is_here(profiles: Profiles) -> None:
    service = Service("big", "bigger")
    rows = asyncio.run(offers(profiles, service).all())
    assert rows[0]["name"] == "small"
    assert rows[0]["profile"] == "orion-local"
    found = of_service(rows)
    assert [(row["name"], row["default"], row["local"]) for row in found] == [
        ("big", True, False),
        ("bigger", False, False),
    ]
    assert service.asked == 1


def test_a_list_is_not_asked_for_twice(profiles: Profiles) -> None:
    service = Service("big")

    async def twice() -> None:
        both = offers(profiles, service)
        await both.all()
        await both.all()

    asyncio.run(twice())
    assert service.asked == 1


def test_a_service_that_cannot_be_asked_offers_the_profiles_model_and_says_why(profiles: Profiles) -> None:
    (row,) = of_service(asyncio.run(offers(profiles, Service(refuses="host_not_allowed")).all()))
    assert (row["name"], row["error"]) == ("big", "host_not_allowed")
    assert row["fields"]["host"] == "service.example"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("small", "orion-local"),
        ("local/small", "orion-local"),
        ("bigger", "far"),
        ("service/bigger", "far"),
        ("far/bigger", "far"),
    ],
)
def test_a_model_is_found_by_its_name_and_by_its_provider(profiles: Profiles, name: str, found: str) -> None:
    row = asyncio.run(offers(profiles, Service("big", "bigger")).find(name))
    assert row["profile"] == found
    assert row["name"] == name.rpartition("/")[2]


def test_a_service_without_a_list_is_believed_to_have_what_is_asked_of_it(profiles: Profiles) -> None:
    row = asyncio.run(offers(profiles, Service(refuses="key_missing")).find("service/org/new-model"))
    assert (row["name"], row["default"], row["error"]) == ("org/new-model", False, "key_missing")


@pytest.mark.parametrize("name", ["nonsense", "service/nonsense", ""])
def test_an_unknown_model_is_refused_with_the_known_ones(profiles: Profiles, name: str) -> None:
    with pytest.raises(OrionError) as refused:
        asyncio.run(offers(profiles, Service("big")).find(name))
    assert refused.value.code == "model_unknown"
    assert "service/big" in str(refused.value.fields["known"])
