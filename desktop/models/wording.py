"""The rows of the model shelf in the words that a person is shown."""

from __future__ import annotations

import time
from typing import Any, Literal

from resources.sentences import sentence
from resources.translation import _, ngettext
from runtime.amounts import size

Row = dict[str, Any]
Tone = Literal["good", "careful", "bad", "none"]

NOT_MEANT = "exam_not_for_this_model"
"""Code of a discipline that is not for this kind of model; such a one has no badge."""

_SHORT = 16
"""Letters of a fact that stays on one line."""

WORDS_PER_TOKEN = 0.75
"""English words in a token of today's vocabularies, about."""


def fit_words(fit: Row | None) -> str:
    """How a model would do on this machine, as one sentence; empty where that is not known."""
    if not fit:
        return ""
    needed, free = size(fit["memory"]), size(fit["available"])
    match fit["verdict"]:
        case "good":
            return _("Runs well here{speed}").format(speed=_speed(fit))
        case "tight":
            told = _("Just fits: takes {needed} of {free} free memory{speed}")
            return told.format(needed=needed, free=free, speed=_speed(fit))
        case "slow":
            return _("Runs here, but slowly{speed}").format(speed=_speed(fit))
        case "no_disk":
            told = _("Needs {needed} on the disk; {free} are free")
            return told.format(needed=size(fit["disk_needed"]), free=size(fit["disk_free"]))
        case _:
            return _("Needs {needed} of memory; {free} are free").format(needed=needed, free=free)


def fit_tone(fit: Row | None) -> Tone:
    """Whether what `fit_words` says is good, to be careful about, or bad."""
    tones: dict[str, Tone] = {"good": "good", "tight": "careful", "slow": "careful"}
    return tones.get(fit["verdict"], "bad") if fit else "none"


def fit_details(fit: Row | None) -> str:
    """What the estimate rests on, for those who ask."""
    if not fit:
        return ""
    told = [
        _("Memory: about {needed} of {free} that are free").format(
            needed=size(fit["memory"]), free=size(fit["available"])
        )
    ]
    if fit["tokens_per_second"]:
        speed = (
            _("Speed: {count} tokens a second, measured")
            if fit.get("measured")
            else _("Speed: about {count} tokens a second")
        )
        told.append(speed.format(count=_few(fit["tokens_per_second"])))
    if fit["window"]:
        told.append(_("Window: {window}").format(window=window_words(fit["window"])))
    if fit.get("gpu_layers"):
        told.append(_("Layers on the graphics card: {count}").format(count=fit["gpu_layers"]))
    if fit.get("code"):
        told.append(sentence(fit["code"], **fit.get("fields", {})))
    return "\n".join(told)


def _speed(fit: Row) -> str:
    rate = float(fit["tokens_per_second"] or 0) * WORDS_PER_TOKEN
    if not rate:
        return ""
    if fit.get("measured"):
        return _(", {count} words a second in the exam").format(count=_few(rate))
    if rate < 1:
        return _(", less than a word a second")
    count = round(rate)
    return ngettext(", about {count} word a second", ", about {count} words a second", count).format(
        count=count
    )


