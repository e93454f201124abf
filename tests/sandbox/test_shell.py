"""The shell, the files, the proxy and the ports in the real container."""

from __future__ import annotations

import asyncio
import time

import pytest

from sandbox.errors import SandboxError
from sandbox.files import GuestFiles, Put
from sandbox.ports import Ports
from sandbox.shell import GuestShell, Ran
from tests.sandbox.conftest import Stage


@pytest.fixture(scope="module")
def shell(guest_machine: Stage) -> GuestShell:
    return GuestShell(guest_machine.guest.control)


def test_the_shell_begins_in_the_workspace_as_a_user_without_power(
    guest_machine: Stage, shell: GuestShell
) -> None:
    ran = guest_machine.run(shell.run("pwd; id -un; id -u; echo $DISPLAY; echo [$PYTHONPATH]; sudo -n true"))
    lines = ran.output.splitlines()
    assert lines[:2] == ["/workspace", "orion"]
    assert lines[2] == "1000"
    assert lines[3].startswith(":")
    assert lines[4] == "[]"
    assert ran.code != 0


def test_a_command_takes_milliseconds(guest_machine: Stage, shell: GuestShell) -> None:
    async def fastest() -> float:
        taken = []
        for _ in range(20):
            started = time.monotonic()
            await shell.run("true")
            taken.append(time.monotonic() - started)
        return min(taken)

    assert guest_machine.run(fastest()) < 0.058  # one `docker exec`


def test_programs_with_windows_open_them_on_the_desktop(guest_machine: Stage, shell: GuestShell) -> None:
    script = "mousepad >/dev/null 2>&1 & timeout 30 xdotool search --sync --onlyvisible --class mousepad"
    ran = guest_machine.run(shell.run(script, session="windows"))
    assert (ran.code, ran.stopped) == (0, "")
    guest_machine.run(shell.restart("windows"))
    ran = guest_machine.run(shell.run("pgrep mousepad; true"))
    assert ran.output == ""


def test_thousands_of_lines_stream_and_the_screen_goes_on(guest_machine: Stage, shell: GuestShell) -> None:
    async def work() -> tuple[Ran, list[str]]:
        heard: list[str] = []
        running = asyncio.create_task(shell.run("seq 1 300000; yes | head -c 30000000", told=heard.append))
        picture = await guest_machine.guest.screen.picture()
        assert picture.startswith(b"\x89PNG")
        return await running, heard

    ran, heard = guest_machine.run(work())
    assert ran.code == 0
    assert ran.omitted > 30_000_000
    assert "".join(heard) == ran.output


def test_files_of_the_workspace_come_and_go_as_the_shell_sees_them(
    guest_machine: Stage, shell: GuestShell
) -> None:
    files = GuestFiles(guest_machine.guest.bulk)

    async def work() -> None:
        wanted = {f"many/{number % 50}/{number}.txt": b"%d\n" % number for number in range(2_000)}
        assert await files.put_many(Put(path, data) for path, data in wanted.items()) == {}
        ran = await shell.run("cat /workspace/many/7/1057.txt; find /workspace/many -type f | wc -l")
        assert ran.output == "1057\n2000\n"
        listed = await files.list("many")
        assert sum(entry.kind == "file" for entry in listed.entries) == 2_000
        await shell.run("ln -s /etc/passwd /workspace/many/link; printf neu >/workspace/many/ä.txt")
        assert (await files.read("many/ä.txt")).data == b"neu"
        with pytest.raises(SandboxError) as caught:
            await files.read("many/link")
        assert caught.value.code == "guest_file_link"
        with pytest.raises(SandboxError) as caught:
            await GuestFiles(guest_machine.guest.bulk, anywhere=True).write("/etc/passwd", b"")
        assert caught.value.code == "guest_file_forbidden"
        await files.remove("many/link")
        found = {fetched.path: fetched.data async for fetched in files.get_many(wanted)}
        assert found == wanted
        assert await files.remove_many([(path, None) for path in [*wanted, "many/ä.txt"]], prune=True) == {}
        assert await files.look("many") is None

    guest_machine.run(work())


def test_nothing_is_reached_without_a_permission_and_it_is_said_why(
    guest_machine: Stage, shell: GuestShell
) -> None:
    ran = guest_machine.run(
        shell.run(
            "curl -sS -m 20 https://example.com; curl -sS -m 20 -o /dev/null -w '%{http_code}' http://example.com"
        )
    )
    assert "403" in ran.output
    ran = guest_machine.run(shell.run("curl -sS -m 5 --noproxy '*' http://93.184.216.34"))
    assert ran.code != 0


def test_a_server_in_the_sandbox_is_reached_where_its_port_is_published(
    guest_machine: Stage, shell: GuestShell
) -> None:
    async def work() -> bytes:
        start = (
            "cd /tmp && echo hello >page && python3 -m http.server 8888 --bind 127.0.0.1 >/dev/null 2>&1 & "
        )
        wait = "until curl -s -o /dev/null http://127.0.0.1:8888/; do sleep 0.05; done"
        await shell.run(start + wait, session="server", timeout=30)
        ports = Ports(guest_machine.guest.control)
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", await ports.publish(8888, 0))
            writer.write(b"GET /page HTTP/1.0\r\n\r\n")
            answer = await reader.read()
            writer.close()
        finally:
            await ports.close()
            await shell.restart("server")
        return answer

    assert guest_machine.run(work()).endswith(b"\r\n\r\nhello\n")
