"""Code, names of files and names of things in programs, in words."""

from __future__ import annotations

import re

from resources.translation import _

LONGEST = 80
"""Characters of code in a line that are still read; longer code is only named."""

_SIGNS = {
    "...": "dot dot dot",
    "===": "equals",
    "!==": "is not",
    "->": "arrow",
    "=>": "arrow",
    "==": "equals",
    "!=": "is not",
    "<=": "at most",
    ">=": "at least",
    "&&": "and",
    "||": "or",
    "::": "colon colon",
    ":=": "becomes",
    "++": "plus plus",
    "--": "dash dash",
    "+=": "plus equals",
    "-=": "minus equals",
    "**": "to the power of",
    "//": "slash slash",
    "<<": "into",
    ">>": "into",
    "=": "equals",
    "<": "less than",
    ">": "greater than",
    "+": "plus",
    "*": "star",
    "/": "slash",
    "\\": "backslash",
    "&": "and",
    "|": "pipe",
    "~": "tilde",
    "^": "caret",
    "%": "percent",
    "@": "at",
    "#": "hash",
    "$": "dollar",
    "!": "not",
    "?": "question mark",
    ".": "dot",
    ":": "colon",
}
_PIECE = re.compile(
    r"\.\.\.|[=!]==|->|=>|==|!=|<=|>=|&&|\|\||::|:=|\+\+|--|\+=|-=|\*\*|//|<<|>>|\d+(?:\.\d+)+|[^\W\d_]+|\d+|\s+|."
)
_CAMEL = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDINGS = """
bash bat bmp c cfg conf cpp cs css csv db dll docx env exe gif gitignore go gz h hpp html ini ipynb
java jpeg jpg js json jsonl jsx kt lock log lua m4a md mjs mkv mov mp3 mp4 ogg onnx pdf php png ps1
pptx py pyc pyi r rb rs rst sh so sql sqlite svg swift tar toml ts tsv tsx txt wav webp xlsx xml
yaml yml zip
"""
_ENDING = "|".join(_ENDINGS.split())
_NAME = re.compile(
    rf"(?<![\w@+./\\-])(?:"
    rf"(?:~|\.{{1,2}})?/[\w.@+-]+(?:/[\w.@+-]*)*"  # a path that begins with a slash
    rf"|[\w@+-]{{1,100}}(?:/[\w.@+-]{{1,100}}){{0,30}}/[\w.@+-]{{0,100}}\.(?:{_ENDING})"  # a file in folders
    rf"|[\w-]*(?:\.[\w-]+)*\.(?:{_ENDING})"  # a file
    rf"|[^\W\d_]\w*(?:_\w+)+(?:\(\))?|_+[^\W_]\w*"  # snake_case
    rf"|[a-z]+(?:[A-Z][a-z0-9]+)+(?:\(\))?"  # camelCase
    rf"|\w+(?:\.\w+)*\(\)"  # a call
    rf"|--[a-z][\w-]*"  # an option
    rf")(?![\w/])"
)


def code_aloud(code: str) -> str:
    """`code` in words: letters as they are, signs by their names, brackets and quotes not at all."""
    if len(code) > LONGEST:
        return _("some code")
    pieces = _PIECE.findall(code)
    said = []
    for index, piece in enumerate(pieces):
        before = pieces[index - 1] if index else " "
        after = pieces[index + 1] if index + 1 < len(pieces) else " "
        said.append(_piece(piece, before, after))
    return " ".join(" ".join(said).split())


def name_aloud(text: str) -> str:
    """`text` with the names of files, paths, functions and options in it in words, the rest as it was."""
    return _NAME.sub(_found, text)


def _found(match: re.Match[str]) -> str:
    name = match[0]
    tail = name[len(name.rstrip(".-")) :]
    bare = name[: len(name) - len(tail)] if tail else name
    return code_aloud(bare) + tail if any(map(str.isalnum, bare)) else name


def _piece(piece: str, before: str, after: str) -> str:
    if piece[0].isalpha():
        return _CAMEL.sub(" ", piece).lower() if _CAMEL.search(piece) else piece
    if piece.isspace() or piece[0].isdigit():
        return piece
    tight = not before.isspace() and not after.isspace()
    if piece == ":" and not tight:
        return ""
    if piece == "." and after.isspace():
        return ""
    if piece == "-":
        return (
            ""
            if before[-1].isalpha() and after[:1].isalpha()
            else _("minus")
            if after[:1].isdigit()
            else _("dash")
        )
    return _(_SIGNS[piece]) if piece in _SIGNS else ("," if piece == "," and not after.isspace() else " ")
