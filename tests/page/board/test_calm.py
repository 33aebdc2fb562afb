"""One thing at a time: the status line, confirmations, lessons, lists of games, reconnection."""

from __future__ import annotations

from pathlib import Path
from socket import socket

import pytest

from tests.kit.webdriver import Browser
from tests.page.board.screens import GAME, POINTS
from tests.page.board.test_start import STARTING, reopen
from tests.protocol.board.server import Server
from tests.protocol.board.steps import (
    ANALYST,
    BEGINNER,
    FLYERS,
    PERSON,
    ask,
    begin,
    click,
    console_errors,
    enter,
    is_open,
    load,
    moves,
    play,
    tap_menu,
)

STATUS = "document.getElementById('status-text').textContent"
NOTE = "document.getElementById('tutorial-note').textContent"


def test_the_status_line_says_one_thing(page: Browser) -> None:
    begin(page)
    play(page, "d6")
    play(page, "f4")
    assert page.text("#status-text") == "White: place a man."
    # Only a screen reader gets the last move.
    assert page.text("#status-last") == "Last: f4."
    page.key("ArrowLeft")
    page.wait(f"{STATUS} === 'Move 1 of 2; End returns to the game.'")
    page.key("End")
    page.wait(f"{STATUS} === 'White: place a man.'")
    tap_menu(page, "analyse")
    page.wait("document.getElementById('analyse').ariaPressed === 'true'")
    assert page.text("#status-text") == "White: place a man."
    tap_menu(page, "play")
    page.wait("document.getElementById('resign').checkVisibility()")
    ask(page, "resign")
    page.wait(f"{STATUS} === 'White wins, Black resigns.' || "
              f"{STATUS} === 'Black wins, White resigns.'")
    assert "wins" not in page.text("#result-card").replace("Black wins", "", 1)


def test_a_move_is_confirmed_if_the_setting_is_on(page: Browser) -> None:
    begin(page)
    tap_menu(page, "confirm")
    page.key("Escape")
    for button, count in (("sure-no", 0), ("sure-yes", 1)):
        click(page, "d6")
        page.wait("!document.getElementById('sure').hidden")
        assert page.text("#sure-text") == "Play d6?" and moves(page) == []
        page.click(f"#{button}")
        page.wait("document.getElementById('sure').hidden")
        page.wait_for_count("#board .man", count)
    page.wait_for_count("#moves button", 1)
    click(page, "f4")
    page.wait("document.activeElement.id === 'sure-yes'")
    page.key("Enter")
    page.wait_for_count("#moves button", 2)


def test_a_confirmed_move_is_not_played_in_another_position(page: Browser) -> None:
    begin(page)
    for point in ("d6", "f4"):
        play(page, point)
    tap_menu(page, "confirm")
    page.key("Escape")
    tap_menu(page, "analyse")
    page.wait("document.getElementById('analyse').ariaPressed === 'true'")
    click(page, "g1")
    page.wait("!document.getElementById('sure').hidden")
    page.key("ArrowLeft")
    page.wait_for_count("#board .man.black:not(.player *)", 0)
    page.click("#sure-yes")
    page.wait("document.getElementById('sure').hidden")
    click(page, "a1")
    page.wait("!document.getElementById('sure').hidden")
    assert page.text("#sure-text") == "Play a1?" and moves(page) == ["d6", "f4"]
    page.click("#sure-no")


def test_buttons_have_titles_and_the_help_lists_the_keys(page: Browser) -> None:
    begin(page)
    titles = page.run("return Object.fromEntries([...document.querySelectorAll('button[id]')]"
                      ".map((button) => [button.id, button.title]))")
    assert titles["undo"] == "Take back a move (U)" and titles["draw"] == "Offer draw"
    assert titles["play"] == "Play the game: engines move, clocks run (S)"
    assert titles["games"] == titles["import-go"] == ""
    page.key("?")
    page.wait(is_open("help"))
    assert page.run("return document.getElementById('help-dialog').ariaLabel") == "How to play"
    terms = page.run("return [...document.querySelectorAll('#keys dt')].map((dt) => dt.innerText)")
    for key in ("V", "T", "N", "H", "U R"):
        assert key in terms and (key == "N" or f"({key[0]})" in " ".join(titles.values()))


