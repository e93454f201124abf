"""The HTTP applications of the speech services: which paths there are, and how faults are answered."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from voice.services.refusal import Refusal

Answer = Callable[[Request], Awaitable[Response]]

_HUNG_UP = 499
"""What is noted of a request whose client went away; nobody receives it."""

log = logging.getLogger("orion.voice")


def make_app(
    answers: Mapping[str, Answer], models: tuple[str, ...], voices: Callable[[], tuple[str, ...]]
) -> FastAPI:
    """An application that answers POST at the paths of `answers`, and says what there is.

    It has no pages of documentation, since these load scripts from other machines.
    """
    app = FastAPI(title="Orion speech services", docs_url=None, redoc_url=None, openapi_url=None)
    for path, answer in answers.items():
        app.add_route(path, answer, methods=["POST"])

    async def health(request: Request) -> Response:
        del request
        return JSONResponse({"status": "ok"})

    async def list_models(request: Request) -> Response:
        del request
        return JSONResponse({"object": "list", "data": [_model(name) for name in models]})

    async def show_model(request: Request) -> Response:
        name = request.path_params["model"]
        if name not in models:
            raise Refusal(404, "service_model_unknown", "model", model=name[:80], known=", ".join(models))
        return JSONResponse(_model(name))

    async def list_voices(request: Request) -> Response:
        del request
        return JSONResponse({"voices": [{"id": name, "name": name} for name in voices()]})

    for path, answer in (
        ("/health", health),
        ("/v1/models", list_models),
        ("/v1/models/{model}", show_model),
        ("/v1/audio/voices", list_voices),
    ):
        app.add_route(path, answer, methods=["GET"])
    for kind, handler in ((Refusal, _refused), (HTTPException, _not_here), (ClientDisconnect, _gone)):
        app.add_exception_handler(kind, handler)
    app.add_exception_handler(Exception, _bug)
    return app


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "orion"}


async def _refused(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, Refusal)
    return JSONResponse(error.body(), error.status, error.headers)


async def _not_here(request: Request, error: Exception) -> Response:
    """What the framework itself refuses: a path or method that is not there, a form that is none."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        refusal = Refusal(404, "service_path_unknown", path=request.url.path[:80])
    elif error.status_code == 405:
        refusal = Refusal(405, "service_method_wrong", method=request.method, path=request.url.path[:80])
    else:
        refusal = Refusal(error.status_code, "service_not_form", reason=str(error.detail).rstrip("."))
    return JSONResponse(refusal.body(), refusal.status, error.headers)


async def _gone(request: Request, error: Exception) -> Response:
    del request, error
    return Response(status_code=_HUNG_UP)


async def _bug(request: Request, error: Exception) -> Response:
    """A mistake of the program: the client gets a sentence, the log the traceback."""
    log.error("%s failed", request.url.path, exc_info=error)
    return await _refused(request, Refusal(500, "service_bug", problem=type(error).__name__))
