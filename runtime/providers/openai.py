"""Chooses between the two ways in which OpenAI and the services like it speak."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from runtime.providers.connection import Connection
from runtime.providers.openai_chat import OpenAIChatProvider
from runtime.providers.openai_responses import OpenAIResponsesProvider
from runtime.providers.openai_wire import is_official
from runtime.providers.provider import Provider

Api = Literal["", "chat", "responses"]


def make(connection: Connection, api: Api = "") -> Provider:
    """The provider for `connection`; an empty `api` means Responses at OpenAI's own address, and Chat
    Completions, which all others know, everywhere else."""
    host = urlsplit(connection.base_url).hostname or ""
    if api == "responses" or (not api and is_official(host)):
        return OpenAIResponsesProvider(connection)
    return OpenAIChatProvider(connection)
