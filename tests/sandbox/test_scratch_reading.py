from __future__ import annotations
import asyncio, sys, time, base64, io
import psutil
from sandbox.elements import told, numbered
from sandbox.eyes import Eyes
from sandbox.reading import Reading
from sandbox.blind import spots
from tests.sandbox.programs import Programs
from tests.sandbox.test_programs import LAUNCH

PAGE = (
    "<title>news</title><h1>Morning news</h1>"
    + "".join(
        f"<p>Paragraph {n} with <a href=x{n}>a link {n}</a> and some more words about the weather of today.</p>"
        for n in range(14)
    )
    + "<button>Send</button><canvas id=c width=400 height=60></canvas><script>c=document.getElementById('c').getContext('2d');c.font='24px sans';c.fillText('drawn by hand',10,40)</script>"
)


def test_measure(guest_machine, tmp_path):
    async def go():
        programs = Programs(guest_machine.guest, tmp_path)
        eyes = Eyes((sys.executable, str(LAUNCH), "--worker", "ocr", "2"), patience=100)
        old_eyes = Eyes((sys.executable, "/tmp/old_launch.py", "2"), patience=100)
        me = psutil.Process()

        def cpu(e):
            p = psutil.Process(e._process.pid)
            t = p.cpu_times()
            m = me.cpu_times()
            return t.user + t.system, m.user + m.system

        async def measure(name):
            screen = guest_machine.guest.screen
            found = await guest_machine.guest.control.call("elements.list", limit=250)
            png = await screen.picture()
            import pathlib

            pathlib.Path(f"/tmp/reading-{name}.png").write_bytes(png)
            a = cpu(old_eyes)
            t = time.monotonic()
            before = await old_eyes.read(png)
            tb = time.monotonic() - t
            b = cpu(old_eyes)
            reading = Reading(eyes)
            c = cpu(eyes)
            t = time.monotonic()
            first = await reading.lines(png, told(found["elements"]))
            tf = time.monotonic() - t
            d = cpu(eyes)
            again = await reading.lines(png, told(found["elements"]))
            e = cpu(eyes)
            return (
                reading,
                f"{name}: elements {len(found['elements'])}; whole {b[0] - a[0]:.2f}+{b[1] - a[1]:.2f} cpu {tb:.2f}s lines {len(before)}; now first {d[0] - c[0]:.2f}+{d[1] - c[1]:.2f} cpu {tf:.2f}s lines {len(first)}; again {e[0] - d[0]:.2f}+{e[1] - d[1]:.2f}",
                [x.name for x in numbered(found["elements"], before) if x.role == "text on screen"],
                [x.name for x in numbered(found["elements"], first) if x.role == "text on screen"],
            )

        async def changed(name, reading):
            found = await guest_machine.guest.control.call("elements.list", limit=250)
            png = await guest_machine.guest.screen.picture()
            c = cpu(eyes)
            t = time.monotonic()
            first = await reading.lines(png, told(found["elements"]))
            tf = time.monotonic() - t
            d = cpu(eyes)
            print(
                f"   {name} after a change: {d[0] - c[0]:.2f}+{d[1] - c[1]:.2f} cpu {tf:.2f}s",
                [l.text for l in first][-3:],
            )

        from PIL import Image

        w = io.BytesIO()
        Image.new("RGB", (400, 200), "white").save(w, "png")
        await eyes.read(w.getvalue())
        await old_eyes.read(w.getvalue())
        await programs.write(
            "/workspace/n/text.txt", "Dear reader,\nthis is a text of three lines.\nGood bye.\n"
        )
        out = []
        r, *o = await measure("desktop")
        print(*o, sep="\n   ")
        await programs.start("mousepad --disable-server /workspace/n/text.txt", "text.txt")
        r, *o = await measure("editor")
        print(*o, sep="\n   ")
        await programs.do("type", text="hello there")
        await changed("editor", r)
        await programs.end("mousepad")
        await programs.start("lxterminal -t terminal --no-remote", "terminal")
        await programs.do("type", text="ls -la / && echo hello world\n")
        await asyncio.sleep(1)
        r, *o = await measure("terminal")
        print(*o, sep="\n   ")
        await programs.do("type", text="echo one more\n")
        await changed("terminal", r)
        await programs.end("lxterminal")
        await programs.start("galculator", "galculator")
        r, *o = await measure("calculator")
        print(*o, sep="\n   ")
        await programs.end("galculator")
        await programs.start("pcmanfm /usr", "usr", listens=False)
        await asyncio.sleep(1)
        r, *o = await measure("files")
        print(*o, sep="\n   ")
        await programs.end("pcmanfm")
        await guest_machine.guest.control.call(
            "browser.do",
            session="x",
            action="open",
            url="data:text/html;base64," + base64.b64encode(PAGE.encode()).decode(),
        )
        await asyncio.sleep(1)
        r, *o = await measure("browser")
        print(*o, sep="\n   ")
        await eyes.close()
        await old_eyes.close()

    guest_machine.run(go(), 200)
