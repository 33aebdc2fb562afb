"""The tree of moves in a real browser: variations, edits, undo and navigation."""

from __future__ import annotations

import random

import pytest

from merels.engine.game.notation import parse_position
from merels.engine.game.rules import make_rules
from merels.engine.game.notation import parse_position
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.games.writer import format_record
from merels.protocol.games.record import Record
from tests.kit.webdriver import Browser
from tests.protocol.board.steps import (
    BEGINNER,
    ask,
    begin,
    click,
    is_open,
    load,
    play,
    shot,
    tap_menu,
)

GAME = "1. d6 f4 2. d2 b4 3. f2 b2 4. f6 b6xf6 *"
MAIN_LINE = "[...document.querySelectorAll('#moves > li:not(.variations) button')]"
VARIATIONS = "[...document.querySelectorAll('#moves .variations button')]"


def texts(page: Browser, buttons: str) -> list[str]:
    """Return the texts of buttons, given as a JavaScript expression."""
    moves: list[str] = page.run(f"return {buttons}.map((button) => button.textContent)")
    return moves


def wait_for_status(page: Browser, words: str) -> None:
    """Wait until the status line contains ``words``."""
    page.wait(f"document.getElementById('status').textContent.includes({words!r})")


def wait_for_move(page: Browser, move: str) -> None:
    """Wait until the position after a move is shown."""
    page.wait(f"document.querySelector('#moves [aria-current]')?.textContent === {move!r}")


def movetext(page: Browser) -> str:
    """Return the movetext of the game on the board."""
    text: str = ask(page, "export")["record"]
    return " ".join(text.split("\n\n")[1].split())


def test_viewing_earlier_moves_does_not_change_the_game(page: Browser) -> None:
    begin(page)
    for point in ("d6", "f4", "d2"):
        play(page, point)
    page.key("ArrowLeft")
    wait_for_move(page, "f4")
    wait_for_status(page, "Move 2 of 3; End returns to the game.")
    assert page.run("return document.querySelectorAll('.target').length") == 0
    click(page, "b4")
    page.key("ArrowLeft")
    wait_for_move(page, "d6")
    assert texts(page, MAIN_LINE) == ["d6", "f4", "d2"]
    page.key("End")
    wait_for_move(page, "d2")
    play(page, "b4")
    assert movetext(page) == "1. d6 f4 2. d2 b4 *"


def test_a_move_in_an_analysis_adds_a_variation(page: Browser) -> None:
    load(page, GAME)
    page.wait(f"{MAIN_LINE}.length === 8")
    page.click("#moves button[data-node='2']")
    wait_for_move(page, "f4")
    click(page, "g7")
    wait_for_move(page, "g7")
    click(page, "a7")
    wait_for_move(page, "a7")
    page.key("ArrowLeft")
    wait_for_move(page, "g7")
    click(page, "a1")
    wait_for_move(page, "a1")
    assert texts(page, MAIN_LINE) == list(map(str, parse_record(GAME).moves))
    assert texts(page, VARIATIONS) == ["g7", "a7", "a1"]
    tree = "1. d6 f4 2. d2 ( 2. g7 a7 ( 2... a1 ) ) 2... b4 3. f2 b2 4. f6 b6xf6 *"
    assert movetext(page) == tree
    # Playing an existing move shows its node and adds no other.
    page.key("ArrowLeft")
    wait_for_move(page, "g7")
    click(page, "a7")
    wait_for_move(page, "a7")
    assert texts(page, VARIATIONS) == ["g7", "a7", "a1"]
    # The arrow keys step between variations.
    page.key("ArrowDown")
    wait_for_move(page, "a1")
    page.key("ArrowUp")
    wait_for_move(page, "a7")
    page.click("#moves button[data-node='3']")
    wait_for_move(page, "d2")
    page.key("ArrowDown")
    wait_for_move(page, "g7")
    shot(page, "variations")


def test_edits_of_variations_can_be_undone_and_redone(page: Browser) -> None:
    load(page, "1. d6 ( 1. f4 d6 ) f4 *")
    page.wait(f"{VARIATIONS}.length === 2")
    original = movetext(page)
    page.click("#moves .variations button")
    # The record opens at the last move of the main line, which is also an f4.
    page.wait("document.querySelector('#moves .variations [aria-current]')")
    page.click("#promote")
    page.wait(f"{MAIN_LINE}.map((button) => button.textContent).join() === 'f4,d6'")
    promoted = movetext(page)
    assert promoted == "1. f4 ( 1. d6 f4 ) 1... d6 *"
    page.click("#comment")
    page.run("document.getElementById('comment').value = ''")
    for letter in "bold!":
        page.key(letter)
    page.key("Enter")
    page.wait("document.querySelector('#moves .commented')")
    assert movetext(page) == "1. f4 {bold!} ( 1. d6 f4 ) 1... d6 *"
    # A move of the main line is not deleted by one click.
    assert page.run("return document.getElementById('delete').hidden")
    page.click("#moves .variations button")
    page.wait("document.getElementById('delete').checkVisibility()")
    page.click("#delete")
    page.wait("!document.querySelector('#moves .variations')")
    page.wait("document.getElementById('toast').textContent === "
              "'2 moves deleted. Press ⟲ to restore.'")
    assert movetext(page) == "1. f4 {bold!} d6 *"
    for wanted in ("1. f4 {bold!} ( 1. d6 f4 ) 1... d6 *", promoted, original):
        html = page.run("return document.getElementById('moves').innerHTML")
        page.click("#undo")
        page.wait(f"document.getElementById('moves').innerHTML !== {html!r}")
        assert movetext(page) == wanted
    assert page.run("return document.getElementById('undo').disabled")
    for _ in range(3):
        html = page.run("return document.getElementById('moves').innerHTML")
        page.click("#redo")
        page.wait(f"document.getElementById('moves').innerHTML !== {html!r}")
    assert movetext(page) == "1. f4 {bold!} d6 *"


