"""The way to an Ollama server and its models, against a local server that speaks its wire format."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from resources.sentences import sentence
from runtime.errors import OrionError
from runtime.providers.connection import Connection
from runtime.providers.ollama import WINDOW, OllamaProvider
from runtime.providers.ollama_library import Pulling
from tests.runtime.providers.ollama_house import HELLO, asked, body, collect, fault, pulled, run
from tests.wire.links import connect
from tests.wire.ollama import MODEL, TOTAL, Wire, make
from tests.wire.server import Play, Say, WireServer

# --- where it runs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "model", "local"),
    [
        ("http://127.0.0.1:11434", MODEL, True),
        ("http://localhost:11434", MODEL, True),
        ("http://[::1]:11434", MODEL, True),
        ("http://127.0.0.1:11434", "gpt-oss:120b-cloud", False),
        ("http://127.0.0.1:11434", "glm-5:cloud", False),
        ("https://ollama.com", MODEL, False),
        ("http://127.example.org", MODEL, False),
    ],
)
def test_it_says_whether_anything_leaves_the_machine(address: str, model: str, local: bool) -> None:
    assert make(connect(address, "ollama")).traits(model).local is local


def test_a_model_in_the_cloud_keeps_its_own_window() -> None:
    assert "num_ctx" not in body(asked(*HELLO, model="glm-5:cloud"))["options"]
    assert make(connect("http://127.0.0.1:9", "ollama")).window("glm-5:cloud") == 0


def test_a_key_is_sent_where_there_is_one_and_never_one_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "from-the-environment")

    async def scenario(server: WireServer, provider: OllamaProvider) -> list[str]:
        await provider.models()
        await collect(provider, asked(*HELLO))
        return [received.headers.get("authorization", "") for received in server.requests]

    assert set(run(scenario, Play((Say("Yes."),)))) == {""}
    assert set(run(scenario, Play((Say("Yes."),)), key="mine")) == {"Bearer mine"}


def test_a_server_that_does_not_run_is_said_to_be_started() -> None:
    async def scenario() -> tuple[OrionError, OrionError]:
        async with WireServer(Wire()) as server:
            address = server.url
        provider = make(connect(address, "ollama"))
        failed = fault(await collect(provider, asked(*HELLO)))
        with pytest.raises(OrionError) as caught:
            await provider.models()
        await provider.close()
        return failed, caught.value

    for error in asyncio.run(scenario()):
        assert error.code == "provider_unreachable"
        assert "start it" in sentence(error.code, **error.fields)


@pytest.mark.parametrize(
    ("status", "text", "code"),
    [
        (200, "<html>sign in first</html>", "reply_malformed"),
        (200, "[1, 2]\n", "reply_malformed"),
        (200, '{"message": {"content": 5}}\n', "reply_malformed"),
        (200, "", "reply_cut_short"),
        (200, '\n{"message": {"content": "so f', "reply_cut_short"),
        (200, '{"error": {"message": "who are you"}, "status": 401}', "key_rejected"),
        (502, '"bad gateway"', "provider_unavailable"),
        (502, "bad gateway", "provider_unavailable"),
        (403, '{"error": {"message": "who are you"}}', "key_rejected"),
    ],
)
def test_what_stands_between_is_told_apart(status: int, text: str, code: str) -> None:
    """A proxy or a page where one signs in answers in its own form."""

    async def scenario() -> OrionError:
        transport = httpx.MockTransport(lambda _request: httpx.Response(status, text=text))
        plain = connect("http://ollama.example", "ollama")
        provider = make(
            Connection("ollama", plain.base_url, plain.key, plain.client, lambda: _client(transport))
        )
        try:
            return fault(await collect(provider, asked(*HELLO)))
        finally:
            await provider.close()

    assert asyncio.run(scenario()).code == code


def _client(transport: httpx.MockTransport) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=transport)


def test_nothing_of_the_key_shows_in_what_can_be_printed() -> None:
    provider = make(connect("http://127.0.0.1:9", "ollama", "sk-very-secret-0123456789"))
    assert "very-secret" not in json.dumps([repr(provider), repr(provider.library), repr(vars(provider))])


# --- the models of the server ---------------------------------------------------------------------------


def test_models_say_what_they_can_and_those_that_only_embed_are_not_offered() -> None:
    async def scenario(_server: WireServer, provider: OllamaProvider) -> None:
        found = {model.name: model for model in await provider.models()}
        assert set(found) == {MODEL, "gemma:2b", "mine:latest"}
        assert (found[MODEL].images, found[MODEL].tools, found[MODEL].window) == (True, True, WINDOW)
        assert (found["gemma:2b"].images, found["gemma:2b"].tools) == (False, False)
        assert found["gemma:2b"].window == 8_192
        assert found["mine:latest"].window == 4_096
        assert found[MODEL].size == 3_000_000_000
        assert provider.window("mine") == 4_096
        assert not provider.traits("gemma:2b").tools
        kept = {model.name: model for model in await provider.library.installed()}
        assert kept["all-minilm:latest"].capabilities == {"embedding"}
        assert (kept[MODEL].parameters, kept[MODEL].quantization) == ("8.8B", "Q4_K_M")

    run(scenario)


def test_models_are_looked_at_again_only_when_they_changed() -> None:
    async def scenario(server: WireServer, provider: OllamaProvider) -> None:
        first = await provider.library.installed()
        asked_first = len(server.requests)
        assert await provider.library.installed() == first
        assert [received.path for received in server.requests[asked_first:]] == ["/api/tags"]

    run(scenario)


def test_a_download_tells_how_far_it_is() -> None:
    async def scenario(server: WireServer, provider: OllamaProvider) -> list[Pulling]:
        found = await pulled(provider)
        assert server.requests[-1].body == {"model": "gemma:2b", "stream": True}
        return found

    steps = run(scenario, Play())
    assert steps[0] == Pulling("pulling manifest")
    assert [step.completed for step in steps if step.total] == [0, TOTAL // 4, TOTAL // 2, TOTAL]
    assert steps[-1].status == "success"


def test_a_download_stops_when_nobody_listens_any_more() -> None:
    async def scenario(server: WireServer, provider: OllamaProvider) -> None:
        steps = provider.library.pull("gemma:2b")
        await anext(steps)
        await steps.aclose()
        async with asyncio.timeout(5):
            await server.closed_early.wait()

    run(scenario, Play(misdeed="silent"))


@pytest.mark.parametrize(
    ("play", "code"),
    [
        (Play(problem="pull model manifest: file does not exist"), "pull_unknown"),
        (Play(problem="write blobs: no space left on device"), "pull_failed"),
        (Play(status=400, problem="invalid model name"), "pull_failed"),
        (Play(misdeed="truncate"), "pull_cut_short"),
        (Play(misdeed="cut"), "pull_cut_short"),
    ],
)
def test_a_download_that_fails_has_its_sentence(play: Play, code: str) -> None:
    async def scenario(_server: WireServer, provider: OllamaProvider) -> OrionError:
        with pytest.raises(OrionError) as caught:
            await pulled(provider)
        return caught.value

    error = run(scenario, play)
    assert error.code == code
    assert "gemma:2b" in sentence(error.code, **error.fields)


def test_a_model_can_be_deleted_once() -> None:
    async def scenario(_server: WireServer, provider: OllamaProvider) -> None:
        await provider.library.show("gemma:2b")
        await provider.library.delete("gemma:2b")
        assert provider.library.known("gemma:2b") is None
        with pytest.raises(OrionError, match="model_not_offered"):
            await provider.library.delete("gemma:2b")

    run(scenario)


def test_texts_become_vectors_in_their_order() -> None:
    async def scenario(server: WireServer, provider: OllamaProvider) -> None:
        assert await provider.library.embed("all-minilm", []) == []
        assert not server.requests
        vectors = await provider.library.embed("all-minilm", ["a", "bcd"])
        assert vectors == [[1.0, 0.5], [3.0, 0.5]]

    run(scenario)
