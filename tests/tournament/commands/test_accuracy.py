"""``merels accuracy``: journals and PGN judged by tables, as text and JSON."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from merels.engine.game.notation import format_position
from merels.engine.game.rules import make_rules
from merels.engine.training.samples import random_position
from merels.protocol.commands.exit_status import FAILED
from merels.protocol.commands.faults import Faults
from merels.protocol.formats.pgn.variants import RecordRules
from merels.tournament.commands import accuracy
from tests.commands import call, output, refusal
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
    output("ratings", f"{endings}/j", "-out", str(page))
    assert "Accuracy" not in page.read_text()
    assert "merels accuracy -format json" in refusal(*words, "-format", "csv")


def test_known_blunders_of_a_pgn_file_are_counted(endings: Path, tmp_path: Path) -> None:
    game = tmp_path / "game.pgn"
    game.write_text(NAMED + "\n" + NAMED.replace('[Variant "morris"]\n', ""))
    words = ("accuracy", str(game), "-tables", f"{endings}/tables", "-variant", "morris")
    text = output(*words)
    assert text.startswith("4 of 4 moves in 2 games judged; the tables cover every position of up")
    alice, bob = counts(endings, game, flags=("-variant", "morris"))["engines"]
    assert alice["phases"]["flying"] == {
        "moves": 2, "judged": 2, "held": 0, "critical": 2, "critical_held": 0,
        "win_to_draw": 0, "win_to_loss": 2, "draw_to_loss": 0, "in_doubt": 0,
    }
    assert (bob["held"], bob["critical_held"]) == (2, 2)


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


def test_progress_is_shown_while_many_games_are_judged(
    endings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output("accuracy", f"{endings}/j", "-tables", str(endings / "tables"))
    assert capsys.readouterr().err == "", "few games need no progress"
    monkeypatch.setattr(accuracy, "PROGRESS_SECONDS", 0.0)
    faults, rules = Faults(False), RecordRules(make_rules("morris"))
    accuracy.measure(faults, [str(endings / "j")], endings / "tables", rules)
    assert capsys.readouterr().err.splitlines()[-1].startswith("100% 12 games judged, ")


def test_a_game_with_an_illegal_move_is_skipped(endings: Path, tmp_path: Path) -> None:
    game = tmp_path / "game.pgn"
    game.write_text(NAMED + "\n" + NAMED + "\n1. d6 d6 *\n" + NAMED)
    words = ["accuracy", str(game), "-tables", str(endings / "tables")]
    done = call(*words, "-variant", "morris")
    assert done.returncode == FAILED and done.stdout.startswith("6 of 6 moves in 3 games judged")
    assert done.stderr.count("game 3 of") == 1 and "skipped" in done.stderr
    assert "illegal move, d6 is occupied" in refusal(*words, "-variant", "morris", "-strict")


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("1. d6 f4 *", ("-tables", "nowhere"), "no usable tables here; make them with merels"),
        ('[Variant "loc"]\n1. d6 *', (), "no usable tables here"),
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
