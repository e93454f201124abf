"""Listings and walks: complete within their limits, links named and not followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runtime.confine import Confined
from runtime.pathnames import WorkspaceError
from runtime.survey import list_tree, temporary_name, walk


@pytest.fixture
def files(tmp_path: Path) -> Confined:
    root = tmp_path / "root"
    for folder in ("b/c/d", "a"):
        (root / folder).mkdir(parents=True)
    for name in ("b/c/d/deep", "b/1", "a/x", "top"):
        (root / name).write_text(name)
    (root / "a" / "out").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    (root / temporary_name("0123", 0)).write_text("half")
    return Confined(root)


def test_a_tree_names_everything_but_what_is_half_written(files: Confined) -> None:
    tree = list_tree(files, (), 9, 100)
    assert [(node.path, node.sort, node.size) for node in tree.nodes] == [
        ("a", "folder", 0),
        ("a/out", "link", 0),
        ("a/x", "file", 3),
        ("b", "folder", 0),
        ("b/1", "file", 3),
        ("b/c", "folder", 0),
        ("b/c/d", "folder", 0),
        ("b/c/d/deep", "file", 10),
        ("pipe", "other", 0),
        ("top", "file", 3),
    ]
    assert not tree.more


def test_depth_and_limit_keep_the_outer_levels(files: Confined) -> None:
    assert [node.path for node in list_tree(files, ("b",), 1, 100).nodes] == ["b/1", "b/c"]
    tree = list_tree(files, (), 9, 5)
    assert [node.path for node in tree.nodes] == ["a", "a/out", "b", "pipe", "top"]
    assert tree.more


def test_a_folder_that_is_none_is_refused(files: Confined) -> None:
    for parts, code in ((("top",), "workspace_not_folder"), (("none",), "workspace_not_found")):
        with pytest.raises(WorkspaceError, match=code):
            list_tree(files, parts, 1, 10)


def test_a_walk_meets_all_that_is_no_folder_in_order(files: Confined) -> None:
    paths = ["/".join(path) for path, _ in walk(files, ())]
    assert paths == ["pipe", "top", "a/out", "a/x", "b/1", "b/c/d/deep"]


def test_a_folder_that_vanishes_during_a_walk_is_left_out(files: Confined) -> None:
    steps = walk(files, ())
    next(steps)
    (files.root / "a" / "x").unlink()
    (files.root / "a" / "out").unlink()
    (files.root / "a").rmdir()
    assert ["/".join(path) for path, _ in steps] == ["top", "b/1", "b/c/d/deep"]
