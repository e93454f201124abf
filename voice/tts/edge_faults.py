"""What can go wrong between here and the speech service, as errors of the voice room."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from voice.errors import VoiceError

_UNTOLD = re.compile(r"[^\s'\"]*:.*@| ssl:<[^>]*>")
"""What aiohttp writes into its errors and nobody may or needs to read: a proxy's password, an object."""


@contextmanager
def translated(voice: str) -> Iterator[None]:
    """Raise what aiohttp and edge_tts raise inside as a VoiceError about `voice`; import neither before."""
    import aiohttp
    from edge_tts import exceptions as service

    try:
        yield
    except service.SkewAdjustmentError as error:
        raise VoiceError("voice_edge_clock", voice=voice) from error
    except service.NoAudioReceived as error:
        raise VoiceError("voice_edge_silent", voice=voice) from error
    except (service.EdgeTTSException, aiohttp.ContentTypeError) as error:
        raise VoiceError("voice_edge_broken", voice=voice, reason=_short(error)) from error
    except (aiohttp.ClientHttpProxyError, aiohttp.ClientProxyConnectionError) as error:
        raise VoiceError("voice_proxy", voice=voice, reason=_short(error)) from error
    except aiohttp.ClientResponseError as error:
        raise VoiceError("voice_edge_refused", voice=voice, status=error.status) from error
    except aiohttp.ClientConnectorDNSError as error:
        raise VoiceError("voice_offline", voice=voice) from error
    except TimeoutError as error:
        raise VoiceError("voice_edge_slow", voice=voice) from error
    except (aiohttp.ClientError, OSError) as error:
        raise VoiceError("voice_edge_unreachable", voice=voice, reason=_short(error)) from error
    except (ValueError, LookupError) as error:
        raise VoiceError("voice_edge_broken", voice=voice, reason=_short(error)) from error


def _short(error: Exception) -> str:
    return _UNTOLD.sub("", str(error) or type(error).__name__)[:200]
