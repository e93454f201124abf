"""Hostile Markdown is read in bounded time and depth; simple mathematics becomes readable."""

from __future__ import annotations

import pytest

from desktop.chat.markdown import allowed, readable_math, tokens


@pytest.mark.parametrize(
    "text",
    [
        ">" * 10_000 + " x",
        "> " * 10_000 + "x",
        "[" * 3000,
        "*" * 5000,
        "- " * 2000 + "x",
        "![" * 1500,
        "`" * 4000,
    ],
)
def test_deep_nesting_is_bounded(text: str) -> None:
    assert max(token.level for token in tokens(text)) <= 24


def test_raw_html_is_text() -> None:
    kinds = {token.type for token in tokens("<script>alert(1)</script>\n\n<b>x</b>")}
    assert kinds == {"paragraph_open", "inline", "paragraph_close"}


def test_definitions_from_elsewhere_resolve() -> None:
    inline = tokens("see [a]", "[a]: https://a.example")[1]
    assert inline.children is not None
    assert any(child.attrs.get("href") == "https://a.example" for child in inline.children)


@pytest.mark.parametrize(
    ("target", "yes"),
    [
        ("https://a", True),
        ("HTTP://a", True),
        ("mailto:a@b", True),
        ("javascript:x", False),
        ("file:///etc", False),
        ("data:text/html,x", False),
        ("relative", False),
        (" https://a", False),
    ],
)
def test_only_web_and_mail_links_may_be_followed(target: str, yes: bool) -> None:
    assert allowed(target) is yes


def test_mathematics_is_made_readable() -> None:
    assert readable_math(r"\frac{a+b}{2} \leq \alpha_1 \cdot x^{2}") == "(a+b)⁄2 ≤α₁ ·x²"
    assert readable_math(r"\unknown{x}") == r"\unknown{x}"


@pytest.mark.parametrize("text", ["costs $5 and $6", "a $ b $ c", "$HOME is set"])
def test_money_is_not_mathematics(text: str) -> None:
    inline = tokens(text)[1]
    assert inline.children is not None
    assert "math" not in {child.type for child in inline.children}
