"""The user's settings: one schema, from which the settings page is generated too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from ruamel.yaml.comments import CommentedMap

from runtime import yamlfile
from runtime.errors import OrionError

VERSION = 1
PUSH_TO_TALK = "Meta+Space" if sys.platform == "darwin" else "Ctrl+Space"
"""Control and the space bar everywhere: in Qt's names for keys, Ctrl is the command key of a Mac."""


def _of(kind: str) -> dict[str, JsonValue]:
    """What a door is told of a setting that is one of what this machine has now: it asks for these."""
    return {"choices": kind}


class Section(BaseModel):
    """A group of settings; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Appearance(Section):
    """How the window looks."""

    theme: Literal["system", "light", "dark"] = Field(
        default="system", description="Light, dark, or as the system is."
    )
    text_scale: float = Field(default=1.0, ge=0.7, le=2.5, description="Size of all text; 1 is normal.")
    language: str = Field(
        default="", description="Two-letter code of the language; empty follows the system."
    )


class Agent(Section):
    """How the agent works."""

    profile: str = Field(default="orion-local", description="Profile that a new conversation starts with.")
    model: str = Field(
        default="",
        description="Model that a new conversation starts with; empty uses the one the profile names.",
    )
    autonomy: Literal["semi", "auto"] = Field(
        default="semi",
        description="semi asks before anything that changes something; auto asks only for high risk.",
    )
    bounded_iterations: int = Field(
        default=15,
        ge=1,
        le=200,
        description="Most model calls for one message in a chat. A profile that works on the agent's "
        "computer has a limit of its own.",
    )


class LocalModel(Section):
    """The model that runs on this machine."""

    model: str = Field(
        default="", description="Name or path of the model file; empty uses the one the profile names."
    )
    window: int = Field(
        default=8192, ge=512, le=1_048_576, description="Most tokens the model reads at once."
    )
    threads: int = Field(default=0, ge=0, le=256, description="Processor threads; 0 lets the program choose.")
    memory_limit_mb: int = Field(
        default=0, ge=0, description="Most memory for the model in MB; 0 means what is free."
    )
    projector: str = Field(
        default="",
        description="Path of the file through which the model sees pictures; empty looks beside the model.",
    )
    idle_minutes: float = Field(
        default=15.0,
        ge=0.0,
        le=10_080.0,
        description="Minutes without a question after which the model leaves the memory; 0 means never.",
    )
    state_cache_mb: int = Field(
        default=4096,
        ge=0,
        description="Most disk space in MB for reopening long chats quickly; 0 keeps nothing on disk.",
    )
    gpu_layers: int = Field(
        default=-1, ge=-1, le=10_000, description="Layers on the graphics card; -1 chooses, 0 uses none."
    )
    batch: int = Field(
        default=0, ge=0, le=4096, description="Tokens of a prompt read at once; 0 lets the program choose."
    )
    hang_seconds: float = Field(
        default=60.0, ge=2.0, le=3600.0, description="Silence after which the engine is restarted."
    )


class Models(Section):
    """Where models come from and where they lie."""

    hub: str = Field(
        default="",
        description="Address that models are searched and fetched at; empty is Hugging Face, or HF_ENDPOINT.",
    )
    folders: tuple[str, ...] = Field(
        default=(), description="More folders in which model files are looked for; nothing is changed there."
    )


class Sessions(Section):
    """How conversations are kept."""

    restore_last: bool = Field(
        default=True, description="Open the last conversation when the program starts."
    )


class Caps(Section):
    """What models on other machines may cost in US dollars; none is asked once a cap is reached."""

    daily_usd: float = Field(default=0.0, ge=0.0, le=100_000.0, description="Most in a day; 0 means no cap.")
    monthly_usd: float = Field(
        default=0.0, ge=0.0, le=100_000.0, description="Most in a month; 0 means no cap."
    )
    session_usd: float = Field(
        default=0.0, ge=0.0, le=100_000.0, description="Most in one chat; 0 means no cap."
    )


class Voice(Section):
    """How you speak with the agent, and how it answers aloud."""

    input_device: str = Field(
        default="",
        description="Microphone; empty uses the system's own.",
        json_schema_extra=_of("microphones"),
    )
    output_device: str = Field(
        default="",
        description="Loudspeaker; empty uses the system's own.",
        json_schema_extra=_of("loudspeakers"),
    )
    language: str = Field(
        default="",
        pattern=r"^([a-z]{2})?$",
        description="Two-letter code of the language you speak; empty lets the program detect it.",
    )
    voice: str = Field(
        default="",
        description="Voice that answers unless the profile names one; empty chooses by language.",
        json_schema_extra=_of("voices"),
    )
    rate: float = Field(default=1.0, ge=0.25, le=4.0, description="How fast it speaks; 1 is normal.")
    volume: float = Field(default=1.0, ge=0.0, le=2.0, description="How loud it speaks; 1 is normal.")
    hands_free: bool = Field(
        default=False, description="Listen without a key: speak when you like, and talk over an answer."
    )
    send_at_once: bool = Field(
        default=True, description="Send what you said when you stop; otherwise it waits to be edited."
    )
    keep_audio: bool = Field(default=False, description="Keep a recording of everything you say.")
    online_voices: bool = Field(
        default=False,
        description="Let Microsoft's voices speak once you allowed the host; answers are sent there.",
    )
    recogniser: str = Field(
        default="", description="Name or folder of the model that listens; empty uses the one brought along."
    )
    push_to_talk_key: str = Field(
        default=PUSH_TO_TALK,
        description="Key to hold in the window to talk.",
        json_schema_extra={"format": "key"},
    )
    global_hot_key: str = Field(
        default="",
        description="Key to hold in any program to talk; empty means there is none.",
        json_schema_extra={"format": "hot_key"},
    )


class Sandbox(Section):
    """The agent's own computer: a desktop in a container, cut off from this machine."""

    host: str = Field(
        default="", description="Address of the Docker or Podman engine; empty finds the one on this machine."
    )
    memory_mb: int = Field(default=4096, ge=512, le=262_144, description="Most memory of the computer in MB.")
    cpus: float = Field(
        default=4.0,
        ge=0.25,
        le=256.0,
        description="Most processor cores of the computer, as far as there are.",
    )
    screen_width: int = Field(default=1280, ge=640, le=2560, description="Width of its screen in pixels.")
    screen_height: int = Field(default=800, ge=480, le=1600, description="Height of its screen in pixels.")
    allowed_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts it may reach without asking; it is on no network otherwise."
    )
    ports: tuple[str, ...] = Field(
        default=(), description="Its ports that this machine may open, such as 8888 or 3100:3000."
    )
    idle_minutes: float = Field(
        default=15.0,
        ge=0.0,
        le=10_080.0,
        description="Minutes without use or a viewer after which it stops; 0 means never.",
    )


