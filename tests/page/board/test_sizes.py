"""The layout of the page on screens of several sizes, and its accessibility tree."""

from __future__ import annotations

import pytest

from tests.kit.webdriver import Browser
from tests.page.board.accessibility import NAMED, accessibility_faults
from tests.page.board.screens import DIALOGS, MENUS, tour
from tests.protocol.board.steps import BEGINNER, FLYERS, begin, load, play, shot, tap_menu

PHONES = (360, 740), (390, 844), (740, 360)
FORMS = ("new", "share", "edit")
"""Dialogs with fields and buttons of every kind."""


@pytest.mark.parametrize(
    ("width", "height"), [*PHONES, (820, 1180), (1280, 860), (1920, 1080)]
)
def test_the_layout_does_not_shift_when_a_game_begins(
    page: Browser, width: int, height: int
) -> None:
    page.set_view(width, height, phone=width < 1000)
    begin(page, black=BEGINNER)
    layout = (
        "return ['#board', '#player-top', '#player-bottom', '.controls .buttons', 'aside',"
        " '.record'].map((name) => document.querySelector(name).getBoundingClientRect())"
        ".map((box) => [box.x, box.y, box.width].map(Math.round))"
    )
    expected = page.run(layout)
    play(page, "d6")
    page.wait_for_count("#moves button", 2)
    assert page.run(layout) == expected
    play(page, page.run("return document.querySelector('.point:has(.target)').dataset.point"))
    assert page.run(layout) == expected


def test_a_phone_in_landscape_shows_everything_beside_the_board(page: Browser) -> None:
    page.set_view(740, 360, phone=True)
    begin(page)
    board, *others = page.run(
        "return ['#board', '#player-top', '#player-bottom', '#status', '.controls .buttons',"
        " 'aside'].map((name) => document.querySelector(name).getBoundingClientRect())"
    )
    assert board["height"] > 320 and board["bottom"] <= 360
    assert all(other["left"] >= board["right"] for other in others)
    assert others[-2]["bottom"] <= 360


def test_a_large_screen_is_filled(page: Browser) -> None:
    page.set_view(1920, 1080)
    begin(page)
    board, aside = page.run(
        "return ['#board', 'aside'].map((name) => document.querySelector(name)"
        ".getBoundingClientRect())"
    )
    assert board["height"] > 0.82 * 1080 and aside["bottom"] > 0.9 * 1080
    assert page.run("return document.documentElement.scrollHeight") <= 1080


def test_a_screen_reader_gets_names_and_values(page: Browser) -> None:
    tap_menu(page, "analyse")
    load(page, FLYERS)
    page.wait_for_count("#board .value", 3)
    tree = page.accessibility_tree()
    assert ("heading", "Evaluation") in tree and ("heading", "Moves") in tree
    assert ("heading", "merels") in tree
    assert ("switch", "Evaluation") in tree and ("button", "Analyse") in tree
    assert ("button", "d6, white man, can move: proven win") in tree
    assert ("meter", "Evaluation") in tree
    assert [role for role, name in tree if role in NAMED and not name] == []

SMALL_TARGETS = """
const open = document.querySelector("dialog:modal");
const all = [...(open || document).querySelectorAll(
  "button, select, summary, input:not([type=radio]), textarea, label:has(input), .board .hit")];
return all.filter((element) => element.checkVisibility({visibilityProperty: true}))
  .map((element) => [element.id || element.textContent || element.parentNode.dataset.point,
                 element.getBoundingClientRect()])
  .filter(([, box]) => box.width && Math.min(box.width, box.height) < 43.5)
  .map(([name, box]) => `${name}: ${box.width} x ${box.height}`);
"""
CUT_SENTENCES = """return [...document.querySelectorAll("dialog:modal p, dialog:modal small")]
    .filter((text) => text.checkVisibility() && text.scrollWidth > text.clientWidth + 1)
    .map((text) => text.textContent)"""
