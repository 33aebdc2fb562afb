"""The files of a league's site: their content, and when they are written."""

from __future__ import annotations

import csv
import io
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.game.notation import START, format_position, parse_position
from merels.engine.game.position import WHITE, Move, Position
from merels.engine.game.rules import FLYING_MEN, make_rules, parse_rules
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.root_ranking import values_of_moves
from merels.engine.training.samples import random_position
from merels.protocol.formats.pgn.tokens import split_games
from merels.tournament.journal.journal import Journal
from merels.tournament.league import lots, site
from merels.tournament.league.league import read_league
from merels.tournament.league.lots import update_lots
from merels.tournament.league.site import SITE, _reserved, write_site
from merels.tournament.records.games import Adjudication
from merels.tournament.report.lots import final_phase
from merels.tournament.statistics.counts import counts_between
from merels.tournament.statistics.ratings import rate
from tests.commands import output, refusal
from tests.kit.executor import INVENTED
from tests.kit.tables import built_tables, copy_tables
from tests.tournament.league.leagues import (
    HIDDEN,
    add_games,
    game,
    journal_of,
    make_league,
    random_games,
    read_pairs,
    site_files,
    stamps,
)

NAMES = ["Alpha", "Beta", "Gamma", "Delta"]
LOT_SIZE, GAMES = 20, 58
"""Games of a lot in these tests, and games of `league`: two full lots and a part of a third."""


@pytest.fixture(autouse=True, scope="module")
def small_lots() -> Iterator[None]:
    """Give lots few games."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (lots, site):
            patch.setattr(module, "LOT_SIZE", LOT_SIZE)
        yield


def write(folder: str) -> dict[str, bytes]:
    """Write the site in this process; return its files."""
    with read_league(folder) as league:
        write_site(league)
    return site_files(folder)


def list_of(files: dict[str, bytes]) -> dict[str, dict[str, str]]:
    """Return the rows of the rating list of a site, by the name of the player."""
    rows = csv.DictReader(io.StringIO(files["ratings.csv"].decode()))
    return {row["name"]: row for row in rows}


@pytest.fixture(scope="module")
def new_league(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a league of `GAMES` games, for copies."""
    return make_league(tmp_path_factory.mktemp("new") / "league", NAMES, random_games(NAMES, GAMES))


