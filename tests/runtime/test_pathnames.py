"""Which names the workspace takes, and that nothing else gets through."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as some

from resources.sentences import known
from runtime.pathnames import WorkspaceError, is_name, split, visible

REFUSED = [
    ("/etc/passwd", "workspace_path_absolute"),
    ("\\\\server\\share", "workspace_path_absolute"),
    ("C:\\x", "workspace_path_absolute"),
    ("c:x", "workspace_path_absolute"),
    ("~/x", "workspace_path_absolute"),
    ("~root", "workspace_path_absolute"),
    ("..", "workspace_path_outside"),
    ("a/../../b", "workspace_path_outside"),
    ("a/./../b", "workspace_path_outside"),
    ("notes\\..\\x", "workspace_name_refused"),
    ("file.txt:stream", "workspace_name_refused"),
    ("a.", "workspace_name_refused"),
    ("a /b", "workspace_name_refused"),
    ("...", "workspace_name_refused"),
    ("NUL", "workspace_name_device"),
    ("a/con.txt", "workspace_name_device"),
    ("Com1", "workspace_name_device"),
    ("LPT¹.log", "workspace_name_device"),
    ("nul .txt", "workspace_name_device"),
    ("CONOUT$", "workspace_name_device"),
    ("a\0b", "workspace_name_unseen"),
    ("a\nb", "workspace_name_unseen"),
    ("a\u202etxt.exe", "workspace_name_unseen"),
    ("a\u200b", "workspace_name_unseen"),
    ("\u3164", "workspace_name_unseen"),
    ("a\x7f", "workspace_name_unseen"),
    ("\ud800", "workspace_name_refused"),
    ("\udc61", "workspace_name_refused"),  # spells "a"
    ("\udce2\udc80\udcae", "workspace_name_refused"),  # spells a right-to-left override
    ("x" * 256, "workspace_path_long"),
    ("ü" * 128, "workspace_path_long"),
    ("a/" * 65 + "b", "workspace_path_long"),
    ("a/" * 2100, "workspace_path_long"),
]


@pytest.mark.parametrize(("path", "code"), REFUSED, ids=ascii)
def test_a_dangerous_path_is_refused_by_its_own_code(path: str, code: str) -> None:
    with pytest.raises(WorkspaceError) as refusal:
        split(path)
    assert refusal.value.code == code
    assert refusal.value.code in known()
    assert str(refusal.value.fields["path"]).isprintable()


@pytest.mark.parametrize(
    "path", ["a", "a/b.txt", "été/naïve 你好.md", ".hidden", "a b", "console", "com", "x~"]
)
def test_an_ordinary_path_is_taken(path: str) -> None:
    assert "/".join(split(path)) == path


def test_the_workspace_itself_and_doubled_slashes_have_one_spelling() -> None:
    assert split("") == split(".") == split("./") == ()
    assert split("a//b/./c/") == ("a", "b", "c")


def test_a_name_that_is_not_utf_8_keeps_its_bytes() -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    assert os.fsencode(split(name)[0]) == b"caf\xe9.txt"
    assert is_name(name)
    assert visible(name) == "caf\\udce9.txt"


COMPONENT = some.one_of(
    some.text(max_size=8),
    some.sampled_from(["..", ".", "~", "", "a", "C:", "\\", "NUL", "\0", "a:b", "\udc2e\udc2e", "．．", "‥"]),
)


@given(some.lists(COMPONENT, max_size=8), some.sampled_from(["/", "//", "\\", "/./"]))
def test_whatever_is_accepted_stays_below_the_root(components: list[str], joint: str) -> None:
    try:
        parts = split(joint.join(components))
    except WorkspaceError:
        return
    for part in parts:
        raw = os.fsencode(part)
        assert raw not in (b"", b".", b"..")
        assert not any(byte in raw for byte in b"/\\\0:")
        assert PurePosixPath(part).parts == (part,)