"""Sentences of a dialog that end in an ellipsis."""
NESTED_SCROLLERS = """
const scrolls = (element) => element === document.documentElement
  ? element.scrollHeight > innerHeight + 1
  : ["auto", "scroll"].includes(getComputedStyle(element).overflowY)
    && element.scrollHeight > element.clientHeight + 1;
const found = [...document.querySelectorAll("html, main, .stage, .stage *, dialog:modal *")]
  .filter((element) => element.checkVisibility() && element.localName !== "textarea")
  .filter(scrolls);
return found.filter((inner) => found.some((outer) => outer !== inner && outer.contains(inner)))
  .map((element) => element.id || element.className);
"""
VISIBLE_PLIES = """
const box = document.getElementById("moves-box").getBoundingClientRect();
return [...document.querySelectorAll("#moves button")].map((move) => move.getBoundingClientRect())
  .filter(({top, bottom}) => top >= box.top - 1 && bottom <= box.bottom + 1
    && bottom <= innerHeight).length;
"""
COVERED_POINTS = """
scrollTo(0, 0);
return [...document.querySelectorAll("#board .point")].filter((element) => {
  const {left, top, width, height} = element.querySelector(".hit").getBoundingClientRect();
  const found = document.elementFromPoint(left + width / 2, top + height / 2);
  return !found || !found.closest("#board");
}).map((element) => element.dataset.point);
"""


Window = tuple[int, int, bool]
"""Width, height, and whether colours are dark."""


@pytest.mark.parametrize(("window", "others", "dialogs"), [
    ((1366, 650, False), [(1920, 1080, True), (1280, 860, False), (1024, 768, False)], DIALOGS),
    ((390, 844, True), [(768, 1024, False), (360, 740, False)], DIALOGS),
    ((844, 390, False), [], FORMS),
    ((320, 568, False), [], FORMS),
])
def test_every_screen_fits_and_is_accessible(
    page: Browser, window: Window, others: list[Window], dialogs: tuple[str, ...]
) -> None:
    """Nothing overlaps, is cut off or covers the board, and no list scrolls inside another.

    Lists of moves show eight plies, and on phones, targets are large enough for fingers. A tour
    uses one window, and each of its screens is also checked in ``others``. Tours with all
    ``DIALOGS`` check the accessibility, too.
    """
    show(page, window)
    page.open(page.run("sessionStorage.clear(); return location.href"))
    faults = []
    for name in tour(page, dialogs):
        if dialogs == DIALOGS:
            faults += [f"{name}, {fault}" for fault in accessibility_faults(page, *window[:2])]
        if name in FORMS or name not in (*DIALOGS, *MENUS):
            for each in (*others, window):
                show(page, each)
                check_fits(page, name, *each[:2])
        show(page, window)
    assert faults == [], "\n".join(faults)


def show(page: Browser, window: Window) -> None:
    """Give the page a window, of a phone if it is narrow."""
    width, height, dark = window
    page.set_view(width, height, phone=width < 1000, dark=dark)


def check_fits(page: Browser, name: str, width: int, height: int) -> None:
    """Check the layout of a screen of the tour in a window of a size."""
    is_phone = width < 1000
    shot(page, f"{name}-{width}")
    if is_phone and width >= 360 and name in ("game", "proven", *FORMS):
        assert page.run(SMALL_TARGETS) == [], name
    assert page.run(CUT_SENTENCES) == [], name
    if name not in FORMS:
        assert page.run(NESTED_SCROLLERS) == [], name
        assert name == "ask" or page.run(COVERED_POINTS) == [], name
    if name in ("game", "result", "analysis", "review") and width >= 360:
        # A small screen scrolls to the list; a large screen always shows it.
        if is_phone:
            page.run("document.getElementById('moves-box').scrollIntoView()")
        assert page.run(VISIBLE_PLIES) >= 8, name
    if name == "analysis":
        # The players' names are aligned with the board; the bar is beside or above the board.
        left, top, board, bar = page.run(
            "return ['#player-bottom', '#player-top', '#board', '#bar']"
            ".map((name) => document.querySelector(name).getBoundingClientRect())"
        )
        if height > 500:
            assert left["left"] == board["left"] and top["left"] == board["left"]
        assert bar["right"] <= board["left"] or bar["bottom"] <= board["top"]
        assert width > 400 or board["width"] > 0.85 * width
