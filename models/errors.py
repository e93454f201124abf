"""The one error of the embedded engine: a code and fields that the caller turns into a sentence."""

from __future__ import annotations

Field = str | int | float

CODES = (
    "context_overflow",
    "cpu_features_missing",
    "disk_full_for_model",
    "download_broken",
    "download_corrupt",
    "download_elsewhere",
    "download_gated",
    "download_name_refused",
    "download_unknown",
    "download_unverified",
    "download_unwritable",
    "download_waiting",
    "format_newer",
    "host_refused",
    "hub_not_found",
    "hub_token_refused",
    "hub_unavailable",
    "hub_unreachable",
    "hub_unusable",
    "import_cancelled",
    "import_changed",
    "import_disk_full",
    "import_failed",
    "import_mode",
    "import_nothing",
    "model_already_here",
    "model_bundled_kept",
    "model_delete_failed",
    "model_embeds_not",
    "model_evaluation_failed",
    "model_file_exists",
    "model_file_missing",
    "model_file_mixed",
    "model_file_not_gguf",
    "model_file_other",
    "model_file_part_misnamed",
    "model_file_part_missing",
    "model_file_truncated",
    "model_held_by_lmstudio",
    "model_held_by_ollama",
    "model_in_own_folder",
    "model_load_failed",
    "model_missing",
    "model_sees_no_pictures",
    "model_too_large",
    "model_unknown",
    "ollama_manifest_broken",
    "picture_too_large",
    "picture_unreadable",
    "projector_alone",
    "projector_unusable",
    "references_unreadable",
    "references_unwritable",
    "worker_crashed",
    "worker_hung",
    "worker_killed",
    "worker_out_of_memory",
    "worker_start_failed",
)
"""Every code an EngineError can carry; each has a sentence in resources/sentences.yaml."""


class EngineError(Exception):
    """A fault of the engine, the model file or the machine that the program expects.

    `fields` fill the sentence of `code`; both are JSON and hold no secret.
    """

    def __init__(self, code: str, **fields: Field) -> None:
        super().__init__(code, fields)
        self.code = code
        self.fields: dict[str, Field] = fields

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.fields.items())
        return f"{self.code}({shown})"
