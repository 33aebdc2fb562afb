"""The page of a report in a real browser, opened from disk."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from pathlib import Path

import pytest

from merels.tournament.journal.rows import Row
from tests.benchmarks.journals import write_journal
from tests.commands import command
from tests.kit.webdriver import Browser
from tests.page.viewer import check_end, check_fits_phone, check_text_in_view
from tests.protocol.board.steps import SHOTS, enter, shot
from tests.tournament.specs import rows_of

main = command("ratings")

SIZES = [(390, 844), (1280, 900), (1920, 1080)]
CELLS = """[...document.querySelectorAll(arguments[0] + " tbody tr")]
    .map((row) => row.cells[arguments[1]].textContent)"""


def save(folder: Path, source: Path, *words: str) -> str:
    """Write the report of a file of games, and return the address of the page."""
    path = folder / "report.html"
    assert main([str(source), "-out", str(path), *words]) == 0
    return path.as_uri()


def ranks(capsys: pytest.CaptureFixture[str], journal: Path) -> list[str]:
    """Return the engines of a journal from the first rank to the last."""
    capsys.readouterr()
    assert main([str(journal), "-format", "csv"]) == 0
    return [row["name"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))]


@pytest.fixture(scope="module")
def page(played: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of the report on the journal of a small tournament."""
    return save(tmp_path_factory.mktemp("page"), played / "j")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a report on 2,500 games of 64 engines with long names."""
    folder = tmp_path_factory.mktemp("large")
    write_journal(str(folder / "j"), games=2500, engines=64, plies=6)
    return save(folder, folder / "j")


def texts(browser: Browser, table: str, column: int) -> list[str]:
    """Return the texts of a column of a table, row by row."""
    return list(browser.run(f"return {CELLS}", table, column))


def open_game(browser: Browser, number: int) -> None:
    """Open a game of the list of games in the viewer."""
    browser.run(
        """[...document.querySelectorAll(".games tbody button")]
           .find((button) => button.textContent === arguments[0]).click()""", str(number),
    )
    browser.wait(f"document.getElementById('viewer-title').textContent.startsWith('Game {number}:')"
                 " && document.getElementById('viewer').open")


def test_replays_end_where_the_games_ended(page: str, played: Path, browser: Browser) -> None:
    browser.open(page)
    for row in rows_of(played / "j"):
        open_game(browser, row.number)
        assert browser.text("#viewer-note") == "The first position."
        check_end(browser, row, "mill")
        browser.key("Escape")


def test_a_score_of_one_ply_is_in_the_singular(page: str, played: Path, browser: Browser) -> None:
    """In a former version, the page had "wins in 1" without a unit."""
    game = next(row for row in rows_of(played / "j")
                if row.scores.endswith(" #1") and re.search(r"#-?[2-9]", row.scores))
    browser.open(page)
    open_game(browser, game.number)
    browser.key("End")
    assert " · wins in 1 ply · " in browser.text("#viewer-note")
    notes = []
    for _ in range(len(game.moves.split())):
        browser.key("ArrowLeft")
        notes.append(browser.text("#viewer-note"))
    proven = re.findall(r"(?:wins|loses) in (\d+) (ply|plies)", "\n".join(notes))
    assert proven and all(unit == ("ply" if count == "1" else "plies") for count, unit in proven)
    assert any(unit == "plies" for _, unit in proven)


def test_a_click_sorts_a_table_and_the_third_restores_it(page: str, browser: Browser) -> None:
    browser.open(page)

    def sorted_by(column: int) -> tuple[str | None, list[str]]:
        browser.click(f".standings thead th:nth-child({column + 1}) button")
        direction = browser.run("return document.querySelector('.standings thead')"
                                ".rows[0].cells[arguments[0]].getAttribute('aria-sort')", column)
        marked = browser.run("return document.querySelectorAll('.standings [aria-sort]').length")
        assert marked == (direction is not None)
        return direction, texts(browser, ".standings", column)

    names, points = (texts(browser, ".standings", column) for column in (1, 5))
    # Numbers are sorted as numbers, the greatest first: as text, 9.5 is greater than 10.0.
    by_points = sorted(points, key=float, reverse=True)
    assert sorted_by(5) == ("descending", by_points)
    assert sorted_by(5) == ("ascending", by_points[::-1])
    assert sorted_by(5) == (None, points)
    assert sorted_by(1) == ("ascending", sorted(names))
    assert sorted_by(1) == ("descending", sorted(names)[::-1])
    assert sorted_by(0) == ("ascending", ["1", "2", "3", "4", "5", "6"])


def test_every_column_sorts_its_table_and_keeps_all_rows(page: str, browser: Browser) -> None:
    browser.open(page + "#games=1-2")
    tables, unsorted = browser.run("""
        const unsorted = [];
        const tables = [...document.querySelectorAll("table")];
        for (const table of tables) for (const head of table.tHead.rows[0].cells) {
            const before = [...table.tBodies[0].rows];
            head.querySelector("button").click();
            const after = [...table.tBodies[0].rows];
            if (!head.ariaSort || before.length !== after.length) unsorted.push(head.textContent);
        }
        return [tables.length, unsorted];""")
    assert tables >= 8 and unsorted == []


def test_the_crosstable_sorts_by_the_share_of_points(page: str, browser: Browser) -> None:
    browser.open(page)
    browser.click(".cross thead th:nth-child(6) button")
    cells = texts(browser, ".cross", 5)
    assert cells[-1] == "", "the engine itself comes last"
    shares = [
        (wins + draws / 2) / (wins + draws + losses)
        for wins, draws, losses in (map(int, cell.split("–")) for cell in cells[:-1])
    ]
    assert shares == sorted(shares, reverse=True) and len(set(shares)) > 1


def test_the_enter_key_sorts_by_the_focused_column(page: str, browser: Browser) -> None:
    browser.open(page)
    browser.run("document.querySelector('.standings thead button').focus()")
    browser.key("Tab")
    for direction in ("ascending", "descending"):
        browser.key("Enter")
        assert browser.run("return document.activeElement.parentElement.ariaSort") == direction
        assert browser.run("return document.activeElement.textContent") == "Name"


def test_tables_list_engines_by_rank(
    page: str, played: Path, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a former version, tables listed the engines in the order of their first games."""
    browser.open(page)
    names = ranks(capsys, played / "j")
    assert names != sorted(names)
    for table in (".standings", ".cross"):
        assert texts(browser, table, 1) == names
    assert texts(browser, ".wide + .wide .ends", 0) == names
    assert texts(browser, ".conditions", 0) == names
    assert list(dict.fromkeys(texts(browser, ".times", 0))) == names
    assert main([str(played / "j")]) == 0
    text = capsys.readouterr().out
    for head in ("Lost by", "Health"):
        lines = text[text.index(head) :].splitlines()[1:7]
        assert [line.split()[0] for line in lines] == names


