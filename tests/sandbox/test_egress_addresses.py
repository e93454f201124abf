"""Addresses in every disguise are known for what they are, and the user's list means what it says."""

from __future__ import annotations

import pytest

from sandbox.egress_addresses import Allowlist, address, is_metadata, is_public, plain_host, split_port


@pytest.mark.parametrize(
    "text",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.5.5", "192.168.1.1", "169.254.169.254"),
        *("100.64.0.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1"),
        *(
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "64:ff9b::a00:1",
        ),
        *("2002:7f00:1::", "2002:a00:1::", "2001:0:7f00:1::", "fe80::1%eth0", "fec0::1", "64:ff9b:1::a00:1"),
    ],
)
def test_what_is_not_on_the_open_internet_is_not_public(text: str) -> None:
    found = address(text)
    assert found is not None
    assert not is_public(found)


@pytest.mark.parametrize(
    "text",
    ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::"],
)
def test_what_is_on_the_open_internet_is_public(text: str) -> None:
    found = address(text)
    assert found is not None
    assert is_public(found)


def test_metadata_is_known_in_every_disguise() -> None:
    for text in ("169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fd00:ec2::254"):
        found = address(text)
        assert found is not None
        assert is_metadata(found)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Example.COM.", "example.com"),
        ("[::1]", "::1"),
        ("::FFFF:1.2.3.4", "::ffff:102:304"),
        ("a_b.example", "a_b.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("2130706433", ""),
        ("0x7f.1", ""),
        ("127.1", ""),
        ("0177.0.0.1", ""),
        ("1.2.3.4.5", ""),
        ("a..b", ""),
        ("-a.b", ""),
        ("bücher.example", ""),
        ("a b", ""),
        ("a\0b", ""),
        ("a/b", ""),
        ("a@b", ""),
        ("", ""),
        (".", ""),
        ("a" * 64 + ".example", ""),
        ("a." * 127 + "example", ""),
    ],
)
def test_a_host_has_one_plain_form(text: str, plain: str) -> None:
    assert plain_host(text) == plain


def test_the_list_covers_names_ports_and_what_lies_below() -> None:
    entries = [
        "Example.com",
        "*.wiki.org",
        "api.test:8443",
        "192.168.1.5",
        "[::1]:8000",
        "private:nas.lan:5000",
    ]
    allowed = Allowlist([*entries, "localhost:3000"])
    assert allowed.ignored == []
    for host, port in [
        ("example.com", 443),
        ("EXAMPLE.com.", 80),
        ("de.wiki.org", 443),
        ("a.b.wiki.org", 80),
        ("api.test", 8443),
        ("192.168.1.5", 80),
        ("::1", 8000),
        ("nas.lan", 5000),
        ("localhost", 3000),
    ]:
        assert allowed.covers(host, port), host
    for host, port in [
        ("www.example.com", 443),
        ("example.com", 22),
        ("wiki.org", 443),
        ("evilwiki.org", 443),
        ("api.test", 443),
        ("192.168.1.6", 80),
        ("nas.lan", 80),
        ("localhost", 80),
        ("127.0.0.1", 3000),
    ]:
        assert not allowed.covers(host, port), host
    assert [allowed.names(*each) for each in [("nas.lan", 5000), ("::1", 8000), ("example.com", 443)]] == [
        True,
        True,
        False,
    ]


def test_entries_that_mean_nothing_allow_nothing() -> None:
    entries = [
        "",
        "*",
        "*.*",
        "*.",
        "http://a.test",
        "a.test:0",
        "a.test:99999",
        "a.test:x",
        "*.10.0.0.1",
        "a b",
    ]
    allowed = Allowlist([*entries, "private:*.lan", "2130706433"])
    assert len(allowed.ignored) == len(entries) + 2
    assert not allowed.covers("a.test", 80)


def test_ports_are_told_from_addresses() -> None:
    assert split_port("a:80") == ("a", 80)
    assert split_port("::1") == ("::1", None)
    assert split_port("[::1]:80") == ("[::1]", 80)
    assert split_port("a:80:90") == ("a:80", 90)
    assert split_port("a") == ("a", None)
