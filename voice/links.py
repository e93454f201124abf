"""Links, addresses and references as they are read aloud."""

from __future__ import annotations

import re
from collections.abc import Callable

from resources.translation import _

_TARGET = r"\([^()\s]{0,2000}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?(?:\s+\"[^\"\n]*\")?\)"
_IMAGE = re.compile(rf"!\[([^\[\]]{{0,300}})\]{_TARGET}")
_LINK = re.compile(rf"\[([^\[\]]{{0,300}})\](?:{_TARGET}|\[[^\[\]]{{0,100}}\])")
_NOTE = re.compile(r"\[\^[^\[\]\s]{1,50}\]:?")
_CUT_LINK = re.compile(rf"\]{_TARGET}")
_URL = re.compile(r"<?\b(?:https?|ftp|wss?|file)://([^\s<>\"“”'`]+)>?|(?<![\w@.])(www\.[^\s<>\"“”'`]+)")
_MAIL = re.compile(r"<?\b(?:mailto:)?([\w.+-]{1,64})@([\w-]+(?:\.[\w-]+)+)>?")
_TRAILING = ".,;:!?)]}*_~"


def links_aloud(text: str, keep: Callable[[str], str]) -> str:
    """`text` with every link as its words, every bare address as its host. `keep` protects the finished."""
    text = _IMAGE.sub(_image, text)
    text = _LINK.sub(lambda match: match[1] if match[1].strip() else _("a link"), text)
    text = _CUT_LINK.sub("", _NOTE.sub("", text))
    text = _URL.sub(lambda match: _host(match, keep), text)
    return _MAIL.sub(lambda match: keep(f"{_dots(match[1])} {_('at')} {_dots(match[2])}"), text)


def _image(match: re.Match[str]) -> str:
    return _("image: {words}").format(words=match[1]) if match[1].strip() else " "


def _host(match: re.Match[str], keep: Callable[[str], str]) -> str:
    address = match[1] or match[2]
    bare = address.rstrip(_TRAILING)
    host = re.split(r"[/?#]", bare, maxsplit=1)[0].rpartition("@")[2]
    name = host.removeprefix("www.")
    return keep(_dots(name)) + address[len(bare) :] if name else " "


def _dots(name: str) -> str:
    spaced = re.sub(r"[-_+]+", " ", name)
    return re.sub(r":(\d+)$", rf" {_('port')} \1", spaced).replace(".", f" {_('dot')} ").strip()
