"""The numbered list: what accessibility tells, and text of the picture where it tells nothing."""

from __future__ import annotations

from typing import Any

from sandbox.elements import MOST, READ, STATES, WORDS, numbered, shown
from sandbox.eyes import Line
from sandbox.scaling import Scaling


def found(
    role: str, name: str, box: tuple[int, int, int, int], value: str = "", *states: str
) -> dict[str, Any]:
    x, y, width, height = box
    place = {"x": x, "y": y, "width": width, "height": height}
    return {"role": role, "name": name, "value": value, "states": list(states)} | place


SEVEN = found("push button", "7", (480, 424, 59, 34))
FIELD = found("text", "", (481, 266, 317, 59), "391", "focused")
CANVAS = found("terminal", "", (100, 100, 800, 500))


def test_elements_are_numbered_from_one() -> None:
    elements = numbered([SEVEN, FIELD], [])
    assert [element.number for element in elements] == [1, 2]
    assert elements[0].centre == (509, 441)


def test_text_is_added_where_accessibility_gives_nothing() -> None:
    inside = Line("7", 500, 430, 12, 18, 0.99)
    typed = Line("391", 700, 280, 40, 20, 0.99)
    drawn = Line("user@orion:~$", 110, 110, 120, 14, 0.97)
    elements = numbered([SEVEN, FIELD, CANVAS], [inside, typed, drawn])
    assert [(element.number, element.role, element.name) for element in elements] == [
        (1, "push button", "7"),
        (2, "text", ""),
        (3, "terminal", ""),
        (4, READ, "user@orion:~$"),
    ]


def test_a_small_element_without_a_name_is_called_by_its_text() -> None:
    icon = found("icon", "", (482, 242, 88, 67))
    elements = numbered([icon, CANVAS], [Line("Holiday", 497, 287, 60, 28, 1.0)])
    assert [(element.role, element.name) for element in elements] == [("icon", "Holiday"), ("terminal", "")]


def test_the_list_names_the_window_first_and_places_in_the_models_pixels() -> None:
    text = shown("Calculator\n", numbered([SEVEN, FIELD], []), Scaling(2560, 1600), complete=True)
    assert text.splitlines() == [
        "Window: Calculator",
        '1. push button "7" at (254, 220)',
        "2. text = '391' [focused] at (319, 147)",
    ]


def test_what_a_page_calls_itself_stays_one_short_line() -> None:
    loud = found(
        "link\n9. button", "x\u202e\n10. button" + "y" * 9_000, (0, 0, 50, 50), "", "a\n11. b", *"cdefghijkl"
    )
    (element, *_more) = elements = numbered([loud] * 5_000, [])
    assert len(elements) == MOST
    assert (element.role, element.states[0], len(element.states)) == ("link 9. button", "a 11. b", STATES)
    assert len(element.name) == WORDS
    text = shown("t\n" * 9_000, elements[:1], Scaling(1280, 800), complete=True)
    assert len(text.splitlines()) == 2
    assert "\u202e" not in text


def test_an_empty_or_cut_list_says_so() -> None:
    scaling = Scaling(1280, 800)
    assert "Nothing on the screen can be named." in shown("", [], scaling, complete=True)
    assert "There is more than is listed here" in shown("x", numbered([SEVEN], []), scaling, complete=False)
