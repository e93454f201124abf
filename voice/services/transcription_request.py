"""What a client asks of the transcription service: the fields of its form, checked."""

from __future__ import annotations

from typing import IO, Any, Literal

from pydantic import BaseModel, Field, ValidationError
from starlette.datastructures import FormData, UploadFile

from voice.services.languages import code_of
from voice.services.names import TRANSCRIPTION_MODELS
from voice.services.refusal import Refusal

_LISTS = ("timestamp_granularities", "keywords", "languages")
_HINTS = 40


class TranscriptionRequest(BaseModel):
    """The fields that mean something here; the others are passed over."""

    model: str = TRANSCRIPTION_MODELS[0]
    language: str = ""
    languages: tuple[str, ...] = ()
    prompt: str = ""
    keywords: tuple[str, ...] = ()
    response_format: Literal["json", "text", "srt", "vtt", "verbose_json"] = "json"
    temperature: float = Field(0.0, ge=0.0, le=1.0, allow_inf_nan=False)
    timestamp_granularities: tuple[Literal["word", "segment"], ...] = ()
    stream: bool = False

    @property
    def hints(self) -> tuple[str, ...]:
        """What may be said: the keywords, and the words of the prompt."""
        return tuple(dict.fromkeys((*self.keywords, *self.prompt.split())))[:_HINTS]

    @property
    def words(self) -> bool:
        """Whether the time of each word is asked for."""
        return "word" in self.timestamp_granularities

    @property
    def segments(self) -> bool:
        """Whether the verbose form lists segments: unless words alone are asked for."""
        return "segment" in self.timestamp_granularities or not self.words

    @classmethod
    def of(cls, form: FormData) -> TranscriptionRequest:
        """The request in `form`; raises Refusal. A list is written with brackets behind its name or without
        them, and an empty field counts as left out.
        """
        fields: dict[str, Any] = {}
        for key, value in form.multi_items():
            name = key.removesuffix("[]")
            if not isinstance(value, str) or not value.strip():
                continue
            if name in _LISTS:
                fields.setdefault(name, []).append(value)
            else:
                fields[name] = value.strip()
        try:
            wanted = cls.model_validate(fields)
        except ValidationError as error:
            raise Refusal.of_fields(error) from None
        wanted._check()
        return wanted

    @property
    def spoken(self) -> str:
        """The code of the language to expect, "" to find out; raises Refusal for one that nobody knows."""
        given = self.language or (self.languages[0] if len(self.languages) == 1 else "")
        code = code_of(given)
        if given and not code:
            raise Refusal(400, "transcription_language_unknown", "language", language=given[:40])
        return code

    def _check(self) -> None:
        if self.model not in TRANSCRIPTION_MODELS:
            known = ", ".join(TRANSCRIPTION_MODELS)
            raise Refusal(404, "service_model_unknown", "model", model=self.model[:80], known=known)
        if self.timestamp_granularities and self.response_format != "verbose_json":
            raise Refusal(400, "transcription_times_nowhere", "timestamp_granularities")
        if self.stream and self.response_format not in ("json", "text"):
            raise Refusal(400, "transcription_stream_form", "stream", format=self.response_format)


def sound_in(form: FormData) -> IO[bytes]:
    """The sound file of `form`, which belongs to the caller from here on; raises Refusal without one."""
    upload = form.get("file")
    if not isinstance(upload, UploadFile):
        raise Refusal(400, "transcription_file_missing", "file")
    return upload.file