@pytest.fixture
def league(new_league: str, tmp_path: Path) -> str:
    """Return a league of `GAMES` games."""
    return shutil.copytree(new_league, f"{tmp_path}/league")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a league with a site, which `play` has brought up to date."""
    folder = make_league(tmp_path_factory.mktemp("played") / "league", NAMES[:2], ())
    assert output("league", folder, "site") == f"{folder}/{SITE}/index.html: 2 players\n"
    assert b"no games" in site_files(folder)["index.html"]
    output("league", folder, "play", *INVENTED, "-error", "1000", "-games", "24", "-quiet")
    return folder


def test_play_brings_the_site_up_to_date(played: str) -> None:
    files = site_files(played)
    assert b"no games" not in files["index.html"]
    games = list(split_games(files["games/1.pgn"].decode().splitlines(keepends=True)))
    with Journal(journal_of(played)) as journal:
        assert len(games) == len(journal.numbers())
    assert site_files(played) == write(played), "`site` writes other files"


def test_play_writes_no_site_unless_there_is_one(league: str) -> None:
    output("league", league, "play", *INVENTED, "-error", "1000", "-games", "2", "-quiet")
    assert not os.path.exists(f"{league}/{SITE}")


def test_the_list_as_csv_has_the_figures_of_the_journal(league: str) -> None:
    rows = list_of(write(league))
    points: Counter[str] = Counter()
    games: Counter[str] = Counter()
    for row in random_games(NAMES, GAMES):
        white = {"1-0": 1.0, "0-1": 0.0}.get(row.result, 0.5)
        points[row.white] += white  # type: ignore[assignment]
        points[row.black] += 1 - white  # type: ignore[assignment]
        games.update((row.white, row.black))
    assert {name: float(row["points"]) for name, row in rows.items()} == dict(points)
    assert {name: int(row["games"]) for name, row in rows.items()} == dict(games)
    printed = output("league", league).splitlines()[1:5]
    for line, (name, row) in zip(printed, rows.items(), strict=True):
        assert line.split()[1] == name
        shown = [float(word) for word in line.split()[2:4]]
        assert shown == pytest.approx([float(row["elo"]), float(row["error"])], abs=0.56)


def test_the_ratings_follow_from_the_counts_of_pairs(league: str) -> None:
    add_games(league, [
        game(GAMES + 1, *NAMES[:2]), game(GAMES + 2, *NAMES[:2], "*"),
    ])
    files = write(league)
    lines = files["pairs.csv"].decode().splitlines()
    counts = read_pairs(lines)
    with read_league(league) as opened:
        stored = opened.counter().counts
    for pair, match in counts.items():
        assert match == counts_between(stored, *pair)
    assert {player.name: (f"{player.elo:z.1f}", f"{player.error:.1f}")
            for player in rate(counts).players} == {
        name: (row["elo"], row["error"]) for name, row in list_of(files).items()
    }
    with read_league(league) as opened:
        games = Counter((row.white, row.black, row.result) for row in opened.rows())
    for row in csv.DictReader(lines):
        first, second = row["first"], row["second"]
        assert [int(row[f"{colour}_{kind}"]) for colour in ("white", "black")
                for kind in ("wins", "draws", "losses")] == [
            *(games[first, second, result] for result in ("1-0", "1/2-1/2", "0-1")),
            *(games[second, first, result] for result in ("0-1", "1/2-1/2", "1-0")),
        ]


def test_without_anchors_errors_are_about_the_mean_of_all_players(league: str) -> None:
    page = write(league)["index.html"]
    assert b"about the mean of all players, because no anchor has played" in page


def test_only_files_that_have_changed_are_written(league: str) -> None:
    write(league)
    before = stamps(league)
    write(league)
    assert stamps(league) == before
    add_games(league, random_games(NAMES, 2, GAMES + 1))
    write(league)
    after = stamps(league)
    unchanged = {name for name in after if after[name] == before.get(name)}
    assert {f"games/{lot}.{kind}" for lot in (1, 2) for kind in ("js", "pgn")} <= unchanged
    assert not {"games/3.js", "games/3.pgn", "index.html"} & unchanged


def test_a_missing_or_truncated_file_is_written_again(league: str) -> None:
    files = write(league)
    for name in ("games/1.js", "games/2.pgn", "player-2.html", "site.js"):
        path = Path(league, SITE, name)
        path.unlink()
        assert write(league) == files, name
        if not name.endswith(".pgn"):
            path.write_bytes(files[name][:40])
            assert write(league) == files, name


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links and pipes")
def test_a_link_or_pipe_in_the_site_is_replaced(league: str, tmp_path: Path) -> None:
    files = write(league)
    replaced = {}
    for name, is_link in (
        ("index.html", True), ("games/1.pgn", False), ("games/2.js", True), ("games/1.js", False)
    ):
        path, other = Path(league, SITE, name), tmp_path / name.replace("/", "-")
        path.rename(other)
        replaced[path] = other
        if is_link:
            path.symlink_to(other)
        else:
            os.mkfifo(path)
    output("league", league, "site")
    assert site_files(league) == files
    for path, other in replaced.items():
        assert path.is_file() and not path.is_symlink() and other.read_bytes() == path.read_bytes()


def test_a_removed_player_vanishes_and_returns(league: str) -> None:
    files = write(league)
    output("league", league, "remove", "Beta")
    without = write(league)
    assert not [name for name, data in without.items() if b"Beta" in data]
    assert set(files) - set(without) == {"player-2.html", "player-2.js"}
    output("league", league, "return", "Beta")
    assert write(league) == files


def test_a_new_league_in_the_folder_of_an_old_one_shows_its_own_games(
    league: str, tmp_path: Path
) -> None:
    """In a former version, lots of the old league with the same numbers were not replaced."""
    write(league)
    os.unlink(journal_of(league))
    games = [row._replace(result="1-0") for row in random_games(NAMES, GAMES)]
    make_league(Path(league), NAMES, games)
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(journal_of(league), copy)
    assert write(league) == write(str(copy))


def test_partial_files_of_a_killed_run_are_removed_and_files_of_the_user_stay(league: str) -> None:
    files = write(league)
    for name in ("index.html.0123abcd.part", "games/9.js.0123abcd.part", "player-9.html"):
        Path(league, SITE, name).touch()
    Path(league, SITE, "CNAME").write_text("example.org\n")
    assert write(league) == files | {"CNAME": b"example.org\n"}


def test_the_site_names_no_folder_of_this_machine(league: str) -> None:
    assert not [name for name, data in write(league).items()
                if HIDDEN.encode() in data or league.encode() in data]


@pytest.mark.parametrize(("adjudication", "text"), [
    (Adjudication(), "none"),
    (Adjudication(draw_number=30, draw_count=8, draw_score=10),
     "draw after 8 moves of each side without a removal, with scores within ±10, from move 30 on"),
    (Adjudication(resign_count=3, resign_score=400),
     "loss after 3 moves with scores of at most -400, from move 0 on"),
    (Adjudication(resign_count=3, resign_score=400, resign_twosided=True, max_moves=200),
     "loss after 3 moves with scores of at most -400, from move 0 on, if the opponent&#x27;s "
     "scores agree; draw after 200 moves of each side"),
    (Adjudication(tables="/tables"), "by tables"),
    (Adjudication(tables="/tables", table_results="WIN_LOSS"), "wins and losses by tables"),
    (Adjudication(tables="/tables", table_results="DRAW"), "draws by tables"),
])
def test_the_list_states_the_rules_of_adjudication(
    tmp_path: Path, adjudication: Adjudication, text: str
) -> None:
    folder = make_league(tmp_path / "league", NAMES, ())
    with read_league(folder) as league:
        write_site(replace(league, settings=replace(league.settings, adjudication=adjudication)))
    page = site_files(folder)["index.html"].decode()
    assert f"<dt>Adjudication</dt><dd>{text}</dd>" in page


def test_hostile_text_is_escaped(tmp_path: Path) -> None:
    bad = "</script><img src=x onerror=alert(1)>"
    names = [bad, "=1+1"]
    games = [row._replace(reason=bad, opening_name=bad) for row in random_games(names, 8)]
    files = write(make_league(tmp_path / "league", names, games))
    for name, data in files.items():
        if name.endswith(".html"):
            assert b"<img" not in data and data.count(b"</script>") <= 2, name
    assert list_of(files).keys() == {bad, "'=1+1"}


def test_the_last_phase_of_a_game_is_that_of_the_rules() -> None:
    rules, chance = parse_rules("morris"), random.Random(2)
    positions, moves = [parse_position(START, rules)], list[str]()
    while positions[-1].outcome() is None:
        move = chance.choice(positions[-1].legal_moves())
        moves.append(str(move))
        positions.append(positions[-1].play(move))
    phases = set()
    for count, position in enumerate(positions):
        men = min(mask.bit_count() for mask in position.men)
        moving = "flying" if men <= FLYING_MEN else "moving"
        expected = "placing" if any(position.hands) else moving
        row = game(1, *NAMES[:2])._replace(opening=" ".join(moves[:count][:4]),
                                           moves=" ".join(moves[4:count]))
        assert final_phase(row, rules) == expected
        phases.add(expected)
    assert phases == {"placing", "moving", "flying"}


def test_lots_have_the_games_of_the_journal(played: str) -> None:
    with read_league(played) as league:
        games = update_lots(league, f"{played}/{SITE}", lambda *_: None, lambda *_: None, print)
        names, reasons = list(games.players), list(games.reasons)
        rows = list(league.journal.rows())
    columns = games.columns
    assert columns["n"] == [row.number for row in rows]
    assert [names[index] for index in columns["white"]] == [row.white for row in rows]
    assert [names[index] for index in columns["black"]] == [row.black for row in rows]
    assert [reasons[index] for index in columns["reason"]] == [row.ending.reason for row in rows]
    assert columns["plies"] == [len(f"{row.opening} {row.moves}".split()) for row in rows]


def test_players_that_no_games_connect_have_no_rating_on_the_list(tmp_path: Path) -> None:
    names = [*NAMES, "Club"]
    games = [game(1, "Alpha", "Club"), game(2, "Club", "Alpha"),
             *(game(number, *pair) for number, pair in enumerate(
                 [("Beta", "Gamma"), ("Gamma", "Beta"), ("Beta", "Delta"), ("Delta", "Beta")], 3))]
    folder = make_league(tmp_path / "league", names, games, anchors=(("Club", 1385.0),))
    lines = output("league", folder).splitlines()
    assert [line.split()[:3] for line in lines[1:3]] == [
        ["1", "Alpha", "1385"], ["2", "Club", "1385"]
    ]
    for line in lines[3:6]:
        name, count, *_ = line.split()
        assert name in NAMES[1:] and count in ("2", "4") and line.endswith("not connected")
    # Club has no error, because it is the only anchor.
    assert lines[-1].endswith("not reached by 4 players")
    files = write(folder)
    for name, row in list_of(files).items():
        assert bool(row["rank"]) == bool(row["elo"]) == (name in ("Alpha", "Club"))
    assert b"no games connect these players to the others" in files["index.html"]
    assert b"about the mean of the anchors below" in files["index.html"]


def test_a_player_whose_losses_are_mostly_faults_is_marked(tmp_path: Path) -> None:
    """In a former version, faults were compared with games, so a strong player was never marked."""
    names = NAMES[:2]
    games = [game(number, *names) if number % 2 else game(number, *names[::-1], "0-1")
             for number in range(1, 61)]
    games += [game(61, "Beta", "Alpha", cause="crash"), game(62, "Alpha", "Beta", "0-1", "stall")]
    folder = make_league(tmp_path / "league", names, games)
    alpha, beta = output("league", folder).splitlines()[1:3]
    assert alpha.split()[1] == "Alpha" and alpha.endswith("2  most losses are faults")
    assert beta.endswith(" 0")
    assert b"most losses are faults" in write(folder)["index.html"]


def test_faults_in_games_against_a_removed_player_do_not_count(tmp_path: Path) -> None:
    """In a former version, these faults were counted, but not the games in which they occurred."""
    games = [game(1, "Alpha", "Beta"), game(2, "Beta", "Alpha"),
             game(3, "Gamma", "Alpha", cause="crash"), game(4, "Gamma", "Alpha", cause="crash")]
    folder = make_league(tmp_path / "league", NAMES[:3], games)
    output("league", folder, "remove", "Gamma")
    lines = output("league", folder).splitlines()
    faults = lines[0].split().index("Faults")
    assert all(line.split()[faults] == "0" for line in lines[1:3])


def test_a_second_command_that_writes_a_site_at_the_same_time_is_refused(league: str) -> None:
    with _reserved(league):
        assert "another command is writing this site" in refusal("league", league, "site")


def test_a_site_that_cannot_be_written_is_an_error(league: str) -> None:
    Path(league, SITE).write_text("")
    assert "cannot create this file" in refusal("league", league, "site")
    assert "site takes no arguments" in refusal("league", league, "site", "now")


def test_games_are_judged_by_tables_once_there_are_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path / "tables"))
    rules, chance = make_rules("mill"), random.Random(1)
    tables = built_tables(rules, 6)
    positions = (random_position(rules, 3, 3, chance) for _ in iter(int, 1))
    start, good, bad = next(
        (position, good, bad) for position in positions if position.side == WHITE
        for good, bad in [winning_and_other_move(tables, position)] if good and bad
    )
    rows = [
        game(number, "Alpha", "Beta")._replace(
            position=format_position(start), opening="", moves=str(move), scores="0",
            depths="1", nodes="1", times="1", clocks="1", late="", waited="",
        )
        for number, move in ((1, good), (2, bad), (3, bad))
    ]
    folder = make_league(tmp_path / "league", ["Alpha", "Beta"], rows)
    page, lot = f"{folder}/{SITE}/player-1.html", f"{folder}/{SITE}/games/1.js"
    write(folder)
    assert "Accuracy" not in Path(page).read_text()
    copy_tables(tmp_path / "tables", rules, 6)
    write(folder)
    cells = accuracy_cells(Path(page).read_text())
    assert cells[:4] == ["all", "3", "3", "33.3%"]
    assert "Accuracy" not in Path(f"{folder}/{SITE}/player-2.html").read_text()
    before = os.stat(lot).st_ino
    (tmp_path / "tables").rename(tmp_path / "away")
    write(folder)
    assert accuracy_cells(Path(page).read_text()) == cells, "verdicts outlive the tables"
    assert os.stat(lot).st_ino == before


def test_a_site_whose_games_are_judged_opens_no_tables(
    league: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a former version, every command opened all tables, even if no lot had to be written."""
    opened = []
    monkeypatch.setattr(lots, "open_tables", lambda *_: opened.append(1) or WholeTables())
    monkeypatch.setattr(lots, "judge", lambda *_: iter(()))
    for _ in range(2):
        write(league)
        assert len(opened) == 1
    add_games(league, random_games(NAMES, 2, GAMES + 1))
    write(league)
    assert len(opened) == 2


