"""Holds local models to the role that a profile demands: what an exam showed decides, not a model's card."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from runtime.chain import Link
from runtime.errors import OrionError
from runtime.exam.exam import Exam, Role
from runtime.exam_record import ExamRecord
from runtime.profiles import Notice, Profile
from runtime.providers.provider import Notices, Traits

if TYPE_CHECKING:
    from models.library import Library, ModelFile

_OPEN_NAMES = ("", "bundled")
"""Names of a model that leave open which one is meant."""


def permitted(role: Role, model: str, exam: Exam | None, traits: Traits) -> Notice | None:
    """What the user must be told before `model` works in `role`: nothing where it has earned it, a notice
    where nobody knows. Raises OrionError `model_not_capable` (model, role, discipline, points, of) for one
    that failed, and `model_sees_no_pictures` (model) for vision without eyes."""
    if role == "vision" and not traits.images:
        raise OrionError("model_sees_no_pictures", model=model)
    if exam is not None and exam.standing(role) == "earned":
        return None
    failed = [name for name in exam.needed(role) if exam.state(name) == "failed"] if exam else []
    if exam is None or not failed:  # also one that was blind when it was examined and has eyes now
        return "model_not_examined", {"model": model, "role": role}
    score = exam.scores[failed[0]]
    raise OrionError(
        "model_not_capable",
        model=model,
        role=role,
        discipline=failed[0],
        points=score.points,
        of=score.of,
    )


class Roles:
    """Knows which local model may do what. `library` gives the model files, `default` the name of the one
    that is meant by "bundled". Used from the runtime's loop."""

    def __init__(
        self, record: ExamRecord, library: Callable[[], Library], default: Callable[[], str]
    ) -> None:
        self._record = record
        self._library = library
        self._default = default

    def permit(self, link: Link) -> Notices:
        """Before a model call: see `permitted`. Models on other machines are not held to anything."""
        role, model = link.profile.role, link.model
        if not role or link.profile.provider != "local":
            return ()
        file = self._file(model)
        if file is None:
            return ()
        notice = permitted(role, file.name, self._exam(file), link.provider.traits(model))
        return (notice,) if notice else ()

    def preferred(self, profile: Profile, model: str) -> str:
        """The model that answers for `profile` where `model` was chosen: where that names none in
        particular and the default one has not earned the role, the best one that has."""
        if not profile.role or profile.provider != "local" or model not in _OPEN_NAMES:
            return model
        default = self._file(model)
        known = self._exam(default) if default else None
        if known is not None and known.standing(profile.role) == "earned":
            return model
        return self.best_for(profile.role) or model

    def best_for(self, role: Role) -> str:
        """The name of the installed model that has earned `role` with the largest share of right answers, the
        faster one where several have it; "" where none has."""
        found = [
            (_share(exam, role), exam.tokens_per_second, file.name)
            for file in self._library().list()
            if not file.error and (exam := self._exam(file)) and exam.standing(role) == "earned"
        ]
        return max(found, default=(0.0, 0.0, ""))[2]

    def _file(self, model: str) -> ModelFile | None:
        from models.errors import EngineError

        try:
            return self._library().find(self._default() if model in _OPEN_NAMES else model)
        except EngineError:  # the provider says what is wrong with it
            return None

    def _exam(self, file: ModelFile) -> Exam | None:
        try:
            return self._record.of(file)
        except OrionError:  # it went away meanwhile
            return None


def _share(exam: Exam, role: Role) -> float:
    """Which part of the answers was right in what the role needs; 0–1."""
    scores = [
        exam.scores[name]
        for name in dict.fromkeys((*exam.needed(role), "instructions"))
        if name in exam.scores
    ]
    return sum(score.points for score in scores) / max(1, sum(score.of for score in scores))
