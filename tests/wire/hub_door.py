"""The HTTP side of the hub on loopback: its API, its files and its CDN."""

from __future__ import annotations

import json
import re
import socket
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.wire.hub_store import LARGE, Asked, Blob, Door, Misdeed, Repository

if TYPE_CHECKING:
    from tests.wire.hub import HubServer


class Threads(ThreadingHTTPServer):
    """A thread for each connection, joined at the end."""

    hub: HubServer
    daemon_threads = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what many tests are about."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 0

    @property
    def hub(self) -> HubServer:
        assert isinstance(self.server, Threads)
        return self.server.hub

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.hub.lock:
            self.hub.open.add(self.connection)

    def finish(self) -> None:
        with self.hub.lock:
            self.hub.open.discard(self.connection)
        super().finish()

    def log_message(self, *arguments: Any) -> None:
        """Quiet."""

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def _serve(self) -> None:
        split = urlsplit(self.path)  # of an absolute address too: this server may be asked as a proxy
        path = unquote(split.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.hub.requests.append(
            Asked(self.command, path + (f"?{split.query}" if split.query else ""), headers)
        )
        if self.hub.stopping.is_set():
            self.close_connection = True
        elif path == "/api/models":
            self._search(parse_qs(split.query))
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", path):
            self._describe(found[1], found[2] or "main")
        elif found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self._resolve(found[1], found[2], found[3])
        elif found := re.fullmatch(r"/cdn/([0-9a-f]{64})", path):
            self._content(found[1])
        else:
            self._say(404, {"error": "Not Found"})

    # --- the API ----------------------------------------------------------------------------------------

    def _search(self, query: dict[str, list[str]]) -> None:
        if self._misbehave("api"):
            return
        words = " ".join(query.get("search", [])).lower().split()
        wanted = {tag for value in query.get("filter", []) for tag in value.split(",")}
        found = [
            told
            for name, kept in self.hub.repositories.items()
            if all(word in name.lower() for word in words)
            and wanted <= set((told := self._told(name, kept, kept.head))["tags"])
        ]
        found.sort(key=lambda told: -told["downloads"])
        limit = int(query.get("limit", ["1000"])[0])
        self._say(200, [{k: v for k, v in told.items() if k != "siblings"} for told in found[:limit]])

    def _describe(self, name: str, revision: str) -> None:
        if self._misbehave("api"):
            return
        kept = self._kept(name)
        commit = self._commit(kept, revision) if kept else ""
        if kept and commit:
            self._say(200, self._told(name, kept, commit))

    def _told(self, name: str, kept: Repository, commit: str) -> dict[str, Any]:
        files = kept.history[commit]
        licence = kept.about.get("license", "apache-2.0")
        gguf = ["gguf"] if any(file.endswith(".gguf") for file in files) else []
        return {
            "_id": commit[:24],
            "id": name,
            "modelId": name,
            "author": name.split("/")[0],
            "sha": commit,
            "lastModified": kept.about.get("lastModified", "2026-05-01T10:00:00.000Z"),
            "createdAt": "2026-04-01T10:00:00.000Z",
            "private": False,
            "disabled": False,
            "gated": kept.about.get("gated", False),
            "downloads": kept.about.get("downloads", 1000),
            "likes": kept.about.get("likes", 10),
            "gguf": kept.about.get("gguf", {}),
            "pipeline_tag": kept.about.get("pipeline_tag", "text-generation"),
            "tags": [*gguf, f"license:{licence}", *kept.about.get("tags", [])],
            "cardData": {"license": licence},
            "siblings": [_sibling(file, blob) for file, blob in files.items()],
        }

    def _kept(self, name: str) -> Repository | None:
        kept = self.hub.repositories.get(name)
        if kept is None:
            self._refuse(404, "RepoNotFound", "Repository not found")
        return kept

    def _commit(self, kept: Repository, revision: str) -> str:
        commit = kept.head if revision == "main" else revision if revision in kept.history else ""
        if not commit:
            self._refuse(404, "RevisionNotFound", "Invalid rev id: " + revision)
        return commit

    # --- files ------------------------------------------------------------------------------------------

    def _resolve(self, name: str, revision: str, file: str) -> None:
        door: Door = "head" if self.command == "HEAD" else "resolve"
        wrong = self.hub.misdeed(door, self.path)
        if self._misbehave(door, wrong):
            return
        kept = self._kept(name)
        commit = self._commit(kept, revision) if kept else ""
        if not kept or not commit:
            return
        if kept.about.get("gated") and self.headers.get("authorization") != "Bearer hf_right":
            signed_in = "authorization" in self.headers
            told = "Access to model is restricted" if signed_in else "Please log in."
            self._refuse(403 if signed_in else 401, "GatedRepo", told)
        elif file not in kept.history[commit]:
            self._refuse(404, "EntryNotFound", "Entry not found")
        else:
            self._hand_out(file, kept.history[commit][file], commit, wrong)

    def _hand_out(self, file: str, blob: Blob, commit: str, wrong: Misdeed | None) -> None:
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if not file.endswith(LARGE):
            headers["ETag"] = f'"{blob.git}"'
            self._send(blob, 0, blob.size, 200, headers, wrong)
            return
        headers["X-Linked-Size"] = str(blob.size)
        headers["Location"] = f"{self.hub.cdn or self.hub.url}/cdn/{blob.sha256}?Signature=s3cret"
        if wrong is None or wrong.kind != "unhashed":
            headers["X-Linked-Etag"] = f'"{blob.sha256}"'
        self._say(302, "Found. Redirecting", headers)

    def _content(self, sha256: str) -> None:
        wrong = self.hub.misdeed("cdn", self.path)
        if self._misbehave("cdn", wrong):
            return
        blob = self.hub.blob(sha256)
        if blob is None:
            self._say(404, {"error": "NoSuchKey"})
            return
        headers = {"ETag": f'"{blob.git}"', "Accept-Ranges": "bytes"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
        kind = wrong.kind if wrong else ""
        if asked is None or kind == "whole":
            self._send(blob, 0, blob.size, 200, headers, wrong)
            return
        begin, end = int(asked[1]), min(int(asked[2] or blob.size - 1) + 1, blob.size)
        if kind == "shifted":
            begin = max(0, begin - 1)
        if begin >= blob.size or kind == "refuse_range":
            self._say(416, "", {"Content-Range": f"bytes */{blob.size}"})
            return
        headers["Content-Range"] = f"bytes {begin}-{end - 1}/{blob.size}"
        self._send(blob, begin, end, 206, headers, wrong)

    def _send(
        self, blob: Blob, begin: int, end: int, status: int, headers: dict[str, str], wrong: Misdeed | None
    ) -> None:
        """The bytes from `begin` to before `end`, as `wrong` has it."""
        self._head(status, {**headers, "Content-Length": str(end - begin)})
        if self.command == "HEAD":
            return
        kind = wrong.kind if wrong else ""
        after = wrong.after if wrong and kind in ("cut", "stall") else end - begin
        at = begin
        for piece in blob.pieces(begin, begin + min(after, end - begin)):
            if kind == "wrong" and at <= (begin + end) // 2 < at + len(piece):
                spot = (begin + end) // 2 - at
                piece = piece[:spot] + bytes([piece[spot] ^ 1]) + piece[spot + 1 :]
            self._write(piece)
            at += len(piece)
        if kind == "stall":
            self.hub.stopping.wait()
        if kind in ("cut", "stall"):
            self.close_connection = True

    def _write(self, piece: bytes) -> None:
        """At the hub's rate, in tenths of a second."""
        step = max(1, self.hub.rate // 10) if self.hub.rate else len(piece)
        for at in range(0, len(piece), step):
            part = piece[at : at + step]
            self.wfile.write(part)
            self.hub.served += len(part)
            if self.hub.rate and self.hub.stopping.wait(len(part) / self.hub.rate):
                raise ConnectionAbortedError("the hub stops")

    # --- answers ----------------------------------------------------------------------------------------

    def _misbehave(self, door: Door, found: Misdeed | None = None) -> bool:
        """Whether a misdeed took the place of the answer."""
        wrong = found or (self.hub.misdeed(door, self.path) if door == "api" else None)
        if wrong is None:
            return False
        if wrong.kind == "status":
            later = {} if wrong.seconds is None else {"Retry-After": str(wrong.seconds)}
            self._say(wrong.status, {"error": "so it was asked"}, {**later, **wrong.headers})
        elif wrong.kind == "redirect":
            self._say(302, "", {"Location": wrong.to, **wrong.headers})
        elif wrong.kind == "hangup":
            self.close_connection = True
        else:
            return False
        return True

    def _refuse(self, status: int, code: str, message: str) -> None:
        self._say(status, {"error": message}, {"X-Error-Code": code, "X-Error-Message": message})

    def _say(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        kind = "text/plain" if isinstance(body, str) else "application/json"
        length = str(len(content))
        self._head(status, {"Content-Type": kind, "Content-Length": length, **(headers or {})})
        if self.command != "HEAD":
            self.wfile.write(content)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _sibling(name: str, blob: Blob) -> dict[str, Any]:
    told: dict[str, Any] = {"rfilename": name, "blobId": blob.git, "size": blob.size}
    if name.endswith(LARGE):
        told["lfs"] = {"sha256": blob.sha256, "size": blob.size, "pointerSize": 135}
    return told
