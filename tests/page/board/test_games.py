"""Stored games, opened files, confirmations, draws and pauses."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.protocol.board.game_store import GameStore
from merels.protocol.formats.pgn.reader import parse_record, parse_records
from tests.kit.webdriver import Browser
from tests.protocol.board.server import Server
from tests.protocol.board.steps import (
    ANALYST,
    BEGINNER,
    ask,
    begin,
    click,
    console_errors,
    enter,
    is_open,
    load,
    moves,
    play,
    shot,
    tap_menu,
)

ROWS = "[...document.querySelectorAll('#games-list .who')].map((row) => row.textContent)"


def test_stored_games_are_searched_opened_deleted_and_exported(page: Browser) -> None:
    for name, point in (("Clara", "d6"), ("Zoë", "f4")):
        players = [{"engine": None, "name": name}, {"engine": None, "name": "Otto"}, ANALYST]
        ask(page, "new", players=players)
        page.wait(f"document.querySelector('.name').textContent.includes('Otto') && "
                  f"document.querySelector('#player-bottom .name').textContent.includes({name!r})")
        play(page, point)
    ask(page, "resign")
    page.wait("document.getElementById('status').textContent.includes('resigns')")
    tap_menu(page, "games")
    page.wait(is_open("games"))
    page.click("#games-query")
    for letter in "otto":
        page.key(letter)
    page.wait(f"{ROWS}.length === 2")
    assert page.run(f"return {ROWS}") == ["Zoë – Otto, 1-0", "Clara – Otto, not finished"]
    shot(page, "my-games")
    for letter in " clara":
        page.key(letter)
    page.wait(f"{ROWS}.length === 1")
    page.key("Enter")
    assert page.run(f"return {is_open('games')}")
    text = ask(page, "all_games", query="otto")["record"]
    assert [record.tags["White"] for record in parse_records(text)] == ["Clara", "Zoë"]
    page.click("#games-list .open")
    page.wait(f"!{is_open('games')}")
    page.wait("document.getElementById('status').textContent.startsWith('Black: place a man.')")
    assert moves(page) == ["d6"]
    # The game on the board cannot be deleted; the deletion of another game is confirmed.
    tap_menu(page, "games")
    page.wait(f"{is_open('games')} && {ROWS}.length > 1")
    assert not page.run("return document.querySelector('[aria-label^=\"Pick Clara\"]')")
    page.click("[aria-label='Pick Zoë – Otto, 1-0']")
    page.click("#games-delete")
    page.wait(is_open("ask"))
    shot(page, "ask-delete")
    page.click("#ask-yes")
    page.wait(f"!{ROWS}.some((row) => row.startsWith('Zoë'))")


def test_resigning_a_game_needs_a_confirmation(page: Browser) -> None:
    begin(page, black=BEGINNER)
    play(page, "d6")
    page.wait_for_count("#moves button", 2)
    page.click("#resign")
    page.wait(is_open("ask"))
    assert page.text("#ask-text") == "White loses, Black wins."
    # Enter and Esc give the safe answer.
    page.key("Enter")
    page.wait(f"!{is_open('ask')}")
    page.click("#resign")
    page.click("#ask-yes")
    page.wait("document.getElementById('result-title').textContent === 'You lose'")


def test_leaving_a_game_that_is_not_saved_needs_a_confirmation(
    chromium: Browser, tmp_path: Path
) -> None:
    page, folder = chromium, tmp_path / "games"
    leave = ("const event = new Event('beforeunload', {cancelable: true});"
             "window.dispatchEvent(event); return event.defaultPrevented")
    with Server(games=folder) as server:
        server.open_page(page)
        begin(page)
        play(page, "d6")
        page.wait("import('./page.js').then(({ page }) => page.state.saved)")
        assert not page.run(leave)
        shutil.rmtree(folder)
        folder.write_text("no folder")
        play(page, "f4")
        page.wait("import('./page.js').then(({ page }) => !page.state.saved)")
        assert page.run(leave), "the page can be left without a question"
        tap_menu(page, "new")
        page.click("#begin")
        page.wait(is_open("ask"))
        assert "it is not saved" in page.text("#ask-text")
        shot(page, "ask-new")
        page.key("Escape")
        page.wait(f"!{is_open('ask')}")
        assert len(moves(page)) == 2
        ask(page, "resign")
        page.wait("!document.getElementById('result-card').hidden")
        assert not page.run(leave), "the page asks although the game is over"
        folder.unlink()


def test_of_several_games_one_is_opened_or_all_are_stored(page: Browser) -> None:
    two_games = '[White "Cleo"]\n\n1. d6 f4 *\n\n[White "Dan"]\n\n1. a1 ( 1. g7 ) d2 2. b4 1-0\n'
    load(page, two_games)
    page.wait("!document.getElementById('import-several').hidden")
    assert page.text("#import-count") == "2 games: which one?"
    shot(page, "import-several")
    page.click("#import-games li:nth-child(2) .open")
    page.wait(f"!{is_open('import')}")
    page.wait_for_count("#moves button", 4)
    assert page.text("#player-bottom .name") == "White: Dan"
    load(page, two_games)
    page.wait("!document.getElementById('import-keep').hidden")
    page.click("#import-keep")
    page.wait("document.getElementById('toast').textContent === '2 games are in My games now.'")
    answer = ask(page, "games", query="cleo")
    assert answer["found"] == 1 and answer["games"][0]["plies"] == "2"


def choose_file(page: Browser, content: str) -> None:
    """Choose a file in the import dialog; its content is a JavaScript expression."""
    tap_menu(page, "import")
    page.wait(is_open("import"))
    page.run(
        "const chosen = new DataTransfer();"
        f"chosen.items.add(new File([{content}], 'games.pgn'));"
        "const input = document.getElementById('import-file');"
        "input.files = chosen.files; input.dispatchEvent(new Event('change'));"
    )


def test_a_file_of_thousands_of_games_is_opened(page: Browser) -> None:
    game = '[White "Eve"]\\n\\n1. d6 f4 2. d2 b4 {a long thought about the whole board} *\\n\\n'
    note = "document.getElementById('import-note').textContent.includes('{}')"
    choose_file(page, f"'{game}'.repeat(15000)")
    page.wait(note.format("Only the beginning"))
    page.click("#import-go")
    page.wait("!document.getElementById('import-several').hidden")
    assert page.text("#import-count").startswith("15000 games: which one? The first 10000")
    page.click("#import-games li:nth-child(3) .open")
    page.wait(f"!{is_open('import')}")
    page.wait_for_count("#moves button", 4)
    # Only the first part of a larger file is opened.
    choose_file(page, f"'{game}'.replace('long', 'long '.repeat(1400)).repeat(2400)")
    page.wait(note.format("larger than 16 MB"))
    page.click("#import-go")
    page.wait("!document.getElementById('import-several').hidden")
    page.key("Escape")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8"])
def test_a_file_is_decoded_from_its_encoding(page: Browser, encoding: str) -> None:
    data = list('[White "Mühle"]\n\n1. d6 f4 *'.encode(encoding))
    choose_file(page, f"new Uint8Array({data})")
    page.wait("document.getElementById('import-text').value !== ''")
    page.click("#import-go")
    page.wait(f"!{is_open('import')}")
    page.wait("document.querySelector('#player-bottom .name').textContent === 'White: Mühle'")


def test_two_users_play_with_names_clocks_and_a_draw(page: Browser) -> None:
    tap_menu(page, "new")
    page.click("#new-more summary")
    enter(page, "#player-1", "")
    for seat, name in enumerate(("Anna", "Ben")):
        page.click(f"#name-{seat}")
        for letter in name:
            page.key(letter)
    enter(page, "#time", "7")
    shot(page, "new-two-persons")
    page.click("#begin")
    page.wait_for_count(".clock", 2)
    assert page.text("#player-top .name") == "Black: Ben"
    assert page.run("return document.getElementById('draw').hidden")
    play(page, "d6")
    page.wait("document.querySelector('#player-top .clock').classList.contains('running')")
    play(page, "f4")
    page.wait("document.getElementById('draw').checkVisibility()")
    page.click("#draw")
    page.wait("!document.getElementById('offer').hidden")
    assert page.text("#offer-text") == "White offers a draw."
    shot(page, "draw-offer")
    play(page, "d2")
    page.wait("document.getElementById('offer').hidden")
    page.click("#draw")
    page.wait("!document.getElementById('offer').hidden")
    page.click("#decline")
    page.wait("document.getElementById('offer').hidden")
    page.click("#draw")
    page.wait("!document.getElementById('offer').hidden")
    page.click("#accept")
    page.wait("/Draw by agreement/.test(document.getElementById('status').textContent)")
    text = ask(page, "export")["record"]
    assert '[White "Anna"]' in text and '[Black "Ben"]' in text
    assert "Draw by agreement} 1/2-1/2" in " ".join(text.split())
    assert text.count("{[%clk 0:") == 3


def test_an_engine_declines_a_draw_while_men_are_placed(page: Browser) -> None:
    begin(page, black=BEGINNER)
    play(page, "d6")
    page.wait("document.getElementById('draw').checkVisibility()")
    page.click("#draw")
    message = "merels (Beginner) declines the draw."
    page.wait(f"document.getElementById('toast').textContent === {message!r}")


def test_a_paused_game_refuses_moves_and_shows_how_to_resume(page: Browser) -> None:
    begin(page, black=BEGINNER)
    play(page, "d6")
    page.wait_for_count("#moves button", 2)
    tap_menu(page, "pause")
    message = "Paused; it is White's turn. Press Resume to play on."
    page.wait(f"document.getElementById('status').textContent.startsWith({message!r})")
    assert page.run("return document.querySelectorAll('.target').length") == 0
    shot(page, "paused")
    for point in ("a1", "g1", "b2", "d2"):
        click(page, point)
    assert len(moves(page)) == 2
    tap_menu(page, "pause")
    page.wait("document.querySelectorAll('.target').length > 0")
    ask(page, "pause", on=True)
    ask(page, "resign")
    page.wait("/resigns/.test(document.getElementById('status').textContent)")


def test_undo_after_the_end_needs_a_confirmation_and_keeps_the_game(page: Browser) -> None:
    begin(page)
    for point in ("d6", "f4", "d2"):
        play(page, point)
    page.click("#resign")
    page.click("#ask-yes")
    page.wait("document.getElementById('result-title').textContent === 'White wins'")
    page.click("#result-close")
    count = ask(page, "games")["found"]
    page.key("u")
    page.wait(is_open("ask"))
    assert "White wins, Black resigns. It stays in My games" in page.text("#ask-text")
    shot(page, "ask-undo")
    page.key("Enter")
    page.wait(f"!{is_open('ask')}")
    assert "White wins, Black resigns" in page.text("#status")
    page.click("#undo")
    page.click("#ask-yes")
    page.wait_for_count("#moves .variations button", 1)
    assert moves(page) == ["d6", "f4", "d2"]
    play(page, "b4")
    text = ask(page, "export")["record"]
    # The ended game has been reviewed.
    assert "1. d6 f4 2. b4 ( 2. d2 ) *" in " ".join(re.sub(r"{.*?}", "", text).split())
    answer = ask(page, "games")
    assert answer["found"] == count + 1
    assert sorted(game["result"] for game in answer["games"][:2]) == ["*", "1-0"]


ENGINE_GAME = """[White "You"]
[Black "merels (Club)"]
[WhiteType "human"]
[BlackType "program"]
[Date "2026.03.09"]
[Result "{result}"]
[Variant "morris"]