@pytest.mark.parametrize(("width", "height"), [(960, 540), (390, 844), (360, 740)])
def test_the_buttons_are_in_one_row_on_small_screens(
    page: Browser, width: int, height: int
) -> None:
    page.set_view(width, height, phone=width < 900)
    begin(page)
    for point in POINTS[:2]:
        play(page, point)
    page.wait("document.getElementById('draw').checkVisibility()")
    tops = ("return new Set([...document.querySelectorAll('.controls .buttons button')]"
            ".filter((button) => button.checkVisibility())"
            ".map((button) => Math.round(button.getBoundingClientRect().top))).size")
    assert page.run(tops) == 1
    tap_menu(page, "analyse")
    page.wait("document.getElementById('redo').checkVisibility()")
    assert page.run(tops) == 1


def test_the_board_stays_in_view_on_a_phone(page: Browser) -> None:
    page.set_view(390, 844, phone=True)
    load(page, GAME)
    page.wait_for_count("#moves button", 16)
    page.run("scrollTo(0, document.documentElement.scrollHeight)")
    boxes = page.run(
        "return ['#board', '.controls > .buttons'].map((name) => document.querySelector(name)"
        ".getBoundingClientRect()).map(({top, bottom}) => [top, bottom])"
    )
    assert boxes[0][0] >= 0 and boxes[0][1] <= 844
    assert boxes[1][1] <= 844 and boxes[1][0] > boxes[0][1]


def test_depth_and_speed_are_folded(page: Browser) -> None:
    begin(page)
    tap_menu(page, "analyse")
    page.wait("document.getElementById('facts-more').textContent.startsWith('depth ')")
    shown = "return document.getElementById('facts-more').checkVisibility()"
    assert not page.run(shown)
    page.click("#facts")
    assert page.run(shown)


def test_lessons_are_continued_and_a_wrong_point_is_named(page: Browser) -> None:
    tap_menu(page, "tutorial")
    page.wait(is_open("tutorial"))
    page.click("#tutorial-board [data-point=d6] .hit")
    page.wait(f"{NOTE}.startsWith('Good.')")
    page.click("#tutorial-next")
    page.click("#tutorial-board [data-point=a1] .hit")
    page.wait(f"{NOTE}.startsWith('Not a1. Three men in a row')")
    page.key("Escape")
    page.wait(f"!{is_open('tutorial')}")
    tap_menu(page, "tutorial")
    page.wait("document.getElementById('tutorial-step').textContent === '2 of 6'")
    page.key("Escape")


def test_full_strength_is_the_last_level_of_the_slider(server: Server, page: Browser) -> None:
    reopen(server, page)
    page.run("document.getElementById('level').focus()")
    page.key("End")
    page.wait("document.getElementById('level-name').textContent === 'Full strength'")
    page.click("#begin")
    page.wait(f"!{STARTING}")
    page.wait("document.querySelector('#player-top .name').textContent === 'Black: merels'")


def test_the_form_counts_the_games_against_a_level(server: Server, page: Browser) -> None:
    begin(page, black=BEGINNER)
    play(page, "d6")
    ask(page, "resign")
    page.wait("!document.getElementById('result-card').hidden")
    reopen(server, page)
    page.run("document.getElementById('level').focus()")
    page.key("Home")
    page.wait("/^You so far: 0 won, 0 drawn, [1-9][0-9]* lost[.]$/.test("
              "document.getElementById('level-score').textContent)")


def test_each_rule_is_chosen_in_a_dialog_of_its_own(page: Browser) -> None:
    tap_menu(page, "new")
    assert not page.run("return document.getElementById('fields').checkVisibility()")
    page.click("#rules")
    page.wait(is_open("rules"))
    enter(page, "#field-Flying", "never")
    page.click("#rules-dialog .main")
    page.wait(f"!{is_open('rules')}")
    assert page.text("#rules-words").endswith("With changes.")
    page.click("#begin")
    page.wait("import('./page.js').then(({ page }) => page.state.rules.fields.Flying === 'never')")


def test_my_games_shows_results_boards_and_times(page: Browser) -> None:
    begin(page, black=BEGINNER)
    play(page, "d6")
    page.wait_for_count("#moves button", 2)
    ask(page, "resign")
    page.wait("!document.getElementById('result-card').hidden")
    begin(page)
    play(page, "a1")
    tap_menu(page, "games")
    page.wait("document.querySelectorAll('#games-list li').length >= 2")
    rows = page.run(
        """return [...document.querySelectorAll("#games-list .open")].slice(0, 2).map((row) => ({
             name: row.className, men: row.querySelectorAll(".mini .man").length,
             text: row.textContent }))"""
    )
    assert rows[0]["men"] == 1 and "Continue" in rows[0]["text"]
    assert rows[1]["name"] == "open loss" and rows[1]["men"] >= 2
    assert "Continue" not in rows[1]["text"]
    clock = page.run("return new Date().toTimeString().slice(0, 2)")
    assert f"· {clock}:" in rows[0]["text"]
    page.key("Escape")


