"""What can go wrong with a download, as errors that say it, and which answers of a server fit to a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from models.errors import EngineError

if TYPE_CHECKING:
    import httpx2

_MB = 1 << 20


def full(title: str, folder: Path, needed: int, free: int) -> EngineError:
    """The disk of `folder` has `free` bytes and `title` needs `needed` more."""
    return EngineError(
        "disk_full_for_model",
        title=title,
        path=str(folder),
        needed=needed,
        free=free,
        needed_mb=-(-needed // _MB),
        free_mb=free // _MB,
    )


def unwritable(error: OSError, folder: Path) -> EngineError:
    """What the system said of a file, or of `folder` where it named none."""
    path = str(error.filename2 or error.filename or folder)
    return EngineError("download_unwritable", path=path, reason=error.strerror or type(error).__name__)


def unexpected(error: Exception, title: str) -> EngineError:
    """A fault of the program, or an error of whoever gives the token, which names itself."""
    code, fields = getattr(error, "code", None), getattr(error, "fields", None)
    if isinstance(code, str) and isinstance(fields, dict):
        return EngineError(code, **fields)
    return EngineError("download_broken", title=title)


def goes_on(response: httpx2.Response, begin: int, size: int) -> bool:
    """Whether an answer begins where it should; False where the file has to be read from its first byte.
    EngineError hub_unreachable, to try again, for one that cannot be of a file of `size` bytes."""
    host, headers = response.url.host, response.headers
    if headers.get("Content-Encoding", "identity") != "identity":
        raise EngineError("hub_unreachable", host=host, reason="the answer is compressed")
    if response.status_code == 206:
        found = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", headers.get("Content-Range", ""))
        return found is not None and int(found[1]) == begin and found[3] in ("*", str(size))
    if response.status_code == 200 and headers.get("Content-Length", str(size)) != str(size):
        raise EngineError("hub_unreachable", host=host, reason="the answer has another length")
    return response.status_code == 200 and begin == 0
