"""Puzzles in a real browser: solved, hinted at, missed and given up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.board.server import Server
from tests.protocol.board.steps import ask, complaints, shot, tap_menu
from tests.protocol.board.webdriver import Browser

LINE = {
    "position": "@*@O*@@@/OOOOO@*O/***O*@** b 0 1 0 1", "rules": "morris NoRemovalPlies=0",
    "goal": "win", "line": ["g4", "b6-b4", "e4-e5xb4", "d6-b6", "d5-d6"], "equal": [],
    "rating": 1396, "holding": 1, "moves": 11, "depth": None,
}
"""Three moves of Black, of which the second closes a mill."""
NOTE = "document.getElementById('puzzle-note').textContent"


def made(folder: Path, *rows: dict[str, Any]) -> Path:
    """A file of puzzles."""
    path = folder / "puzzles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def solving(tmp_path: Path, chromium: Browser) -> Iterator[Browser]:
    """A board that has one puzzle, which is shown."""
    with Server("-puzzles", str(made(tmp_path, LINE)), games=tmp_path) as server:
        chromium.keep_tab(chromium.tabs()[0])
        chromium.look(1280, 860)
        server.let_in(chromium)
        chromium.open(server.address)
        chromium.wait("document.querySelectorAll('.target').length === 24")
        chromium.click("#puzzles")
        chromium.wait("document.querySelectorAll('#puzzle-board .man').length === 15")
        yield chromium
        said = complaints(chromium)
        chromium.open("about:blank")
    assert said == []


def pick(page: Browser, *points: str) -> None:
    """Click points of the puzzle's board."""
    for point in points:
        page.click(f"#puzzle-board [data-point={point}] .hit")


def said(page: Browser, words: str) -> None:
    """Wait until the dialog says something."""
    page.wait(f"{NOTE}.includes({words!r})")


def men(page: Browser, point: str, colour: str) -> None:
    """Wait until a man stands on a point."""
    page.wait(f"document.querySelector('#puzzle-board [data-point={point}] .man.{colour}')")


def test_a_solution_is_played_to_its_end_and_raises_the_rating(
    solving: Browser, tmp_path: Path
) -> None:
    page = solving
    assert page.text("#puzzle-task") == "Black to move: one move wins."
    assert page.text("#puzzle-rules") == "Rules: Morris · Black has 1 in hand"
    assert page.text("#puzzle-player") == "1100"
    # Black solves, so Black's side is at the bottom: a1 is where g7 was.
    assert page.run(
        "const at = (point) => document.querySelector(`#puzzle-board [data-point=${point}]`)"
        ".getBoundingClientRect();"
        "return at('a1').top < at('g7').top && at('a1').left > at('g7').left"
    )
    shot(page, "puzzle")
    pick(page, "g4")
    said(page, "Go on")
    men(page, "b4", "white")
    pick(page, "e4", "e5")
    said(page, "Mill! Remove a ringed man")
    pick(page, "b4")
    men(page, "b6", "white")
    pick(page, "d5", "d6")
    said(page, "Solved")
    page.wait("/^11[0-9]{2} [(][+][0-9]+[)]$/.test("
              "document.getElementById('puzzle-player').textContent)")
    assert page.text("#puzzle-streak") == "1 (best 1)"
    assert page.text("#puzzle-count") == "1 of 1"
    shot(page, "puzzle-solved")
    kept = json.loads((tmp_path / "player.json").read_text())
    assert kept["rating"] > 1140 and (kept["tried"], kept["solved"], kept["best"]) == (1, 1, 1)
    # The game on the other board is untouched.
    page.click("#puzzle-dialog [value=cancel]")
    assert page.run("return document.querySelectorAll('#board .target').length") == 24


def test_a_wrong_move_is_taken_back_and_breaks_the_streak(solving: Browser) -> None:
    page = solving
    pick(page, "d7")
    said(page, "place on d7: that does not win. Try again.")
    page.wait("/[(]-[0-9]+[)]/.test(document.getElementById('puzzle-player').textContent)")
    rating = page.text("#puzzle-player")
    page.wait("document.querySelectorAll('#puzzle-board .man').length === 15")
    # A second miss costs nothing more, and the solution can still be played.
    pick(page, "a7")
    said(page, "place on a7: that does not win")
    pick(page, "g4")
    said(page, "Go on")
    assert page.text("#puzzle-player") == rating
    assert page.text("#puzzle-streak") == "0 (best 0)" and page.text("#puzzle-count") == "0 of 1"


