"""Faults that a user of the board met: each test failed before its fault was mended."""

from __future__ import annotations

import itertools
import random

import pytest

from merels.engine.game.position import Move, Position
from merels.protocol.games.writer import format_record
from merels.protocol.games.record import Record
from tests.kit.waiting import wait
from tests.kit.webdriver import Browser
from tests.page.board.test_start import STARTING, reopen
from tests.protocol.board.server import Server
from tests.protocol.board.steps import (
    ANALYST,
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

SET_UP = "O*O*O***/@*@*@***/O*@***** {side} 0 0 0 10"


def name(page: Browser, side: str) -> str:
    """Return the name shown at the top or at the bottom of the board."""
    return page.text(f"#player-{side} .name")


def move_list(page: Browser) -> list[str]:
    """Return the visible cells of the list of moves."""
    cells: list[str] = page.run(
        "return [...document.querySelectorAll('#moves > li')]"
        ".filter((cell) => cell.checkVisibility()).map((cell) => cell.textContent)"
    )
    return cells


@pytest.mark.parametrize("side", ["w", "b"])
def test_a_position_set_up_beside_the_form_is_played_with_the_forms_settings(
    server: Server, page: Browser, side: str
) -> None:
    reopen(server, page)
    enter(page, "#level", "5")
    page.run("document.getElementById('level').dispatchEvent(new Event('input'))")
    page.wait("document.getElementById('level-name').textContent.startsWith('Champion')")
    tap_menu(page, "edit")
    page.wait(is_open("editor"))
    enter(page, "#editor-text", SET_UP.format(side=side))
    page.wait("!document.getElementById('editor-play').disabled")
    page.click("#editor-play")
    page.wait(f"!{STARTING}")
    assert name(page, "top") == "Black: merels (Champion)"
    assert page.run("return document.getElementById('undo').checkVisibility()")
    if side == "w":
        play(page, *legal_points(page))
    page.wait("document.querySelectorAll('#moves button').length >= 1")
    assert page.run("return document.querySelectorAll('#board .man').length") >= 6


def test_a_list_of_moves_that_begins_with_black_is_not_shifted(page: Browser) -> None:
    begin(page, position=SET_UP.format(side="b"))
    page.wait_for_count("#board .man", 8)
    play(page, *legal_points(page))
    assert move_list(page)[:3] == ["10.", "…", moves(page)[0]]
    play(page, *legal_points(page))
    assert move_list(page)[:5] == ["10.", "…", moves(page)[0], "11.", moves(page)[1]]


def legal_points(page: Browser) -> tuple[str, ...]:
    """Return the points of a legal move without a removal."""
    legal = page.run("return import('./page.js').then(({ page }) => page.state.legal)")
    return tuple(next(move for move in legal if "x" not in move).split("-"))


def test_letters_of_the_files_begin_moves_and_are_no_shortcuts(page: Browser) -> None:
    begin(page)
    for letter in "aef":
        page.key(letter)
        # No time-out turns the letter into a shortcut.
        page.wait(f"document.getElementById('typed').textContent === 'Move: {letter}'")
        page.run("return new Promise((done) => { setTimeout(done, 700); })")
        assert page.run("return document.getElementById('analyse').ariaPressed") == "false"
        assert page.text("#typed") == f"Move: {letter}"
        page.key("Escape")
    page.key("e")
    page.key("4")
    page.wait_for_count("#moves button", 1)
    assert moves(page) == ["e4"]
    assert page.run("return document.getElementById('evaluation').ariaChecked") == "false"
    page.key("s")
    page.wait("document.getElementById('analyse').ariaPressed === 'true'")
    page.key("v")
    page.wait("document.getElementById('evaluation').ariaChecked === 'false'")
    page.key("t")
    page.wait("document.querySelector('#player-top').dataset.side === '0'")


def test_end_follows_a_running_game_between_engines(page: Browser) -> None:
    players = [{"engine": 1}, {"engine": 1}, ANALYST]
    time = {"kind": "move", "seconds": 0.01}
    assert ask(page, "new", players=players, time=time) == {}
    page.wait("document.querySelectorAll('#moves button').length > 2")
    page.key("Home")
    page.wait("document.getElementById('back').disabled")
    # The engine moves at once: the last move shown is soon not the last one.
    page.key("End")
    page.wait("(() => { const all = [...document.querySelectorAll('#moves button')];"
              "return all.length > 4 && all.at(-1).ariaCurrent === 'true'; })()")


def test_the_board_shows_the_players_of_the_form(server: Server, page: Browser) -> None:
    reopen(server, page)
    page.run("""const level = document.getElementById("level"); level.value = 5;
                level.dispatchEvent(new Event("input"))""")
    page.click("input[name=colour][value='1']")
    page.wait("document.querySelector('#player-bottom .name').textContent === 'Black: You'")
    assert name(page, "top") == "White: merels (Champion)"
    # The user is Black, so a click on the board plays no move of White's.
    assert page.run("return document.querySelectorAll('#board .live').length") == 0
    click(page, "d6")
    page.click("#begin")
    page.wait("document.querySelectorAll('#moves button').length === 1")
    assert name(page, "top") == "White: merels (Champion)"


def test_the_form_comes_back_after_an_analysis_before_the_first_game(
    server: Server, page: Browser
) -> None:
    reopen(server, page)
    page.click("#analyse")
    page.wait(f"!{STARTING}")
    page.click("#play")
    page.wait(STARTING)


def open_with_offer(server: Server, page: Browser) -> None:
    """Open a new board that offers to continue a game."""
    begin(page)
    play(page, "d6")
    page.run("sessionStorage.clear()")
    page.open(server.address + "theme.css")
    wait(lambda: server.api("open")[1]["unfinished"], 60, "a game that no page shows")
    page.open(server.address)
    page.wait(f"{STARTING} && !document.getElementById('resume').hidden")


def test_the_offer_to_continue_does_not_move_the_board(server: Server, page: Browser) -> None:
    open_with_offer(server, page)
    top = "return document.getElementById('board').getBoundingClientRect().top"
    before = page.run(top)
    play(page, "f4")
    page.wait("!document.getElementById('resume').checkVisibility()")
    assert page.run(top) == before


def test_the_offer_to_continue_ends_when_a_game_is_started(server: Server, page: Browser) -> None:
    open_with_offer(server, page)
    page.click("#begin")
    page.wait(f"!{STARTING}")
    assert not page.run("return document.getElementById('resume').checkVisibility()")


def test_the_result_of_a_review_stays_in_view_while_stepping(page: Browser) -> None:
    sizes = (1366, 650), (1280, 720)
    page.set_view(*sizes[0])
    load(page, format_record(long_game()))
    page.wait_for_count("#moves button", 60)
    ask(page, "analyse", on=True)
    page.click("#review")
    page.wait("document.getElementById('review').textContent === 'Review' && "
              "!document.getElementById('sums').hidden", 120)
    for (width, height), node in itertools.product(sizes, (60, 31, 1)):
        page.set_view(width, height)
        step_to(page, node)
        for part in ("graph", "sums", "verdict"):
            box = page.run("const box = document.getElementById(arguments[0])"
                           ".getBoundingClientRect(); return [box.top, box.bottom]", part)
            assert box[0] >= 0 and box[1] <= height, (part, node, box)
        current = page.run("const box = document.querySelector('#moves [aria-current]')"
                           ".getBoundingClientRect(); return [box.top, box.bottom]")
        assert current[0] >= 0 and current[1] <= height, (node, current)


def long_game() -> Record:
    """Return a game of 60 moves by chance."""
    generator, position, moves_played = random.Random(3), Position(), list[Move]()
    while len(moves_played) < 60:
        move = generator.choice(position.legal_moves())
        after = position.push(move)
        if after.outcome() is None:
            position = after
            moves_played.append(move)
    record = Record(Position())
    node = record.root
    for move in moves_played:
        node = record.add(node, move)
    return record


def step_to(page: Browser, node: int) -> None:
    """Show a node by a request, as many steps back would."""
    assert ask(page, "go", node=node) == {}
    page.wait(f"document.querySelector('#moves [aria-current]').dataset.node === '{node}'")


def test_an_opened_game_does_not_carry_the_users_name(page: Browser) -> None:
    load(page, "1. d6 f4 2. d2 *")
    page.wait_for_count("#moves button", 3)
    assert [name(page, side) for side in ("top", "bottom")] == ["Black", "White"]
    assert "You" not in ask(page, "export")["record"]


def test_an_analysis_is_not_stored_as_a_game_of_the_user(server: Server, page: Browser) -> None:
    reopen(server, page)
    page.click("#analyse")
    page.wait("document.getElementById('analyse').ariaPressed === 'true'")
    play(page, "a1")
    play(page, "g7")
    page.wait("import('./page.js').then(({ page }) => page.state.saved)")
    tap_menu(page, "games")
    page.wait(is_open("games"))
    page.wait("document.getElementById('games-count').textContent")
    row = page.run("return document.querySelector('#games-list .who')?.textContent ?? ''")
    assert "You" not in row and "merels" not in row
    page.key("Escape")


def test_an_analysis_has_no_clock(page: Browser) -> None:
    begin(page)
    ask(page, "players", players=[PERSON, PERSON, ANALYST],
        time={"kind": "clock", "base": 60, "increment": 1})
    page.wait_for_count(".clock", 2)
    load(page, "1. d6 f4 *")
    page.wait_for_count("#moves button", 2)
    page.wait_for_count(".clock", 0)


def test_the_focus_goes_to_the_board_when_play_is_pressed_by_key(
    server: Server, page: Browser
) -> None:
    reopen(server, page)
    page.run("document.getElementById('begin').focus()")
    page.key("Enter")
    page.wait(f"!{STARTING}")
    page.wait("document.activeElement.closest('#board') !== null")


def test_clocks_have_names_for_screen_readers(page: Browser) -> None:
    begin(page)
    ask(page, "players", players=[PERSON, PERSON, ANALYST],
        time={"kind": "clock", "base": 60, "increment": 1})
    page.wait_for_count(".clock", 2)
    assert {("timer", "White's clock"), ("timer", "Black's clock")} <= set(
        page.accessibility_tree()
    )


def test_full_screen_at_200_percent_keeps_play_in_view(server: Server, page: Browser) -> None:
    page.set_view(960, 540)
    reopen(server, page)
    bottom = page.run("return document.getElementById('begin').getBoundingClientRect().bottom")
    assert bottom <= 540


def test_leaving_a_saved_game_gives_no_warning(page: Browser) -> None:
    begin(page)
    play(page, "d6")
    page.wait("import('./page.js').then(({ page }) => page.state.saved)")
    tap_menu(page, "new")
    page.click("#begin")
    page.wait_for_count("#moves button", 0)
    assert not page.run(f"return {is_open('ask')}")


@pytest.mark.parametrize(("language", "words"), [
    ("en", ["lost", "Club", "Mill"]), ("de", ["verloren", "Verein", "Mühle"]),
])
def test_my_games_finds_the_words_that_its_rows_show(
    page: Browser, language: str, words: list[str]
) -> None:
    begin(page, black={"engine": 0, "level": "Club"})
    play(page, "d6")
    ask(page, "resign")
    page.wait("!document.getElementById('result-card').hidden")
    page.run("localStorage.language = arguments[0]", language)
    page.run("location.reload()")
    page.wait(f"document.documentElement.lang === {language!r} && "
              "document.querySelectorAll('#moves button').length > 0")
    tap_menu(page, "games")
    page.wait(is_open("games"))
    rows = "document.querySelectorAll('#games-list .who').length"
    month = page.run("return new Intl.DateTimeFormat(arguments[0], {month: 'long'})"
                     ".format(new Date())", language)
    for word in (*words, month):
        page.run("""const field = document.getElementById("games-query");
                    field.value = arguments[0];
                    field.dispatchEvent(new Event("input"))""", word)
        page.wait(f"{rows} >= 1")
    page.run("""const field = document.getElementById("games-query"); field.value = "qqq";
                field.dispatchEvent(new Event("input"))""")
    page.wait(f"{rows} === 0")
    page.key("Escape")


def test_german_translates_readers_and_numbers_but_no_names(page: Browser) -> None:
    page.run("localStorage.language = 'de'; location.reload()")
    page.wait("document.documentElement.lang === 'de' && document.body.matches('.starting')")
    said = """return import("./net.js").then(({ api }) =>
        api("load", { text: arguments[0], variant: "mill", fields: {} }))
        .catch((error) => error.message)"""
    for text, german in (
        ("1. d6 d6", "„d6“: kein erlaubter Zug, d6 ist besetzt (Zug 1, Schwarz, Zeile 1)"),
        ("1. d7 d2 2. a7 b2 3. g7", "„g7“: kein erlaubter Zug, der Zug muss einen Stein wegnehmen "
         "(Zug 3, Weiß, Zeile 1)"),
        ("; none", "„; none“: es fehlt eine Stellung oder eine Partie"),
    ):
        assert page.run(said, text) == german
    assert len(console_errors(page)) == 3  # The answers with status 400.
    players = [{"engine": None, "name": "White"}, {"engine": None, "name": "Player"}, ANALYST]
    ask(page, "new", players=players)
    page.wait("document.querySelector('#player-bottom .name').textContent === 'Weiß: White'")
    assert name(page, "top") == "Schwarz: Player"


def visible_buttons(page: Browser) -> list[str]:
    """Return the ids of the buttons in the row under the board."""
    ids: list[str] = page.run(
        "return [...document.querySelectorAll('.controls .buttons button')]"
        ".filter((button) => button.checkVisibility()).map((button) => button.id)"
    )
    return ids


def test_the_row_under_the_board_has_only_what_the_moment_needs(page: Browser) -> None:
    steps = ["first", "back", "forward", "last"]
    begin(page)
    assert visible_buttons(page) == [*steps, "undo", "suggest", "resign", "game-button"]
    play(page, "d6")
    play(page, "f4")
    page.wait("document.getElementById('draw').checkVisibility()")
    assert "redo" not in visible_buttons(page)
    heights = page.run(
        "return new Set([...document.querySelectorAll('.controls .buttons button')]"
        ".filter((button) => button.checkVisibility())"
        ".map((button) => button.getBoundingClientRect().top)).size"
    )
    assert heights == 1, "the buttons are in one row"
    # A variation can be promoted and deleted, the game cannot.
    page.click("#analyse")
    page.wait("document.getElementById('study').checkVisibility()")
    hidden = "return ['promote', 'delete'].map((id) => document.getElementById(id).hidden)"
    assert page.run(hidden) == [True, True]
    assert "resign" not in visible_buttons(page) and "redo" in visible_buttons(page)
    page.click("#back")
    page.wait("document.querySelector('#moves [aria-current]').dataset.node === '1'")
    play(page, "a1")
    page.wait(f"JSON.stringify((() => {{ {hidden} }})()) === '[false,false]'")


def test_rules_are_told_by_what_they_do_and_roman_is_no_choice(page: Browser) -> None:
    tap_menu(page, "new")
    values = page.run("return [...document.getElementById('variant').options]"
                      ".map((option) => option.value)")
    assert values[0] == "mill" and "roman" not in values
    assert page.text("#rules-words").endswith("The usual rules.")
