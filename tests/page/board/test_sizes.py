"""The layout of the page on screens of several sizes, and its accessibility tree."""

from __future__ import annotations

import pytest

from tests.kit.webdriver import Browser
from tests.page.board.screens import GAME, POINTS, tour
from tests.page.board.test_accessible import NAMED
from tests.protocol.board.steps import (
    ANALYST,
    BEGINNER,
    FLYERS,
    PERSON,
    ask,
    begin,
    clock,
    load,
    play,
    shot,
    tap_menu,
)

PHONES = {"upright": (360, 740), "wider": (390, 844), "sideways": (740, 360)}

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


@pytest.mark.parametrize("name", PHONES)
def test_targets_are_large_enough_for_fingers(page: Browser, name: str) -> None:
    page.set_view(*PHONES[name], phone=True)
    ask(page, "new", players=[PERSON, BEGINNER, ANALYST], time=clock(600, 5))
    page.wait_for_count(".clock", 2)
    assert page.run(SMALL_TARGETS) == []
    tap_menu(page, "analyse")
    load(page, FLYERS)
    page.wait("document.querySelectorAll('#explorer li, #lines li').length > 3")
    assert page.run(SMALL_TARGETS) == []
    for button in ("new", "share", "edit"):
        tap_menu(page, button)
        page.wait("document.querySelector('dialog[open]')")
        assert page.run(SMALL_TARGETS) == []
        shot(page, f"{name}-{button}")
        page.key("Escape")
        page.wait("!document.querySelector('dialog[open]')")


@pytest.mark.parametrize(
    ("width", "height"), [*PHONES.values(), (820, 1180), (1280, 860), (1920, 1080)]
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


@pytest.mark.parametrize(("width", "height", "dark"), [
    (1366, 650, False), (1920, 1080, True), (820, 1180, False), (390, 844, True), (844, 390, False),
])
def test_no_list_scrolls_inside_another_and_eight_plies_show(
    page: Browser, width: int, height: int, dark: bool
) -> None:
    page.set_view(width, height, phone=width < 1000, dark=dark)
    name = f"{width}-{'dark' if dark else 'light'}"
    begin(page)
    for point in POINTS:
        play(page, point)
    assert page.run(NESTED_SCROLLERS) == []
    shot(page, f"play-{name}")
    if width > 1000:
        assert page.run(VISIBLE_PLIES) >= 8
    tap_menu(page, "analyse")
    load(page, GAME)
    page.wait_for_count("#moves button", 16)
    page.wait_for_count("#lines li", 3)
    assert page.run(NESTED_SCROLLERS) == []
    shot(page, f"analyse-{name}")
    if width > 1000:
        assert page.run(VISIBLE_PLIES) >= 8
    # The players' names are aligned with the board; the bar is beside or above the board.
    left, top, board, bar = page.run(
        "return ['#player-bottom', '#player-top', '#board', '#bar']"
        ".map((name) => document.querySelector(name).getBoundingClientRect())"
    )
    if height > 500:
        assert left["left"] == board["left"] and top["left"] == board["left"]
    assert bar["right"] <= board["left"] or bar["bottom"] <= board["top"]
    page.click("#review")
    page.wait("!document.getElementById('graph').hidden")
    assert page.run(NESTED_SCROLLERS) == []
    shot(page, f"review-{name}")


COVERED_POINTS = """
scrollTo(0, 0);
return [...document.querySelectorAll("#board .point")].filter((element) => {
  const {left, top, width, height} = element.querySelector(".hit").getBoundingClientRect();
  const found = document.elementFromPoint(left + width / 2, top + height / 2);
  return !found || !found.closest("#board");
}).map((element) => element.dataset.point);
"""


@pytest.mark.parametrize(
    ("width", "height"),
    [(1366, 650), (1920, 1080), (768, 1024), (1024, 768), (390, 844), (844, 390)],
)
def test_every_list_of_moves_shows_eight_plies_and_nothing_covers_the_board(
    page: Browser, width: int, height: int
) -> None:
    page.set_view(width, height, phone=width < 1000)
    page.open(page.run("sessionStorage.clear(); return location.href"))
    seen = {}
    for name in tour(page, dialogs=False):
        shot(page, f"{name}-{width}")
        assert page.run(NESTED_SCROLLERS) == [], name
        if name != "ask":
            assert page.run(COVERED_POINTS) == [], name
        if name in ("game", "result", "analysis", "review"):
            # A small screen scrolls to the list; a large screen always shows it.
            if width < 1000:
                page.run("document.getElementById('moves-box').scrollIntoView()")
            seen[name] = page.run(VISIBLE_PLIES)
    assert len(seen) == 4 and min(seen.values()) >= 8, seen
