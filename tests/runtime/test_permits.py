"""Permits: names of hosts, the file that keeps them, and several processes that share it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runtime.errors import OrionError
from runtime.permits import Permits, host_name, is_local

FAR = "api.far.example"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (FAR, FAR),
        ("HTTPS://API.Far.Example:8443/v1?x=1", FAR),
        (f" {FAR}. ", FAR),
        (f"{FAR}:443", FAR),
        ("bücher.example", "xn--bcher-kva.example"),
        ("::1", "::1"),
        ("[fe80::1]:80", "fe80::1"),
        ("192.168.1.7", "192.168.1.7"),
    ],
)
def test_a_host_is_known_by_its_plain_name(said: str, name: str) -> None:
    assert host_name(said) == name


@pytest.mark.parametrize("said", ["", "a b", "https://", "x..y", "a:b:c", "*.far.example", "x" * 70])
def test_what_is_no_host_is_refused(said: str) -> None:
    with pytest.raises(OrionError) as refused:
        host_name(said)
    assert refused.value.code == "host_invalid"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_local(host: str) -> None:
    assert is_local(host)


@pytest.mark.parametrize(
    "host", ["localhost.far.example", "127.0.0.1.far.example", "0.0.0.0", "10.0.0.1", "1"]
)
def test_other_names_are_not(host: str) -> None:
    assert not is_local(host)


def test_a_permission_is_kept_with_time_and_what_for_and_taken_back(tmp_path: Path) -> None:
    permits, again = Permits(tmp_path / "network.yaml"), Permits(tmp_path / "network.yaml")
    assert permits.allowed() == []
    assert permits.allow(f"https://{FAR}/v1", "openai") == FAR
    (known,) = again.allowed()
    assert (known.host, known.who) == (FAR, "openai")
    assert known.since.tzinfo is not None
    assert again.permits(FAR)
    assert not again.permits(f"www.{FAR}")
    again.revoke(FAR)
    again.revoke(FAR)
    assert permits.allowed() == []
    assert not permits.permits(FAR)


def test_this_machine_needs_no_permission(tmp_path: Path) -> None:
    permits = Permits(tmp_path / "network.yaml")
    assert permits.allow("http://localhost:11434", "ollama") == "localhost"
    assert permits.allowed() == []


def test_a_file_that_cannot_be_read_allows_nothing_and_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    permits = Permits(file)
    permits.allow(FAR, "openai")
    for text, code in (
        ("version: 99\nhosts: []\n", "format_newer"),
        ("hosts: {{\n", "yaml_syntax"),
        (f"hosts:\n- hoost: {FAR}\n", "yaml_unknown_key"),
    ):
        file.write_text(text, "utf-8")
        assert not permits.permits(FAR)
        for work in (permits.allowed, lambda: permits.allow(FAR, "x"), lambda: permits.revoke(FAR)):
            with pytest.raises(OrionError) as fault:
                work()
            assert fault.value.code == code
        assert file.read_text("utf-8") == text


def test_a_file_written_by_hand_is_understood(tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(f"# mine\nversion: 1\nhosts:\n- host: {FAR}\n  since: 2026-01-02T03:04:05Z\n", "utf-8")
    permits = Permits(file)
    assert permits.permits(FAR)
    permits.allow("other.example", "me")
    assert [known.host for known in permits.allowed()] == [FAR, "other.example"]
    assert file.read_text("utf-8").startswith("# mine")


def test_processes_that_allow_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from runtime.permits import Permits\n"
        "for number in range(10): Permits(Path(sys.argv[1])).allow(f'h{number}.{sys.argv[2]}.example', 'x')"
    )
    file = tmp_path / "network.yaml"
    root = Path(__file__).parents[2]
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(file), name], cwd=root)
        for name in ("a", "b", "c")
    ]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert len(Permits(file).allowed()) == 30
