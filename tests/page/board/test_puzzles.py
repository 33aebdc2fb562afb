"""Puzzles in a real browser: solutions, hints, wrong moves and keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.webdriver import Browser
from tests.protocol.board.server import Server
from tests.protocol.board.steps import (
    ask,
    begin,
    console_errors,
    enter,
    expect_refusal,
    is_open,
    shot,
    tap_menu,
)

PUZZLE = {
    "position": "@*@O*@@@/OOOOO@*O/***O*@** b 0 1 0 1", "rules": "morris NoRemovalPlies=0",
    "goal": "win", "line": ["g4", "b6-b4", "e4-e5xb4", "d6-b6", "d5-d6"], "equal": [],
    "rating": 1396, "holding": 1, "moves": 11, "depth": None,
}
"""A puzzle of three moves by Black; the second closes a mill."""
NOTE = "document.getElementById('puzzle-note').textContent"
RATING, PLAYER, STREAK, COUNT = (f"#puzzle-stats dd:nth-of-type({row})" for row in (1, 2, 3, 4))
"""Selectors of the numbers: the puzzle's rating, the player's, puzzles in a row and solved."""


def puzzle_file(folder: Path, *rows: dict[str, Any]) -> Path:
    """Write a file of puzzles and return its path."""
    path = folder / "puzzles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def page_with_puzzle(tmp_path: Path, chromium: Browser) -> Iterator[Browser]:
    """A page that shows the only puzzle of its server."""
    with Server("-puzzles", str(puzzle_file(tmp_path, PUZZLE)), games=tmp_path) as server:
        server.open_page(chromium)
        chromium.click("#puzzles")
        chromium.wait_for_count("#puzzle-board .man", 15)
        yield chromium
        errors = console_errors(chromium)
        chromium.open("about:blank")
    assert errors == []


def pick(page: Browser, *points: str) -> None:
    """Click points of the puzzle's board."""
    for point in points:
        page.click(f"#puzzle-board [data-point={point}] .hit")


def wait_for_note(page: Browser, words: str) -> None:
    """Wait until the note of the dialog contains a text."""
    page.wait(f"{NOTE}.includes({words!r})")


def wait_for_man(page: Browser, point: str, colour: str) -> None:
    """Wait until a man of a colour is on a point."""
    page.wait(f"document.querySelector('#puzzle-board [data-point={point}] .man.{colour}')")


def test_a_solution_is_played_to_its_end_and_raises_the_rating(
    page_with_puzzle: Browser, tmp_path: Path
) -> None:
    page = page_with_puzzle
    assert page.text("#puzzle-task") == "Black to move: one move wins."
    assert page.text("#puzzle-rules") == "Rules: Morris · Black has 1 in hand"
    assert page.text(PLAYER) == "1100"
    # The solver's side is at the bottom, so the board is flipped: a1 is at the top right.
    assert page.run(
        "const at = (point) => document.querySelector(`#puzzle-board [data-point=${point}]`)"
        ".getBoundingClientRect();"
        "return at('a1').top < at('g7').top && at('a1').left > at('g7').left"
    )
    shot(page, "puzzle")
    pick(page, "g4")
    wait_for_note(page, "Go on")
    wait_for_man(page, "b4", "white")
    pick(page, "e4", "e5")
    wait_for_note(page, "Mill! Remove a ringed man")
    pick(page, "b4")
    wait_for_man(page, "b6", "white")
    pick(page, "d5", "d6")
    wait_for_note(page, "Solved")
    assert page.text("#puzzle-themes").startswith("Themes: placing phase, quiet move")
    page.wait("/^11[0-9]{2} [(][+][0-9]+[)]$/.test("
              f"document.querySelector('{PLAYER}').textContent)")
    assert page.text(STREAK) == "1 (best 1)"
    assert page.text(COUNT) == "1 of 1"
    shot(page, "puzzle-solved")
    player = json.loads((tmp_path / "player.json").read_text())
    assert player["rating"] > 1140
    assert (player["tried"], player["solved"], player["best"]) == (1, 1, 1)
    # The game on the other board is untouched.
    page.click("#puzzle-dialog [value=cancel]")
    assert page.run("return document.querySelectorAll('#board .target').length") == 24


def test_a_wrong_move_is_taken_back_and_breaks_the_streak(page_with_puzzle: Browser) -> None:
    page = page_with_puzzle
    pick(page, "d7")
    wait_for_note(page, "place on d7: that does not win. Try again.")
    page.wait(f"/[(]-[0-9]+[)]/.test(document.querySelector('{PLAYER}').textContent)")
    rating = page.text(PLAYER)
    page.wait_for_count("#puzzle-board .man", 15)
    # A second wrong move costs nothing more, and the solution can still be played.
    pick(page, "a7")
    wait_for_note(page, "place on a7: that does not win")
    pick(page, "g4")
    wait_for_note(page, "Go on")
    assert page.text(PLAYER) == rating
    assert page.text(STREAK) == "0 (best 0)" and page.text(COUNT) == "0 of 1"


