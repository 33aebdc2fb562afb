"""Ratings and reports from journals and from PGN files of any runner."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import tracemalloc
import zlib
from base64 import b64decode
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from merels.engine.game.rules import parse_rules
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.journal import import_games
from merels.tournament.journal.import_games import Duplicates, GamesFile, PlayedGame
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.merging import merge
from merels.tournament.journal.open import open_journal, read_journal
from merels.tournament.journal.players import Roster
from merels.tournament.journal.rows import make_row
from merels.tournament.records.as_flags import condition_rows
from merels.tournament.records.games import Entrant, TimeControl
from merels.tournament.report.crosstable import crosstable
from merels.tournament.report.games_report import CountedGames, GamesReport
from merels.tournament.report.lots import ARCHIVE_SIZE, RESULTS, Lot, moves_view
from merels.tournament.report.svg import tick_step
from merels.tournament.statistics import times as times_module
from merels.tournament.views.pgn import GameWriter
from tests.benchmarks.journals import write_journal
from tests.commands import command
from tests.kit.executor import INVENTED
from tests.tournament.processes import COMMAND, play
from tests.tournament.specs import NOTES, engine, match, result, rows_of, settings

main = command("ratings")


def read_games(paths: Iterable[str]) -> list[PlayedGame]:
    """Return the games of files."""
    roster = Roster()
    return [game for path in paths for game in GamesFile(path).games(roster)]


def printed(capsys: pytest.CaptureFixture[str], *argv: Path | str) -> str:
    """Return the output of ``merels ratings``, which must print no error."""
    assert main([str(word) for word in argv]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.thorough
def test_journal_and_pgn_give_equal_ratings(
    played: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_journal = json.loads(printed(capsys, played / "j", "-format", "json"))
    names = {player["name"] for player in of_journal["players"]}
    # Only a journal has the times of moves, the conditions of play, faults and programs.
    assert of_journal.pop("times").keys() == of_journal.pop("health").keys() == names
    losses = of_journal.pop("time_losses")
    assert losses == {"games": 60, "caused": 0, "others": 0}
    (tournament,) = of_journal.pop("tournaments")
    assert tournament["seed"] == "8" and len(tournament["engines"]) == len(names)
    programs = of_journal.pop("programs")
    assert programs.keys() == names
    assert all([program["games"] for program in listed] == [20] for listed in programs.values())
    of_pgn = json.loads(printed(capsys, played / "g.pgn", "-format", "json"))
    assert of_journal == of_pgn and of_journal["terminations"]["games"] == 60
    assert all(player["games"] == 20 and player["error"] > 0 for player in of_pgn["players"])


def test_pgn_keeps_the_pairs_of_a_tournament_without_exchanged_colours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen, notes = settings(2, swap=False), {"id": "0123456789abcdef", "arguments": "[]"}
    writer = GameWriter(chosen, notes["id"])
    rows = [
        make_row(result(number, outcome)) for number, outcome in
        enumerate(("1-0", "1-0", "0-1", "0-1", "1/2-1/2", "1-0", "1-0", "1-0"), 1)
    ]
    with open_journal(str(tmp_path / "j"), chosen, notes) as journal:
        for row in rows:
            journal.append(row)
    (tmp_path / "g.pgn").write_text("".join(map(writer.text, rows)))
    pairs = [game.pair for game in read_games([str(tmp_path / "g.pgn")])]
    assert pairs[0] == pairs[1] != pairs[2] == pairs[3] and len(set(pairs)) == 4
    of_journal, of_pgn = (printed(capsys, tmp_path / name) for name in ("j", "g.pgn"))
    assert of_journal.startswith(of_pgn + "\nMilliseconds a move:\n")


def test_ratings_are_written_as_text_csv_and_json(
    played: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = printed(capsys, played / "j")
    assert "Elo" in text and "Termination" in text and "stronger" in text
    rows = list(csv.reader(io.StringIO(printed(capsys, played / "j", "-format", "csv"))))
    assert rows[0][:3] == ["rank", "name", "elo"] and len(rows) == 7
    assert printed(capsys, played / "j", "-out", tmp_path / "r.json") == ""
    assert json.loads((tmp_path / "r.json").read_text())["players"]
    anchored = printed(capsys, played / "j", "-anchor", "Club=1400")
    assert re.search(r"Club +1400\.0 +0\.0", anchored)


def test_a_journal_is_opened_once_and_its_games_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a former version, every report opened the journal several times and kept all rows."""
    opened: list[str] = []

    def open_once(path: str) -> Journal:
        opened.append(path)
        return read_journal(path)

    monkeypatch.setattr(import_games, "read_journal", open_once)
    monkeypatch.setattr(times_module, "TOTAL_KEPT", times_module.LEAST_KEPT)
    peaks = []
    for games in (200, 2000):
        path = str(tmp_path / str(games))
        write_journal(path, games, engines=2, plies=10)
        tracemalloc.start()
        counted = CountedGames([path])
        GamesReport(counted, None, None).text(False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert counted.games == games and len(counted.archive) == 0
    assert len(opened) == 2
    assert peaks[1] < peaks[0] + 300_000


CHESS = """\ufeff[Event "x"]
[Round "1"]
[White "SF"]
[Black "LC0"]
[Result "1-0"]
[FEN "rnbqkbnr/8 w"]
[Termination "Time Forfeit"]

1. e4 {book [White "no"] } e5 2. Nf3 {a comment that goes on
[Black "neither"]
} 1-0

[Round "1"]
[White "LC0"]
[Black "SF"]
[FEN "rnbqkbnr/8 w"]

1. e4 1/2-1/2

[Round "2"]
[White "A \\"q\\" B"]
[Black "SF"]
[Result "*"]

*
"""


def test_pgn_of_a_chess_runner_is_read(tmp_path: Path) -> None:
    path = tmp_path / "chess.pgn"
    path.write_text(CHESS)
    games = read_games([str(path)])
    assert [(g.white, g.black, g.result, g.termination) for g in games] == [
        ("SF", "LC0", "1-0", "time forfeit"), ("LC0", "SF", "1/2-1/2", "normal"),
        ('A "q" B', "SF", "*", "normal"),
    ]
    assert games[0].pair == games[1].pair != games[2].pair
    assert [game.score and game.score.score for game in games] == [1.0, 0.5, None]


def test_ids_of_other_runners_are_ignored(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        with open(path, "w") as file:
            for number, names in enumerate((("A", "B"), ("B", "A")), 1):
                file.write('[Round "1"]\n[White "{}"]\n[Black "{}"]\n'.format(*names))
                file.write(f'[GameId "{number}"]\n[PairId "{number}"]\n\n1-0\n\n')
    games = read_games(paths)
    assert list(Duplicates().deduplicate(games)) == games
    assert games[0].pair == games[1].pair != games[2].pair == games[3].pair


def test_tags_may_share_a_line_and_a_comment_may_follow_the_result(tmp_path: Path) -> None:
    path = tmp_path / "x.pgn"
    path.write_text(
        '[White "A"] [Black "B"][Round "1"]\n\n{no moves} 1. a1 1-0 {White wins 0-1\n or so}\n'
        '[White "B"][Black "A"] 1. a1 ; 1-0\n1/2-1/2\n{agreed} ; a draw\n\n'
        '[White "A"]\n[Black "B"]\n\n{0-1}\n'
    )
    games = read_games([str(path)])
    assert [(game.white, game.black) for game in games] == [("A", "B"), ("B", "A"), ("A", "B")]
    assert [game.result for game in games] == ["1-0", "1/2-1/2", "*"]


def test_a_name_may_have_unescaped_quotes(tmp_path: Path) -> None:
    path = tmp_path / "x.pgn"
    path.write_text('[White "The "X""]\n[Black ""B" 2" ]\n\n1-0\n')
    [game] = read_games([str(path)])
    assert (game.white, game.black, game.result) == ('The "X"', '"B" 2', "1-0")


def test_games_of_unknown_openings_are_not_paired(tmp_path: Path) -> None:
    path = tmp_path / "x.pgn"
    game = '[Round "?"]\n[White "{}"]\n[Black "{}"]\n[Result "1-0"]\n\n1-0\n\n'
    path.write_text(game.format("A", "B") + game.format("B", "A"))
    assert [g.pair for g in read_games([str(path)])] == [None, None]


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
def test_the_report_is_never_written_over_the_games(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games = tmp_path / "g.pgn"
    shutil.copy(played / "g.pgn", games)
    (tmp_path / "link").symlink_to(games)
    for out in (games, tmp_path / "link", tmp_path / "." / "g.pgn"):
        assert main([str(games), "-out", str(out)]) == 2
        assert "name another for -out" in capsys.readouterr().err
    assert games.read_bytes() == (played / "g.pgn").read_bytes()


GAME = '[Round "{0}"]\n[White "A"]\n[Black "B"]\n\n1. a1 {1}\n'


def test_comments_of_both_kinds_hide_no_games(tmp_path: Path) -> None:
    path = tmp_path / "x.pgn"
    path.write_text("".join([
        GAME.format(1, "; odd { brace\n1-0"), GAME.format(2, "{a; b } 1-0"),
        GAME.format(3, "{a; b\n[White \"no\"]\n} ; } { \n0-1"), GAME.format(4, "} 1-0"),
    ]))
    assert [game.result for game in read_games([str(path)])] == ["1-0", "1-0", "0-1", "1-0"]


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "cannot read"), ("", "found none"), ("\xff\xfe\0", "UTF-8"),
     ("-engine cmd=a\n-rounds 5\n", "found none"), ("\0" * 1000, "found none"),
     ('[White "A"]\n[Black "A"]\n\n1. a1 1-0\n', "between two engines"),
     (GAME.format(1, "*"), "between two engines")],
)
def test_a_file_without_finished_games_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    path = tmp_path / "x.pgn"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    assert main([str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err and "x.pgn" in err and len(err.splitlines()) == 1


def test_a_game_given_twice_is_counted_once(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = printed(capsys, played / "j", "-format", "json")
    journal, merged, pgn = played / "j", tmp_path / "merged", played / "g.pgn"
    merge(str(merged), [str(journal)])
    for paths in ((journal, merged), (journal, pgn), (merged, merged), (merged, pgn)):
        assert main([*map(str, paths), "-format", "json"]) == 0
        out, err = capsys.readouterr()
        assert out == once and "ignored 60 duplicates" in err


def test_games_without_moves_and_start_times_are_no_duplicates(tmp_path: Path) -> None:
    forfeit = result(1, "0-1", termination="abandoned", moves=(), started="", elapsed=0)
    for name in ("x", "y"):
        with open_journal(str(tmp_path / name), settings(), NOTES | {"id": name}) as journal:
            journal.append(make_row(forfeit))
    games = read_games([str(tmp_path / "x"), str(tmp_path / "y")])
    assert len(list(Duplicates().deduplicate(games))) == 2


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="needs a name for a pipe")
def test_games_are_read_from_a_pipe(played: Path) -> None:
    command = [*COMMAND[:-1], "ratings", "/dev/stdin", "-format", "json"]
    games = (played / "g.pgn").read_bytes()
    run = subprocess.run(command, input=games, capture_output=True, check=True, timeout=60)
    assert json.loads(run.stdout)["terminations"]["games"] == 60


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_an_endless_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["/dev/zero"]) == 2
    assert "'/dev/zero': expected lines of at most" in capsys.readouterr().err


def test_invalid_flags_are_refused(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = str(played / "j")
    for words, message in (
        (["-anchor", "Club"], "NAME=ELO"), (["-anchor", "Club=1e20"], "from -100000 to 100000"),
        (["-anchor", "Club=nan"], "from -100000 to 100000"),
        (["-anchor", "Nobody=3"], "Nobody"),
        (["-out", "/no/such/place.html"], "cannot write"), (["-format", "xml"], "xml"),
    ):
        assert main([journal, *words]) == 2
        assert message in capsys.readouterr().err
    # Found before the files are read.
    assert main(["missing.db", "-tables", "tables", "-format", "csv"]) == 2
    assert "'-tables': a CSV report has no accuracy" in capsys.readouterr().err


class Page(HTMLParser):
    """The elements of a page, each of which must be closed."""

    VOID = {"meta", "br", "line", "circle", "rect"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []
        self.tags = [tag for tag, _ in self.elements]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID or tag == "circle" and self.open[-1] == "svg":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag


def test_a_page_has_tables_plots_and_games_and_loads_nothing(
    played: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, played / "j", "-format", "html")
    page = Page(text)
    assert page.tags.count("table") >= 4 and page.tags.count("svg") == 6 + 6
    assert page.tags.count("circle") == 6 + 6, "each engine's rating and longest move"
    assert not [attrs for _, attrs in page.elements if "src" in attrs or "href" in attrs]
    few = printed(capsys, played / "j", "-format", "html", "-games", "3")
    for html, numbers in ((text, [*range(1, 61)]), (few, [1, 2, 3])):
        data = re.search(r'id="archive">(.*?)</script>', html, re.S)
        assert data is not None
        games = json.loads(data[1])
        assert [n for lot in games["lots"] for n in lot["n"]] == numbers and games["count"] == 60


def unpacked(lot: dict[str, Any]) -> list[Any]:
    """Return the moves of the games of a lot."""
    return list(json.loads(zlib.decompress(b64decode(lot["moves"]))))


def test_a_page_has_every_move_of_its_games(played: Path) -> None:
    counted = CountedGames([str(played / "j")], max_replayed=1000)
    ratings = crosstable(counted.matches).ratings
    data = json.loads(counted.archive.json(ratings, counted.labels))
    rows = rows_of(played / "j")
    (lot,) = data["lots"]
    assert unpacked(lot) == [moves_view(row.played()) for row in rows]
    assert len(lot["moves"]) / len(rows) < 600, "the guide states about 400 bytes a game"
    assert [name for name, *_ in data["players"]] == [player.name for player in ratings.players]
    names = lot["players"]
    for index, row in enumerate(rows):
        assert (names[lot["white"][index]], names[lot["black"][index]]) == (row.white, row.black)
        assert RESULTS[lot["result"][index]] == row.result
        assert lot["reasons"][lot["reason"][index]] == row.ending.reason
        assert lot["texts"][lot["text"][index]] == row.reason
        assert lot["plies"][index] == len(f"{row.opening} {row.moves}".split())
        assert lot["openings"][lot["opening"][index]][1:] == [row.position, row.opening]


def test_a_lot_has_a_bounded_number_of_games(tmp_path: Path) -> None:
    write_journal(str(tmp_path / "j"), 250, engines=4, plies=3)
    counted = CountedGames([str(tmp_path / "j")], max_replayed=230)
    data = json.loads(counted.archive.json(crosstable(counted.matches).ratings, counted.labels))
    lots = data["lots"]
    assert [len(unpacked(lot)) for lot in lots] == [ARCHIVE_SIZE, ARCHIVE_SIZE, 30]
    assert [len(lot["n"]) for lot in lots] == [ARCHIVE_SIZE, ARCHIVE_SIZE, 30]
    assert data["count"] == 250


def test_a_damaged_game_is_replayed_without_measurements() -> None:
    row = make_row(result())._replace(scores="x", reason="a\x1b[2J\u202eb")
    lot = Lot()
    lot.add(row, parse_rules("mill"))
    assert lot.data()["texts"] == ["a?[2J?b"]
    assert lot.moves == [[[move, None, None, None, None] for move in row.moves.split()]]


def test_hostile_words_stay_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = '</script><script>alert(1)</script>&"\'<b>\x1b[2J'
    path = str(tmp_path / "j")
    chosen = settings(event=bad, engines=(engine(bad), engine("B")))
    with open_journal(path, chosen, NOTES) as journal:
        row = make_row(result(reason=bad))
        journal.append(row._replace(white=bad, opening_name=bad, termination=bad, moves=bad))
    text = printed(capsys, path, "-format", "html")
    tags = Page(text).tags
    assert tags.count("script") == 2 and "b" not in tags and "\x1b" not in text


@pytest.mark.parametrize(
    "span", [0, 0.3, 7, 40, 99, 333, 1000, 4321, 399.99999999999994, 3999.9999999999995]
)
def test_a_tick_step_is_round_and_divides_a_span_into_four_to_ten_parts(span: float) -> None:
    step = tick_step(span)
    assert step == 10 if span == 0 else 3.9 <= span / step <= 10.1
    assert f"{step:.6e}".partition("e")[0] in ("1.000000", "2.000000", "5.000000")


@pytest.fixture(scope="module")
def sprt_match(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the journal of a match with an SPRT, and the output of its run."""
    path = tmp_path_factory.mktemp("sprt") / "j"
    out, _ = play(*match("-rounds", "9", "-journal", str(path), "-sprt", "elo0=0", "elo1=900"),
                  *INVENTED)
    assert "LLR: " in out and "was accepted" in out
    return path, out


def test_ratings_repeat_the_final_lines_of_a_match(
    sprt_match: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = sprt_match
    lines = out[out.rindex("\nScore of A vs B: ") + 1 :].splitlines()
    text = printed(capsys, path)
    missing = [line for line in lines if line not in text.splitlines()]
    assert missing == [] and text.startswith("Score of A vs B: ")
    assert "A       nodes=20      cmd=merels" in text and "Reason " in text
    html = printed(capsys, path, "-format", "html")
    assert all(f"<li>{line}</li>" in html for line in lines[:6])
    assert "<td>nodes=20</td>" in html and ">repetition<" in html
    assert "H0: 0 Elo, H1: 900 Elo (normalized), alpha 0.05, beta 0.05" in html


def test_the_figures_of_a_match_are_in_json_and_its_conditions_in_csv(
    sprt_match: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = sprt_match
    data = json.loads(printed(capsys, path, "-format", "json"))
    fields = {"wins", "draws", "losses", "pentanomial", "elo", "nelo", "los", "sprt"}
    assert fields <= data["match"].keys()
    assert {"llr", "lower", "upper", "verdict", "elo0", "elo1"} <= data["match"]["sprt"].keys()
    assert sum(row["drawn"] for row in data["reasons"]) == data["match"]["draws"]
    assert [entry["time_control"] for entry in data["tournaments"][0]["engines"]] == [
        "nodes=20", "nodes=40"
    ]
    (head, first, _) = csv.reader(io.StringIO(printed(capsys, path, "-format", "csv")))
    assert dict(zip(head, first))["command"] == "cmd=merels"


def test_the_games_of_two_tournaments_decide_no_test(
    sprt_match: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    play(*match("-rounds", "1", "-journal", str(other), "-srand", "6"), *INVENTED)
    text = printed(capsys, sprt_match[0], other)
    assert text.startswith("Score of A vs B: ") and "LLR" not in text


def test_an_engine_with_another_limit_is_another_player(
    sprt_match: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = sprt_match[0], tmp_path / "other"
    play(*match("-rounds", "1", "-journal", str(other), nodes=(60, 40)), *INVENTED)
    assert main([str(path), str(other)]) == 0
    text, err = capsys.readouterr()
    assert err == (
        "merels ratings: A is 2 players: A [nodes=20], A [nodes=60]; -same A makes them one\n"
    )
    assert "Score of A vs B" not in text and "A [nodes=20]  nodes=20" in text
    assert "A [nodes=60]  nodes=60" in text
    text = printed(capsys, path, other, "-same", "A")
    assert text.startswith("Score of A vs B: ")
    assert "A       nodes=20" in text and "A       nodes=60" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("mine.py",), "args=mine.py"),
        (("mine.py", "fast"), 'args="mine.py fast"'),
        (("my engine.py", "fast"), "args=\"'my engine.py' fast\""),
        (("$HOME",), "'args='\"'\"'$HOME'\"'\"''"),
    ],
)
def test_a_command_is_quoted_for_a_shell(arguments: tuple[str, ...], words: str) -> None:
    spec = EngineSpec(("python3", *arguments), "A", options=(("Skill Level", "3"),))
    (row,) = condition_rows([Entrant(spec, TimeControl(nodes=9))])
    assert row == ["A", "nodes=9", f'cmd=python3 {words} "option.Skill Level=3"']
    keys = dict(word.split("=", 1) for word in shlex.split(row[2]))
    assert tuple(shlex.split(keys["args"])) == arguments
