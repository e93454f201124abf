"""What the window may ask about the models on an Ollama server's disk; questions to the desk like its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from desktop.desk import Desk
    from runtime.ollama_shelf import Download

Plain = dict[str, Any]


async def ollama_models(desk: Desk, address: str) -> list[Plain]:
    """The models that the server at `address` keeps: [{"name", "size" in bytes, "parameters"}]. Raises
    OrionError as a call of the server."""
    found = await desk.runtime.ollama(address=address).models()
    return [{"name": one.name, "size": one.size, "parameters": one.parameters} for one in found]


async def ollama_pull(desk: Desk, address: str, name: str) -> Plain:
    """Let the server fetch `name`, which the user has just allowed; the first Download as plain data."""
    return _plain(await desk.runtime.ollama(address=address).begin(name))


async def ollama_step(desk: Desk, address: str, seen: int) -> Plain:
    """The download once it has moved on from step `seen`; {} where none was begun."""
    shelf = desk.runtime.ollama(address=address)
    return _plain(await shelf.step(seen)) if shelf.download is not None else {}


async def ollama_stop(desk: Desk, address: str) -> Plain:
    """Stop the download; how it ended."""
    return _plain(await desk.runtime.ollama(address=address).stop())


async def ollama_delete(desk: Desk, address: str, name: str) -> list[Plain]:
    """Delete a model from the server's disk; what `ollama_models` returns."""
    await desk.runtime.ollama(address=address).delete(name)
    return await ollama_models(desk, address)


def _plain(download: Download | None) -> Plain:
    return {} if download is None else download.as_dict()
