"""Connections to the local servers, without ledger and permission."""

from __future__ import annotations

import httpx
import httpx2

from runtime.providers.connection import Connection

KEY = "sk-test-0123456789abcdef"


def connect(url: str, provider: str, key: str = KEY, silence: float = 10.0) -> Connection:
    """A connection to `url`; the environment's proxies are not used."""
    return Connection(
        provider=provider,
        base_url=url,
        key=lambda: key,
        client=lambda: httpx2.AsyncClient(trust_env=False, timeout=silence),
        old_client=lambda: httpx.AsyncClient(trust_env=False, timeout=silence),
        silence=silence,
    )
