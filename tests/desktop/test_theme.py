"""The palettes are readable and the style sheet has no hole."""

from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from desktop import theme as themes
from desktop.theme import DARK, LIGHT, Theme, contrast, style_sheet


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_every_ink_is_readable_on_every_ground(theme: Theme) -> None:
    for ink in ("text", "muted", "accent", "danger", "warning", "success"):
        for ground in ("background", "surface", "raised", "code_background"):
            assert contrast(getattr(theme, ink), getattr(theme, ground)) >= 4.5, (ink, ground)
    assert contrast(theme.text, theme.selection) >= 4.5
    assert contrast(theme.on_accent, theme.accent) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_style_sheet_is_filled(theme: Theme) -> None:
    sheet = style_sheet(theme)
    assert "$" not in sheet
    assert theme.accent.name() in sheet
    assert sheet.count("{") == sheet.count("}")
    assert not re.search(r":\s*;", sheet)


def test_scaling_touches_the_type_only() -> None:
    large = LIGHT.scaled(2.0)
    assert large.body_size == 2 * LIGHT.body_size
    assert large.background == LIGHT.background


def test_black_on_white_has_the_largest_contrast() -> None:
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21)


def test_a_choice_beats_the_system_and_fonts_are_installed_ones(qtbot: QtBot, qapp: QApplication) -> None:
    del qtbot
    assert themes.theme_for(qapp, "dark").dark
    assert not themes.theme_for(qapp, "light").dark
    assert themes.theme_for(qapp, "system", 1.5).body_size == pytest.approx(LIGHT.body_size * 1.5)
    assert themes.theme_for(qapp, "light").body_family in themes.BODY_FAMILIES


def test_a_dressed_application_can_be_dressed_again(qapp: QApplication, qtbot: QtBot) -> None:
    button = QPushButton("Go")
    button.setProperty("role", "primary")
    qtbot.addWidget(button)
    button.show()
    before = qapp.styleSheet(), qapp.palette(), qapp.font()
    for theme in (DARK, LIGHT, DARK):
        themes.apply(qapp, theme)
        assert qapp.styleSheet() == style_sheet(theme)
        assert button.grab().toImage().pixelColor(button.width() // 2, 4) == theme.accent
    qapp.setStyleSheet(before[0])
    qapp.setPalette(before[1])
    qapp.setFont(before[2])
