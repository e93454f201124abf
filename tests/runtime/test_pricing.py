"""Prices are found by name and never guessed; the user's stand over the shipped ones."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import get_args

import pytest

from runtime.errors import OrionError
from runtime.messages import Usage
from runtime.pricing import Prices

MILLION = Usage(1_000_000, 1_000_000)


def own(folder: Path, text: str) -> Prices:
    (folder / "pricing.yaml").write_text(text, "utf-8")
    return Prices(folder)


def test_a_call_costs_what_its_tokens_cost(tmp_path: Path) -> None:
    prices = own(
        tmp_path,
        "makers:\n  shop:\n    models:\n      m: {input: 10, cached: 1, cache_write: 20, output: 100}\n",
    )
    usage = Usage(prompt=1000, completion=10, cached=600, reasoning=8, cache_written=300)
    assert prices.cost("shop", "m", usage) == pytest.approx((100 * 10 + 600 + 300 * 20 + 10 * 100) / 1e6)


def test_a_cache_without_a_price_costs_as_input(tmp_path: Path) -> None:
    prices = own(tmp_path, "makers:\n  shop:\n    models:\n      m: {input: 10, output: 100}\n")
    assert prices.cost("shop", "m", Usage(1000, 0, cached=600, cache_written=300)) == pytest.approx(0.01)


def test_a_long_prompt_has_the_long_price_for_the_whole_call(tmp_path: Path) -> None:
    long = "long: {over: 100, input: 20, output: 200}"
    prices = own(tmp_path, f"makers:\n  shop:\n    models:\n      m: {{input: 10, output: 100, {long}}}\n")
    assert prices.cost("shop", "m", Usage(100, 1)) == pytest.approx(1100 / 1e6)
    assert prices.cost("shop", "m", Usage(101, 1)) == pytest.approx(2220 / 1e6)


def test_a_date_after_a_name_does_not_matter_but_anything_else_does(tmp_path: Path) -> None:
    prices = Prices(tmp_path)
    for provider, name in (("openai", "gpt-5.2"), ("anthropic", "claude-opus-4-5")):
        cost = prices.cost(provider, name, MILLION)
        assert cost
        for dated in (f"{name}-2025-12-11", f"{name}-20251101", f"{name}@20251101", f"{name}-latest"):
            assert prices.cost(provider, dated, MILLION) == cost
    for stranger in ("gpt-5.22", "gpt-5.2-turbo", "gpt-5.2-20", "claude-opus-4-5", "openai/gpt-5.2", ""):
        assert prices.cost("openai", stranger, MILLION) is None
    assert prices.cost("elsewhere", "gpt-5.2", MILLION) is None


def test_a_version_with_its_own_price_keeps_it(tmp_path: Path) -> None:
    prices = Prices(tmp_path)
    assert prices.cost("openai", "gpt-4o-2024-05-13", MILLION) == pytest.approx(20)
    assert prices.cost("openai", "gpt-4o-2024-11-20", MILLION) == pytest.approx(12.5)


def test_the_users_prices_stand_over_the_shipped_ones(tmp_path: Path) -> None:
    prices = own(
        tmp_path,
        "makers:\n  openai:\n    models:\n      gpt-5.2: {input: 1, output: 1}\n"
        "  lan:\n    models:\n      '*': {input: 0, output: 0}\n      big*: {input: 5, output: 5}\n",
    )
    assert prices.cost("openai", "gpt-5.2-2025-12-11", MILLION) == pytest.approx(2)
    assert prices.cost("openai", "gpt-5", MILLION) == pytest.approx(11.25), "the others are as shipped"
    assert prices.cost("lan", "anything", MILLION) == 0.0
    assert prices.cost("lan", "bigger", MILLION) == pytest.approx(10), "the longest beginning decides"


def test_a_changed_file_holds_from_the_next_call_on(tmp_path: Path) -> None:
    prices = Prices(tmp_path)
    assert prices.cost("shop", "m", MILLION) is None
    own(tmp_path, "makers:\n  shop:\n    models:\n      m: {input: 1, output: 1}\n")
    assert prices.cost("shop", "m", MILLION) == pytest.approx(2)
    own(tmp_path, "makers:\n  shop:\n    models:\n      m: {input: 10, output: 10}\n")
    assert prices.cost("shop", "m", MILLION) == pytest.approx(20)
    (tmp_path / "pricing.yaml").unlink()
    assert prices.cost("shop", "m", MILLION) is None


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("makers:\n  shop:\n    models:\n      m: {input: -1, output: 1}\n", "yaml_wrong_value", 4),
        ("makers:\n  shop:\n    models:\n      m: {input: .inf, output: 1}\n", "yaml_wrong_value", 4),
        ("makers:\n  shop:\n    models:\n      m: {input: 1}\n", "yaml_wrong_value", 4),
        ("makers:\n  shop:\n    models:\n      m: {inputs: 1, output: 1}\n", "yaml_unknown_key", 4),
        ("version: 1\nmakers: [1\n", "yaml_syntax", 3),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, text: str, code: str, line: int) -> None:
    with pytest.raises(OrionError) as caught:
        own(tmp_path, text).cost("shop", "m", MILLION)
    assert (caught.value.code, caught.value.fields["line"]) == (code, line)
    assert caught.value.fields["path"] == str(tmp_path / "pricing.yaml")


def test_a_misspelt_name_is_told_with_the_right_one(tmp_path: Path) -> None:
    text = "makers:\n  shop:\n    models:\n      m: {input: 1, output: 1, cache_writes: 2}\n"
    with pytest.raises(OrionError) as caught:
        own(tmp_path, text).check()
    assert caught.value.fields["nearest"] == "cache_write"


def test_a_file_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OrionError) as caught:
        own(tmp_path, "version: 99\nmakers: {}\n").check()
    assert caught.value.code == "format_newer"


def test_the_shipped_prices_say_when_and_where_they_were_read(tmp_path: Path) -> None:
    makers = Prices(tmp_path).shipped.makers
    assert set(makers) == {"anthropic", "openai"}
    for maker in makers.values():
        assert maker.date
        assert maker.date > date(2026, 1, 1)
        assert maker.source.startswith("https://")
        for price in maker.models.values():
            assert 0 < price.input < price.output
            assert price.cached is None or price.cached < price.input


def test_the_newest_models_of_both_makers_are_priced(tmp_path: Path) -> None:
    from anthropic.types.model import Model
    from openai.types.shared.chat_model import ChatModel

    prices = Prices(tmp_path)
    newest = [name for name in get_args(ChatModel) if name.startswith("gpt-6")]
    assert newest
    assert [name for name in newest if prices.find("openai", name) is None] == []
    claude = [name for name in get_args(get_args(Model)[0]) if "preview" not in name]
    assert claude
    assert [name for name in claude if prices.find("anthropic", name) is None] == []
