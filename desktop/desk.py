"""What the window may ask of the runtime: coroutines with plain data in and out, on the loop's thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from desktop.desk_computer import DeskComputer
from desktop.desk_voice import DeskVoice
from runtime.errors import OrionError
from runtime.events import Event, Trust
from runtime.messages import Image

if TYPE_CHECKING:
    from runtime.assemble import Runtime
    from runtime.session import Session

Plain = dict[str, Any]


class Desk:
    """Holds the sessions this window opened. Every argument and result is JSON-serialisable, so that the
    runtime may one day live in another process. Errors are OrionErrors."""

    def __init__(
        self,
        runtime: Runtime,
        listener: Callable[[Event], None],
        voice_listener: Callable[[Any], None] = lambda _event: None,
        computer: DeskComputer | None = None,
    ) -> None:
        self._runtime = runtime
        self._listener = listener
        self.voice = DeskVoice(runtime, voice_listener)
        self.computer = computer or DeskComputer(runtime, lambda _event: None, None, lambda: None)
        self._sessions: dict[str, Session] = {}
        self._unsubscribe: dict[str, Callable[[], None]] = {}

    @property
    def runtime(self) -> Runtime:
        """For the questions that lie in files of their own."""
        return self._runtime

    # --- the whole ------------------------------------------------------------------------------------

    async def overview(self) -> Plain:
        """{"home", "profiles", "models", "sessions", "notices", "settings"}: what the window shows first."""
        return {
            "home": str(self._runtime.home.root),
            "workspace": str(self._runtime.home.workspace),
            "profiles": self._profiles(),
            "models": self._runtime.models(),
            "sessions": self._runtime.sessions.list(),
            "notices": await self.notices(),
            "settings": self._runtime.settings.model_dump(mode="json"),
        }

    async def notices(self) -> list[Plain]:
        """What is wrong with this installation, as [{"code", "fields"}]; empty when all is well."""
        return [{"code": code, "fields": fields} for code, fields in self._runtime.health()]

    async def settings(self) -> Plain:
        """{"schema", "values", "file"}: the JSON Schema of the settings and what they are now."""
        settings = self._runtime.settings
        schema = type(settings).model_json_schema()
        models = ["", *(model["name"] for model in self._runtime.models() if not model["error"])]
        _offer(schema, "Agent", "profile", [*self._runtime.profiles.names()], settings.agent.profile)
        _offer(schema, "LocalModel", "model", models, settings.local_model.model)
        for section in schema["$defs"].values():
            for option in section["properties"].values():
                if kind := option.get("choices"):
                    found = await self.voice.choices(kind)
                    option["oneOf"] = [{"const": value, "title": words} for value, words in found]
        return {
            "schema": schema,
            "values": settings.model_dump(mode="json"),
            "file": str(self._runtime.home.settings_file),
        }

    async def save_settings(self, changes: dict[str, object]) -> Plain:
        """Save dotted names; returns all values as they are now."""
        self._runtime.save_settings(changes)
        if any(name.startswith("voice.") for name in changes):
            await self.voice.configure()
        return self._runtime.settings.model_dump(mode="json")

    async def models(self, profile: str) -> list[Plain]:
        """The models of the profile's service, which is asked only where that was allowed; see Offers."""
        return await self._runtime.offers.of(self._runtime.profiles.get(profile))

    async def allow_host(self, host: str, who: str) -> str:
        """Let `who` send to `host` from now on; returns its plain name."""
        return self._runtime.network.allow(host, who)

    # --- the list of sessions -------------------------------------------------------------------------

    async def sessions(self) -> list[Plain]:
        """Every session in which something was said, newest first."""
        return self._runtime.sessions.list()

    async def search(self, text: str) -> list[Plain]:
        return self._runtime.sessions.search(text)

    async def rename(self, session: str, title: str) -> list[Plain]:
        """Rename a session; returns the list as it is now."""
        if session in self._sessions:
            self._sessions[session].rename(title)
        else:
            self._runtime.sessions.rename(session, title)
        return self._runtime.sessions.list()

    async def delete(self, session: str) -> str:
        """Close and delete a session; returns the token with which `restore` brings it back."""
        await self.close_session(session)
        return await self._runtime.delete(session)

    async def restore(self, token: str) -> list[Plain]:
        self._runtime.sessions.restore(token)
        return self._runtime.sessions.list()

    async def export(self, session: str, form: str) -> str:
        """The session as "markdown" or "json" text."""
        return self._runtime.sessions.export(session, form)

    async def import_(self, text: str) -> str:
        """Take in an exported session; returns its new id."""
        return self._runtime.sessions.import_(text)

    async def fork(self, session: str, message: str) -> str:
        """A new session that shares the history up to `message`; returns its id."""
        return self._runtime.sessions.fork(session, message)

    # --- one session ----------------------------------------------------------------------------------

    async def open(self, session: str | None, profile: str | None = None, private: bool = False) -> Plain:
        """Open a session (None: a new one) and listen to it; returns what `card` returns, with its "rows"."""
        opened = await self._runtime.open(session, profile=profile, private=private)
        if self._sessions.get(opened.id) is not opened:
            await self.close_session(opened.id)
            self._sessions[opened.id] = opened
            self._unsubscribe[opened.id] = opened.subscribe(self._listener)
        found = await self.card(opened.id) | {"rows": opened.rows()}
        if opened.interrupted and any(row.get("status") == "waiting" for row in found["rows"]):
            await opened.continue_()  # nothing ran yet: the question that waits is asked again
        return found

    async def card(self, session: str) -> Plain:
        """{"id", "title", "profile", "model", "provider", "local", "host", "tools", "images", "calls",
        "autonomy", "state", "busy", "private", "pending"}: what the window shows of an open session besides
        its rows. "local", "host", "tools", "images" and "calls" say where its model runs, whether it can act
        and see, and how sure its calls are."""
        opened = self.session(session)
        traits = opened.traits
        return {
            "id": opened.id,
            "title": opened.title,
            "profile": opened.profile,
            "model": opened.model,
            "provider": traits.name,
            "local": traits.local,
            "tools": traits.tools,
            "images": traits.images,
            "calls": traits.calls,
            "host": traits.host or traits.name,
            "autonomy": opened.autonomy,
            "state": opened.state,
            "busy": opened.busy,
            "private": opened.private,
            "pending": [asdict(asked) for asked in opened.pending],
        }

    async def submit(self, session: str, text: str, images: Sequence[tuple[str, str]] = ()) -> str:
        """Say `text` with pictures as (media type, base64); returns the record's id."""
        return await self.session(session).submit(
            text, source="window", images=tuple(Image(kind, data) for kind, data in images)
        )

    async def cancel(self, session: str) -> None:
        self.session(session).cancel()

    async def answer(
        self,
        session: str,
        approval: str,
        decision: Literal["approve", "deny", "edit"],
        trust: Trust = "once",
        arguments: Plain | None = None,
    ) -> None:
        """Decide a pending approval: "approve", "deny", or "edit" with the new arguments."""
        await self.session(session).answer(
            approval, decision, trust=trust, arguments=arguments, door="window"
        )

    async def undo(self, session: str, change: str) -> list[str]:
        """Take back a change; returns the files restored."""
        return [str(path) for path in await self.session(session).undo(change)]

    async def edit(self, session: str, message: str, text: str) -> Plain:
        await self.session(session).edit(message, text)
        return await self.open(session)

    async def retry(self, session: str) -> Plain:
        """Answer the last message again; what `open` returns, without the answer that was."""
        await self.session(session).retry()
        return await self.open(session)

    async def continue_(self, session: str) -> None:
        await self.session(session).continue_()

    async def use(
        self,
        session: str,
        profile: str | None,
        model: str | None,
        autonomy: Literal["semi", "auto"] | None = None,
    ) -> Plain:
        """Switch what this session runs with; returns its card."""
        await self.session(session).use(profile=profile, model=model, autonomy=autonomy)
        return await self.card(session)

    async def shorten(self, session: str, tokens: int, window: int) -> None:
        """Show the model less of a conversation that does not fit, and answer again."""
        await self.session(session).shorten(tokens, window)

    async def context_stats(self, session: str, text: str) -> Plain:
        """How the model's window would be shared if `text` were said now, in tokens, and "compactions": how
        often older messages were summed up. The model counts, so it may be loaded for this."""
        opened = self.session(session)
        stats = await opened.context_stats(text)
        notices = [row.get("code") for row in opened.rows() if row["kind"] == "notice"]
        return {**stats, "compactions": notices.count("history_shortened")}

    async def rules(self) -> list[Plain]:
        """Every standing permission that holds in a session open here, each with its "text"."""
        found = {rule["id"]: rule for session in self._sessions.values() for rule in session.rules()}
        return list(found.values())

    async def revoke(self, rule: str) -> list[Plain]:
        """Take a standing permission back; returns those that are left."""
        for session in self._sessions.values():
            if any(held["id"] == rule for held in session.rules()):
                session.revoke(rule)
                break
        return await self.rules()

    async def diagnostics(self) -> str:
        """A report to send with a question, without secrets and without what was said."""
        import asyncio

        from runtime.diagnostics import report

        return await asyncio.to_thread(report, self._runtime.home)

    async def close_session(self, session: str) -> None:
        """Let go of a session; nothing happens when it is not open here."""
        if session in self._sessions:
            self.voice.let_go(self._sessions[session])
            self._unsubscribe.pop(session)()
            await self._sessions.pop(session).close()

    async def close(self) -> None:
        """Let go of the voice, the computer and all sessions; running turns are cancelled by their sessions'
        own close."""
        self.computer.close()
        await self.voice.close()
        for session in list(self._sessions):
            await self.close_session(session)

    def session(self, session: str) -> Session:
        """An open session; raises OrionError `session_unknown` for one that is not open here."""
        if session not in self._sessions:
            raise OrionError("session_unknown", id=session)
        return self._sessions[session]

    def _profiles(self) -> list[Plain]:
        found = (self._runtime.profiles.get(name) for name in self._runtime.profiles.names())
        return [
            {
                "name": one.name,
                "provider": one.provider,
                "model": one.model,
                "local": (traits := self._runtime.traits(one)) is None or traits.local,
            }
            for one in found
        ]


def _offer(schema: Plain, section: str, name: str, offered: list[str], now: str) -> None:
    """Let the setting be one of `offered`, and what it is now, even where that is not among them."""
    schema["$defs"][section]["properties"][name]["enum"] = offered + [now] * (now not in offered)