class Settings(Section):
    """All settings; `version` is the format of the file."""

    version: int = Field(default=VERSION, ge=1)
    appearance: Appearance = Appearance()
    agent: Agent = Agent()
    local_model: LocalModel = LocalModel()
    models: Models = Models()
    sessions: Sessions = Sessions()
    spending: Caps = Caps()
    voice: Voice = Voice()
    sandbox: Sandbox = Sandbox()


def load_settings(path: Path) -> Settings:
    """The settings in `path`, or the defaults when there is no file.

    Raises OrionError naming file and line for a bad file, `format_newer` for one of a newer program.
    """
    if not path.exists():
        return Settings()
    data = yamlfile.read(path)
    found = data.get("version", VERSION)
    if isinstance(found, int) and found > VERSION:
        raise OrionError("format_newer", path=str(path), found=found, known=VERSION)
    return yamlfile.validate(data, path, Settings)


def save_settings(path: Path, changes: dict[str, object]) -> Settings:
    """Check `changes` (dotted names) against the schema, then write them; returns the new settings."""
    data = yamlfile.read(path) if path.exists() else CommentedMap()
    for name, value in changes.items():
        *folders, key = name.split(".")
        place = data
        for folder in folders:
            place = place.setdefault(folder, CommentedMap())
        place[key] = value
    settings = yamlfile.validate(data, path, Settings)
    yamlfile.save(path, {"version": VERSION, **changes})
    return settings
