"""How soon a change on the sandbox's screen is on the host, how many frames come while a page moves, and
what a quiet screen costs.

The guest's clock and the host's must be one: the engine has to run on this machine.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

from sandbox.channel import Guest
from sandbox.errors import SandboxError
from sandbox.machine import Machine
from sandbox.screen import Frame
from tests.bench.figure import Figure, percentile
from tests.bench.sandbox_house import elapse, machine, program

CHANGES = 120
SECONDS = 8.0
QUIET = 15.0

_PAINTER = """
import random, select, sys, time
from Xlib import display
x = display.Display()
screen = x.screen()
window = screen.root.create_window(100, 100, 640, 400, 0, screen.root_depth, override_redirect=True)
window.map()
ink = window.create_gc()
x.sync()
random.seed(7)
for n in range(1, int(sys.argv[1]) + 1):
    select.select([], [], [], 0.06 + 0.05 * random.random())
    ink.change(foreground=0x800000 + n)
    width, height = (12, 18) if n % 2 else (640, 400)
    window.fill_rectangle(ink, 0, 0, width, height)
    x.sync()
    print(n, time.time())
"""
"""Draws a letter's size and a window's size in turn and says when the server had drawn it."""

_PAGE = """<!doctype html><style>
body { margin: 0; width: 1240px; font: 16px sans-serif }
#count { position: fixed; left: 0; top: 0; width: 80px; height: 80px; z-index: 9 }
</style><div id=count></div><script>
const words = "Words of several lengths that go by while the page moves, and <a href=#>a link</a> here. "
for (let n = 0; n < 200; n++)
  document.write(`<h2>Part ${n}</h2><p style="background: hsl(${n * 37} 50% 85%)">${words.repeat(14)}</p>`)
