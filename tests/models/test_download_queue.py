"""The queue of downloads: pause, resume, stop, close and start again, three at a time, one process each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from models.download import Download, Wanted
from models.downloads import AT_ONCE, Downloads
from models.errors import EngineError
from tests.models.download_stage import REPOSITORY, Stage, content, stage, under_way, wanted
from tests.runtime.local_servers import certificates, proxy, serving
from tests.wire.hub import Misdeed

NAME = "Name-Q4_K_M.gguf"
DATA = content(1_000_000)
RATE = 2_000_000
SOON = 2.0
"""Seconds within which a pause must hold, whatever the network does."""


def names(at: Stage, count: int) -> list[Wanted]:
    """That many downloads of different files."""
    files = {f"Name{number}.gguf": content(300_000, seed=number) for number in range(count)}
    at.hub.put(REPOSITORY, files)
    return [wanted(name, data) for name, data in files.items()]


def test_pause_keeps_what_came_and_resume_fetches_the_rest(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)

    async def main() -> None:
        async with at.queue() as downloads:
            begun = await downloads.begin(wanted(NAME, DATA))
            await at.until(downloads, under_way)
            await downloads.pause(begun.id)
            (row,) = downloads.all()
            assert (row.state, row.code) == ("paused", "")
            assert 0 < row.done < len(DATA)
            assert at.placed == []
            at.hub.rate = 0
            await downloads.resume(begun.id)
            assert (await at.end(downloads)).state == "done"
            assert at.hub.asked("/cdn/")[-1].headers["range"] == f"bytes={row.done}-"

    with at.hub:
        asyncio.run(main())
    assert (at.folder / REPOSITORY / NAME).read_bytes() == DATA


def test_a_pause_right_after_the_beginning_holds(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)

    async def main() -> None:
        async with at.queue() as downloads, at.queue() as others:
            begun = await downloads.begin(wanted(NAME, DATA))
            await downloads.pause(begun.id)
            assert [row.state for row in downloads.all()] == ["paused"]
            await others.resume(begun.id)
            assert (await at.end(others)).state == "done"

    with at.hub:
        asyncio.run(main())


def test_a_lock_that_cannot_be_opened_spoils_no_list(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)

    async def main() -> None:
        async with at.queue() as downloads:
            begun = await downloads.begin(wanted(NAME, DATA))
            await downloads.pause(begun.id)
        lock = at.staging / begun.id / "lock"
        lock.unlink(missing_ok=True)
        lock.mkdir()
        async with at.queue() as downloads:
            assert [row.state for row in downloads.all()] == ["paused"]
            with pytest.raises(EngineError, match="download_unwritable"):
                await downloads.resume(begun.id)

    with at.hub:
        asyncio.run(main())


@pytest.mark.parametrize("door", ["cdn", "waiting"])
def test_a_pause_holds_soon_whatever_is_waited_for(door: str, tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    if door == "cdn":
        at.hub.misdeeds.append(Misdeed("stall", after=100_000))
    else:
        at.hub.misdeeds.append(Misdeed("status", status=503, seconds=600))

    async def main() -> None:
        async with at.queue() as downloads:
            begun = await downloads.begin(wanted(NAME, DATA))
            ready = under_way if door == "cdn" else lambda row: row.code == "download_waiting"
            await at.until(downloads, ready)
            begin = time.monotonic()
            await downloads.pause(begun.id)
            assert time.monotonic() - begin < SOON
            await downloads.resume(begun.id)
            assert (await at.end(downloads)).state == "done"

    with at.hub:
        asyncio.run(main())


def test_a_pause_holds_soon_where_a_host_takes_the_call_and_says_nothing(tmp_path: Path) -> None:
    at = stage(tmp_path, {})
    called, over = asyncio.Event(), asyncio.Event()

    async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        called.set()
        await over.wait()
        writer.close()

    async def main() -> None:
        async with serving(silent) as port:
            at.endpoint = f"http://127.0.0.1:{port}"
            async with at.queue() as downloads:
                begun = await downloads.begin(wanted(NAME, DATA))
                await called.wait()
                begin = time.monotonic()
                await downloads.pause(begun.id)
                assert time.monotonic() - begin < SOON
                assert [row.state for row in downloads.all()] == ["paused"]
            over.set()

    asyncio.run(main())


def test_a_pause_ends_a_stalled_connection_under_tls_and_nothing_of_its_cipher_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)
    trusted, context = certificates(tmp_path / "certificates", "127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))

    async def main() -> None:
        async with serving(proxy(at.hub.port, []), context) as port:
            at.endpoint = at.hub.cdn = f"https://127.0.0.1:{port}"
            async with at.queue() as downloads:
                begun = await downloads.begin(wanted(NAME, DATA))
                for _number in range(3):
                    (before,) = downloads.all()
                    await at.until(downloads, lambda row, least=before.done: row.done > least)  # type: ignore[misc]
                    begin = time.monotonic()
                    await downloads.pause(begun.id)
                    assert time.monotonic() - begin < SOON
                    (part,) = at.staging.rglob("*.part")
                    assert DATA.startswith(part.read_bytes())
                    await downloads.resume(begun.id)
                at.hub.rate = 0
                assert (await at.end(downloads)).state == "done"

    with at.hub:
        asyncio.run(main())
    assert at.hub.asked("/cdn/")[-1].headers["range"] > "bytes=0-"


def test_stop_drops_what_came(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)

    async def main() -> None:
        async with at.queue() as downloads:
            begun = await downloads.begin(wanted(NAME, DATA))
            await at.until(downloads, under_way)
            seen = downloads.at
            await downloads.stop(begun.id)
            assert downloads.at > seen
            assert await downloads.step(seen) == []
            with pytest.raises(EngineError, match="download_unknown"):
                await downloads.resume(begun.id)

    with at.hub:
        asyncio.run(main())
    assert at.placed == []
    assert list(at.staging.iterdir()) == []


def test_the_same_thing_twice_is_one_download(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)

    async def main() -> None:
        async with at.queue() as downloads:
            both = await asyncio.gather(*(downloads.begin(wanted(NAME, DATA)) for _number in range(2)))
            assert both[0].id == both[1].id
            await at.until(downloads, under_way)
            assert len(downloads.all()) == 1
            at.hub.rate = 0
            await at.end(downloads)

    with at.hub:
        asyncio.run(main())
    assert len(at.hub.asked("/cdn/")) == 1


def test_three_run_at_once_and_the_others_wait_their_turn(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)
    wants = names(at, 5)

    async def main() -> None:
        async with at.queue() as downloads:
            for want in wants:
                await downloads.begin(want)
            await at.until(downloads, lambda row: row.id == wants[2].id and under_way(row))
            last = downloads.all()[-1]
            assert (last.state, last.id) == ("queued", wants[-1].id)
            await downloads.pause(last.id)
            await downloads.resume(last.id)
            at.hub.rate = 0
            await at.until(downloads, lambda _row: {each.state for each in downloads.all()} == {"done"})

    with at.hub:
        asyncio.run(main())
    assert len(at.placed) == 5
    busiest = max(_running(at.seen))
    assert busiest == AT_ONCE


def _running(seen: list[Download]) -> Iterator[int]:
    """How many ran at each moment that was told."""
    states: dict[str, str] = {}
    for row in seen:
        states[row.id] = row.state
        yield sum(state in ("running", "checking") for state in states.values())


def test_what_ran_at_closing_goes_on_at_the_next_start_and_what_paused_does_not(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)
    ran, waited = names(at, 2)

    async def first() -> None:
        async with at.queue() as downloads:
            await downloads.begin(ran)
            await downloads.begin(waited)
            await at.until(downloads, lambda row: row.id == waited.id and under_way(row))
            await downloads.pause(waited.id)
            await at.until(downloads, lambda row: row.id == ran.id and under_way(row))

    async def second() -> None:
        async with at.queue() as downloads:
            assert {row.state for row in downloads.all()} == {"paused"}
            await downloads.go_on()
            ended = await at.until(downloads, lambda row: row.state == "done")
            assert ended.id == ran.id
            (left,) = [row for row in downloads.all() if row.id == waited.id]
            assert left.state == "paused"
            assert left.done > 0

    with at.hub:
        asyncio.run(first())
        at.hub.rate = 0
        asyncio.run(second())
    assert len(at.placed) == 1


def test_a_download_of_another_process_is_seen_and_left_alone(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)

    async def main() -> None:
        async with at.queue() as theirs, at.queue() as ours:
            begun = await theirs.begin(wanted(NAME, DATA))
            await at.until(theirs, under_way)
            (row,) = ours.all()
            assert (row.state, row.code) == ("running", "download_elsewhere")
            for attempt in (ours.pause(begun.id), ours.resume(begun.id), ours.stop(begun.id)):
                with pytest.raises(EngineError, match="download_elsewhere"):
                    await attempt
            assert (await ours.begin(wanted(NAME, DATA))).code == "download_elsewhere"
            await ours.go_on()
            await theirs.pause(begun.id)
            assert [row.state for row in ours.all()] == ["paused"]
            at.hub.rate = 0
            await ours.resume(begun.id)
            assert (await at.end(ours)).state == "done"

    with at.hub:
        asyncio.run(main())
    assert (at.folder / REPOSITORY / NAME).read_bytes() == DATA


def test_what_another_process_begins_and_ends_meanwhile_is_seen(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)

    async def main() -> None:
        async with at.queue() as theirs, at.queue() as ours:
            assert ours.all() == []
            begun = await theirs.begin(wanted(NAME, DATA))
            await at.until(theirs, under_way)
            assert [row.code for row in ours.all()] == ["download_elsewhere"]
            await theirs.pause(begun.id)
            assert [(row.state, row.code) for row in ours.all()] == [("paused", "")]
            await theirs.stop(begun.id)
            assert ours.all() == []

    with at.hub:
        asyncio.run(main())


def test_the_same_file_of_a_later_revision_keeps_what_came(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA}, rate=RATE)
    first = replace(wanted(NAME, DATA), revision=at.hub.repositories[REPOSITORY].head)

    async def main() -> None:
        async with at.queue() as downloads:
            begun = await downloads.begin(first)
            await at.until(downloads, under_way)
            await downloads.pause(begun.id)
            (row,) = downloads.all()
            at.hub.rate = 0
            later = replace(first, revision=at.hub.put(REPOSITORY, {"README.md": b"new words"}))
            assert (await downloads.begin(later)).id == begun.id
            assert (await at.end(downloads)).state == "done"
            assert at.hub.asked("/cdn/")[-1].headers["range"] == f"bytes={row.done}-"
            assert later.revision in at.hub.asked("/resolve/")[-1].path

    with at.hub:
        asyncio.run(main())


def test_what_a_kill_left_of_a_dropped_download_is_cleared_away(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    (at.staging / "0123456789ab").mkdir(parents=True)
    (at.staging / "0123456789ab" / "0.part").write_bytes(DATA)

    async def main() -> None:
        async with at.queue() as downloads:
            await downloads.go_on()
            assert downloads.all() == []

    asyncio.run(main())
    assert list(at.staging.iterdir()) == []


@pytest.mark.parametrize("broken", ["", "{", '{"v": 1}', '{"v": 99}'])
def test_a_record_that_cannot_be_read_is_left_untouched(broken: str, tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    path = at.staging / "0123456789ab" / "download.json"
    path.parent.mkdir(parents=True)
    path.write_text(broken, "utf-8")

    async def main() -> None:
        async with at.queue() as downloads:
            await downloads.go_on()
            assert downloads.all() == []

    asyncio.run(main())
    assert path.read_text("utf-8") == broken


def test_nothing_is_read_or_made_before_the_first_use(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    Downloads(at.client(), at.folder, at.staging, lambda: None)
    assert not at.staging.exists()
    assert not at.folder.exists()