1. d6 f4 {result}

"""


def test_the_page_does_not_promise_my_games_for_an_unsaved_game(
    tmp_path: Path, chromium: Browser
) -> None:
    (tmp_path / "file").touch()
    with Server(games=tmp_path / "file") as server:
        server.open_page(chromium)
        begin(chromium)
        play(chromium, "d6")
        tap_menu(chromium, "new")
        chromium.click("#begin")
        chromium.wait(is_open("ask"))
        assert chromium.text("#ask-text") == "It is not over, and it is not saved."
        chromium.key("Escape")
    chromium.wait("!document.getElementById('trouble').hidden")
    assert "My games" not in chromium.text("#trouble-text")
    chromium.open("about:blank")
    assert all("ERR_CONNECTION" in text for text in console_errors(chromium))


@pytest.fixture
def page_with_games(tmp_path: Path, chromium: Browser) -> Iterator[Browser]:
    """A page that lists three games of the user and a game of Anna, all against an engine."""
    store = GameStore(tmp_path)
    for result in ("1-0", "0-1", "1/2-1/2"):
        store.add(parse_record(ENGINE_GAME.format(result=result)))
    store.add(parse_record(ENGINE_GAME.format(result="1-0").replace("You", "Anna")))
    with Server(games=tmp_path) as server:
        server.open_page(chromium)
        tap_menu(chromium, "games")
        chromium.wait(f"{ROWS}.length === 4")
        yield chromium
        chromium.open("about:blank")


def test_my_games_are_described_in_words(page_with_games: Browser) -> None:
    rows = page_with_games.run(f"return {ROWS}")
    assert sorted(rows) == [
        "Anna – merels (Club), 1-0", "You drew with merels (Club)",
        "You lost against merels (Club)", "You won against merels (Club)",
    ]
    details = page_with_games.text("#games-list small")
    assert details == "March 9, 2026 · Morris"
    shot(page_with_games, "my-games-words")


def test_picked_games_are_deleted_and_exported_together(
    page_with_games: Browser, tmp_path: Path
) -> None:
    page = page_with_games
    assert page.run("return document.getElementById('games-delete').disabled")
    for index in (1, 2):
        page.click(f"#games-list li:nth-child({index}) input")
    assert page.text("#games-save") == "Save 2 as one file"
    kept = page.run(f"return {ROWS}")[2:]
    keys = [game["key"] for game in ask(page, "games")["games"][:2]]
    record = ask(page, "all_games", keys=keys)["record"]
    assert len(list(parse_records(record))) == 2
    page.click("#games-delete")
    page.wait(is_open("ask"))
    assert page.text("#ask-text") == "2 games. This cannot be undone."
    page.click("#ask-yes")
    page.wait(f"{ROWS}.length === 2")
    assert page.run(f"return {ROWS}") == kept and len(list(tmp_path.glob("*.pgn"))) == 2
    page.click("#games-all")
    page.click("#games-delete")
    page.click("#ask-no")
    page.wait(f"!{is_open('ask')}")
    assert page.run(f"return {ROWS}") == kept
    page.click("#games-delete")
    page.click("#ask-yes")
    page.wait(f"{ROWS}.length === 0")


def test_moves_taken_back_do_not_clutter_the_list_during_a_game(page: Browser) -> None:
    begin(page)
    for point in ("d6", "f4", "d2"):
        play(page, point)
    page.click("#undo")
    page.wait("document.getElementById('redo').disabled === false")
    play(page, "b4")
    visible = ("[...document.querySelectorAll('#moves > li')]"
               ".filter((row) => row.checkVisibility()).map((row) => row.textContent)")
    page.wait(f"{visible}.join(' ') === '1. d6 f4 2. b4'")
    # An analysis shows them.
    tap_menu(page, "analyse")
    page.wait(f"{visible}.join(' ').includes('2. d2')")
