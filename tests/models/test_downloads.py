"""Downloads from a hub that misbehaves: what came stays, what is wrong goes, nothing half is in place."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from models.download import Download, Wanted
from models.downloads import Downloads
from models.errors import EngineError
from models.hub import Hub
from models.hub_files import File
from runtime.errors import OrionError
from runtime.providers.connection import HostRefused
from tests.models.download_stage import QUICK, REPOSITORY, Stage, content, stage, wanted
from tests.wire.hub import Misdeed

NAME = "Name-Q4_K_M.gguf"
DATA = content(1_500_000)
PLACED = [f"{REPOSITORY}/{NAME}"]


def fetch(
    at: Stage, want: Wanted | None = None, then: Callable[[Downloads], Awaitable[None]] | None = None
) -> Download:
    """How one download ends; `then` is done after it began."""

    async def main() -> Download:
        async with at.queue() as downloads:
            await downloads.begin(want or wanted(NAME, DATA))
            if then is not None:
                await then(downloads)
            return await at.end(downloads)

    with at.hub:
        return asyncio.run(main())


def whole(at: Stage) -> bool:
    """Whether exactly the wanted file is in place and nothing is left elsewhere."""
    right = at.placed == PLACED and (at.folder / PLACED[0]).read_bytes() == DATA
    return right and not list(at.staging.glob("*"))


def resumed(at: Stage) -> list[str]:
    """The ranges that the hub's store was asked for after the first request."""
    return [asked.headers.get("range", "") for asked in at.hub.asked("/cdn/")[1:]]


def test_a_file_comes_whole_and_its_rows_tell_how_far_it_is(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=4_000_000)
    row = fetch(at)
    assert (row.state, row.code, row.done, row.total) == ("done", "", len(DATA), len(DATA))
    assert row.path == str(at.folder / PLACED[0])
    assert whole(at)
    running = [seen for seen in at.seen if seen.state == "running" and 0 < seen.done < len(DATA)]
    assert any(seen.speed > 0 and seen.seconds_left is not None for seen in running)
    steps = [seen.step for seen in at.seen]
    assert steps == sorted(steps)


