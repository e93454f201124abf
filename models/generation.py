"""What a caller asks of the embedded engine and what it is told while the answer comes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

JsonObject = dict[str, Any]

StopReason = Literal["stop", "tool_calls", "length", "cancelled"]

Acting = Literal["guaranteed", "parsed", "fallback"]
"""How a model calls tools: its own format under a grammar that allows only valid calls; its own format,
parsed; or a format that the prompt explains, under a grammar, where the template knows of no tools."""


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Which model file to load and how.

    `window` 0 chooses the context length (tokens) from the file, the memory and `window_cap`. `threads` 0
    means all physical cores. `ram_limit` 0 means the memory available now (bytes). `pool_limit` bounds the
    memory (bytes) that keeps the state of conversations other than the current one. `gpu_layers` is how many
    layers a graphics card computes, -1 as many as fit. `batch` is the tokens of a prompt evaluated at once, 0
    what suits the hardware. `projector` is the file through which the model sees pictures. `state_folder`,
    if any, keeps states on disk, at most `state_limit` bytes, for when the model is loaded again.
    """

    path: str
    window: int = 0
    window_cap: int = 8192
    threads: int = 0
    ram_limit: int = 0
    pool_limit: int = 1 << 30
    state_folder: str = ""
    state_limit: int = 0
    gpu_layers: int = -1
    batch: int = 0
    projector: str = ""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A loaded model. `notice` is empty or says why the file's own chat template is not used. `gpu_layers` of
    its layers are on the graphics cards named in `cards`; `gpu_build` is whether this build can use any."""

    path: str
    name: str
    architecture: str
    quantisation: str
    size: int
    window: int
    trained_window: int
    threads: int
    predicted_bytes: int
    tools_in_template: bool
    notice: str = ""
    acting: Acting = "fallback"
    gpu_layers: int = 0
    cards: str = ""
    gpu_build: bool = False
    sees: bool = False


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen; temperature 0 is greedy. `seed` None draws a fresh one. `grammar` (GBNF,
    start symbol root) holds the whole reply to it."""

    temperature: float = 0.7
    top_p: float = 0.95
    top_k: int = 40
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    seed: int | None = None
    grammar: str = ""


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One answer. `pictures` are base64 of encoded files, one for each models.pictures.MARK in the messages.
    `session` keys the warm prompt cache; messages and tools have the shape of the OpenAI
    chat interface; `template` holds extra variables of the chat template, such as enable_thinking. Nothing
    of a `private` one is written to disk. Calls are held to a grammar where it is `constrained`;
    with `answer` there are none, but words."""

    model: LoadOptions
    session: str
    messages: list[JsonObject]
    tools: list[JsonObject] = field(default_factory=list)
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int = 1024
    template: JsonObject = field(default_factory=dict)
    private: bool = False
    pictures: list[str] = field(default_factory=list)
    constrained: bool = True
    answer: bool = False

    def as_frame(self) -> JsonObject:
        """The request as it travels to the worker."""
        return {"t": "generate"} | asdict(self)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another answer is being written; this one is next in line."""


@dataclass(frozen=True, slots=True)
class Starting:
    """The worker is being started; `again` after a death."""

    again: bool


@dataclass(frozen=True, slots=True)
class Loading:
    """The model file is being read; `fraction` is 0–1."""

    fraction: float


@dataclass(frozen=True, slots=True)
class Prefill:
    """`done` of `total` prompt tokens are in the model's memory, cached ones included."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Text:
    """More of the answer; never splits a character."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """More of what the model thinks before it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class Writing:
    """More of a call that is not whole yet; `name` is the tool's."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `arguments` is the JSON text of an object unless `fault` says what is wrong with it: one
    of the faults of models.toolformat.items.ToolCall, or "too_many". `id` is the model's own or ""."""

    name: str
    arguments: str
    id: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and times of one answer; `cached_tokens` of the prompt were not evaluated again."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    prefill_ms: float
    decode_ms: float

    @property
    def tokens_per_second(self) -> float:
        """Decoding speed; 0 when nothing was decoded."""
        return 1000 * self.completion_tokens / self.decode_ms if self.decode_ms > 0 else 0.0

    @property
    def prefill_per_second(self) -> float:
        """Prompt tokens evaluated a second; 0 when all were cached."""
        fresh = self.prompt_tokens - self.cached_tokens
        return 1000 * fresh / self.prefill_ms if self.prefill_ms > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is whole; always the last event. `notice` as in ModelInfo."""

    stop_reason: StopReason
    usage: Usage
    window: int
    notice: str = ""


GenerateEvent = Waiting | Starting | Loading | Prefill | Text | Reasoning | Writing | Call | Finished
