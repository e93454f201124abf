"""What a person would say who reads a Markdown text aloud."""

from __future__ import annotations

import html
import re

from resources.translation import _, ngettext
from voice.blocks import Block, block_at, skip_blank, text_end
from voice.emoji import emoji_aloud
from voice.figures import cardinal, figures_aloud
from voice.formulas import formula_aloud
from voice.identifiers import code_aloud, name_aloud
from voice.language import detect
from voice.links import links_aloud

Table = tuple[str, ...]
"""The names of a table's columns, in order."""

_CODE_NAMES = {
    "bash": "shell",
    "c++": "C plus plus",
    "c#": "C sharp",
    "console": "shell",
    "cpp": "C plus plus",
    "cs": "C sharp",
    "csharp": "C sharp",
    "css": "C S S",
    "golang": "Go",
    "html": "H T M L",
    "javascript": "JavaScript",
    "js": "JavaScript",
    "json": "JSON",
    "jsx": "JavaScript",
    "md": "Markdown",
    "php": "P H P",
    "powershell": "PowerShell",
    "ps1": "PowerShell",
    "py": "Python",
    "python3": "Python",
    "rb": "Ruby",
    "rs": "Rust",
    "sh": "shell",
    "shell": "shell",
    "sql": "SQL",
    "toml": "TOML",
    "ts": "TypeScript",
    "tsx": "TypeScript",
    "typescript": "TypeScript",
    "xml": "XML",
    "yaml": "YAML",
    "yml": "YAML",
    "zsh": "shell",
}
_PLAIN = ("text", "txt", "plain", "plaintext", "output", "log")