def test_steps_during_a_slow_request_end_at_the_last_requested_move(page: Browser) -> None:
    load(page, GAME)
    page.wait(f"{MAIN_LINE}.length === 8")
    page.click("#moves button[data-node='4']")
    wait_for_move(page, "b4")
    # Delay the first request until after the second key.
    page.run(
        """const original = window.fetch;
           window.sent = window.answered = 0;
           window.fetch = async (...args) => {
             sent += 1;
             if (sent === 1) await new Promise((done) => { window.release = done; });
             const answer = await original(...args);
             answered += 1;
             return answer;
           };"""
    )
    page.key("ArrowLeft")
    page.key("ArrowLeft")
    page.run("release()")
    page.wait("answered === 2")
    # The server shows the position after f4, and so does the page.
    shown = parse_position(ask(page, "export")["position"])
    assert shown.men == parse_record(GAME).mainline()[1].position.men
    wait_for_move(page, "f4")


def test_play_continues_from_the_position_shown(page: Browser) -> None:
    begin(page, black=BEGINNER)
    load(page, "1. d6 f4 2. d2 b4 *")
    page.wait(f"{MAIN_LINE}.length === 4")
    wait_for_status(page, "White: place a man.")
    page.click("#moves button[data-node='3']")
    wait_for_move(page, "d2")
    page.click("#play-on")
    # Black, the engine, moves there: its move is a new node, or the existing b4.
    page.wait("document.querySelector('#moves [aria-current]')?.dataset.node === '5'"
              " || document.querySelector('#moves [aria-current]')?.textContent === 'b4'")
    wait_for_status(page, "White: place a man.")


def long_game(plies: int) -> str:
    """Return a random game of ``plies`` without a removal, as PGN."""
    generator = random.Random(1)
    rules = make_rules("morris", ["Repetition=0", "NoRemovalPlies=0"])
    position = parse_position("O*@*O*@*/@*O*@*O*/***O***@ w 0 0 0 1", rules)
    record = Record(position)
    node = record.root
    while node.ply < plies:
        without_removal = [move for move in position.legal_moves() if not move.removed]
        node = record.append(node, generator.choice(without_removal))
        position = node.position
    return format_record(record)


def test_a_step_in_a_long_game_updates_two_buttons_only(page: Browser) -> None:
    assert ask(page, "load", text=long_game(4000)) == {"moves": 4000}
    page.wait(f"{MAIN_LINE}.length === 4000")
    ask(page, "analyse", on=True)
    ask(page, "review")
    page.wait_for_count("#graph polygon", 1)
    page.run(
        """window.seen = new Set();
           new MutationObserver((changes) => {
             for (const { target, attributeName } of changes) {
               if (attributeName === "aria-current") seen.add(target.dataset.node);
             }
           }).observe(document.getElementById("moves"), {attributes: true, subtree: true});"""
    )
    for key, node in (("ArrowLeft", 3999), ("ArrowLeft", 3998), ("ArrowRight", 3999)):
        page.key(key)
        page.wait(f"document.querySelector('#moves [aria-current]').dataset.node === '{node}'")
    assert sorted(page.run("return [...seen]")) == ["3998", "3999", "4000"]
    # The verdict follows the running review.
    verdict = "document.getElementById('verdict').textContent"
    page.wait(f"/Judging move ([2-9]|\\d\\d)/.test({verdict})")
    ask(page, "review", on=False)


@pytest.mark.parametrize(
    "name, width, height, dark",
    [("upright", 390, 844, True), ("upright-light", 390, 844, False), ("sideways", 844, 390, True)],
)
def test_variations_can_be_made_and_viewed_by_touch(
    page: Browser, name: str, width: int, height: int, dark: bool
) -> None:
    page.set_view(width, height, phone=True, dark=dark)
    load(page, GAME)
    page.wait(f"{MAIN_LINE}.length === 8")
    assert ask(page, "go", node=0) == {}
    page.wait("document.getElementById('back').disabled")
    page.tap("[data-point=a1] .hit")
    wait_for_move(page, "a1")
    assert movetext(page).startswith("1. d6 ( 1. a1 ) 1... f4")
    page.run("document.getElementById('promote').scrollIntoView({block: 'end'})")
    page.tap("#promote")
    page.wait(f"{MAIN_LINE}[0].textContent === 'a1'")
    page.tap("#moves .variations button")
    wait_for_move(page, "d6")
    shot(page, f"variations-{name}")
    heights = page.run(
        "return [...document.querySelectorAll('#moves > li button, #study button')]"
        ".filter((button) => button.checkVisibility())"
        ".map((button) => button.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44
    tap_menu(page, "games")
    page.wait(is_open("games"))
    shot(page, f"my-games-{name}")
    page.tap("#games-dialog .ends .main")
    page.wait(f"!{is_open('games')}")


def test_ctrl_z_undoes_and_ctrl_shift_z_redoes(page: Browser) -> None:
    begin(page)
    play(page, "d6")
    press = ("document.body.dispatchEvent(new KeyboardEvent('keydown', "
             "{key: arguments[0], ctrlKey: true, shiftKey: arguments[1], bubbles: true}))")
    page.run(press, "z", False)
    page.wait_for_count("#moves .variations button", 1)
    page.run(press, "Z", True)
    page.wait_for_count("#moves .variations button", 0)
