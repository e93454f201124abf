"""The guest's shell keeps its state, bounds what a command may do, and outlives what is done to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.errors import SandboxError
from sandbox.guest import shell_processes
from sandbox.guest.peer import Call, Operation
from sandbox.guest.shell import Session, Shells
from sandbox.guest.shell_once import Once
from sandbox.shell import GuestShell, Ran
from tests.sandbox.guest.pairs import pair


class Here(Shells):
    """Sessions that begin in a folder of the test's own."""

    def __init__(self, home: str) -> None:
        super().__init__()
        self._sessions.update({name: Session(home) for name in ("", "other")})


def with_shell(home: Path, work: Callable[[GuestShell], Awaitable[None]]) -> None:
    async def run() -> None:
        shells, once = Here(str(home)), Once(alone=False, home=str(home))
        served: dict[str, Operation] = {
            "shell.run": shells.run,
            "shell.restart": shells.restart,
            "process.run": once.run,
        }
        async with pair(guest=served) as (host, _):
            shell = GuestShell(host)
            try:
                await work(shell)
            finally:
                for name in ("", "other"):
                    await shell.restart(name)

    asyncio.run(run())


def test_folder_variables_functions_and_the_last_status_are_kept(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        await shell.run(
            "mkdir sub; cd sub; x='a b'; export Y=1; f() { echo \"f $1\"; }; shopt -s expand_aliases"
        )
        ran = await shell.run('pwd; echo "$x"; f $Y; bash -c "echo \\$Y"; (exit 7)')
        assert ran == Ran(f"{tmp_path}/sub\na b\nf 1\n1\n", 7, folder=f"{tmp_path}/sub", seconds=ran.seconds)
        assert (await shell.run("echo $?")).output == "7\n"
        assert (await shell.run("pwd; echo [$x]", session="other")).output == f"{tmp_path}\n[]\n"

    with_shell(tmp_path, work)


def test_output_of_both_kinds_comes_in_order_as_it_is_printed(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        heard: list[str] = []
        go = tmp_path / "go"
        first = asyncio.Event()

        def told(text: str) -> None:
            heard.append(text)
            first.set()

        running = asyncio.create_task(
            shell.run(f"echo ä; until [ -e {go} ]; do :; done; echo 文 >&2; echo 🙂", told=told)
        )
        await first.wait()
        assert heard == ["ä\n"]
        go.touch()
        assert (await running).output == "ä\n文\n🙂\n"

    with_shell(tmp_path, work)


@pytest.mark.parametrize(
    ("command", "code", "output"),
    [
        ("echo 'never closed", 2, "unexpected EOF while looking for matching"),
        ("if true", 2, "syntax error"),
        ("cat <<'E'\na $x `b`\n'q'\nE", 0, "a $x `b`\n'q'\n"),
        ("no_such_program", 127, "no_such_program: command not found"),
        (
            "read line; echo \"[$line]\"; cat; python3 -c 'import sys; print(repr(sys.stdin.read()))'",
            0,
            "[]\n''\n",
        ),
        ("break; continue; return 5; echo on", 0, "on\n"),
        ("exec >/dev/null; echo lost", 0, ""),
        ("exec 2>&1 1>&-; echo lost", 1, "write error"),
        ("-x", 127, "-x: command not found"),
        ("echo \"it's\" $'\\x41' \\\\ '\\' \"\\\"\"", 0, "it's A \\ \\ \"\n"),
        ("echo a!b; echo $-", 0, "a!b\n"),
        ("", 0, ""),
        ("# nothing", 0, ""),
        ("printf 'no end of line'", 0, "no end of line"),
        ("set -u; echo $undefined; echo on", 1, "undefined: unbound variable"),
        ("printf '%s\\n' '7 0' '1 0' '2 0' >&2", 0, "7 0\n1 0\n2 0\n"),
        (
            "( echo 1 0 >&251 ) 2>&1; ls /proc/$BASHPID/fd | tr '\\n' ' ' >/dev/null",
            0,
            "251: Bad file descriptor",
        ),
    ],
)
def test_a_command_gives_what_bash_gives_and_the_shell_lives_on(
    tmp_path: Path, command: str, code: int, output: str
) -> None:
    async def work(shell: GuestShell) -> None:
        await shell.run("kept=1")
        ran = await shell.run(command, timeout=20)
        assert ran.code == code
        assert output in ran.output if output else ran.output == ""
        assert (await shell.run("echo $kept back")).output == "1 back\n"

    with_shell(tmp_path, work)


def test_sabotage_of_prompts_fields_and_traps_changes_nothing(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        await shell.run(
            "PROMPT_COMMAND='echo prompt'; PS1='$(echo one)'; PS2=two; PS4='trace '; IFS=0123456789x"
        )
        await shell.run(
            "set -e; set -o pipefail; trap 'echo debug' DEBUG; trap 'echo err' ERR; trap : INT TERM"
        )
        assert "on" in (await shell.run("false; echo on")).output
        await shell.run("trap - DEBUG ERR INT TERM")
        ran = await shell.run(
            "echo 12x34; exit() { :; }; printf() { :; }; eval() { :; }; read() { :; }; exit"
        )
        assert (ran.output, ran.code, ran.ended) == ("12x34\n", 0, False)
        assert (await shell.run("set -x; echo on")).output.endswith("trace echo on\non\n")
        assert (await shell.run("set +x; echo on")).output.endswith("on\n")

    with_shell(tmp_path, work)


@pytest.mark.parametrize(
    ("command", "code"), [("exit 3", 3), ("kill -9 $$", -9), ("set -e; false; echo no", 1), ("exec true", 0)]
)
def test_a_shell_that_ends_is_told_and_followed_by_a_new_one(tmp_path: Path, command: str, code: int) -> None:
    async def work(shell: GuestShell) -> None:
        await shell.run("mkdir here; cd here; x=1")
        ran = await shell.run(command)
        assert (ran.code, ran.ended, "no" in ran.output) == (code, True, False)
        assert (await shell.run("pwd; echo [$x]")).output == f"{tmp_path}/here\n[]\n"

    with_shell(tmp_path, work)


def gone(pid: int) -> bool:
    """Whether the process ended."""
    found = shell_processes.table().get(pid)
    return found is None or found.state == "Z"


@pytest.mark.parametrize(
    "command",
    ["sleep 1000; echo no", "while :; do :; done; echo no", "for i in 1 2; do sleep 1000; done; cat"],
)
def test_what_takes_too_long_is_interrupted_and_the_shell_kept(tmp_path: Path, command: str) -> None:
    async def work(shell: GuestShell) -> None:
        await shell.run("x=1; cd /; sleep 1000 & echo $! >" + str(tmp_path / "earlier"))
        ran = await shell.run(f"echo before; {command}", timeout=0.3)
        assert (ran.output, ran.stopped, ran.ended) == ("before\n", "time", False)
        assert (await shell.run("echo $x $PWD")).output == "1 /\n"
        assert not gone(int((tmp_path / "earlier").read_text()))

    with_shell(tmp_path, work)


def test_what_will_not_be_interrupted_ends_with_its_shell(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        ran = await shell.run(
            "cd /; trap '' INT; (sleep 1000; echo no) & echo $!; sleep 1000; echo no", timeout=0.3
        )
        assert (ran.stopped, ran.ended, "no" in ran.output) == ("time", True, False)
        assert gone(int(ran.output.split()[-1]))
        assert (await shell.run("pwd")).output == "/\n"

    with_shell(tmp_path, work)


def test_programs_in_the_background_hold_nothing_up_and_are_heard_later(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        go, done = tmp_path / "go", tmp_path / "done"
        await shell.run(f"mkfifo {go} {done}")
        ran = await shell.run(f"(read <{go}; echo late; echo >{done}) & echo now")
        assert ran.output.endswith("now\n")
        await asyncio.to_thread(go.write_text, "\n")
        await asyncio.to_thread(done.read_text)
        ran = await shell.run("echo next")
        assert (
            ran.output == "[Printed in the background since the last command:]\nlate\n\n[End of it.]\nnext\n"
        )
        ran = await shell.run("nohup sleep 1000 >/dev/null & echo $!; setsid sleep 1000 >/dev/null & echo $!")
        pids = [int(line) for line in ran.output.splitlines() if line.isdigit()]
        assert (len(pids), any(map(gone, pids))) == (2, False)
        await shell.restart()
        assert all(map(gone, pids))

    with_shell(tmp_path, work)


def test_a_flood_is_bounded_with_head_and_tail(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        ran = await shell.run("seq 1 200000; echo end", limit=2_000)
        assert ran.output.startswith("1\n2\n3\n")
        assert ran.output.endswith("200000\nend\n")
        assert len(ran.output) < 2_100
        assert f"[… {ran.omitted} bytes left out …]" in ran.output
        ran = await shell.run("yes", timeout=0.3, limit=1_000)
        assert (ran.stopped, ran.ended) == ("time", False)
        ran = await shell.run("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end", limit=1_000)
        assert (ran.output[-5:], ran.omitted) == ("\nend\n", 10_000_005 - 1_000)
        ran = await shell.run("yes & sleep 0.2; echo on", limit=1_000)
        assert ran.code == 0
        assert (await shell.run("kill %1; echo on", limit=1_000)).code == 0

    with_shell(tmp_path, work)


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        ran = await shell.run(
            "printf '\\xff\\x00\\xc3\\n'; head -c 100000 /dev/urandom; printf '\\n\\xe6\\x96\\x87'"
        )
        assert ran.output.startswith("\ufffd\0\ufffd\n")
        assert ran.output.endswith("\n文")
        with pytest.raises(SandboxError) as caught:
            await shell.run("echo a\0b")
        assert caught.value.code == "code_not_text"

    with_shell(tmp_path, work)


def test_a_large_command_arrives_whole(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        body = "".join(f"line {number} 'ä' $x `y`\n" for number in range(20_000))
        await shell.run(f"cat >big <<'END'\n{body}END\n")
        assert (tmp_path / "big").read_text("utf-8") == body

    with_shell(tmp_path, work)


def test_a_run_that_is_cancelled_stops_its_command(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        begun = asyncio.Event()
        running = asyncio.create_task(
            shell.run("x=1; echo $$; sleep 1000; touch no", told=lambda text: begun.set())
        )
        await begun.wait()
        running.cancel()
        await asyncio.wait({running})
        assert running.cancelled()
        assert (await shell.run("ls; echo $x")).output == "1\n"

    with_shell(tmp_path, work)


def test_restarting_ends_a_command_that_runs(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        begun = asyncio.Event()
        running = asyncio.create_task(shell.run("cd /; echo on; sleep 1000", told=lambda text: begun.set()))
        await begun.wait()
        await shell.restart()
        assert (await running).ended
        assert (await shell.run("pwd")).output == f"{tmp_path}\n"

    with_shell(tmp_path, work)


def test_a_folder_that_is_gone_is_no_obstacle(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        await shell.run("mkdir -p a/b; cd a/b; rmdir $PWD; exit 1")
        assert (await shell.run("echo on")).output == "on\n"

    with_shell(tmp_path, work)


def test_code_runs_once_in_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("value = 42\n")

    async def work(shell: GuestShell) -> None:
        ran = await shell.execute(
            "import mine, os\nprint(mine.value, os.getcwd())\nraise SystemExit(4)", "python"
        )
        assert (ran.output, ran.code) == (f"42 {tmp_path}\n", 4)
        ran = await shell.execute("x=$((6 * 7)); echo $x; cat; exit 5", "bash")
        assert (ran.output, ran.code) == ("42\n", 5)
        ran = await shell.execute("def f(:", "python")
        assert "SyntaxError" in ran.output
        started = time.monotonic()
        ran = await shell.execute("echo on; sleep 1000", "bash", timeout=1.0)
        assert (ran.output, ran.stopped, ran.code) == ("on\n", "time", -9)
        assert time.monotonic() - started < 20
        ran = await shell.execute("sleep 1000 & echo $!", "bash")
        assert gone(int(ran.output))

    with_shell(tmp_path, work)


def test_an_operation_without_a_known_language_is_refused(tmp_path: Path) -> None:
    async def work(shell: GuestShell) -> None:
        with pytest.raises(SandboxError) as caught:
            await shell.execute("puts 1", "ruby")  # type: ignore[arg-type]
        assert caught.value.code == "shell_start_failed"

    with_shell(tmp_path, work)


@pytest.mark.parametrize(
    ("printed", "result"), [(10_000, {"code": 0}), (10, {"code": "x"}), (10, {"code": []})]
)
def test_a_guest_that_keeps_to_no_limit_is_not_believed(printed: int, result: dict[str, Any]) -> None:
    async def run(call: Call) -> dict[str, Any]:
        await call.send(b"x" * printed)
        return result

    async def check() -> None:
        async with pair(guest={"shell.run": run}) as (host, _):
            with pytest.raises(SandboxError, match="shell_start_failed"):
                await GuestShell(host).run("true", limit=1_000)

    asyncio.run(check())
