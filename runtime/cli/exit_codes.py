"""What the program tells a calling script when it ends, as one table that the help prints too."""

from __future__ import annotations

from enum import IntEnum

from resources.translation import _
from runtime.errors import OrionError


class ExitCode(IntEnum):
    """The exit codes of `orion`; stable, scripts rely on them."""

    OK = 0
    FAILED = 1
    USAGE = 2
    TIMEOUT = 3
    APPROVAL = 4
    LOCKED = 5
    NOT_FOUND = 6
    MODEL = 7
    INTERRUPTED = 130
    READER_GONE = 141


_CODES = {
    "catalogue_unknown": ExitCode.NOT_FOUND,
    "cli_delete_unconfirmed": ExitCode.APPROVAL,
    "cli_reset_unconfirmed": ExitCode.APPROVAL,
    "cli_shell_terminal_needed": ExitCode.USAGE,
    "cli_command_unknown": ExitCode.USAGE,
    "cli_input_empty": ExitCode.USAGE,
    "cli_text_empty": ExitCode.USAGE,
    "cli_timeout": ExitCode.TIMEOUT,
    "cli_session_ambiguous": ExitCode.USAGE,
    "cli_session_unknown": ExitCode.NOT_FOUND,
    "cli_file_unreadable": ExitCode.NOT_FOUND,
    "download_gated": ExitCode.APPROVAL,
    "download_unknown": ExitCode.NOT_FOUND,
    "exam_not_for_kind": ExitCode.USAGE,
    "exam_too_large": ExitCode.MODEL,
    "host_refused": ExitCode.APPROVAL,
    "hub_not_found": ExitCode.NOT_FOUND,
    "hub_token_refused": ExitCode.APPROVAL,
    "import_nothing": ExitCode.NOT_FOUND,
    "licence_not_accepted": ExitCode.APPROVAL,
    "model_file_not_offered": ExitCode.NOT_FOUND,
    "model_held_by_lmstudio": ExitCode.APPROVAL,
    "model_in_own_folder": ExitCode.APPROVAL,
    "model_not_for_chat": ExitCode.USAGE,
    "session_locked": ExitCode.LOCKED,
    "message_unknown": ExitCode.NOT_FOUND,
    "session_unknown": ExitCode.NOT_FOUND,
    "voice_unknown": ExitCode.NOT_FOUND,
    "profile_not_ollama": ExitCode.USAGE,
    "profile_unknown": ExitCode.NOT_FOUND,
    "pull_name_missing": ExitCode.USAGE,
    "context_overflow": ExitCode.FAILED,
    "cpu_features_missing": ExitCode.MODEL,
    "model_file_missing": ExitCode.MODEL,
    "model_file_not_gguf": ExitCode.MODEL,
    "model_file_truncated": ExitCode.MODEL,
    "model_load_failed": ExitCode.MODEL,
    "model_missing": ExitCode.MODEL,
    "model_not_offered": ExitCode.MODEL,
    "model_too_large": ExitCode.MODEL,
    "model_unknown": ExitCode.MODEL,
    "provider_unknown": ExitCode.MODEL,
    "pull_unknown": ExitCode.MODEL,
}


def listed() -> list[str]:
    """The error codes that have an exit code of their own."""
    return list(_CODES)


def of_failure(code: str, fault: str) -> ExitCode:
    """The exit code of the error `code`; one that is not listed goes by whose fault it was."""
    return _CODES.get(code) or (ExitCode.MODEL if fault == "provider" else ExitCode.FAILED)


def of_error(error: OrionError) -> ExitCode:
    """The exit code of `error`."""
    return of_failure(error.code, error.fault)


def meanings() -> dict[ExitCode, str]:
    """Each exit code in a few words, translated, in the order of the codes."""
    return {
        ExitCode.OK: _("done"),
        ExitCode.FAILED: _("the turn, or what was asked for, failed"),
        ExitCode.USAGE: _("the command line was not understood"),
        ExitCode.TIMEOUT: _("the answer was not complete before --timeout"),
        ExitCode.APPROVAL: _("an approval or confirmation was needed and not given"),
        ExitCode.LOCKED: _("another process has the session open"),
        ExitCode.NOT_FOUND: _("no such session, profile, message or file"),
        ExitCode.MODEL: _("the model or its provider is not available"),
        ExitCode.INTERRUPTED: _("interrupted with Ctrl-C"),
        ExitCode.READER_GONE: _("the reader of the output went away"),
    }


def table() -> str:
    """The codes as aligned lines for the help text."""
    return "\n".join(f"{code.value:>5}  {meaning}" for code, meaning in meanings().items())