let n = 0
function step() {
  n = (n + 1) % 65536
  scrollBy(0, 12)
  if (scrollY + innerHeight > document.body.scrollHeight - 20) scrollTo(0, 0)
  document.getElementById("count").style.background = `rgb(77, ${n >> 8}, ${n & 255})`
  requestAnimationFrame(step)
}
step()
</script>"""
"""A page that scrolls by itself and shows in its corner how many frames it has drawn."""

_BROWSER = """
import subprocess, sys
open('/tmp/page.html', 'w').write(sys.argv[1])
command = ['chromium', '--start-maximized', 'file:///tmp/page.html']
subprocess.Popen(command, start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
"""


def measure(*, peers: bool = False) -> list[Figure]:
    """Nothing where there is no engine."""
    del peers
    try:
        return asyncio.run(_measured())
    except SandboxError as error:
        print(f"live_frames: no sandbox ({error}), nothing measured")
        return []


async def _measured() -> list[Figure]:
    async with machine() as (made, guest, container):
        execs = await _execs(made, container)
        small, large = await _delays(made, guest, container)
        idle, parts = await _idle(made, guest, container)
        frames, drawn, sent = await _scrolling(made, guest, container)
    both = small + large
    delays = {"p50, a letter": percentile(small, 50), "p50, a window": percentile(large, 50), **execs}
    return [
        Figure("live_frame_p50", percentile(both, 50), "ms", 45.0, "lower", delays),
        Figure("live_frame_p95", percentile(both, 95), "ms", 100.0, "lower", execs),
        Figure("live_frames_idle", idle, "%", 3.0, "lower", parts),
        Figure(
            "live_frames_rate",
            frames,
            "1/s",
            20.0,
            "higher",
            {"drawn by the page": drawn, "a frame (MB)": sent},
        ),
    ]


async def _execs(made: Machine, container: Any) -> dict[str, float]:
    """The other way to do things in a container: a process of its own for each."""
    times: dict[str, list[float]] = {"docker exec of true": [], "docker exec of xdotool": []}
    commands = (["true"], ["xdotool", "getmouselocation"])
    for _ in range(15):
        for name, command in zip(times, commands, strict=True):
            begun = time.perf_counter()
            await made.engine.call(partial(_exec, container, command))
            times[name].append(1000 * (time.perf_counter() - begun))
    return {f"{name}, p50": percentile(found, 50) for name, found in times.items()}


def _exec(container: Any, command: list[str], client: Any) -> None:
    del client
    container.exec_run(command)


async def _delays(made: Machine, guest: Guest, container: Any) -> tuple[list[float], list[float]]:
    """Milliseconds from a drawing to its frame at a listener: of letters, and of windows."""
    seen: dict[int, float] = {}

    def on_frame(frame: Frame) -> None:
        color = _pixel(frame, 104, 104)
        if color is not None:
            seen.setdefault(color & 0xFFFF, time.time())

    leave = guest.screen.subscribe(on_frame)
    said = await program(made, container, _PAINTER, str(CHANGES))
    await elapse(0.5)
    leave()
    drawn = {int(n): float(when) for n, when in (line.split() for line in said.splitlines())}
    delays = {n: 1000 * (seen[n] - when) for n, when in drawn.items() if n in seen}
    if len(delays) < 0.9 * CHANGES:
        raise RuntimeError(f"only {len(delays)} of {CHANGES} changes were seen")
    return [delays[n] for n in delays if n % 2], [delays[n] for n in delays if not n % 2]


async def _idle(made: Machine, guest: Guest, container: Any) -> tuple[float, dict[str, float]]:
    """Percent of a core that both ends take while somebody looks and nothing changes."""
    frames: list[Frame] = []
    leave = guest.screen.subscribe(frames.append)
    await elapse(3)
    count, here, there = len(frames), time.process_time(), await _processor(made, container)
    await elapse(QUIET)
    here, there = time.process_time() - here, await _processor(made, container) - there
    leave()
    parts = {"of it the host": 100 * here / QUIET, "of it the guest": 100 * there / QUIET}
    return sum(parts.values()), {**parts, "frames meanwhile (count)": float(len(frames) - count)}


async def _processor(made: Machine, container: Any) -> float:
    """Seconds of processor time of the guest's two processes and the screen's server."""
    source = (
        "import glob\n"
        "for path in glob.glob('/proc/[0-9]*/cmdline'):\n"
        "    line = open(path).read()\n"
        "    if 'sandbox.guest' in line or line.startswith('Xvfb'):\n"
        "        print(*open(path.replace('cmdline', 'stat')).read().rpartition(')')[2].split()[11:13])\n"
    )
    said = await program(made, container, source)
    return sum(map(int, said.split())) / 100


async def _scrolling(made: Machine, guest: Guest, container: Any) -> tuple[float, float, float]:
    """Frames of a scrolling page a second that come, that it draws, and megabytes of pixels in one."""
    counts: dict[int, float] = {}
    sizes: list[int] = []
    moving = asyncio.Event()

    def on_frame(frame: Frame) -> None:
        color = _pixel(frame, 30, 130)
        if color is not None and color >> 16 & 255 == 77:
            counts.setdefault(color & 0xFFFF, time.monotonic())
            sizes.append(sum(map(len, frame.pixels)))
            if len(counts) > 30:
                moving.set()

    await program(made, container, _BROWSER, _PAGE)
    leave = guest.screen.subscribe(on_frame)
    async with asyncio.timeout(60):
        await moving.wait()
    counts.clear()
    sizes.clear()
    await elapse(SECONDS)
    leave()
    first, last = min(counts), max(counts)
    seconds = counts[last] - counts[first]
    return (len(counts) - 1) / seconds, (last - first) / seconds, sum(sizes) / len(sizes) / 1e6


def _pixel(frame: Frame, x: int, y: int) -> int | None:
    """The color at a place where the frame covers it."""
    for rect, pixels in zip(frame.rects, frame.pixels, strict=True):
        if rect.x <= x < rect.x + rect.width and rect.y <= y < rect.y + rect.height:
            at = 4 * ((y - rect.y) * rect.width + x - rect.x)
            return int.from_bytes(pixels[at : at + 3], "little")
    return None
