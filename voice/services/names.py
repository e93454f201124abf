"""The names by which clients of OpenAI's interface ask for models and voices, and what they mean here."""

from __future__ import annotations

SPEECH_MODELS = ("orion-voice", "tts-1", "tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15")
"""All of them are the voices of this machine."""

TRANSCRIPTION_MODELS = (
    "orion-recogniser",
    "whisper-1",
    "gpt-transcribe",
    "gpt-4o-transcribe",
    "gpt-4o-mini-transcribe",
    "gpt-4o-mini-transcribe-2025-12-15",
)
"""All of them are the recogniser of this machine."""

VOICES = (
    "alloy",
    "ash",
    "ballad",
    "cedar",
    "coral",
    "echo",
    "fable",
    "marin",
    "nova",
    "onyx",
    "sage",
    "shimmer",
    "verse",
)
"""Each of them is the voice of this machine that fits the text."""
