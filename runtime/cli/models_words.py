"""Rows of the model shelf in the words of a terminal: fit, exam, sizes, one line a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from resources.sentences import sentence
from resources.translation import _
from runtime.amounts import size
from runtime.cli.terminal import visible

Row = dict[str, Any]
NAME = 44
"""Columns of a name before it pushes the rest of its line."""


def verdict(fit: Row) -> str:
    """Whether it runs here, in two or three words."""
    words = {
        "good": _("fits well"),
        "tight": _("fits tightly"),
        "slow": _("slow here"),
        "too_large": _("too large"),
        "no_disk": _("no room on the disk"),
    }
    return words.get(fit["verdict"], "")


def fitting(fit: Row | None) -> str:
    """The fit in a few words: verdict, speed, memory."""
    if not fit:
        return ""
    facts = [verdict(fit)]
    if fit["tokens_per_second"] and fit["verdict"] not in ("too_large",):
        facts.append(_("about {speed} tokens/s").format(speed=_rounded(fit["tokens_per_second"])))
    if fit["memory"]:
        facts.append(_("{size} of memory").format(size=size(int(fit["memory"]))))
    return ", ".join(facts)


def reason(fit: Row | None) -> str:
    """Why it does not fit well, or ""."""
    return sentence(fit["code"], **fit["fields"]) if fit and fit["code"] else ""


def examined(exam: Row | None) -> str:
    """What the exam showed, in a few words."""
    if not exam:
        return _("not examined")
    if exam["badges"]:
        return _("examined: {badges}").format(badges=", ".join(exam["badges"]))
    if any(score["code"] == "exam_time_up" for score in exam["scores"].values()):
        return _("exam cut short, no badges so far")
    return _("examined, no badges")


def abilities(row: Row) -> list[str]:
    """What a model can do by its card: tools, pictures, reasoning."""
    told = ((row.get("tools"), _("tools")), (row.get("vision"), _("pictures")))
    return [word for has, word in (*told, (row.get("reasoning"), _("reasoning"))) if has]


def parameters(billions: float) -> str:
    """A number of parameters for people."""
    return f"{billions * 1000:.0f} M" if billions < 1 else f"{billions:g} B"


def card_lines(cards: Iterable[Row], width: int) -> Iterator[str]:
    """One line a model of the catalogue or the hub: its name for `pull`, size, and how it would run here."""
    rows = list(cards)
    longest = min(max((len(row["id"]) for row in rows), default=0), NAME)
    for row in rows:
        facts = [parameters(row["parameters"])] if row["parameters"] else []
        if chosen := suggested(row):
            facts.append(f"{chosen['quantisation'] or chosen['file']} {size(to_fetch(chosen))}")
            facts.append(fitting(chosen["fit"]))
        if row.get("gated"):
            facts.append(_("needs an account"))
        if row.get("downloads") is not None and not row["variants"]:
            facts.append(_("{count} downloads").format(count=row["downloads"]))
        mark = "*" if any(variant["installed"] for variant in row["variants"]) else " "
        yield cut(
            f"{mark} {visible(row['id']):<{longest}}  {', '.join(fact for fact in facts if fact)}", width
        )


def variant_lines(card: Row, width: int) -> Iterator[str]:
    """One line a file of a model; `*` is here already, `>` is the recommended one."""
    longest = max((len(_called(variant)) for variant in card["variants"]), default=0)
    for variant in card["variants"]:
        mark = "*" if variant["installed"] else ">" if variant["recommended"] else " "
        about = _("about ") if variant["about"] else ""
        facts = ", ".join(filter(None, (about + size(to_fetch(variant)), fitting(variant["fit"]))))
        yield cut(f"{mark} {visible(_called(variant)):<{longest}}  {facts}", width)


def to_fetch(variant: Row) -> int:
    """Bytes that come with a file, its projector included; its own where it is here."""
    return max(int(variant["size"]), int((variant["fit"] or {}).get("disk_needed", 0)))


def suggested(card: Row) -> Row | None:
    """The variant that is recommended, if any."""
    found: Row | None = next((variant for variant in card["variants"] if variant["recommended"]), None)
    return found


def score(name: str, found: Row) -> str:
    """One discipline of an exam."""
    if found["state"] == "not_taken":
        why = sentence(found["code"], **found["fields"]) if found["code"] else ""
        return _("{name}: not taken. {why}").format(name=name, why=why).strip()
    word = _("passed") if found["state"] == "passed" else _("failed")
    return _("{name}: {word}, {points} of {of}").format(
        name=name, word=word, points=found["points"], of=found["of"]
    )


def cut(line: str, width: int) -> str:
    """`line` within `width` columns."""
    return line if len(line) <= width else line[: max(width - 1, 1)] + "…"


def _called(variant: Row) -> str:
    return str(variant["quantisation"] or variant["file"])


def _rounded(speed: float) -> str:
    return f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}"
