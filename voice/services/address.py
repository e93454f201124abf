"""Where the services listen: addresses that only this machine reaches, and the sockets they open."""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys

from voice.errors import VoiceError

_BACKLOG = 64
_CODES = {errno.EADDRINUSE: "service_port_taken", errno.EADDRNOTAVAIL: "service_host_unknown"}


def is_loopback(host: str) -> bool:
    """Whether `host`, a name or a number, is this machine as seen by itself alone."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int, *, token: str) -> socket.socket:
    """A socket that takes connections at `host`, port 0 for any free one; the caller closes it.

    Raises VoiceError where the port is taken or not allowed, where `host` is not of this machine, and
    where other machines could reach it without a token.
    """
    if not token and not is_loopback(host):
        raise VoiceError("service_token_needed", host=host)
    try:
        family, kind, _, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, kind)
    except OSError as error:
        raise VoiceError("service_host_unknown", host=host, reason=error.strerror or str(error)) from None
    try:
        if sys.platform == "win32":
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(place)
        opened.listen(_BACKLOG)
    except OSError as error:
        opened.close()
        code = _CODES.get(error.errno or 0, "service_port_refused")
        raise VoiceError(code, host=host, port=port, reason=error.strerror or str(error)) from None
    return opened