def test_a_game_is_reviewed_at_its_end_without_tables(page: Browser) -> None:
    # The rules have no tables.
    begin(page, variant="mill", fields={"Repetition": "5"})
    play(page, "d6")
    play(page, "f4")
    ask(page, "resign")
    page.wait("document.getElementById('result-accuracy').textContent.includes('Accuracy: White')")


def test_the_page_goes_on_when_the_server_is_back(tmp_path: Path, chromium: Browser) -> None:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with Server("-port", port, games=tmp_path) as server:
        server.open_page(chromium)
        begin(chromium)
        for point in ("d6", "f4", "d2"):
            play(chromium, point)
        chromium.wait("import('./page.js').then(({ page }) => page.state.saved)")
    chromium.wait("!document.getElementById('trouble').hidden")
    assert chromium.text("#trouble-text").startswith("merels board does not answer.")
    with Server("-port", port, games=tmp_path):
        chromium.wait("document.getElementById('trouble').hidden && "
                      "document.querySelectorAll('#moves button').length === 3")
        play(chromium, "b4")
        assert moves(chromium) == ["d6", "f4", "d2", "b4"]
        chromium.open("about:blank")
        assert all("ERR_" in text for text in console_errors(chromium))


def test_a_browser_that_was_not_admitted_reads_its_language(chromium: Browser) -> None:
    with Server() as server:
        chromium.open(server.address + "theme.css")
        chromium.run("localStorage.language = 'de'; localStorage.theme = 'slate'")
        chromium.open(server.address)
        chromium.wait("document.querySelector('h1')?.textContent.startsWith('Das Brett ist')")
        assert chromium.run("return document.documentElement.dataset.theme") == "slate"
        assert chromium.run("return document.documentElement.lang") == "de"
        colour = "return getComputedStyle(document.body).backgroundColor"
        assert chromium.run(colour) == "rgb(243, 245, 247)"
        chromium.messages()


def test_the_editor_moves_men_by_dragging_and_removes_by_right_click(page: Browser) -> None:
    begin(page)
    tap_menu(page, "edit")
    enter(page, "#editor-text", FLYERS)
    page.wait_for_count("#editor-board .man", 6)
    assert not page.run("return document.getElementById('editor-text').checkVisibility()")
    at = "#editor-board [data-point={}] .hit".format
    has = "document.querySelector('#editor-board [data-point={}] .man')".format
    page.drag(at("d6"), at("f4"))
    page.wait(f"{has('f4')} && !{has('d6')}")
    page.drag(at("f4"), at("f4"), button=2)
    page.wait(f"!{has('f4')}")
    page.wait_for_count("#editor-board .man", 5)
    page.key("Escape")


def test_enter_opens_the_next_puzzle_and_empty_choices_are_disabled(page: Browser) -> None:
    tap_menu(page, "puzzles")
    page.wait("document.querySelectorAll('#puzzle-theme option').length > 3")
    counts = page.run("return import('./net.js').then(({ api }) => api('puzzle', {}))")["counts"]
    theme, index = next((theme, index) for theme, row in counts.items() if theme
                        for index, count in enumerate(row) if not count)
    enter(page, "#puzzle-level", str(index))
    page.wait(f"document.querySelector('#puzzle-theme option[value={theme}]').disabled")
    line = page.run("return import('./net.js').then(({ api }) => api('solution'))")["line"]
    page.click("#puzzle-next")
    page.wait("document.getElementById('puzzle-note').textContent === ''")
    assert line
    # Whatever the puzzle is, its solution is played move by move.
    for _ in range(8):
        if page.run("return document.getElementById('puzzle-solution').disabled"):
            break
        move = page.run("return import('./net.js').then(({ api }) => api('solution'))")["line"][0]
        for point in move.replace("x", "-").split("-"):
            page.click(f"#puzzle-board [data-point={point}] .hit")
        page.wait("document.getElementById('puzzle-solution').disabled || "
                  "document.querySelectorAll('#puzzle-board .live').length > 0")
    page.wait("document.activeElement.id === 'puzzle-next'")
    page.key("Enter")
    page.wait("!document.getElementById('puzzle-solution').disabled")
    page.key("Escape")


def test_two_persons_see_no_level(page: Browser) -> None:
    assert ask(page, "new", players=[PERSON, PERSON, ANALYST]) == {}
    tap_menu(page, "new")
    assert not page.run("return document.getElementById('level').checkVisibility()")
    assert page.run("return document.getElementById('player-0').checkVisibility()")
