"""Colours, type and spacing of the window, and the one style sheet generated from them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache
from string import Template

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from resources import path as resource_path
from resources import text as resource_text

BODY_FAMILIES = ("Inter", "Segoe UI Variable Text", "Segoe UI", "Noto Sans", "Cantarell", "DejaVu Sans")
MONO_FAMILIES = ("JetBrains Mono", "Cascadia Mono", "Noto Sans Mono", "Menlo", "Consolas", "DejaVu Sans Mono")
BODY_SIZE = 10.5


@dataclass(frozen=True, slots=True)
class Theme:
    """A palette with one accent colour. Text on any ground reaches 4.5:1; `body_size` is in points and
    already contains the user's text scale."""

    name: str
    dark: bool
    background: QColor
    surface: QColor
    raised: QColor
    border: QColor
    text: QColor
    muted: QColor
    accent: QColor
    on_accent: QColor
    danger: QColor
    warning: QColor
    success: QColor
    code_background: QColor
    selection: QColor
    body_family: str
    mono_family: str
    body_size: float

    @property
    def scale(self) -> float:
        """How many times its normal size the type has."""
        return self.body_size / BODY_SIZE

    def scaled(self, factor: float) -> Theme:
        """The same theme with its type `factor` times as large."""
        return replace(self, body_size=round(self.body_size * factor, 2))


def _theme(name: str, *, dark: bool, **colours: str) -> Theme:
    return Theme(
        name=name,
        dark=dark,
        body_family=", ".join(BODY_FAMILIES),
        mono_family=", ".join(MONO_FAMILIES),
        body_size=BODY_SIZE,
        **{role: QColor(value) for role, value in colours.items()},
    )


LIGHT = _theme(
    "light",
    dark=False,
    background="#fcfbf9",
    surface="#f4f2ee",
    raised="#ffffff",
    border="#dfdbd3",
    text="#1f2326",
    muted="#5c636a",
    accent="#0f6872",
    on_accent="#ffffff",
    danger="#b3261e",
    warning="#855600",
    success="#1d6a3b",
    code_background="#f3f1ec",
    selection="#c5e3e6",
)

DARK = _theme(
    "dark",
    dark=True,
    background="#16191c",
    surface="#1c2024",
    raised="#252a2f",
    border="#363d44",
    text="#e6e9eb",
    muted="#a0a8b0",
    accent="#5cc0ca",
    on_accent="#06262a",
    danger="#f38b82",
    warning="#e6b65a",
    success="#74ca92",
    code_background="#1b1f23",
    selection="#1d464e",
)


def spacing(steps: float) -> int:
    """`steps` of the four-pixel grid, in device-independent pixels."""
    return round(4 * steps)


def system_theme(app: QGuiApplication) -> Theme:
    """The theme the desktop asks for now; light when it does not say."""
    return DARK if app.styleHints().colorScheme() == Qt.ColorScheme.Dark else LIGHT


def theme_for(app: QGuiApplication, choice: str, scale: float = 1.0) -> Theme:
    """The theme for the user's `choice` (light, dark, system), with families that are installed here."""
    chosen = {"light": LIGHT, "dark": DARK}.get(choice) or system_theme(app)
    return replace(
        chosen.scaled(scale), body_family=_installed(BODY_FAMILIES), mono_family=_installed(MONO_FAMILIES)
    )


def apply(app: QApplication, theme: Theme) -> None:
    """Dress every window of `app` in `theme`: style, palette, font and style sheet."""
    undress(app)
    if app.style().objectName().lower() != "fusion":
        app.setStyle("Fusion")
    font = QFont(theme.body_family)
    font.setPointSizeF(theme.body_size)
    if font != app.font():
        app.setFont(font)
    app.setPalette(palette(theme))
    app.setStyleSheet(style_sheet(theme))


def undress(app: QApplication) -> None:
    """Take the style sheet off, as `apply` does where nobody has: Qt lays a changed sheet on a widget anew
    for each of its ancestors, a first one only once."""
    if app.styleSheet():
        app.setStyleSheet("")


def palette(theme: Theme) -> QPalette:
    """The theme as Qt's colour roles, for whatever no style sheet rule names."""
    role = QPalette.ColorRole
    made = QPalette()
    for name, colour in (
        (role.Window, theme.background),
        (role.WindowText, theme.text),
        (role.Base, theme.raised),
        (role.AlternateBase, theme.surface),
        (role.Text, theme.text),
        (role.PlaceholderText, theme.muted),
        (role.Button, theme.raised),
        (role.ButtonText, theme.text),
        (role.ToolTipBase, theme.raised),
        (role.ToolTipText, theme.text),
        (role.Highlight, theme.selection),
        (role.HighlightedText, theme.text),
        (role.Link, theme.accent),
        (role.LinkVisited, theme.accent),
        (role.Accent, theme.accent),
        (role.Mid, theme.border),
        (role.Light, theme.raised),
        (role.Dark, theme.border),
    ):
        made.setColor(name, colour)
    for name in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, name, theme.muted)
    return made


def style_sheet(theme: Theme) -> str:
    """The window's Qt style sheet: resources/themes/window.qss filled with the theme's values."""
    values = {field.name: getattr(theme, field.name) for field in fields(theme)}
    shown = {
        name: value.name() if isinstance(value, QColor) else str(value) for name, value in values.items()
    }
    sizes = {
        "small": f"{theme.body_size * 0.88:.2f}",
        "heading": f"{theme.body_size * 1.14:.2f}",
        "large": f"{theme.body_size * 1.3:.2f}",
        "chevron": resource_path("icons", "chevron-mid.svg").as_posix(),
        "check": resource_path("icons", f"check-{theme.name}.svg").as_posix(),
        "dash": resource_path("icons", f"dash-{theme.name}.svg").as_posix(),
        "box": str(round(16 * theme.scale)),
        "hover": mix(theme.surface, theme.text, 0.07).name(),
        "pressed": mix(theme.surface, theme.text, 0.13).name(),
        "accent_hover": mix(theme.accent, theme.text, 0.16).name(),
        "accent_faint": mix(theme.background, theme.accent, 0.14).name(),
        "accent_soft": mix(theme.background, theme.accent, 0.24).name(),
        "danger_faint": mix(theme.background, theme.danger, 0.12).name(),
        "warning_faint": mix(theme.background, theme.warning, 0.14).name(),
        "success_faint": mix(theme.background, theme.success, 0.12).name(),
    }
    return Template(resource_text("themes/window.qss")).substitute(shown | sizes)


def mix(ground: QColor, ink: QColor, share: float) -> QColor:
    """`ground` with `share` (0–1) of `ink` laid over it."""
    return QColor.fromRgbF(
        ground.redF() + (ink.redF() - ground.redF()) * share,
        ground.greenF() + (ink.greenF() - ground.greenF()) * share,
        ground.blueF() + (ink.blueF() - ground.blueF()) * share,
    )


def contrast(one: QColor, other: QColor) -> float:
    """The WCAG 2 contrast ratio of two colours, 1–21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: QColor) -> float:
    channels = (colour.redF(), colour.greenF(), colour.blueF())
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@cache
def _installed(families: tuple[str, ...]) -> str:
    here = set(QFontDatabase.families())
    return next((family for family in families if family in here), families[-1])
