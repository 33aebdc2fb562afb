"""``merels accuracy``: journals and PGN judged by tables, as text, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import random
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import format_position
from merels.engine.game.rules import make_rules
from merels.engine.training.samples import random_position
from merels.protocol.commands.exit_status import FAILED
from merels.protocol.commands.faults import Faults
from merels.protocol.formats.pgn.variants import RecordRules
from merels.tournament.commands import accuracy
from tests.commands import output, refusal
from tests.kit.tables import built_tables, copy_tables
from tests.protocol.review.test_review import MISSED_WIN
from tests.tournament.processes import play
from tests.tournament.specs import match

pytestmark = pytest.mark.thorough

NAMED = '[White "Alice"]\n[Black "Bob"]\n' + MISSED_WIN


@pytest.fixture(scope="module")
def endings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tables of six men, and a match of two weak levels in such endings."""
    folder = tmp_path_factory.mktemp("endings")
    rules, chance = make_rules("morris"), random.Random(1)
    copy_tables(folder / "tables", rules, 6, depths=True)
    tables = built_tables(rules, 6, depths=True)
    positions = (random_position(rules, 3, 3, chance) for _ in range(500))
    long = [p for p in positions if (value := tables.probe(p)) and (value.depth or 0) > 8][:6]
    (folder / "endings.pos").write_text("".join(format_position(p) + "\n" for p in long))
    play(*match(
        "-variant", "morris", "-each", "option.UCI_LimitStrength=true", "option.UCI_Elo=800",
        # Reports order players by their results, which differ in each run without a seed.
        "option.LevelSeed=1", "-rounds", "6", "-quiet", "-openings", f"file={folder}/endings.pos",
        "-journal", f"file={folder}/j", "-pgnout", f"file={folder}/g.pgn",
    ))
    return folder


def counts(endings: Path, *files: str | Path, flags: Sequence[str] = ()) -> Any:
    """Return the report on some files as JSON; names are relative to the folder of endings."""
    paths = [str(endings / file) for file in files]
    tables = ("-tables", str(endings / "tables"))
    return json.loads(output("accuracy", *paths, *tables, "-format", "json", *flags))


def test_a_journal_and_its_pgn_give_equal_reports(endings: Path) -> None:
    journal, pgn = counts(endings, "j"), counts(endings, "g.pgn")
    assert journal["games"] == 12 and journal["judged"] == journal["moves"] > 20
    thrown = sum(journal[name] for name in ("win_to_draw", "win_to_loss", "draw_to_loss"))
    assert 0 < thrown == journal["judged"] - journal["held"]
    assert [engine["name"] for engine in journal["engines"]] == ["A", "B"]
    # A game in both files counts once. The reports differ only in the name of the file.
    assert counts(endings, "j", "g.pgn") == journal
    text = json.dumps(pgn).replace(f"{endings}/g.pgn", f"{endings}/j")
    assert json.loads(text) == journal


def test_report_formats_and_the_command_for_the_worst_game(endings: Path, tmp_path: Path) -> None:
    tables = ("-tables", str(endings / "tables"))
    report = counts(endings, "j")
    text = output("accuracy", f"{endings}/j", *tables)
    counted = f"{report['judged']} of {report['moves']} moves in 12 games judged; "
    assert " ".join(text.split()).startswith(f"{counted}the tables cover every")
    table = output("accuracy", f"{endings}/j", *tables, "-format", "csv")
    rows = list(csv.DictReader(io.StringIO(table)))
    out = tmp_path / "a.csv"
    assert output("accuracy", f"{endings}/j", *tables, "-out", str(out)) == ""
    assert out.read_text() == table
    for engine in report["engines"]:
        total = next(row for row in rows if (row["name"], row["phase"]) == (engine["name"], "all"))
        for name in ("moves", "judged", "held", "critical", "critical_held", "draw_to_loss"):
            cells = [int(row[name]) for row in rows if row["name"] == engine["name"]]
            assert int(total[name]) == engine[name] == sum(cells) - engine[name]
        worst = engine["worst_move"]
        if worst is not None:
            assert total["worst_move_game"] == str(worst["game"])
            assert worst["after"] < worst["value"]
    # The command in the report shows the move as a blunder.
    at = text.index("worst move: ")
    move = text[at:].split()[3]
    command = shlex.split(text[at:].splitlines()[1])
    assert command[0] == "merels"
    judged = output(*command[1:], "-nodes", "1000")
    assert f"{move}??" in judged and "Blunder" in judged