def _few(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def window_words(tokens: int) -> str:
    """How much a model keeps in view."""
    thousands = f"{tokens / 1024:.0f}k" if tokens >= 1024 else str(tokens)
    return _("{count} tokens").format(count=thousands)


def parameters(billions: float | None) -> str:
    """How large a model is by its maker's count; empty where unknown."""
    if not billions:
        return ""
    if billions < 1:
        return _("{count}M parameters").format(count=round(billions * 1000))
    return _("{count}B parameters").format(count=f"{billions:.1f}".removesuffix(".0"))


def download_size(variant: Row) -> str:
    """What is fetched for one of a model's files, its projector included; one that is estimated is said to be
    about that."""
    told = size(max(variant["size"], (variant["fit"] or {}).get("disk_needed", 0)))
    return _("about {size}").format(size=told) if variant.get("about") else told


def facts(*parts: str) -> str:
    """Short facts on one line, which may be broken after a dot but not within a figure."""
    kept = (part.replace(" ", "\u00a0") if len(part) <= _SHORT else part for part in parts if part)
    return "\u00a0\u00a0·  ".join(kept)


def abilities(card: Row) -> list[tuple[str, str]]:
    """(word, what it means) of what the maker says that a model can do."""
    known = (
        ("tools", _("Tools"), _("Can use tools, says its maker; the exam measures it here.")),
        ("vision", _("Pictures"), _("Sees pictures, says its maker; the exam measures it here.")),
        ("reasoning", _("Reasoning"), _("Thinks before it answers: better on hard questions, and slower.")),
    )
    found = [(word, meaning) for key, word, meaning in known if card.get(key)]
    if (kind := card.get("kind", "")) in _KIND_MEANS:
        found.append((kind_words(kind), _KIND_MEANS[kind]()))
    return found


KINDS = ("language", "vision", "embedding", "speech")
"""The kinds of models, as the rows call them."""

_KIND_MEANS = {
    "embedding": lambda: _("Finds texts by their meaning; it does not chat."),
    "speech": lambda: _("Turns speech into text; it does not chat."),
}


def kind_words(kind: str) -> str:
    """The name of a kind of models; empty means all of them."""
    names = {
        "": _("All"),
        "language": _("Language"),
        "vision": _("Pictures"),
        "embedding": _("Text search"),
        "speech": _("Speech"),
        "reranker": _("Ranks texts"),
        "other": "",
    }
    return names.get(kind, kind)


def origin_words(origin: str) -> str:
    """Where an installed model came from; empty for what was fetched here."""
    names = {
        "bundled": _("Comes with Orion"),
        "imported": _("Imported"),
        "lmstudio": _("From LM Studio"),
        "ollama": _("From Ollama"),
    }
    return names.get(origin, "")


def discipline_words(discipline: str) -> str:
    """What a discipline of the exam is called on its badge."""
    names = {
        "speed": _("Speed"),
        "instructions": _("Instructions"),
        "json": _("JSON"),
        "tools": _("Tools"),
        "pictures": _("Pictures"),
        "elements": _("Screens in words"),
        "clicks": _("Clicks"),
    }
    return names.get(discipline, discipline)


def discipline_means(discipline: str) -> str:
    """What is measured in a discipline."""
    names = {
        "speed": _("How fast it reads and writes on this machine."),
        "instructions": _("Whether it does exactly what it is told: words, counts, order, language."),
        "json": _("Whether it answers in the form that programs read, with the right values."),
        "tools": _("Whether it calls the right tool with the right arguments, and none where none helps."),
        "pictures": _("Whether it sees shapes, colours, counts and words in pictures."),
        "elements": _("Whether it picks the right one of a screen's numbered buttons and fields."),
        "clicks": _("Whether it finds the right place on a screen to click."),
    }
    return names.get(discipline, "")


def role_words(role: str) -> str:
    """What a model may be used for."""
    names = {
        "chat": _("chatting"),
        "tools": _("using tools"),
        "vision": _("seeing pictures"),
        "computer": _("working on the computer"),
    }
    return names.get(role, role)


def exam_words(exam: Row) -> str:
    """What an exam showed, on one line; one that was cut short shows nothing of what it had no time for."""
    left = [score for score in exam["scores"].values() if score["state"] == "not_taken"]
    cut = any(score.get("code") != NOT_MEANT for score in left)
    if exam["roles"]:
        told = _("Good for {roles}").format(roles=", ".join(map(role_words, exam["roles"])))
    else:
        told = _("No role earned so far") if cut else _("Not good enough for any role")
    day = time.strftime("%x", time.localtime(exam["when"]))
    return facts(
        told,
        _("the exam was cut short, examine it again") if cut else "",
        _("examined on {day}").format(day=day),
    )


def score_words(discipline: str, score: Row, exam: Row) -> str:
    """What was measured in a discipline, in a sentence or two."""
    told = f"{discipline_words(discipline)}: {_result(discipline, score, exam)}"
    if score.get("code"):
        told += " " + sentence(score["code"], **score.get("fields", {}))
    return f"{told}\n{discipline_means(discipline)}".strip()


def _result(discipline: str, score: Row, exam: Row) -> str:
    if score["state"] == "not_taken":
        return _("not taken.")
    if discipline == "speed" and exam.get("tokens_per_second"):
        return _("{count} tokens a second.").format(count=_few(exam["tokens_per_second"]))
    told = (
        _("{points} of {of} right: passed.")
        if score["state"] == "passed"
        else _("{points} of {of} right: failed.")
    )
    return told.format(
        points=_few(score["points"]).removesuffix(".0"), of=_few(score["of"]).removesuffix(".0")
    )


def time_words(seconds: float | None) -> str:
    """How long something still takes, as one would say it; empty where that is not known."""
    if seconds is None or seconds < 0:
        return ""
    if seconds < 60:
        return _("less than a minute left")
    minutes = round(seconds / 60)
    if minutes < 60:
        return ngettext("{count} minute left", "{count} minutes left", minutes).format(count=minutes)
    hours, rest = divmod(minutes, 60)
    if hours < 24:
        return _("{hours} h {minutes} min left").format(hours=hours, minutes=rest)
    return _("more than a day left")


def download_words(row: Row) -> str:
    """How far a download or an import is, on one line."""
    done, total = row["done"], row["total"]
    amount = _("{done} of {total}").format(done=size(done), total=size(total)) if total else size(done)
    taking = row.get("kind") == "import"
    match row["state"]:
        case "queued":
            return facts(_("Waits for its turn"), size(total) if total else "")
        case "running":
            speed = _("{size} a second").format(size=size(int(row["speed"]))) if row["speed"] else ""
            waiting = sentence(row["code"], **row.get("fields", {})) if row.get("code") else ""
            return waiting or facts(amount, speed, time_words(row["seconds_left"]))
        case "paused":
            return facts(_("Paused"), amount)
        case "checking":
            return _("Checking that every byte is right…")
        case "done":
            return _("Taken in.") if taking else _("Here, and every byte was checked.")
        case _:
            return sentence(row["code"], **row.get("fields", {}))


def machine_words(machine: Row) -> str:
    """What this machine has, on one line."""
    cards = ", ".join(f"{card['name']} ({size(card['memory'])})" for card in machine.get("cards", []))
    cores = ngettext("{count} core", "{count} cores", machine["cores"]).format(count=machine["cores"])
    return facts(
        _("{free} of {all} memory free").format(
            free=size(machine["memory_available"]), all=size(machine["memory"])
        ),
        cores,
        cards,
        _("{free} free on the disk").format(free=size(machine["disk_free"])),
    )
