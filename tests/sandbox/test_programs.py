"""Real programs in the real machine: calculator, editor, terminal, file manager and browser."""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from sandbox.audit import verify
from sandbox.computer import Computer
from sandbox.elements import Element
from sandbox.eyes import Eyes
from tests.sandbox.conftest import Stage
from tests.sandbox.programs import Programs

TEXT = (
    'Plain "quotes" & {braces} ~`|\\ <tags> 100%;\n'
    "  Zürich, ça va, señor, Ærøskøbing, Łódź, ŽLUŤOUČKÝ kůň.\n"
    "漢字かな交じり文、中文测试，한국어 입력。 日本語の文章\n"
    "😀 👩\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 👍🏽 ❤\ufe0f ½ € → ∑\n"
    "שלום עולם مرحبا بالعالم हिन्दी\n"
)
LAUNCH = Path(__file__).resolve().parents[2] / "desktop" / "launch.py"

TIMES = 3
"""The long campaign types it more often."""

PAGE = """<!doctype html><meta charset="utf-8"><title>form</title>
<label>Name <input id="name" autofocus></label> <button id="send">Send</button>
<p><textarea id="text" rows="8" cols="60" aria-label="Letter"></textarea>
<script>
document.getElementById("send").onclick = () => {
  document.title = "sent:" + btoa(unescape(encodeURIComponent(name_() + "\\n" + text.value)));
};
function name_() { return document.getElementById("name").value; }
</script>"""


@pytest.fixture(scope="module")
def programs(guest_machine: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    async def made() -> Programs:
        return Programs(guest_machine.guest, tmp_path_factory.mktemp("audit"))

    found = guest_machine.run(made())
    yield found
    assert verify(found.log.path).ok


@pytest.fixture
def on(guest_machine: Stage, programs: Programs) -> Callable[[Callable[[Programs], Awaitable[None]]], None]:
    def run(check: Callable[[Programs], Awaitable[None]]) -> None:
        async def checked() -> None:
            await check(programs)

        guest_machine.run(checked(), 120)

    return run


On = Callable[[Callable[[Programs], Awaitable[None]]], None]


def test_the_calculator_by_the_numbers_of_its_elements(on: On) -> None:
    async def check(programs: Programs) -> None:
        await programs.start("galculator", "galculator")
        await programs.until(lambda _window, elements: any(e.name == "7" for e in elements))
        numbers = {element.name: element.number for element in await programs.computer.elements()}
        for key in ("1", "7", "*", "2", "3", "="):
            outcome = await programs.do("click_element", number=numbers[key])
            assert outcome.verdict in ("confirmed", "unclear"), "a busy machine may draw the press too late"
        assert any(element.value == "391" for element in await programs.computer.elements())
        await programs.end("galculator")

    on(check)


def test_the_editor_saves_what_was_typed(on: On) -> None:
    async def check(programs: Programs) -> None:
        for number in range(TIMES):
            path = f"/workspace/notes/typed-{number}.txt"
            await programs.write(path, "")
            await programs.start(f"mousepad --disable-server {path}", f"typed-{number}.txt")
            assert (await programs.do("type", text=TEXT)).verdict == "confirmed"
            await programs.do("key", text="ctrl+s")
            assert await programs.read(path) == TEXT
            await programs.end("mousepad")

    on(check)


def test_the_terminal_gets_what_was_typed(on: On) -> None:
    async def check(programs: Programs) -> None:
        path = "/workspace/notes/terminal.txt"
        await programs.start(f"lxterminal -t terminal --no-remote -e 'sh -c \"cat > {path}\"'", "terminal")
        await programs.do("type", text=TEXT)
        await programs.do("key", text="ctrl+d")
        await programs.run(f"while pgrep -x cat >/dev/null; do sleep 0.05; done; test -s {path}")
        assert await programs.read(path) == TEXT
        await programs.end("lxterminal")

    on(check)


def test_the_file_manager_opens_a_folder_by_a_double_click(on: On) -> None:
    async def check(programs: Programs) -> None:
        await programs.write("/workspace/notes/Holiday/here.txt", "x")
        await programs.start("pcmanfm /workspace/notes", "notes", listens=False)
        eyes = Eyes((sys.executable, str(LAUNCH), "--worker", "ocr", "2"), patience=60)
        try:
            seeing = programs.seeing(eyes)
            folder = await _read_as("Holiday", seeing)
            opened = {"action": "click_element", "number": folder.number, "double": True}
            assert not (await seeing.perform(opened, picture=False)).failed
        finally:
            await eyes.close()
        await programs.until(lambda window, _elements: "Holiday" in window)
        await programs.end("pcmanfm")

    on(check)


async def _read_as(name: str, seeing: Computer) -> Element:
    """The element of that name, once the window is drawn."""
    async with asyncio.timeout(60):
        while True:
            found = [element for element in await seeing.elements() if element.name == name]
            if found:
                return found[0]


def test_the_browser_fills_a_form_and_sends_it(on: On) -> None:
    async def check(programs: Programs) -> None:
        await programs.write("/workspace/form.html", PAGE)
        await programs.start("chromium file:///workspace/form.html", "form", listens=False)
        await programs.until(lambda _window, elements: any(e.name == "Send" for e in elements))
        name, letter = await programs.named("Name"), await programs.named("Letter")
        await programs.do("type_into", number=name.number, text="Žofie 漢字 😀")
        await programs.do("type_into", number=letter.number, text=TEXT)
        send = await programs.named("Send")
        x, y = programs.computer.scaling.to_model(*send.centre)
        await programs.do("left_click", coordinate=[x, y])
        await programs.until(lambda window, _elements: window.startswith("sent:"))
        sent = (await programs.window()).removeprefix("sent:").partition(" ")[0]
        assert base64.b64decode(sent).decode() == f"Žofie 漢字 😀\n{TEXT}"
        await programs.end("chromium")

    on(check)


def test_text_is_selected_by_three_clicks_and_copied(on: On) -> None:
    async def check(programs: Programs) -> None:
        await programs.write("/workspace/notes/copy.txt", "first line\nsecond line\n")
        await programs.start("mousepad --disable-server /workspace/notes/copy.txt", "copy.txt")
        text = next(e for e in await programs.computer.elements() if e.value.startswith("first line"))
        await programs.do("triple_click", coordinate=[text.x + 30, text.y + 8])
        await programs.do("key", text="ctrl+c")
        found = await programs._control.call("clipboard.read")
        assert found["text"].strip() == "first line"
        await programs._control.call("clipboard.write", text="żółw 😀")
        await programs.do("key", text="ctrl+End")
        await programs.do("key", text="ctrl+v")
        await programs.do("key", text="ctrl+s")
        assert await programs.read("/workspace/notes/copy.txt") == "first line\nsecond line\nżółw 😀"
        await programs.end("mousepad")

    on(check)
