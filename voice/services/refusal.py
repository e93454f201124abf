"""A request that is not served: a status and a sentence, in the form OpenAI's clients read errors."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from resources.sentences import sentence
from voice.errors import Field, VoiceError

_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_RETRY_SECONDS = "5"
_STATUS = {
    "recogniser_unusable": 503,
    "speech_nothing_to_say": 400,
    "voice_language": 400,
    "voice_none": 400,
}
_FILE_FAULT = "sound_"


class Refusal(Exception):
    """Answers with `status` and the sentence of `code`; `param` names the field of the request at fault."""

    def __init__(self, status: int, code: str, param: str = "", **fields: Field) -> None:
        super().__init__(code, fields)
        self.status = status
        self.code = code
        self.param = param
        self.fields = fields

    @classmethod
    def of(cls, error: VoiceError | Refusal, param: str = "") -> Refusal:
        """What an engine or a sound file that failed means for the request; a Refusal stays what it is."""
        if isinstance(error, Refusal):
            return error
        status = 400 if error.code.startswith(_FILE_FAULT) else _STATUS.get(error.code, 500)
        return cls(status, error.code, param, **error.fields)

    @classmethod
    def of_fields(cls, error: ValidationError) -> Refusal:
        """The first fault that pydantic found, naming its field."""
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        if not fault["loc"]:
            return cls(400, "service_not_json")
        field = str(fault["loc"][0])
        problem = fault["msg"][:1].lower() + fault["msg"][1:]
        return cls(400, "service_field_wrong", field, field=field, problem=problem)

    @property
    def headers(self) -> dict[str, str]:
        """What a client needs beside the body: when to come again, or how to name itself."""
        if self.status in (429, 503):
            return {"Retry-After": _RETRY_SECONDS}
        return {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}

    def body(self) -> dict[str, Any]:
        """The JSON object of the answer."""
        kind = _KINDS.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        message = sentence(self.code, **self.fields)
        return {"error": {"message": message, "type": kind, "param": self.param or None, "code": self.code}}