_UNHEARD = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
_PRIVATE = re.compile("[\ue000\ue001]")
"""What stands for words that are kept aside; an answer may not ask for some that are not there."""
_LONE = re.compile(r"[\ud800-\udfff]")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[?!][^<>]*>")
_CODE = re.compile(r"(?<!`)``(?!`)((?:[^`\n]|`(?!`)){1,300})``|(?<!`)`(?!`)([^`]{1,300})`")
_MATH = re.compile(r"\\\((.{1,300}?)\\\)|\$([^\s$\d][^$\n]{0,200})\$|\$\$([^$]{1,300})\$\$", re.DOTALL)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_BREAK = re.compile(r"(?<=[^\s.,;:!?])(?: {2,}|\\)\n")
_EMPHASIS = re.compile(r"\*+|~~+|(?<![^\W_])_+|_+(?![^\W_])")
_QUOTES = re.compile(r"^[ \t]*>[> \t]*", re.MULTILINE)
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]*(.*?)[ \t#]*$")
_BRACKETS = re.compile(r"[\[\]{}<>|`\\^#]+")
_SPACES = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+([,.;:!?…])")
_MARKS = re.compile(r"([,;:])(?:\s*[,;:])+|,\s*(?=[.!?])")
_PLAIN_WORDS = re.compile(r"\s*+(?:[^\W\d_]++(?:['’-][^\W\d_]++)*+[,.;:!?]?(?:\s++|\Z))*+")
_MIXED_CASE = re.compile(r"[a-z][A-Z]")
_HEARD = re.compile(r"[^\W_]")
_OPEN_END = re.compile(r"[^\W_][\"'”’)]*$")


def aloud(markdown: str, language: str = "") -> str:
    """`markdown` as words to be spoken; empty when nothing in it can be said. Never raises.

    Markup is gone, code blocks and tables are told, code in a line, numbers and signs are read as words.
    What holds marks for a speech engine (SSML, phonemes) holds them no more. `language` is that of the text,
    empty to find it out; numbers are put into words in English only, elsewhere the voice does it.
    """
    language = language or detect(markdown, "en")
    said: list[str] = []
    table: Table | None = None
    rest = markdown.replace("\r\n", "\n")
    at = 0
    while at < len(rest):
        at += skip_blank(rest[at : at + 200])
        block = block_at(rest, at, True, table is not None)
        if block is None or at >= len(rest):
            break
        if block.end is not None:
            spoken, table = block_aloud(block, rest[block.marker : block.end], language, table)
            at = max(block.end, at + 1)
        else:
            table = None
            end, closed = block.marker, False
            while not closed and end < len(rest):
                end, closed = text_end(rest, end, True, ">" in rest[at : block.marker])
            spoken = text_aloud(rest[block.marker : end], language, block, True)
            at = max(end, at + 1)
        said.append(spoken)
    return " ".join(filter(None, said))


def text_aloud(text: str, language: str, block: Block | None, ends: bool) -> str:
    """A stretch of running text; `block` is the text or item that begins with it, `ends` whether it is the
    last stretch of its own."""
    spoken = _inline(_QUOTES.sub("", text), language)
    if block is not None and block.tick:
        spoken = (_("Done: {task}") if block.tick == "x" else _("To do: {task}")).format(task=spoken)
    elif block is not None and block.number and spoken:
        spoken = f"{_number(block.number, language)}: {spoken}"
    return _closed(spoken) if ends else spoken


def block_aloud(block: Block, source: str, language: str, table: Table | None) -> tuple[str, Table | None]:
    """A block that is told as a whole, and the columns of the table that goes on behind it."""
    match block.kind:
        case "code":
            return _code_block(block.info, source, language), None
        case "heading":
            heading = _HEADING.match(source.strip("\n"))
            return _closed(_inline(heading[1] if heading else source, language)), None
        case "header":
            columns = tuple(_inline(cell, language) for cell in _cells(source.partition("\n")[0]))
            named = ", ".join(filter(None, columns))
            return (_("A table with the columns {names}.").format(names=named) if named else ""), columns
        case "row":
            return _row(source, table or (), language), table
        case "math":
            return _closed(_tidy(formula_aloud(source.strip().strip("$").strip()))), None
        case _:
            return "", table if block.kind == "comment" else None


def _code_block(info: str, source: str, language: str) -> str:
    lines = len(
        [
            line
            for line in source.strip("\n").split("\n")
            if not line.lstrip(" >\t").startswith(("```", "~~~"))
        ]
    )
    name = re.match(r"\{?\.?([\w+#.-]*)", info)
    word = name[1] if name else ""
    count = ngettext("{count} line", "{count} lines", lines).format(count=_number(str(lines), language))
    if word.lower() in _PLAIN or not word:
        kind = _("a block of text") if word else _("a block of code")
    else:
        shown = _CODE_NAMES.get(word.lower(), name_aloud(word[:1].upper() + word[1:]))
        kind = _("a block of {language} code").format(language=shown)
    return f"{kind}, {count}."


def _row(source: str, columns: Table, language: str) -> str:
    cells = [_inline(cell, language).rstrip(".") for cell in _cells(source)]
    named = [
        f"{columns[index]}: {cell}" if index < len(columns) and columns[index] else cell
        for index, cell in enumerate(cells)
        if cell
    ]
    return _closed("; ".join(named))


def _cells(line: str) -> list[str]:
    bare = line.strip().lstrip(">").strip()
    bare = bare.removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", bare)]


def _number(digits: str, language: str) -> str:
    return cardinal(int(digits)) if language == "en" else digits


def _closed(spoken: str) -> str:
    """`spoken` with a pause at its end."""
    return f"{spoken}." if _OPEN_END.search(spoken) else spoken


def _inline(text: str, language: str) -> str:
    if "  \n" not in text and _PLAIN_WORDS.fullmatch(text) and not _MIXED_CASE.search(text):
        return " ".join(text.split())
    text = _LONE.sub(" ", _UNHEARD.sub("", text))
    kept: list[str] = []

    def keep(words: str) -> str:
        kept.append(re.sub("\x00(\\d+)\x01", lambda match: kept[int(match[1])], words))
        return f" \x00{len(kept) - 1}\x01 "

    text = _CODE.sub(lambda match: keep(code_aloud((match[1] or match[2]).strip())), text)
    text = _MATH.sub(lambda match: keep(formula_aloud(match[1] or match[2] or match[3])), text)
    text = _ESCAPED.sub(r"\1", _BREAK.sub(", ", _COMMENT.sub(" ", text)))
    text = links_aloud(text, keep)
    text = _PRIVATE.sub("", html.unescape(_TAG.sub(" ", text)))
    text = _LONE.sub(" ", _UNHEARD.sub("", text.replace("\x00", "\ue000").replace("\x01", "\ue001")))
    text = emoji_aloud(text)
    text = _EMPHASIS.sub("", text)
    if not _HEARD.search(text):
        return ""
    text = name_aloud(text)
    text = figures_aloud(text) if language == "en" else text.replace("&", " ")
    text = _BRACKETS.sub(" ", text)
    return _tidy(re.sub("\ue000(\\d+)\ue001", lambda match: kept[int(match[1])], text))


def _tidy(text: str) -> str:
    text = _SPACES.sub(" ", _BRACKETS.sub(" ", text.replace("&", " "))).strip()
    text = _MARKS.sub(lambda match: match[1] or "", _BEFORE_MARK.sub(r"\1", text))
    return text if _HEARD.search(text) else ""