def test_the_ratings_have_a_section_on_accuracy(endings: Path, tmp_path: Path) -> None:
    words = ("ratings", f"{endings}/j", "-tables", str(endings / "tables"))
    report = counts(endings, "j")
    assert json.loads(output(*words, "-format", "json"))["accuracy"] == report
    assert output("accuracy", *words[1:]) in output(*words)
    page = tmp_path / "page.html"
    output(*words, "-out", str(page))
    html = page.read_text()
    judged = f"{report['judged']} of {report['moves']} moves in 12 games judged"
    assert "<h2>Accuracy</h2>" in html and judged in html
    assert f"<code>merels review {endings}/j -game " in html
    output("ratings", f"{endings}/j", "-out", str(page))
    assert "Accuracy" not in page.read_text()
    assert "merels accuracy -format csv" in refusal(*words, "-format", "csv")


def test_known_blunders_of_a_pgn_file_are_counted(endings: Path, tmp_path: Path) -> None:
    game = tmp_path / "game.pgn"
    game.write_text(NAMED + "\n" + NAMED.replace('[Variant "morris"]\n', ""))
    words = ("accuracy", str(game), "-tables", f"{endings}/tables", "-variant", "morris")
    text = output(*words)
    assert text.startswith("4 of 4 moves in 2 games judged; the tables cover every position of up")
    assert "worst move: 20. a1-g1 in game 1 (Alice - Bob): win to loss" in text
    assert f"  merels review {game} -game 1 -tables {endings}/tables -variant morris\n" in text
    alice, bob = counts(endings, game, flags=("-variant", "morris"))["engines"]
    assert alice["phases"]["flying"] == {
        "moves": 2, "judged": 2, "held": 0, "critical": 2, "critical_held": 0,
        "win_to_draw": 0, "win_to_loss": 2, "draw_to_loss": 0, "in_doubt": 0,
    }
    assert (bob["held"], bob["critical_held"], bob["worst_move"]) == (2, 2, None)


def test_tables_without_depths_leave_the_limit_of_plies_in_doubt(
    endings: Path, tmp_path: Path
) -> None:
    shutil.copytree(endings / "tables", tmp_path / "tables", ignore=shutil.ignore_patterns("*.dtl"))
    game = tmp_path / "game.pgn"
    game.write_text(MISSED_WIN.replace("w 0 0 0 20", "w 0 0 50 20"))
    message = (
        "1 of the values thrown away is in doubt: the limit on plies or a repetition may excuse "
        "the move. Tables built with -depths take that limit into account."
    )
    text = output("accuracy", str(game), "-tables", f"{tmp_path}/tables")
    assert message in " ".join(text.split())
    text = output("accuracy", str(game), "-tables", f"{endings}/tables")
    assert "in doubt:" not in text and ", in doubt" not in text
    assert text.startswith("2 of 2 moves in 1 game judged; ")


def test_moves_of_an_opening_do_not_count(endings: Path, tmp_path: Path) -> None:
    game = tmp_path / "game.pgn"
    tags = '[Variant "morris"]\n'
    game.write_text(f"{tags}1. d6 f4 2. b6 {{+0.10/3 0.012s}} f6 {{-0.1/3 0.1s, adjourned}} *")
    assert [counts(endings, game)[name] for name in ("moves", "judged")] == [2, 0]
    game.write_text(f"{tags}1. d6 f4 2. b6 f6 {{adjourned in 3 s}} *")
    assert counts(endings, game)["moves"] == 4