def test_hints_name_first_the_man_then_the_move(solving: Browser) -> None:
    page = solving
    page.click("#puzzle-hint")
    said(page, "Hint: place a man on the g file.")
    page.click("#puzzle-hint")
    said(page, "Hint: place on g4.")
    page.wait("document.querySelectorAll('#puzzle-board .arrow').length === 1")
    shot(page, "puzzle-hint")
    pick(page, "g4")
    men(page, "b4", "white")
    page.wait("!document.querySelector('#puzzle-hint').disabled")
    page.click("#puzzle-hint")
    said(page, "Hint: move the man on e4.")
    page.wait("document.querySelector('#puzzle-board [data-point=e4] .ring.picked')")


def test_the_solution_is_told_and_the_position_analysed(solving: Browser) -> None:
    page = solving
    page.click("#puzzle-solution")
    said(page, "Black: place on g4; White: b6 to b4; Black: e4 to e5, remove b4; White: d6 to b6;")
    assert page.text("#puzzle-count") == "0 of 1"
    page.click("#puzzle-dialog [value=analyse]")
    page.wait("document.querySelectorAll('#board .man').length === 15")
    page.wait("document.getElementById('analyse').ariaPressed === 'true'")
    text = ask(page, "export")["shown"]
    assert '[Variant "morris NoRemovalPlies=0"]' in text


def test_puzzles_are_played_with_the_keys_alone(solving: Browser) -> None:
    page = solving
    page.run("document.querySelector('#puzzle-board [data-point=g4]').focus()")
    page.key("Enter")
    said(page, "Go on")
    men(page, "b4", "white")
    page.run("document.querySelector('#puzzle-board [data-point=e4]').focus()")
    page.key("Enter")
    page.wait("document.querySelector('#puzzle-board .ring.picked')")
    # Esc first forgets the man that was picked, then leaves.
    page.key("Escape")
    page.wait("!document.querySelector('#puzzle-board .ring.picked')")
    assert page.run("return document.getElementById('puzzle-dialog').open")
    page.key("Escape")
    page.wait("!document.getElementById('puzzle-dialog').open")
    # The puzzle waits where it was left.
    page.click("#puzzles")
    men(page, "b4", "white")


def test_without_a_file_puzzles_are_made_from_the_tables_there_are(page: Browser) -> None:
    page.click("#puzzles")
    page.wait("document.querySelectorAll('#puzzle-board .man').length >= 6")
    first = page.run("return document.getElementById('puzzle-board').textContent")
    task = page.text("#puzzle-task")
    assert "to move: one move wins." in task or "one move draws, all others lose." in task
    spoken = page.spoken()
    assert ("heading", "Puzzle") in spoken
    assert any(role == "group" and name == task for role, name in spoken)
    page.click("#puzzle-next")
    page.wait(f"{NOTE} === ''")
    assert first is not None
    for width, height, dark in ((390, 844, False), (844, 390, True), (1920, 1080, True)):
        page.look(width, height, phone=width < 1000, dark=dark)
        shot(page, f"puzzle-{width}")
    page.click("#puzzle-dialog [value=cancel]")


def test_a_phone_opens_puzzles_from_its_menu(page: Browser) -> None:
    page.look(390, 844, phone=True)
    tap_menu(page, "puzzles")
    page.wait("document.querySelectorAll('#puzzle-board .man').length >= 6")
    sizes = page.run(
        "return [...document.querySelectorAll('#puzzle-dialog button')]"
        ".map((one) => one.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 44


def test_a_file_that_holds_no_puzzles_is_refused_in_one_line(tmp_path: Path) -> None:
    for rows in ([], [LINE | {"goal": "lose"}]):
        with pytest.raises(AssertionError, match="puzzles.jsonl") as refused:
            Server("-puzzles", str(made(tmp_path, *rows)))
        assert "Traceback" not in str(refused.value)
