"""The child that drives Chromium by Playwright: JSON requests in lines on stdin, JSON answers on stdout."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import tempfile
from contextlib import suppress
from typing import Any

CHROMIUM = "/usr/bin/chromium"

MOST_ELEMENTS = 150

# Numbers what can be clicked or filled and is seen, in the order of the page, and says what each is.
_NUMBER = """(most) => {
  const wanted = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],' +
    '[role=link],[role=checkbox],[role=radio],[role=tab],[role=menuitem],[role=option],' +
    '[role=switch],[role=textbox],' +
    '[role=combobox],[contenteditable=true]';
  document.querySelectorAll('[data-orion]').forEach(one => one.removeAttribute('data-orion'));
  const found = [];
  for (const one of document.querySelectorAll(wanted)) {
    const box = one.getBoundingClientRect();
    const style = getComputedStyle(one);
    if (!box.width || !box.height || style.visibility === 'hidden' || style.display === 'none') continue;
    if (found.length >= most) return {found, more: true};
    const label = one.labels && one.labels[0] ? one.labels[0].innerText : '';
    const named = one.getAttribute('aria-label') || label || one.innerText ||
      one.getAttribute('placeholder') || one.getAttribute('title') ||
      one.getAttribute('alt') || one.getAttribute('name') || '';
    const secret = one.type === 'password';
    const ticked = ['checkbox', 'radio'].includes(one.type);
    const value = ticked ? (one.checked ? 'ticked' : 'not ticked') : secret ? '' : (one.value || '');
    const kind = one.getAttribute('role') || (one.tagName === 'INPUT' ? one.type : one.tagName.toLowerCase());
    one.setAttribute('data-orion', String(found.length + 1));
    found.push({kind: kind === 'a' ? 'link' : kind, name: named.trim().replace(/\\s+/g, ' ').slice(0, 80),
                value: ['button', 'submit'].includes(one.type) ? '' : String(value).slice(0, 80)});
  }
  return {found, more: false};
}"""


class Pages:
    """The browser and the page that is looked at: the newest that is open."""

    def __init__(self, context: Any) -> None:
        self._context = context

    async def page(self) -> Any:
        """The page; a new one where the user closed the last."""
        pages = self._context.pages
        return pages[-1] if pages else await self._context.new_page()

    async def do(self, request: dict[str, Any]) -> str:
        """What became of one request, in words."""
        page = await self.page()
        timeout = float(request.get("timeout", 30.0)) * 1000
        page.set_default_timeout(timeout)
        match request["do"]:
            case "open":
                await page.goto(str(request["url"]), timeout=timeout, wait_until="domcontentloaded")
                return await self._shown(request)
            case "read":
                return await self._shown(request)
            case "back":
                await page.go_back(wait_until="domcontentloaded")
                return await self._shown(request)
            case "click":
                await _located(page, request).click()
                await self._quiet(page)
                return await self._shown(request)
            case "fill":
                await _located(page, request).fill(str(request.get("text", "")))
                return "Filled in."
            case "press":
                await page.keyboard.press(str(request.get("key", "Enter")))
                await self._quiet(page)
                return await self._shown(request)
            case other:
                raise ValueError(f"There is no action {other!r}.")

    async def _quiet(self, page: Any) -> None:
        """A page that follows from a click has begun to be there; one that never ends loading is shown so."""
        with suppress(_playwright().Error):
            await page.wait_for_timeout(100)
            await page.wait_for_load_state("domcontentloaded", timeout=5000)

    async def _shown(self, request: dict[str, Any]) -> str:
        """Address, title, numbered elements and a piece of the text of the page."""
        page = await self.page()
        start, most = int(request.get("start", 0)), int(request.get("limit", 8000))
        elements = await page.evaluate(_NUMBER, MOST_ELEMENTS)
        body = str(await page.evaluate("() => document.body ? document.body.innerText : ''"))
        lines = [f"Page: {await page.title()}", f"Address: {page.url}", ""]
        for number, one in enumerate(elements["found"], 1):
            value = f" = {one['value']!r}" if one["value"] else ""
            lines.append(f"[{number}] {one['kind']} {one['name']!r}{value}")
        if elements["more"]:
            lines.append(f"(only the first {MOST_ELEMENTS} elements are listed)")
        piece = body[start : start + most]
        lines += ["", piece]
        if start + most < len(body):
            lines.append(f"[{len(body)} characters in all; read on with start {start + most}.]")
        return "\n".join(lines)


def _located(page: Any, request: dict[str, Any]) -> Any:
    """The element that is meant: by its number in the last listing, else by its label or text."""
    if (number := request.get("element")) is not None:
        return page.locator(f'[data-orion="{int(number)}"]')
    target = str(request.get("target", ""))
    if request["do"] == "fill":
        return page.get_by_label(target).or_(page.get_by_placeholder(target)).first
    return (
        page.get_by_role("button", name=target)
        .or_(page.get_by_role("link", name=target))
        .or_(page.get_by_label(target))
        .or_(page.get_by_text(target))
        .first
    )


async def serve() -> None:
    """Answer until stdin ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 22)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    # What the answers go to is kept apart, so that nothing else that writes to stdout can garble them.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    async with _playwright().async_playwright() as playwright:
        context: Any = None
        while line := await reader.readline():
            request = json.loads(line)
            try:
                if context is None or not context.pages:
                    context = await _opened(playwright, context)
                answer = {"text": await Pages(context).do(request)}
            except (_playwright().Error, ValueError, KeyError) as error:
                answer = {"error": _plain(error)}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


async def _opened(playwright: Any, old: Any) -> Any:
    """A browser on the desktop; the rest of one whose last window was closed goes first."""
    if old is not None:
        with suppress(_playwright().Error):
            await old.close()
    return await playwright.chromium.launch_persistent_context(
        tempfile.mkdtemp(prefix="browser-"),
        executable_path=CHROMIUM,
        headless=False,
        no_viewport=True,
        chromium_sandbox=False,
        args=["--start-maximized"],
    )


def _playwright() -> Any:
    """The library, which is in the image alone."""
    return importlib.import_module("playwright.async_api")


def _plain(error: Exception) -> str:
    """The first lines of what Playwright says, without its call log."""
    return str(error).split("Call log:")[0].strip()[:600] or type(error).__name__


if __name__ == "__main__":
    asyncio.run(serve())
