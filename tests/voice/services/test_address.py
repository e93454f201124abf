"""Only this machine is listened to unless there is a token, and a port that is taken is said."""

from __future__ import annotations

import socket

import pytest

from voice.errors import VoiceError
from voice.services.address import is_loopback, listen


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "LOCALHOST", "localhost."])
def test_addresses_of_this_machine_alone(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "192.168.1.5", "example.com", "localhost.evil.com"])
def test_addresses_that_others_reach(host: str) -> None:
    assert not is_loopback(host)


def test_it_listens_on_a_free_port() -> None:
    with listen("127.0.0.1", 0, token="") as opened, socket.create_connection(opened.getsockname()) as client:
        assert client.getpeername() == opened.getsockname()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5"])
def test_other_machines_need_a_token(host: str) -> None:
    with pytest.raises(VoiceError) as caught:
        listen(host, 0, token="")
    assert caught.value.code == "service_token_needed"
    assert caught.value.fields == {"host": host}


def test_with_a_token_it_may_listen_everywhere() -> None:
    with listen("0.0.0.0", 0, token="secret") as opened:
        assert opened.getsockname()[0] == "0.0.0.0"


def test_a_port_that_is_taken() -> None:
    with listen("127.0.0.1", 0, token="") as opened:
        port = opened.getsockname()[1]
        with pytest.raises(VoiceError) as caught:
            listen("127.0.0.1", port, token="")
    assert caught.value.code == "service_port_taken"
    assert caught.value.fields["port"] == port


def test_a_port_is_free_again_at_once() -> None:
    opened = listen("127.0.0.1", 0, token="")
    port = opened.getsockname()[1]
    with socket.create_connection(opened.getsockname()):
        accepted, _peer = opened.accept()
        accepted.close()
        opened.close()
    listen("127.0.0.1", port, token="").close()
