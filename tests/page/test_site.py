"""The pages of a league's site in a real browser, opened from disk."""

from __future__ import annotations

import csv
import io
import itertools
import shutil
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from merels.tournament.journal.journal import Journal
from merels.tournament.journal.rows import Row
from merels.tournament.league.league import read_league
from merels.tournament.league.lots import LOT_SIZE
from merels.tournament.league.site import SITE, write_site
from tests.commands import output
from tests.kit.webdriver import Browser
from tests.page.viewer import check_end, check_fits_phone, check_text_in_view
from tests.protocol.board.steps import SHOTS, enter, shot
from tests.tournament.league.leagues import journal_of, make_league, random_games
from tests.tournament.specs import parallel

BAD = "</script><img src=x onerror=alert(1)>"
CELLS = """return [...document.querySelectorAll(arguments[0] + " tbody tr")]
    .map((row) => [...row.cells].map((cell) => cell.textContent))"""
PAGES = {"index.html": ".list thead button", "player-2.html": ".games tbody button",
         "crosstable.html": ".cross thead button", "games.html": ".games tbody button"}
"""An element of each page that appears when the page is ready."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a league of real games, with two versions of one engine."""
    folder = f"{tmp_path_factory.mktemp('played')}/league"
    output("league", folder, "create", "-each", "nodes=60", "-variant", "morris", "-srand", "1",
           "-openings", "book")
    output("league", folder, "add", "-engine", "level=Beginner", "-engine", "level=Casual",
           "-engine", "level=Club")
    output("league", folder, "add", "-engine", "cmd=merels", "name=Mine 1", "nodes=20")
    output("league", folder, "add", "-engine", "cmd=merels", "name=Mine 2", "-family", "Mine 1")
    output("league", folder, "site")
    output("league", folder, "play", *parallel(2), "-error", "1000", "-games", "40", "-quiet")
    return folder


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a league of 300 players with long and hostile names, in seven lots of games."""
    names = [f"Engine number {number} of a family with a long name {BAD if number == 7 else ''}"
             for number in range(300)]
    path = tmp_path_factory.mktemp("large") / "league"
    folder = make_league(path, names, random_games(names, 7 * LOT_SIZE))
    with read_league(folder) as league:
        write_site(league)
    return folder


def open_page(browser: Browser, folder: str, name: str) -> None:
    """Open a page from disk and wait until it is ready."""
    browser.open("about:blank")
    browser.open(Path(folder, SITE, name).resolve().as_uri())
    page = name.partition("#")[0]
    browser.wait(f"document.querySelector({PAGES.get(page, PAGES['player-2.html'])!r})")


def address(folder: str, name: str) -> str:
    """Return the address of a page on disk; ``name`` has a fragment."""
    page, _, fragment = name.partition("#")
    return f"{Path(folder, SITE, page).resolve().as_uri()}#{fragment}"


def rows_of(folder: str) -> list[Row]:
    """Return the games of a league."""
    with Journal(journal_of(folder)) as journal:
        return list(journal.rows())


def ratings(folder: str) -> list[dict[str, str]]:
    """Return the rating list from the CSV file."""
    text = Path(folder, SITE, "ratings.csv").read_text("utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def check_replay(browser: Browser, row: Row) -> None:
    """Check that a game is open, and that the board shows its end after the last move."""
    browser.wait(f"document.getElementById('viewer-title').textContent === "
                 f"'Game {row.number}: {row.white} – {row.black}' && "
                 "document.getElementById('viewer').open")
    check_end(browser, row, "morris")


def test_every_game_of_a_player_opens_on_a_board(played: str, browser: Browser) -> None:
    open_page(browser, played, "player-2.html")
    games = [row for row in rows_of(played) if "Casual" in (row.white, row.black)]
    listed = browser.run(CELLS, ".games")
    assert [int(cells[0]) for cells in listed] == [row.number for row in games]
    for row in games:
        browser.run("""[...document.querySelectorAll(".games tbody button")]
            .find((button) => button.textContent === arguments[0]).click()""", str(row.number))
        check_replay(browser, row)
        browser.key("Escape")
    shot(browser, "league-player-end")


def test_a_link_opens_a_game_and_an_opponents_games(played: str, browser: Browser) -> None:
    row = next(row for row in rows_of(played) if {row.white, row.black} == {"Casual", "Club"})
    browser.open("about:blank")
    browser.open(address(played, f"player-2.html#game={row.number}"))
    check_replay(browser, row)
    shot(browser, "league-replay")
    browser.key("Escape")
    open_page(browser, played, "crosstable.html")
    names = [line["name"] for line in ratings(played)]
    row_number, column = names.index("Casual") + 1, names.index("Club") + 4
    browser.click(f".cross tbody tr:nth-child({row_number}) td:nth-child({column}) a")
    browser.wait("document.querySelector('.games tbody button')")
    listed = {frozenset(cells[1:3]) for cells in browser.run(CELLS, ".games")}
    assert listed == {frozenset({"Casual", "Club"})}
    enter(browser, "[aria-label=opponent]", "0")
    browser.wait("location.hash === '#games=0'")
    assert len(browser.run(CELLS, ".opponents")) == 4
    browser.run("""[...document.querySelectorAll(".opponents tbody tr")]
        .find((row) => row.cells[0].textContent === "Club").querySelector("td a").click()""")
    browser.wait("!document.querySelector('.opponents')")
    assert {frozenset(cells[1:3]) for cells in browser.run(CELLS, ".games")} == listed


def test_a_game_closes_with_escape_and_opens_again(
    played: str, browser: Browser
) -> None:
    open_page(browser, played, "player-2.html")
    for _ in range(2):
        browser.click(".games tbody button")
        browser.wait("document.getElementById('viewer').open")
        browser.key("Escape")
        browser.wait("!document.getElementById('viewer').open")


def test_the_list_sorts_and_links_to_players(played: str, browser: Browser) -> None:
    open_page(browser, played, "index.html")
    lines = browser.run(CELLS, ".list")
    assert [cells[1] for cells in lines] == [line["name"] for line in ratings(played)]
    browser.click(".list thead th:nth-child(6) button")
    games = [int(cells[5]) for cells in browser.run(CELLS, ".list")]
    assert games == sorted(games, reverse=True)
    assert browser.text("h2") == "Versions of Mine 1"
    circles = "return document.querySelectorAll('h2 + .wide circle').length"
    assert browser.run(circles) == 2, "a point for each version"
    browser.click(".list tbody a")
    browser.wait("document.querySelector('.games tbody button')")


def test_results_of_a_player_are_those_of_the_journal(played: str, browser: Browser) -> None:
    open_page(browser, played, "player-3.html")
    browser.wait("document.querySelector('.opponents tbody tr')")
    results = {cells[0]: cells[1:5] for cells in browser.run(CELLS, ".opponents")}
    expected: dict[str, list[int]] = {}
    for row in rows_of(played):
        for player, opponent, win in ((row.white, row.black, "1-0"), (row.black, row.white, "0-1")):
            if player == "Club":
                counts = expected.setdefault(opponent, [0, 0, 0, 0])
                counts[0] += 1
                counts[1 if row.result == win else 2 if "/" in row.result else 3] += 1
    assert results == {name: list(map(str, counts)) for name, counts in expected.items()}
    total = sum(counts[0] for counts in expected.values())
    assert browser.run(CELLS, ".colours")[-1][1] == str(total)
    for table in ("reasons", "phases", "openings"):
        assert sum(int(cells[1]) for cells in browser.run(CELLS, f".{table}")) == total


def test_the_crosstable_shows_any_choice_of_players(large: str, browser: Browser) -> None:
    open_page(browser, large, "crosstable.html")
    names = [line["name"] for line in ratings(large)]
    assert [cells[1] for cells in browser.run(CELLS, ".cross")] == names[:12]
    browser.click(".choice button:nth-of-type(1)")
    assert browser.run(CELLS, ".cross") == []
    boxes = "[...document.querySelectorAll('.players input')]"
    for number in (3, 200):
        browser.run(f"{boxes}[{number}].click()")
    assert [cells[1] for cells in browser.run(CELLS, ".cross")] == [names[3], names[200]]
    chosen = browser.run("return location.href")
    browser.open("about:blank")
    browser.open(chosen)
    browser.wait("document.querySelector('.cross tbody tr')")
    assert [cells[1] for cells in browser.run(CELLS, ".cross")] == [names[3], names[200]]


def test_a_game_of_each_lot_opens(large: str, browser: Browser) -> None:
    rows = rows_of(large)
    with read_league(large) as league:
        place = {entrant.name: number
                 for number, entrant in enumerate(league.settings.engines, 1)}
    for row in itertools.islice(rows, 3, None, LOT_SIZE):
        browser.open("about:blank")
        browser.open(address(large, f"player-{place[row.white]}.html#game={row.number}"))
        browser.wait("document.getElementById('viewer')?.open")
        assert browser.text("#viewer-title").startswith(f"Game {row.number}: ")


def test_the_list_of_games_replays_them_by_lots(large: str, browser: Browser) -> None:
    """In a former version, the page of games had only PGN files."""
    rows = rows_of(large)
    open_page(browser, large, "games.html")
    assert [int(cells[0]) for cells in browser.run(CELLS, ".games")][0] == 6 * LOT_SIZE + 1
    enter(browser, "[aria-label=games]", "2")
    browser.wait(f"document.querySelector('.games tbody th').textContent === '{LOT_SIZE + 1}'")
    browser.click(".games tbody button")
    browser.wait("document.getElementById('viewer').open")
    row = rows[LOT_SIZE]
    assert browser.text("#viewer-title") == f"Game {row.number}: {row.white} – {row.black}"
    browser.open("about:blank")
    browser.open(address(large, f"games.html#game={3 * LOT_SIZE + 5}"))
    browser.wait("document.getElementById('viewer')?.open")
    assert browser.text("#viewer-title").startswith(f"Game {3 * LOT_SIZE + 5}: ")


def test_a_script_that_is_not_from_the_site_does_not_run(played: str, browser: Browser) -> None:
    open_page(browser, played, "player-2.html")
    ran = browser.run("""
        document.body.insertAdjacentHTML("beforeend", '<b id="bait" onclick="window.ran = 1"></b>');
        document.getElementById("bait").click();
        return window.ran ?? 0;""")
    assert ran == 0
    messages = browser.messages()
    assert messages and all("Content Security Policy" in message for message in messages)


def test_the_page_names_the_missing_file_of_a_game(
    played: str, browser: Browser, tmp_path: Path
) -> None:
    copied = shutil.copytree(f"{played}/{SITE}", tmp_path / SITE)
    Path(copied, "games", "1.js").unlink()
    open_page(browser, str(tmp_path), "player-2.html")
    browser.click(".games tbody button")
    browser.wait("document.querySelector('[role=alert]')")
    assert "cannot be shown: games/1.js is missing" in browser.text("[role=alert]")
    assert len(browser.messages()) == 1, "the browser itself reports the missing file"


def test_the_site_works_on_a_web_server(played: str, browser: Browser) -> None:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Print nothing."""

    handler = partial(Quiet, directory=f"{played}/{SITE}")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        row = next(row for row in rows_of(played) if "Casual" in (row.white, row.black))
        browser.open(f"http://127.0.0.1:{server.server_port}/player-2.html#game={row.number}")
        check_replay(browser, row)
        server.shutdown()
    browser.messages()  # The server has no icon.


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [(390, 844), (1280, 900)])
def test_text_stays_in_view_in_every_window(
    played: str, large: str, browser: Browser, size: tuple[int, int], dark: bool
) -> None:
    browser.set_view(*size, phone=size[0] < 600, dark=dark)
    for name, folder in (("small", played), ("large", large)):
        for page in PAGES:
            open_page(browser, folder, page)
            if SHOTS:
                mode = "dark" if dark else "light"
                file = f"league-{name}-{page.removesuffix('.html')}-{size[0]}-{mode}.png"
                browser.screenshot(Path(SHOTS) / file)
            check_text_in_view(browser, "h1, h2, h3, p, dl, select, nav, label, .plot text")
            if size[0] < 600:
                check_fits_phone(browser)