class WholeTables:
    """Stand-in for the tables of all positions."""

    men, complete = 18, True


def test_a_game_with_an_illegal_move_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = []
    monkeypatch.setattr(lots, "open_tables", lambda *_: WholeTables())
    monkeypatch.setattr(lots, "judge", lambda *words: judged.append(words) or iter(()))
    figures = dict.fromkeys(("scores", "depths", "nodes", "times", "clocks"), "1 1")
    games = [
        game(number, "Alpha", "Beta")._replace(
            opening="", moves=moves, late="", waited="", **figures
        ) for number, moves in enumerate(("d2 f4", "d2 d2"), 1)
    ]
    write(make_league(tmp_path / "league", NAMES[:2], games))
    assert [len(moves) for _, _, moves, _ in judged] == [2]


def winning_and_other_move(tables: Tables, position: Position) -> tuple[Move | None, Move | None]:
    """Return a winning move and another legal move; None instead of a move that does not exist."""
    winning: list[Move] = []
    others: list[Move] = []
    for choice in values_of_moves(tables, position) or ():
        (winning if choice.value == 1 else others).append(choice.move)
    return next(iter(winning), None), next(iter(others), None)


def accuracy_cells(page: str) -> list[str]:
    """Return the cells of the last row of the table of accuracy."""
    table = page.partition("Accuracy by tables")[2].partition("</table>")[0]
    return re.findall(r"<t[dh][^>]*>([^<]*)", table.rpartition("<tr")[2])