def test_only_the_page_scrolls_and_its_text_stays_in_view(
    page: str, large: str, browser: Browser
) -> None:
    """In a former version, the crosstable had its own scroll bar and showed only eight columns."""
    for name, address, dark in (("small", page, False), ("large", large, True)):
        for width, height in SIZES:
            browser.set_view(width, height, phone=width < 600, dark=dark)
            browser.open("about:blank")
            browser.open(address + "#games=1-2")
            browser.wait("document.querySelector('.games tbody tr')")
            if SHOTS:
                browser.run("scrollTo(0, 0)")
                mode = "dark" if dark else "light"
                browser.screenshot(Path(SHOTS) / f"report-{name}-{width}-{mode}.png")
            scrolling = browser.run("""return [...document.querySelectorAll("body, body *")]
                .filter((box) => box.checkVisibility() && ["auto", "scroll"].some((overflow) =>
                    [getComputedStyle(box).overflowX, getComputedStyle(box).overflowY]
                    .includes(overflow))).map((box) => box.outerHTML.slice(0, 80))""")
            if width < 600:
                check_fits_phone(browser)
            else:
                assert scrolling == []
            check_text_in_view(browser, "h1, h2, h3, p, dl, select")


@pytest.mark.parametrize("size", SIZES[1:])
def test_names_and_heads_stay_and_every_column_comes_into_view(
    large: str, browser: Browser, size: tuple[int, int]
) -> None:
    browser.set_view(*size)
    browser.open(large)
    for table in (".cross", ".standings", ".ends", ".times", ".games"):
        left, top, right, room = browser.run("""
            const table = document.querySelector(arguments[0]);
            const edge = parseFloat(getComputedStyle(document.body).paddingLeft);
            const x = table.offsetWidth + 2 * edge - document.documentElement.clientWidth;
            scrollTo(Math.max(0, x), scrollY + table.getBoundingClientRect().top + 300);
            const row = table.tBodies[0].rows[Math.min(20, table.tBodies[0].rows.length - 1)];
            return [row.querySelector("th").getBoundingClientRect().left,
                table.tHead.rows[0].cells[1].getBoundingClientRect().top,
                row.cells[row.cells.length - 1].getBoundingClientRect().right,
                document.documentElement.clientWidth];""", table)
        assert left >= 0 and right <= room + 1, table
        assert top == 0 or table in (".ends", ".times"), "a short table may be out of view"


def test_twelve_engines_fit_a_common_screen(browser: Browser, tmp_path: Path) -> None:
    write_journal(str(tmp_path / "j"), games=2640, engines=12, plies=6)
    browser.set_view(1280, 900)
    browser.open(save(tmp_path, tmp_path / "j"))
    cells = browser.run("return document.querySelector('.cross tbody').rows[0].cells.length")
    right = browser.run("return document.querySelector('.cross').getBoundingClientRect().right")
    assert cells == 15 and right <= 1280
    assert re.fullmatch(r"\d+–\d+–\d+", texts(browser, ".cross", 14)[0])


