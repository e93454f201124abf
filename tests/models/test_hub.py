"""The hub: what is asked of it, what it may answer, and where the token goes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from models.errors import EngineError
from models.hub import Hub
from runtime.network import Network
from runtime.paths import find_home
from runtime.providers.connection import HostRefused
from tests.models.download_stage import REPOSITORY, content, stage, wanted
from tests.runtime.local_servers import certificates, proxy, serving
from tests.wire.hub import HubServer, Misdeed

FILES: dict[str, bytes | Path] = {
    "Name-Q4_K_M.gguf": b"four bits",
    "Name-Q8_0-00001-of-00002.gguf": b"eight",
    "Name-Q8_0-00002-of-00002.gguf": b"bits of it",
    "Name-F16-00001-of-00002.gguf": b"its other part is missing",
    "mmproj-F16.gguf": b"eyes",
    "README.md": b"# Name\n",
}
GGUF = {"architecture": "llama", "context_length": 32768, "total": 1_540_000_000}
MIRROR = "mirror.company.example"


@pytest.fixture
def network(tmp_path: Path) -> Network:
    home = find_home(tmp_path / "home")
    home.create()
    return Network(home)


def asking(network: Network, endpoint: str, token: str = "") -> Hub:
    """The hub as the program makes it."""

    def client() -> httpx2.Client:
        return network.blocking_client("huggingface", purpose="search")

    return Hub(client, endpoint, lambda: token, refused=HostRefused)


def refusal(work: Callable[[], object]) -> EngineError:
    with pytest.raises(EngineError) as refused:
        work()
    return refused.value


def test_a_search_finds_repositories_with_gguf_files_the_most_used_first(network: Network) -> None:
    about: dict[str, dict[str, Any]] = {
        REPOSITORY: {"downloads": 7, "likes": 3, "license": "mit", "gguf": GGUF},
        "no name/of a repository": {"downloads": 0},
        "other/name-GGUF": {"downloads": 9, "gated": "manual", "lastModified": "2026-06-01T00:00:00.000Z"},
    }
    files: dict[str, dict[str, bytes | Path]] = {
        REPOSITORY: FILES,
        "other/name-GGUF": {"a.gguf": b"1"},
        "other/name": {"model.safetensors": b"1"},
        "other/else-GGUF": {"a.gguf": b"1"},
        "no name/of a repository": {"name.gguf": b"1"},
    }
    with HubServer(files, about) as server:
        hub = asking(network, server.url)
        first, second = hub.search("name")
        assert hub.search("name", limit=1) == [first]
        hub.close()
    assert (first.repository, first.gated, first.updated) == ("other/name-GGUF", True, "2026-06-01")
    assert (second.maker, second.title, second.downloads, second.likes) == ("maker", "Name", 7, 3)
    assert (second.licence, second.gated, second.pipeline) == ("mit", False, "text-generation")
    assert (second.shape.architecture, second.shape.window) == ("llama", 32768)
    assert second.shape.parameters == 1_540_000_000


def test_a_repository_is_described_by_its_models_projectors_and_commit(network: Network) -> None:
    with HubServer({REPOSITORY: FILES}) as server:
        hub = asking(network, server.url)
        found = hub.describe(REPOSITORY)
        assert hub.describe(REPOSITORY, found.revision) == found
        hub.close()
        kept = server.repositories[REPOSITORY]
    assert found.revision == kept.head
    assert [(each.quantisation, len(each.files), each.size) for each in found.variants] == [
        ("Q4_K_M", 1, 9),
        ("Q8_0", 2, 15),
    ]
    assert [file.name for file in found.projectors] == ["mmproj-F16.gguf"]
    assert {file.name: file.size for file in found.files} == {name: len(data) for name, data in _texts()}
    hashed = {file.name: file.sha256 for file in found.files}
    assert hashed["Name-Q4_K_M.gguf"] == kept.history[kept.head]["Name-Q4_K_M.gguf"].sha256
    assert hashed["README.md"] == ""


def _texts() -> list[tuple[str, bytes]]:
    return [(name, data) for name, data in FILES.items() if isinstance(data, bytes)]


def test_files_whose_names_lead_elsewhere_are_not_offered(network: Network) -> None:
    bad: dict[str, bytes | Path] = {
        "../../x.gguf": b"1",
        "/x.gguf": b"1",
        "a/../x.gguf": b"1",
        "ok.gguf": b"1",
    }
    with HubServer({REPOSITORY: bad}) as server:
        hub = asking(network, server.url)
        assert [file.name for file in hub.describe(REPOSITORY).files] == ["ok.gguf"]
        hub.close()


@pytest.mark.parametrize("repository", ["nobody/nothing", "../..", "a", "a/b/c", "a b/c", "", "-x/y"])
def test_a_repository_that_is_not_there_is_not_found(repository: str, network: Network) -> None:
    with HubServer({REPOSITORY: FILES}) as server:
        hub = asking(network, server.url)
        assert refusal(lambda: hub.describe(repository)).code == "hub_not_found"
        assert refusal(lambda: hub.look(repository, "main", "x.gguf")).code == "hub_not_found"
        hub.close()


def test_a_host_that_was_not_allowed_is_named_and_nothing_is_sent(network: Network) -> None:
    hub = asking(network, "https://huggingface.co")
    for work in (lambda: hub.search("x"), lambda: hub.describe(REPOSITORY)):
        error = refusal(work)
        assert (error.code, error.fields) == ("host_refused", {"host": "huggingface.co"})
    assert network.entries() == []


@pytest.mark.parametrize(
    ("misdeed", "code"),
    [
        (Misdeed("status", "api", status=503, seconds=7), "hub_unavailable"),
        (Misdeed("status", "api", status=429, headers={"RateLimit": '"api";r=0;t=7'}), "hub_unavailable"),
        (Misdeed("status", "api", status=418), "hub_unusable"),
        (Misdeed("status", "api", status=401), "hub_token_refused"),
        (Misdeed("hangup", "api"), "hub_unreachable"),
        (Misdeed("redirect", "api", to="https://cdn.far.example/"), "host_refused"),
        (Misdeed("redirect", "api", to="file:///etc/passwd"), "hub_unusable"),
        (Misdeed("redirect", "api", to="/api/models", times=99), "hub_unusable"),
    ],
)
def test_what_goes_wrong_is_said_at_once(misdeed: Misdeed, code: str, network: Network) -> None:
    """Neither hidden attempts nor hidden waits, as the library makes them by itself."""
    with HubServer({REPOSITORY: FILES}) as server:
        server.misdeeds.append(misdeed)
        hub = asking(network, server.url)
        begin = time.monotonic()
        error = refusal(lambda: hub.search("name"))
        assert time.monotonic() - begin < 5
        hub.close()
    assert error.code == code
    if code == "hub_unavailable":
        assert error.fields["seconds"] == 7
    if misdeed.to.startswith("https"):
        assert len(server.requests) == 1


def answering(answer: Callable[[httpx2.Request], httpx2.Response], token: str = "") -> Hub:
    """A hub elsewhere that answers so."""

    def client() -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(answer))

    return Hub(client, "https://hub.example", lambda: token, refused=HostRefused)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'[{"id": "maker/Name", "downloads": 1e999}]',
        b'[{"id": "maker/Name", "lastModified": "99999"}]',
        b'{"id": 5}',
        b"[5]",
    ],
)
def test_an_absurd_answer_is_said_to_be_none(body: bytes) -> None:
    hub = answering(lambda _request: httpx2.Response(200, content=body))
    assert refusal(lambda: hub.search("name")).code == "hub_unusable"
    hub.close()


def test_a_name_that_comes_twice_makes_no_model_whole() -> None:
    names = ["N-00001-of-00002.gguf", "N-00001-of-00002.gguf", "One.gguf", "one.GGUF"]
    told = {"id": REPOSITORY, "siblings": [{"rfilename": name, "size": 1 << 60} for name in names]}
    hub = answering(lambda _request: httpx2.Response(200, json=told))
    found = hub.describe(REPOSITORY)
    hub.close()
    assert [(file.name, file.size) for file in found.files] == [(names[0], -1), (names[2], -1)]
    assert [variant.files[0].name for variant in found.variants] == ["One.gguf"]


def test_pages_without_end_are_not_turned_for_ever() -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        again = {"Link": '<https://hub.example/api/models?cursor=1>; rel="next"'}
        return httpx2.Response(200, content=b"[]", headers=again)

    hub = answering(answer)
    assert refusal(lambda: hub.search("name")).code == "hub_unusable"
    hub.close()
    assert len(asked) < 100


@pytest.mark.parametrize(
    "to",
    [
        "https://127.0.0.1:8443/",
        "https://localhost/",
        "https://[::1]/",
        "http://hub.example/",
        "https://[",
        "https://hub.example:99999/",
        "https:///",
        "data:,x",
    ],
)
def test_a_hub_elsewhere_leads_neither_to_this_machine_nor_astray(to: str) -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.host)
        return httpx2.Response(302, headers={"Location": to})

    hub = answering(answer)

    def fetch() -> None:
        with hub.fetch(REPOSITORY, "main", "a.gguf"):
            pass

    for work in (fetch, lambda: hub.look(REPOSITORY, "main", "a.gguf"), lambda: hub.search("x")):
        assert refusal(work).code == "hub_unusable"
    hub.close()
    assert set(asked) == {"hub.example"}


@pytest.mark.parametrize("token", ["hf_secret\nand more", "hf_sécret", "hf secret"])
def test_a_token_that_no_header_carries_is_neither_sent_nor_told(token: str, network: Network) -> None:
    with HubServer({REPOSITORY: FILES}) as server:
        hub = asking(network, server.url, token)
        assert len(hub.search("name")) == 1
        hub.close()
    assert not any("authorization" in asked.headers for asked in server.requests)


def test_a_hub_that_is_not_there_cannot_be_reached(network: Network) -> None:
    with HubServer() as server:
        pass
    hub = asking(network, server.url)
    assert refusal(lambda: hub.search("x")).code == "hub_unreachable"


def test_an_answer_that_is_no_hub_s_is_said_to_be_none(network: Network) -> None:
    with HubServer({REPOSITORY: {"README.md": b"<html>sign in</html>"}}) as server:
        server.misdeeds.append(Misdeed("redirect", "api", to=f"/{REPOSITORY}/resolve/main/README.md"))
        hub = asking(network, server.url)
        assert refusal(lambda: hub.search("x")).code == "hub_unusable"
        hub.close()


def test_the_token_goes_to_the_hub_and_never_along_with_a_redirect(network: Network) -> None:
    with HubServer({REPOSITORY: FILES}) as server:
        other = server.url.replace("127.0.0.1", "localhost")
        server.misdeeds.append(Misdeed("redirect", "api", to=f"{other}/api/models?search=name&filter=gguf"))
        hub = asking(network, server.url, "hf_secret")
        assert len(hub.search("name")) == 1
        hub.close()
    sent = [asked.headers.get("authorization") for asked in server.requests]
    assert sent == ["Bearer hf_secret", None]
    assert {asked.headers["user-agent"] for asked in server.requests} == {"orion-desktop"}


def test_no_token_is_taken_from_the_machine_behind_the_user_s_back(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_environment")
    with HubServer({REPOSITORY: FILES}) as server:
        hub = asking(network, server.url)
        hub.search("name")
        hub.describe(REPOSITORY)
        hub.close()
    assert not any("authorization" in asked.headers for asked in server.requests)


def test_two_hubs_at_once_keep_to_their_own_addresses(network: Network) -> None:
    """The library has one place for a client in a process."""
    with HubServer({REPOSITORY: FILES}) as one, HubServer({"other/Name-GGUF": {"a.gguf": b"1"}}) as two:
        hubs = [asking(network, one.url), asking(network, two.url)]

        async def main() -> list[str]:
            found = await asyncio.gather(*(asyncio.to_thread(hub.search, "name") for hub in hubs * 3))
            return [repository.repository for rows in found for repository in rows]

        assert asyncio.run(main()) == [REPOSITORY, "other/Name-GGUF"] * 3
        for hub in hubs:
            hub.close()


def test_a_mirror_of_the_environment_is_asked_through_the_company_s_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Search and download over TLS in a tunnel, with the certificates of the system."""
    data = content(300_000)
    at = stage(tmp_path, {"Name-Q4_K_M.gguf": data}, cdn=f"https://{MIRROR}")
    trusted, context = certificates(tmp_path / "certificates", MIRROR)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    monkeypatch.setenv("HF_ENDPOINT", f"https://{MIRROR}/")
    at.network.allow(MIRROR, "huggingface")
    asked: list[bytes] = []

    async def main() -> None:
        async with (
            serving(proxy(at.hub.port, []), context) as mirror,
            serving(proxy(mirror, asked)) as way_out,
        ):
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{way_out}")
            hub = asking(at.network, "")
            assert hub.host == MIRROR
            (found,) = await asyncio.to_thread(hub.search, "name")
            assert found.repository == REPOSITORY
            await asyncio.to_thread(hub.close)
            at.endpoint = f"https://{MIRROR}"
            async with at.queue() as downloads:
                await downloads.begin(wanted("Name-Q4_K_M.gguf", data))
                assert (await at.end(downloads)).state == "done"

    with at.hub:
        asyncio.run(main())
    assert at.placed == [f"{REPOSITORY}/Name-Q4_K_M.gguf"]
    assert asked
    assert {line.split(b"\r\n")[0] for line in asked} == {f"CONNECT {MIRROR}:443 HTTP/1.1".encode()}
    assert {(entry.host, entry.local) for entry in at.network.entries()} == {(MIRROR, False)}
