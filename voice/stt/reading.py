"""One reading of at most 30 s of sound by a Whisper model, on as little sound as the words need.

Whisper was trained on windows of 30 s, and its encoder costs more than its length; most utterances are a
third of that. A window of 10 s, or 3 s more than the sound, loses no words where it was measured, and costs
a seventh. What a narrow window sometimes does, and 30 s do less, is to say its last words again and again:
such a text, one that the model doubts and one that ends long before speech does are read once more on the
whole window, and without what was said to stand before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from voice.stt.silence import REPEATS, compression

if TYPE_CHECKING:
    from voice.sound import Samples

LONGEST = 28.0
"""Seconds that fit a window with some silence behind them."""

BEAM = 5

_WINDOW = 3000
_NARROWEST = 1000
_BEHIND = 300
_DOUBT = -1.0
_LONGEST_TEXT = 224
_AGAIN = 4
_OPENING = "\"'“¿([{-"
_CLOSING = "\"'.。,，!！?？:：”)]}、"
_FORGETFUL = 8.0
_MISSED = 1.2


@dataclass(frozen=True, slots=True)
class Timed:
    """A word with its place in seconds, and how sure the model was of it, 0 to 1."""

    text: str
    start: float
    end: float
    probability: float
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What the model makes of a stretch of sound; `tokens` are those of the text, which is not `whole` where
    there was no end to it.
    """

    text: str = ""
    language: str = ""
    tokens: tuple[int, ...] = ()
    no_speech: float = 0.0
    logprob: float = 0.0
    whole: bool = True
    words: tuple[Timed, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """How to read: `language` is a code, empty to find out; `before` are tokens of what stands before the
    sound; `quick` takes each word as it comes, which costs half; `timed` asks for the places of the words.
    Speech is known to last `until` a second, so that words are missing where they end long before it.
    """

    language: str = ""
    before: Sequence[int] = ()
    quick: bool = False
    timed: bool = False
    until: float = 0.0


class Reader:
    """Reads with a loaded `WhisperModel`; one thread at a time."""

    def __init__(self, model: Any) -> None:
        from faster_whisper.tokenizer import Tokenizer
        from faster_whisper.transcribe import get_suppressed_tokens

        self._model = model
        self._tokenizer = Tokenizer(model.hf_tokenizer, model.model.is_multilingual, "transcribe", "en")
        self._suppressed = list(get_suppressed_tokens(self._tokenizer, [-1]))

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages the model knows."""
        return tuple(self._model.supported_languages)

    def encode(self, text: str) -> list[int]:
        """The tokens of `text`."""
        found: list[int] = self._tokenizer.encode(text)
        return found

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`, with the space before its first word."""
        text: str = self._tokenizer.decode(list(tokens))
        return text

    def read(self, samples: Samples, wish: Wish, stop: Callable[[], bool]) -> Reading | None:
        """What is said in `samples` (at most 30 s; 16 kHz); None when `stop` said so between two steps."""
        features = self._model.feature_extractor(samples)
        narrow = min(_WINDOW, max(_NARROWEST, features.shape[1] + _BEHIND))
        found = self._read(features, narrow, wish, stop)
        same = narrow == _WINDOW and not wish.before
        if found is None or wish.quick or same or not self._doubtful(found, wish.until):
            return found
        return self._read(features, _WINDOW, replace(wish, before=()), stop)

    def _read(self, features: Any, width: int, wish: Wish, stop: Callable[[], bool]) -> Reading | None:
        encoded = self._encoded(features, width)
        if stop():
            return None
        language = self._speak(wish.language, encoded)
        frames = features.shape[1]
        result, whole = self._generated(encoded, wish, _most(frames))
        tokens = result.sequences_ids[0]
        logprob = result.scores[0] * len(tokens) / (len(tokens) + 1)
        timed = wish.timed or wish.until >= _FORGETFUL
        words = self._timed(tokens, encoded, frames) if timed and not wish.quick else ()
        text = self.decode(tokens).strip()
        return Reading(text, language, tuple(tokens), result.no_speech_prob, logprob, whole, words)

    def _encoded(self, features: Any, width: int) -> Any:
        from faster_whisper.transcribe import pad_or_trim

        return self._model.encode(pad_or_trim(features, width))

    def _speak(self, language: str, encoded: Any) -> str:
        """Have the tokenizer speak `language`, or the one that is heard; gives its code."""
        if not self._model.model.is_multilingual:
            return "en"
        code = language.lower().replace("_", "-").partition("-")[0]
        if code not in self.languages:
            code = self._model.model.detect_language(encoded)[0][0][0][2:-2]
        self._tokenizer.language = self._tokenizer.tokenizer.token_to_id(f"<|{code}|>")
        self._tokenizer.language_code = code
        return code

    def _generated(self, encoded: Any, wish: Wish, most: int) -> tuple[Any, bool]:
        """The engine's result, at most `most` tokens, and whether it came to an end."""
        start = [self._tokenizer.sot_prev, *wish.before] if wish.before else []
        asked = [*start, *self._tokenizer.sot_sequence, self._tokenizer.no_timestamps]
        room = min(most, self._model.max_length - len(asked))
        result = self._model.model.generate(
            encoded,
            [asked],
            beam_size=1 if wish.quick else BEAM,
            max_length=len(asked) + room,
            suppress_tokens=self._suppressed,
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        return result, len(result.sequences_ids[0]) < room

    @staticmethod
    def _doubtful(found: Reading, until: float) -> bool:
        if not found.whole or _goes_round(found.tokens) or _twice(found.text):
            return True
        if found.words and found.words[-1].end < until - _MISSED:
            return True
        return found.logprob < _DOUBT or compression(found.text) > REPEATS

    def _timed(self, tokens: list[int], encoded: Any, frames: int) -> tuple[Timed, ...]:
        if not tokens:
            return ()
        from faster_whisper.transcribe import merge_punctuations

        (found,) = self._model.find_alignment(self._tokenizer, [tokens], encoded, frames)
        merge_punctuations(found, _OPENING, _CLOSING)
        longest = frames / self._model.frames_per_second
        return tuple(
            Timed(
                word["word"],
                round(min(longest, float(word["start"])), 2),
                round(min(longest, float(word["end"])), 2),
                round(float(word["probability"]), 3),
                tuple(word["tokens"]),
            )
            for word in found
            if word["word"]
        )


def _most(frames: int) -> int:
    """Nobody says more tokens in that time."""
    return min(_LONGEST_TEXT, 16 + frames // 10)


def _twice(text: str) -> bool:
    """Whether all of it is said twice, which people do, but narrow windows do as well."""
    said = re.findall(r"\w+", text.lower())
    half = len(said) // 2
    return half > 0 and said[:half] == said[half:]


def _goes_round(tokens: Sequence[int]) -> bool:
    """Whether the last tokens are the same few, _AGAIN times."""
    for length in range(1, len(tokens) // _AGAIN + 1):
        last = list(tokens[-length:])
        if all(list(tokens[-length * n :][:length]) == last for n in range(2, _AGAIN + 1)):
            return True
    return False