def test_everything_fetched_is_in_the_ledger_under_its_purpose(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    fetch(at)
    entries = at.network.entries()
    assert {(entry.who, entry.purpose) for entry in entries} == {("huggingface", "download")}
    assert sum(entry.received for entry in entries) > len(DATA)
    assert not any(entry.open for entry in entries)


@pytest.mark.parametrize("after", [0, 1, 700_000])
def test_after_a_cut_only_the_rest_is_fetched(after: int, tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds.append(Misdeed("cut", after=after))
    row = fetch(at)
    assert row.state == "done"
    assert whole(at)
    assert resumed(at) == ([f"bytes={after}-"] if after else [""])
    assert at.hub.served == len(DATA)
    waits = [seen.fields for seen in at.seen if seen.code == "download_waiting"]
    assert waits
    assert waits[0]["host"] == "127.0.0.1"


def test_many_cuts_with_progress_never_end_it(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds.append(Misdeed("cut", after=150_000, times=9))
    assert fetch(at).state == "done"
    assert whole(at)


def test_a_hub_that_stays_away_is_given_up_and_the_part_is_kept(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds += [Misdeed("cut", after=500_000), Misdeed("hangup", times=20)]
    row = fetch(at)
    assert (row.state, row.code, row.done) == ("failed", "hub_unreachable", 500_000)
    assert at.placed == []
    at.hub.misdeeds.clear()
    assert fetch(at).state == "done"
    assert resumed(at)[-1] == "bytes=500000-"
    assert whole(at)


def test_a_wrong_byte_is_noticed_dropped_and_tried_once_more(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds.append(Misdeed("wrong"))
    assert fetch(at).state == "done"
    assert whole(at)
    assert at.hub.served == 2 * len(DATA)


def test_a_file_that_is_wrong_twice_fails_and_nothing_of_it_stays(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds.append(Misdeed("wrong", times=9))
    row = fetch(at)
    assert (row.state, row.code, row.fields) == ("failed", "download_corrupt", {"name": NAME})
    assert at.placed == []
    assert at.hub.served == 2 * len(DATA)
    assert [part.stat().st_size for part in at.staging.rglob("*.part")] == [0]


@pytest.mark.parametrize("kind", ["whole", "shifted", "refuse_range"])
def test_a_server_that_cannot_go_on_where_it_should_sends_all_of_it(kind: str, tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds += [Misdeed("cut", after=400_000), Misdeed(kind)]  # type: ignore[arg-type]
    assert fetch(at).state == "done"
    assert whole(at)


@pytest.mark.parametrize(("status", "door"), [(429, "head"), (429, "cdn"), (503, "resolve")])
def test_a_busy_hub_is_asked_again_when_it_said(status: int, door: str, tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds.append(Misdeed("status", door, status=status, seconds=1))  # type: ignore[arg-type]
    assert fetch(at).state == "done"
    waits = [seen.fields for seen in at.seen if seen.code == "download_waiting"]
    assert waits[0] == {"host": "127.0.0.1", "reason": f"HTTP status {status}", "seconds": 1}
    assert whole(at)


def test_a_hub_that_stays_out_of_order_is_given_up(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds.append(Misdeed("status", status=500, times=99))
    row = fetch(at)
    assert (row.state, row.code, row.fields["status"]) == ("failed", "hub_unavailable", 500)
    assert len(at.hub.asked("/cdn/")) == QUICK.tries


def test_a_redirect_to_a_host_that_was_not_allowed_waits_for_the_permission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store of the hub lies elsewhere, behind the proxy of a company, which is the test's hub itself."""
    at = stage(tmp_path, {NAME: DATA}, cdn="http://cdn.far.example")
    row = fetch(at)
    assert (row.state, row.code, row.fields) == ("failed", "host_refused", {"host": "cdn.far.example"})
    assert {asked.host for asked in at.hub.requests} == {at.hub.url.removeprefix("http://")}
    at.network.allow("cdn.far.example", "huggingface")
    at.token = "hf_secret"

    async def main() -> Download:
        monkeypatch.setenv("http_proxy", at.hub.url)
        async with at.queue() as downloads:
            (waiting,) = downloads.all()
            assert (waiting.state, waiting.code) == ("failed", "host_refused")
            await downloads.resume(waiting.id)
            return await at.end(downloads)

    with at.hub:
        assert asyncio.run(main()).state == "done"
    assert whole(at)
    far = [asked for asked in at.hub.requests if asked.host == "cdn.far.example"]
    near = [asked for asked in at.hub.requests if "authorization" in asked.headers]
    assert far
    assert near
    assert not any("authorization" in asked.headers for asked in far)
    assert {entry.via != "" for entry in at.network.entries() if entry.host == "cdn.far.example"} == {True}


def test_a_gated_repository_names_its_page_and_opens_with_the_right_token(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.repositories[REPOSITORY].about["gated"] = "auto"
    for token in ("", "hf_wrong"):
        at.token = token
        row = fetch(at)
        assert (row.state, row.code) == ("failed", "download_gated")
        assert row.fields == {"repository": REPOSITORY, "page": f"{at.hub.url}/{REPOSITORY}"}
    at.token = "hf_right"
    assert fetch(at).state == "done"
    assert whole(at)
    assert b"hf_right" not in b"".join(path.read_bytes() for path in tmp_path.rglob("*.json*"))


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    row = fetch(at, wanted("Other.gguf", DATA))
    assert (row.state, row.code, row.fields["name"]) == (
        "failed",
        "hub_not_found",
        f"{REPOSITORY}/Other.gguf",
    )


def test_a_token_that_cannot_be_read_ends_it_with_its_reason(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})

    async def main(error: Exception) -> Download:
        def token() -> str:
            raise error

        hub = Hub(
            lambda: at.network.blocking_client("x", purpose="y"), at.hub.url, token, refused=HostRefused
        )
        downloads = Downloads(hub, at.folder, at.staging, lambda: None, at.pace)
        await downloads.begin(wanted(NAME, DATA))
        row = await at.end(downloads)
        await downloads.close()
        return row

    with at.hub:
        row = asyncio.run(main(OrionError("keyring_locked", fault="user", reason="locked")))
        assert (row.state, row.code, row.fields) == ("failed", "keyring_locked", {"reason": "locked"})
        row = asyncio.run(main(ZeroDivisionError()))
        assert (row.state, row.code, row.fields) == ("failed", "download_broken", {"title": "Name"})
    assert at.hub.requests == []


def test_a_hub_without_checksums_is_not_trusted(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds.append(Misdeed("unhashed", "head", times=9))
    at.hub.cdn = "http://localhost:9"
    row = fetch(at, wanted(NAME, DATA, hashed=False))
    assert (row.state, row.code) == ("failed", "download_unverified")


def test_a_mirror_that_knows_no_question_before_the_file_is_taken_at_its_files(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds.append(Misdeed("status", "head", status=405, times=9))
    assert fetch(at, wanted(NAME, DATA, hashed=False)).code == "hub_unusable"
    assert fetch(at).state == "done"
    assert whole(at)


def test_a_small_file_is_checked_by_the_hash_that_git_gives_it(tmp_path: Path) -> None:
    text = b'{"model_type": "whisper"}\n'
    at = stage(tmp_path, {"config.json": text})
    at.hub.misdeeds.append(Misdeed("wrong", "resolve"))
    assert fetch(at, wanted("config.json", text, hashed=False)).state == "done"
    assert (at.folder / REPOSITORY / "config.json").read_bytes() == text
    assert len(at.hub.asked("config.json")) == 2


def test_a_file_that_changed_on_the_hub_begins_anew(tmp_path: Path) -> None:
    """Described, then changed: the hash of now counts. While it is under way its commit is pinned."""
    newer = content(1_200_000, seed=2)
    at = stage(tmp_path, {NAME: DATA})
    at.hub.put(REPOSITORY, {NAME: newer})
    assert fetch(at).state == "done"
    assert (at.folder / PLACED[0]).read_bytes() == newer


def test_a_download_under_way_keeps_to_the_commit_it_began_with(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds += [Misdeed("cut", after=500_000), Misdeed("hangup", times=20)]
    assert fetch(at).state == "failed"
    at.hub.misdeeds.clear()
    at.hub.put(REPOSITORY, {NAME: content(999, seed=2)})
    assert fetch(at).state == "done"
    assert whole(at)
    assert resumed(at)[-1] == "bytes=500000-"


def test_where_the_pinned_commit_is_gone_everything_begins_anew(tmp_path: Path) -> None:
    newer = content(800_000, seed=2)
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds += [Misdeed("cut", after=500_000), Misdeed("hangup", times=20)]
    assert fetch(at).state == "failed"
    at.hub.misdeeds.clear()
    del at.hub.repositories[REPOSITORY]
    at.hub.put(REPOSITORY, {NAME: newer, "LICENSE": b"another"})
    assert fetch(at).state == "done"
    assert (at.folder / PLACED[0]).read_bytes() == newer


def test_a_split_model_appears_with_all_its_parts(tmp_path: Path) -> None:
    names = [f"Big-Q8_0-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    parts = {name: content(200_000, seed=seed) for seed, name in enumerate(names)}
    files = tuple(File(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in parts.items())
    at = stage(tmp_path, parts)
    at.hub.misdeeds.append(Misdeed("status", door="head", status=404, file=names[2]))
    want = Wanted(REPOSITORY, "main", files, "Big", into=REPOSITORY)
    assert fetch(at, want).code == "hub_not_found"
    assert at.placed == []
    row = fetch(at, want)
    assert (row.state, row.total) == ("done", 600_000)
    assert row.path.endswith(names[0])
    assert at.placed == [f"{REPOSITORY}/{name}" for name in names]
    assert at.hub.served == 600_000


def test_what_is_in_place_already_is_not_fetched_again(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    assert fetch(at).state == "done"
    assert fetch(at).state == "done"
    assert at.hub.served == len(DATA)
    (at.folder / PLACED[0]).write_bytes(DATA[:-1] + b"?")
    assert fetch(at).state == "done"
    assert whole(at)


@pytest.mark.parametrize(
    "name",
    ["../x.gguf", "/etc/x.gguf", "a//b.gguf", "a\\b.gguf", "c:x.gguf", "nul.gguf", ".x.gguf", "x" * 300, ""],
)
def test_names_that_could_lead_elsewhere_are_refused(name: str, tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    for want in (wanted(name, DATA), replace(wanted(NAME, DATA), into=name or "..")):
        with pytest.raises(EngineError) as refused:
            fetch(at, want)
        assert refused.value.code == "download_name_refused"
    assert at.hub.requests == []