def test_head_to_head_counts_by_colour_and_opening(
    page: str, played: Path, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ranks(capsys, played / "j")
    engine, opponent = names[2], names[3]
    games = [row for row in rows_of(played / "j") if {row.white, row.black} == {engine, opponent}]
    browser.open(page)
    enter(browser, "[aria-label=engine]", "3")
    enter(browser, "[aria-label=opponent]", "4")
    browser.wait("document.querySelector('.total')")
    shot_at(browser, "report-head-to-head")
    scores = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
    points = {
        row.number: scores[row.result] if row.white == engine else 1 - scores[row.result]
        for row in games
    }
    total = sum(points.values())
    assert browser.text(".total").startswith(
        f"{engine} scored {total:g} of {len(games)} points against {opponent}: "
        f"{100 * total / len(games):.1f} %. Its rating is "
    )

    def tally(chosen: list[Row]) -> list[str]:
        scored = [points[row.number] for row in chosen]
        counts = Counter(scored)
        return [str(len(scored)), *(str(counts[result]) for result in (1.0, 0.5, 0.0)),
                f"{sum(scored):g}", f"{100 * sum(scored) / len(scored):.1f} %"]

    def lines(table: str) -> list[list[str]]:
        return list(browser.run("return [...document.querySelector(arguments[0]).tBodies[0].rows]"
                                ".map((row) => [...row.cells].map((cell) => cell.textContent))",
                                table))

    assert lines(".colours") == [
        ["White", *tally([row for row in games if row.white == engine])],
        ["Black", *tally([row for row in games if row.black == engine])],
        ["both colours", *tally(games)],
    ]
    openings = list(dict.fromkeys(row.opening_name for row in games))
    assert lines(".openings") == [
        [name, *tally([row for row in games if row.opening_name == name])] for name in openings
    ]
    assert [line[:4] for line in lines(".games")] == [
        [str(row.number), row.white, row.black,
         row.result.replace("1/2-1/2", "½–½").replace("-", "–")] for row in games
    ]
    open_game(browser, games[-1].number)
    assert browser.text("#viewer-title") == (
        f"Game {games[-1].number}: {games[-1].white} – {games[-1].black}"
    )
    shot(browser, "report-replay")


def shot_at(browser: Browser, name: str) -> None:
    """Save a screenshot if screenshots are requested; the page may be wider than the window."""
    if SHOTS:
        browser.screenshot(Path(SHOTS) / f"{name}.png")


def test_a_cell_of_the_crosstable_lists_its_games(page: str, browser: Browser) -> None:
    browser.open(page)
    browser.click(".cross tbody tr:nth-child(2) td:nth-child(8) a")
    browser.wait("document.querySelector('.total')")
    names = texts(browser, ".standings", 1)
    assert browser.text(".total").startswith(f"{names[1]} scored ")
    assert f" against {names[4]}: " in browser.text(".total")
    assert browser.run("return document.querySelector('.choice').getBoundingClientRect().top") < 900
    browser.run("history.back()")
    browser.wait("!document.querySelector('.total')")
    assert len(texts(browser, ".games", 0)) == 60


def test_a_long_list_shows_its_games_in_steps(large: str, browser: Browser) -> None:
    browser.open(large)
    assert len(texts(browser, ".games", 0)) == 100
    # All games are sorted, not only those that are shown.
    browser.click(".games thead th:nth-child(1) button")
    browser.click(".games thead th:nth-child(1) button")
    assert texts(browser, ".games", 0)[0] == "2500"
    browser.click(".more")
    assert len(texts(browser, ".games", 0)) == 1000
    browser.click(".more")
    assert len(texts(browser, ".games", 0)) == 2500
    assert not browser.run("return document.querySelector('.more').checkVisibility()")
    # The moves of game 2345 are in the twenty-fourth lot.
    journal = Path(large.removeprefix("file://")).with_name("j")
    row = rows_of(journal)[2344]
    open_game(browser, 2345)
    browser.run("for (let ply = 0; ply < 5; ply += 1) document.getElementById('forward').click()")
    used = row.measures(row.times)[0] // 1_000_000
    assert browser.text("#viewer-note").endswith(f" · {used / 1000:g} s")


def test_a_page_states_that_it_holds_only_some_games(
    played: Path, tmp_path: Path, browser: Browser
) -> None:
    browser.open(save(tmp_path, played / "j", "-games", "7"))
    assert "holds the first 7 of 60 games" in browser.text("#games")
    assert len(texts(browser, ".games", 0)) == 7


def test_games_of_pgn_files_are_listed_without_a_replay(
    played: Path, tmp_path: Path, browser: Browser
) -> None:
    browser.open(save(tmp_path, played / "g.pgn"))
    assert len(texts(browser, ".games", 0)) == 60
    assert not browser.run("return document.querySelectorAll('.games tbody button').length")
    assert "cannot be replayed" in browser.text("#games")
    browser.click(".cross tbody tr:nth-child(1) td:nth-child(9) a")
    browser.wait("document.querySelector('.colours')")
    assert not browser.run("return document.querySelectorAll('.openings').length")