def test_the_first_hint_is_the_man_or_file_the_second_the_move(page_with_puzzle: Browser) -> None:
    page = page_with_puzzle
    page.click("#puzzle-hint")
    wait_for_note(page, "Hint: place a man on the g file.")
    page.click("#puzzle-hint")
    wait_for_note(page, "Hint: place on g4.")
    page.wait_for_count("#puzzle-board .arrow", 1)
    shot(page, "puzzle-hint")
    pick(page, "g4")
    wait_for_man(page, "b4", "white")
    page.wait("!document.querySelector('#puzzle-hint').disabled")
    page.click("#puzzle-hint")
    wait_for_note(page, "Hint: move the man on e4.")
    page.wait("document.querySelector('#puzzle-board [data-point=e4] .ring.picked')")


def test_the_solution_is_shown_and_the_position_analysed(page_with_puzzle: Browser) -> None:
    page = page_with_puzzle
    page.click("#puzzle-solution")
    line = "Black: place on g4; White: b6 to b4; Black: e4 to e5, remove b4; White: d6 to b6;"
    wait_for_note(page, line)
    assert page.text(COUNT) == "0 of 1"
    page.click("#puzzle-dialog [value=analyse]")
    page.wait_for_count("#board .man", 15)
    page.wait("document.getElementById('analyse').ariaPressed === 'true'")
    text = ask(page, "export")["record"]
    assert '[Variant "morris NoRemovalPlies=0"]' in text


def test_puzzles_can_be_played_with_the_keyboard_only(page_with_puzzle: Browser) -> None:
    page = page_with_puzzle
    page.run("document.querySelector('#puzzle-board [data-point=g4]').focus()")
    page.key("Enter")
    wait_for_note(page, "Go on")
    wait_for_man(page, "b4", "white")
    page.run("document.querySelector('#puzzle-board [data-point=e4]').focus()")
    page.key("Enter")
    page.wait("document.querySelector('#puzzle-board .ring.picked')")
    # Esc first clears the picked man, then closes the dialog.
    page.key("Escape")
    page.wait("!document.querySelector('#puzzle-board .ring.picked')")
    assert page.run(f"return {is_open('puzzle')}")
    page.key("Escape")
    page.wait(f"!{is_open('puzzle')}")
    # The puzzle resumes at the same step.
    tap_menu(page, "puzzles")
    wait_for_man(page, "b4", "white")


def test_puzzles_of_a_theme_and_a_rating_are_chosen(page: Browser) -> None:
    tap_menu(page, "puzzles")
    page.wait("document.querySelectorAll('#puzzle-board .man').length > 0")
    listed = page.run("return [...document.getElementById('puzzle-theme').options]"
                      ".map((option) => option.textContent)")
    assert listed[0] == "any" and any(re.fullmatch(r"double mill \(\d+\)", name) for name in listed)
    rating = f"Number(document.querySelector('{RATING}').textContent)"
    enter(page, "#puzzle-level", "4")
    page.wait(f"{rating} >= 1400")
    enter(page, "#puzzle-theme", "draw")
    page.wait("/one move draws/.test(document.getElementById('puzzle-task').textContent)")
    assert page.run(f"return {rating}") >= 1400
    page.click("#puzzle-solution")
    wait_for_note(page, "The solution.")
    shot(page, "puzzle-themes")
    # The themes of an unsolved puzzle stay hidden, because they would be hints.
    assert page.run("return document.getElementById('puzzle-themes').hidden")


def test_rules_without_puzzles_are_named(page: Browser) -> None:
    begin(page, variant="loc")
    tap_menu(page, "puzzles")
    wait_for_note(page, "There are no puzzles of these rules; make a file")
    expect_refusal(page)
    page.click("#puzzle-dialog [value=cancel]")


def test_a_puzzle_has_a_heading_and_fits_every_screen(page: Browser) -> None:
    tap_menu(page, "puzzles")
    page.wait("document.querySelectorAll('#puzzle-board .man').length > 0")
    task = page.text("#puzzle-task")
    assert "to move: one move wins." in task or "one move draws, all others lose." in task
    tree = page.accessibility_tree()
    assert ("heading", "Puzzle") in tree
    assert any(role == "group" and name == task for role, name in tree)
    page.click("#puzzle-next")
    page.wait(f"{NOTE} === ''")
    for width, height, dark in ((390, 844, False), (844, 390, True), (1920, 1080, True)):
        page.set_view(width, height, phone=width < 1000, dark=dark)
        shot(page, f"puzzle-{width}")
    page.click("#puzzle-dialog [value=cancel]")


def test_a_phone_opens_puzzles_from_its_menu_with_large_buttons(page: Browser) -> None:
    page.set_view(390, 844, phone=True)
    tap_menu(page, "puzzles")
    page.wait("document.querySelectorAll('#puzzle-board .man').length > 0")
    heights = page.run(
        "return [...document.querySelectorAll('#puzzle-dialog button')]"
        ".map((button) => button.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44
