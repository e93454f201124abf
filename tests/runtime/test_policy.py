"""What runs, what asks and what is refused, and how far a standing permission reaches."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import OrionError
from runtime.events import Risk
from runtime.messages import JsonObject
from runtime.policy import Autonomy, Policy, digest
from runtime.profiles import Profile
from runtime.rules import RuleBook, offers, scope
from runtime.tools.tool import Arguments, Definition


def tool(name: str = "t", risk: Risk = "medium", **changes: object) -> Definition:
    return Definition(name=name, description="Does it.", arguments=Arguments, risk=risk, **changes)  # type: ignore[arg-type]


def policy(book: RuleBook, autonomy: Autonomy = "semi", **changes: object) -> Policy:
    profile = Profile.model_validate(
        {"name": "p", "provider": "x", "model": "y", "allowed_tools": ["t"]} | changes
    )
    return Policy(profile, autonomy, book, "s1")


@pytest.fixture
def book(tmp_path: Path) -> RuleBook:
    return RuleBook(tmp_path / "rules.json")


@pytest.mark.parametrize(
    ("autonomy", "risk", "action"),
    [
        ("semi", "low", "allow"),
        ("semi", "medium", "ask"),
        ("semi", "high", "ask"),
        ("auto", "low", "allow"),
        ("auto", "medium", "allow"),
        ("auto", "high", "ask"),
    ],
)
def test_autonomy_and_risk_decide(book: RuleBook, autonomy: Autonomy, risk: Risk, action: str) -> None:
    assert policy(book, autonomy).judge(tool(risk=risk), {}).action == action


def test_a_profile_overrides_risk_and_may_demand_approval(book: RuleBook) -> None:
    assert policy(book, risk={"t": "low"}).judge(tool(risk="high"), {}).action == "allow"
    assert policy(book, "auto", require_approval=["t"]).judge(tool(risk="low"), {}).action == "ask"


def test_stasis_leaves_only_looking(book: RuleBook) -> None:
    stasis = {"policy": {"stasis_mode": True}}
    assert policy(book, "auto", **stasis).judge(tool(risk="medium"), {}).rule == "stasis"
    assert policy(book, "auto", **stasis).judge(tool(risk="low"), {}).action == "allow"


def test_what_is_not_on_the_list_is_refused(book: RuleBook) -> None:
    assert policy(book).judge(tool("other", "low"), {}).rule == "allowlist"


WRITE = tool(path_argument="path")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("a/b.txt", True),
        ("a/c/d.txt", True),
        ("ab/x", False),
        ("a/../etc/x", False),
        ("/a/x", False),
        ("b", False),
    ],
)
def test_a_rule_for_a_folder_covers_that_folder_only(book: RuleBook, path: str, allowed: bool) -> None:
    book.grant(WRITE, {"path": "a/x.txt"}, "session", "s1")
    assert book.allows(WRITE, {"path": path}, "s1") is allowed
    assert not book.allows(WRITE, {"path": "a/x.txt"}, "s2")


SHELL = tool(command_argument="command")


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("git status", True),
        ("git status --short", True),
        ("git push", False),
        ("git status; rm -r x", False),
        ("git status && rm x", False),
        ("git status `id`", False),
        ("git status $(id)", False),
        ("git status > x", False),
        ("git status\nrm x", False),
    ],
)
def test_a_rule_for_a_command_covers_program_and_subcommand_without_shell_tricks(
    book: RuleBook, command: str, allowed: bool
) -> None:
    book.grant(SHELL, {"command": "git status"}, "always", "s1")
    assert book.allows(SHELL, {"command": command}, "s2") is allowed


def test_a_rule_for_a_host_covers_that_host_only(book: RuleBook) -> None:
    fetch = tool(host_argument="url")
    book.grant(fetch, {"url": "https://example.org/a"}, "session", "s1")
    assert book.allows(fetch, {"url": "https://example.org/b?c"}, "s1")
    assert not book.allows(fetch, {"url": "https://example.org.evil.test/"}, "s1")
    assert not book.allows(fetch, {"url": "https://evil.test/example.org"}, "s1")


def test_high_risk_is_never_allowed_for_longer(book: RuleBook) -> None:
    risky = tool(risk="high", path_argument="path")
    assert list(offers(risky, {"path": "a"}, "high")) == ["once"]
    with pytest.raises(OrionError, match="trust_refused"):
        book.grant(risky, {"path": "a"}, "session", "s1")


def test_always_is_kept_on_disk_and_revoked_for_good(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    rule = RuleBook(path).grant(WRITE, {"path": "a/x"}, "always", "s1")
    assert rule is not None
    again = RuleBook(path)
    assert again.allows(WRITE, {"path": "a/y"}, "another")
    again.revoke(rule.id)
    assert not RuleBook(path).allows(WRITE, {"path": "a/y"}, "another")


@pytest.mark.parametrize("content", ["", "[]", "{", '{"v": 1}', '{"v": "x", "rules": []}'])
def test_an_unreadable_rule_file_is_refused_never_taken_as_permission(tmp_path: Path, content: str) -> None:
    path = tmp_path / "rules.json"
    path.write_text(content)
    with pytest.raises(OrionError, match="rules_unreadable"):
        RuleBook(path)
    assert path.read_text() == content


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=4), json_values, max_size=4))
def test_the_digest_binds_exact_arguments_whatever_their_order(arguments: JsonObject) -> None:
    turned = dict(reversed(arguments.items()))
    assert digest("t", arguments) == digest("t", turned)
    assert digest("t", arguments) != digest("u", arguments)
    assert digest("t", arguments) != digest("t", arguments | {"extra": 1})


def test_no_scope_is_found_where_the_path_leaves_the_workspace() -> None:
    assert scope(WRITE, {"path": "../x"}) is None
    assert scope(WRITE, {"path": "/etc/x"}) is None
    assert scope(WRITE, {"path": "notes/x.md"}) == ("path", "notes")


@pytest.mark.parametrize("path", ["SOUL.md", "./USER.md", "x/../soul.md", "Soul.MD", "\uff33OUL.md"])
@pytest.mark.parametrize("autonomy", ["semi", "auto"])
def test_text_from_outside_never_changes_unasked_what_every_chat_is_told(
    book: RuleBook, autonomy: Autonomy, path: str
) -> None:
    write = tool(undoable=True, path_argument="path")
    book.grant(write, {"path": "a"}, "session", "s1")
    clean = policy(book, autonomy)
    tainted = Policy(clean.profile, autonomy, book, "s1", lambda: True)
    assert clean.judge(write, {"path": path}).action == "allow"
    assert tainted.judge(write, {"path": path}).action == "ask"
    assert tainted.judge(write, {"path": "notes/SOUL.md"}).action == "allow"
