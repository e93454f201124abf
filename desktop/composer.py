"""Where the user writes: text, attachments, and the one button that sends or stops."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from desktop.attachments import Attachment, compose, human_size, pasted, picture, read
from desktop.editor import Editor
from desktop.parts import choose, icon_button, label, picker, restyle, set_icons
from desktop.theme import Theme, spacing
from desktop.voice_button import VoiceButton
from resources.translation import _
from runtime.errors import OrionError


class Composer(QFrame):
    """`submitted` carries (text, pictures); the words stay until `accepted` says the runtime has them, so
    that a refused message is not lost. While the agent works a message steers it and the button stops it."""

    submitted = Signal(object, object)
    stop_requested = Signal()
    escaped = Signal()
    draft_changed = Signal(object)
    autonomy_chosen = Signal(str)
    trouble = Signal(str, object)
    voice_menu_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._theme = theme
        self._busy = False
        self._ready = False
        self._images = False
        self._hint = ""
        self._hearing = False
        self.dictated = False
        """Whether some of what is written was said."""
        self.attachments: list[Attachment] = []
        self.editor = Editor()
        self.chips = QWidget()
        self._chip_row = QHBoxLayout(self.chips)
        self._chip_row.setContentsMargins(0, 0, 0, spacing(1))
        self._chip_row.setSpacing(spacing(1))
        self._chip_row.addStretch(1)
        self.queued = label("", "small")
        self.queued.hide()
        self.attach = icon_button("attach", _("Attach files (Ctrl+O)"), self.choose_files)
        self.autonomy = picker(_("How freely it works"), self._fill_autonomy)
        self.autonomy.hide()
        self._autonomy = "semi"
        self.voice = VoiceButton(theme)
        self.voice_options = picker(_("Voice options"), self.voice_menu_wanted.emit)
        self.voice_options.setAccessibleName(_("Voice options"))
        self.voice_options.setStyleSheet("padding: 0;")
        self.action = QPushButton()
        self.action.setProperty("role", "primary")
        self.action.setStyleSheet("padding: 0;")
        self.action.clicked.connect(self._on_action)
        self._lay_out()
        self._connect()
        self._refresh()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(spacing(1))
        row.addWidget(self.attach)
        row.addWidget(self.autonomy)
        row.addWidget(self.queued, 1)
        row.addStretch(1)
        row.addWidget(self.voice)
        row.addWidget(self.voice_options)
        row.addSpacing(spacing(1))
        row.addWidget(self.action)
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(3), spacing(2), spacing(2), spacing(2))
        column.setSpacing(0)
        column.addWidget(self.chips)
        column.addWidget(self.editor)
        column.addLayout(row)
        self.chips.hide()

    def _connect(self) -> None:
        self.editor.submitted.connect(self.submit)
        self.editor.escaped.connect(self.escaped)
        self.editor.textChanged.connect(self._on_text)
        self.editor.files_dropped.connect(self.attach_files)
        self.editor.text_pasted.connect(self._on_long_paste)
        self.editor.image_pasted.connect(self._on_image)
        self.editor.focus_changed.connect(self._on_focus)

    # --- what the window tells it ---------------------------------------------------------------------

    def set_ready(self, ready: bool) -> None:
        """Whether there is a session to speak to; before that, typing works and sending waits."""
        self._ready = ready
        self._refresh()

    def set_busy(self, busy: bool) -> None:
        """Whether a turn runs."""
        if busy != self._busy:
            self._busy = busy
            self._refresh()
        if not busy:
            self.set_queued("")

    def set_images_allowed(self, allowed: bool) -> None:
        """Whether the model in use sees pictures."""
        self._images = allowed

    def set_autonomy(self, mode: str) -> None:
        """How freely the session in front works: "semi" or "auto"."""
        self._autonomy = mode
        self.autonomy.setText(_("Works alone") if mode == "auto" else _("Asks first"))
        self.autonomy.setAccessibleName(_("How freely it works: {mode}").format(mode=self.autonomy.text()))
        self.autonomy.show()

    def set_queued(self, text: str) -> None:
        """Show that a message waits for the agent to come round; "" hides it."""
        short = " ".join(text.split())[:60]
        self.queued.setText(_("Queued: {text}").format(text=short) if text else "")
        self.queued.setVisible(bool(text))

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.voice.set_theme(theme)
        self._refresh()

    def show_heard(self, text: str, stable: int = 0) -> None:
        """Show words that are being spoken; they become part of the message only by `add_words`."""
        if bool(text) != self._hearing:
            self._hearing = bool(text)
            self._refresh()
        self.editor.show_heard(text, stable, self._theme.muted)

    def add_words(self, text: str) -> None:
        """Write what was said after what is written, for the user to look over and send."""
        self.show_heard("")
        self.editor.add_words(text)
        self.dictated = True
        self.editor.setFocus()

    def set_hint(self, text: str) -> None:
        """What stands in the empty field for a while in place of the usual words; "" for those again."""
        if text != self._hint:
            self._hint = text
            self._refresh()

    def set_draft(self, text: str) -> None:
        """Replace what is being written, without telling anyone it changed."""
        self.dictated = False
        self.editor.blockSignals(True)
        self.editor.setPlainText(text)
        self.editor.blockSignals(False)
        self.editor.moveCursor(self.editor.textCursor().MoveOperation.End)
        self._clear_attachments()
        self._refresh()

    def accepted(self) -> None:
        """The runtime has the message: clear the field."""
        self.dictated = False
        self.editor.clear()
        self._clear_attachments()
        self._refresh()

    # --- what the user does ---------------------------------------------------------------------------

    def text(self) -> str:
        """What is written, in the very characters the user gave."""
        return self.editor.words()

    def submit(self) -> None:
        """Send what is written; nothing happens while it is empty or nobody can take it."""
        text, pictures = compose(self.text().rstrip(), self.attachments)
        if self._ready and (text.strip() or pictures):
            self.submitted.emit(text, pictures)

    def choose_files(self) -> None:
        """Ask for files and attach them."""
        names, _filter = QFileDialog.getOpenFileNames(self, _("Attach files"))
        self.attach_files([Path(name) for name in names])

    def attach_files(self, paths: list[Path]) -> None:
        """Attach files; each that cannot be is named in `trouble`."""
        for path in paths:
            try:
                self._add(read(path, images=self._images))
            except OrionError as error:
                self.trouble.emit(error.code, error.fields)

    def _fill_autonomy(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        for mode, text in (
            ("semi", _("Asks first: before anything that changes something")),
            ("auto", _("Works alone: asks only when the risk is high")),
        ):
            choose(menu, group, text, mode == self._autonomy, partial(self.autonomy_chosen.emit, mode))

    def _on_long_paste(self, text: str) -> None:
        number = sum(1 for one in self.attachments if not one.is_image) + 1
        self._add(pasted(text, _("Pasted text {n}").format(n=number)))

    def _on_image(self, data: bytes) -> None:
        if self._images:
            self._add(picture(data, "image/png", _("Pasted picture")))
        else:
            self.trouble.emit("attachment_image_unseen", {"name": _("Pasted picture")})

    def _on_action(self) -> None:
        if self._busy and not self.written:
            self.stop_requested.emit()
        else:
            self.submit()

    def _on_text(self) -> None:
        self.dictated = self.dictated and self.written
        self.draft_changed.emit(self.text())
        self._refresh()

    def _on_focus(self, focused: bool) -> None:
        self.setProperty("focused", "true" if focused else "false")
        restyle(self)

    # --- drawing --------------------------------------------------------------------------------------

    def _add(self, one: Attachment) -> None:
        self.attachments.append(one)
        self._chip_row.insertWidget(self._chip_row.count() - 1, self._chip(one))
        self.chips.show()
        self._refresh()

    def _chip(self, one: Attachment) -> QFrame:
        chip = QFrame()
        chip.setProperty("role", "chip")
        shown = label(f"{one.name[:40]}  {human_size(one.size)}")
        remove = icon_button(
            "close", _("Remove {name}").format(name=one.name), lambda: self._remove(one, chip)
        )
        remove.setProperty("icon_side", 14)
        row = QHBoxLayout(chip)
        row.setContentsMargins(spacing(2), 2, 2, 2)
        row.setSpacing(spacing(1))
        row.addWidget(shown)
        row.addWidget(remove)
        set_icons(chip, self._theme)
        return chip

    def _remove(self, one: Attachment, chip: QFrame) -> None:
        self.attachments = [other for other in self.attachments if other is not one]
        self._chip_row.removeWidget(chip)
        chip.deleteLater()
        self.chips.setVisible(bool(self.attachments))
        self._refresh()

    def _clear_attachments(self) -> None:
        self.attachments = []
        while self._chip_row.count() > 1:
            item = self._chip_row.takeAt(0)
            chip = item.widget() if item is not None else None
            if chip is not None:
                chip.deleteLater()
        self.chips.hide()

    @property
    def written(self) -> bool:
        """Whether there is anything of a message."""
        return bool(self.attachments) or not self.editor.document().isEmpty()

    def _refresh(self) -> None:
        stop = self._busy and not self.written
        self.action.setProperty("icon_name", "stop" if stop else "send")
        tip = (
            _("Stop (Esc)")
            if stop
            else _("Send now; the agent takes it in")
            if self._busy
            else _("Send (Enter)")
        )
        self.action.setToolTip(tip)
        self.action.setAccessibleName(tip)
        self.action.setEnabled(stop or (self._ready and self.written))
        usual = _("Add something while it works…") if self._busy else _("Write a message")
        self.editor.setPlaceholderText("" if self._hearing else self._hint or usual)
        self.voice_options.setFixedSize(round(20 * self._theme.scale), round(34 * self._theme.scale))
        self.action.setFixedSize(round(40 * self._theme.scale), round(34 * self._theme.scale))
        self.editor.viewport().update()
        set_icons(self, self._theme)
