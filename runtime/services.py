"""The services on other machines that are known by name: their addresses and the variables of their keys."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from runtime.errors import OrionError
from runtime.permits import host_name, is_local

OLLAMA_PORT = 11434
_OPENAI, _ANTHROPIC, _HUB = "api.openai.com", "api.anthropic.com", "huggingface.co"
HUB = "huggingface"
"""The provider from which model files come."""


@dataclass(frozen=True, slots=True)
class Service:
    """`provider` is its name in profiles, `title` what people call it, `address` where it is unless a profile
    says otherwise; `variable` is the environment variable its makers use for the key of `place`. `talks` is
    whether conversations are sent to it; one that only hands out files can do without a key."""

    provider: str
    title: str
    address: str
    variable: str
    place: str
    talks: bool = True


SERVICES = {
    service.provider: service
    for service in (
        Service("openai", "OpenAI", f"https://{_OPENAI}/v1", "OPENAI_API_KEY", _OPENAI),
        Service("anthropic", "Anthropic", f"https://{_ANTHROPIC}", "ANTHROPIC_API_KEY", _ANTHROPIC),
        Service("ollama", "Ollama", f"http://127.0.0.1:{OLLAMA_PORT}", "OLLAMA_API_KEY", "ollama.com"),
        Service(HUB, "Hugging Face", f"https://{_HUB}", "HF_TOKEN", _HUB, talks=False),
    )
}


def talks(provider: str) -> bool:
    """Whether conversations are sent to the service."""
    return provider not in SERVICES or SERVICES[provider].talks


def title(provider: str) -> str:
    """What people call the service."""
    return SERVICES[provider].title if provider in SERVICES else provider


def address(provider: str, base_url: str = "") -> str:
    """Where the service is: `base_url`, else OLLAMA_HOST for Ollama or HF_ENDPOINT for Hugging Face, else its
    own address; no slash at the end. Raises OrionError `address_invalid`."""
    found = base_url.strip()
    if not found and provider == HUB:
        found = os.environ.get("HF_ENDPOINT", "").strip()
    if not found and provider == "ollama":
        found = _ollama_host(os.environ.get("OLLAMA_HOST", ""))
    if not found and provider in SERVICES:
        found = SERVICES[provider].address
    place(found)
    return found.rstrip("/")


def _ollama_host(said: str) -> str:
    """OLLAMA_HOST as an address: it may lack scheme and port, and may be what a server listens on."""
    said = said.strip()
    if not said:
        return ""
    scheme, mark, rest = said.rpartition("://")
    host, _slash, path = rest.partition("/")
    port = "" if re.search(r":\d+$", host) else {"": f":{OLLAMA_PORT}"}.get(mark, "")
    host = re.sub(r"^(0\.0\.0\.0|\[::\])?(?=:|$)", "127.0.0.1", host)
    return f"{scheme or 'http'}://{host}{port}" + (f"/{path}" if path else "")


def place(address: str) -> str:
    """To what a key is bound: the host, its port where it is not that of HTTPS, and the scheme where that is
    not HTTPS, as in "api.openai.com" or "http://127.0.0.1:1234". Raises OrionError `address_invalid`."""
    try:
        split = urlsplit(address.strip())
        port = split.port
        name = host_name(split.hostname or "")
    except (ValueError, OrionError):
        raise OrionError("address_invalid", address=address) from None
    if split.scheme not in ("http", "https") or split.username is not None:
        raise OrionError("address_invalid", address=split.hostname or "")
    shown = f"[{name}]" if ":" in name else name
    if split.scheme == "https":
        return shown if port in (None, 443) else f"{shown}:{port}"
    return f"http://{shown}" if port in (None, 80) else f"http://{shown}:{port}"


def host_of(place: str) -> str:
    """The plain name of the host in an address or in what `place` gives."""
    return host_name(place)


def variables(provider: str, place: str) -> list[str]:
    """The environment variables in which the key of `provider` at `place` is looked for, in this order.

    The short names hold only for the address that the service is known by, so that a key never goes to
    another one: for that the name of the host is part of the variable's name.
    """
    own = f"ORION_KEY_{_shout(provider)}"
    known = SERVICES.get(provider)
    if known is None:
        return [own]
    if place == known.place:
        return [known.variable, own]
    return [f"{own}_{_shout(place)}"]


def needs_key(provider: str, place: str) -> bool:
    """Whether asking without a key is hopeless: not for a service without HTTPS or on this machine, as those
    that people run themselves are, which say so where it is; nor where most things are for everybody."""
    if place.startswith("http://") or is_local(host_of(place)):
        return False
    return provider in SERVICES and SERVICES[provider].talks


def _shout(name: str) -> str:
    return re.sub(r"[^A-Z0-9_]+", "_", name.upper().replace("-", "__")).strip("_")