@pytest.mark.parametrize("cores", [[0], [0, 1]])
def test_many_games_are_judged_with_progress_and_the_same_result_on_all_processors(
    endings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    cores: list[int],
) -> None:
    """In a former version, 50,000 games took more than ten minutes, without any progress shown."""
    files = [str(endings / "j")]
    faults, rules = Faults("accuracy", False), RecordRules(make_rules("morris"))
    expected = accuracy.measure(faults, files, endings / "tables", rules)
    assert capsys.readouterr().err == "", "few games need no progress"
    monkeypatch.setattr(accuracy, "GAMES_BEFORE_WORKERS", 1)
    monkeypatch.setattr(accuracy, "BATCH_GAMES", 2)
    monkeypatch.setattr(accuracy, "usable_cores", lambda: cores)
    report = accuracy.measure(faults, files, endings / "tables", rules)
    assert (report.engines, report.games, report.coverage) == (
        expected.engines, expected.games, expected.coverage
    )
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 3 and lines[-1].split(", ")[0] == "100% 12 games judged"


def test_an_illegal_move_that_another_process_finds_is_an_error_of_one_line(
    endings: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(accuracy, "GAMES_BEFORE_WORKERS", 1)
    monkeypatch.setattr(accuracy, "BATCH_GAMES", 1)
    monkeypatch.setattr(accuracy, "usable_cores", lambda: [0, 1])
    game = tmp_path / "game.pgn"
    game.write_text(NAMED + "\n" + NAMED + "\n1. d6 d6 *\n" + NAMED)
    rules, message = RecordRules(make_rules("morris")), "illegal move, d6 is occupied.*game 3 of"
    with pytest.raises(InputError, match=message):
        accuracy.measure(Faults("accuracy", True), [str(game)], endings / "tables", rules)
    capsys.readouterr()
    faults = Faults("accuracy", False)
    judged = accuracy.measure(faults, [str(game)], endings / "tables", rules)
    assert (judged.games, faults.read, faults.status) == (3, 3, FAILED)
    error = capsys.readouterr().err
    assert error.count("game 3 of") == 1 and "skipped" in error


def test_unnamed_players_and_players_with_two_limits_are_separate(
    endings: Path, tmp_path: Path
) -> None:
    game = tmp_path / "game.pgn"
    game.write_text(MISSED_WIN + "\n" + NAMED)

    def names(*flags: str) -> list[str]:
        return [engine["name"] for engine in counts(endings, game, flags=flags)["engines"]]

    assert names() == ["unnamed White", "unnamed Black", "Alice", "Bob"]
    clocks = '[WhiteTimeControl "60"]\n', '[WhiteTimeControl "5"]\n'
    game.write_text("\n".join(NAMED.replace("[Black", clock + "[Black") for clock in clocks))
    assert names() == ["Alice [tc=60]", "Bob", "Alice [tc=5]"]
    assert names("-same", "Alice") == ["Alice", "Bob"]


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("1. d6 f4 *", ("-tables", "nowhere"), "no usable table here; make them with merels"),
        ('[Variant "loc"]\n1. d6 *', (), "no usable table here"),
        ('[Variant "chess"]\n1. e4 *', (), "expected a rule set"),
        ("Dear diary", (), "expected games (PGN, "),
        ("", (), "expected games in this file, found none"),
        ("1. d6 d6 *", (), "illegal move, d6 is occupied (move 1, Black, line 1, game 1 of"),
        ("1. d6 *", ("-out", "{file}"), "name another for -out"),
        ("1. d6 *", ("-out", "{file}.html"), "merels ratings FILE -tables DIR"),
    ],
)
def test_a_game_that_cannot_be_judged_is_one_line_of_error(
    endings: Path, tmp_path: Path, text: str, words: tuple[str, ...], message: str
) -> None:
    file = tmp_path / "game.pgn"
    file.write_text(text)
    words = tuple(word.format(file=file) for word in words)
    tables = () if "-tables" in words else ("-tables", str(endings / "tables"))
    error = refusal("accuracy", str(file), *tables, *words)
    assert message in error and error.count("\n") == 1
