"""``level=``: the built-in levels and the perfect player as engines of every command."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from merels.engine.game.rules import make_rules
from merels.engine.search.levels import LEVELS
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.sectors import kept_placing_sectors, sectors
from merels.protocol.client import perfect
from merels.protocol.client.engine_spec import read_engine
from merels.protocol.client.perfect import table_coverage
from merels.tournament.flags.command_line import parse
from merels.tournament.flags.make_settings import make_settings
from tests.commands import run_process

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[3]
RANGE = f"{LEVELS[0].elo} to {LEVELS[-1].elo}"


def play_one_game(*words: str, tables: Path | None = None) -> tuple[int, str, str]:
    """Run a tournament of one game; return status, output and errors."""
    run = run_process("tournament", *words, "-rounds", "1", "-games", "1", "-quiet", tables=tables)
    return run.returncode, run.stdout, run.stderr


def test_levels_play_by_name_and_by_rating_with_and_without_a_limit() -> None:
    status, out, err = play_one_game(
        "-engine", "level=club", "-engine", "level=900", "name=Nine hundred"
    )
    assert (status, err) == (0, "") and "Score of Club vs Nine hundred: " in out
    status, out, _ = play_one_game(
        "-engine", "level=Club", "-engine", "level=Club", "-each", "nodes=50", "proto=ugi"
    )
    assert status == 0 and "Score of Club vs Club 2: " in out
    words = ("-engine", "name=A", "-engine", "name=B", "-each", "level=Beginner")
    status, out, _ = play_one_game(*words)
    assert status == 0 and "Score of A vs B: " in out


def test_the_default_tournament_has_the_engines_of_levels() -> None:
    club = make_settings(parse([]), 1).engines[2]
    by_level = make_settings(parse(["-engine", "level=Club"] * 2), 1).engines[0]
    assert club == by_level and club.name == "Club"
    assert club.engine.options == (("UCI_LimitStrength", "true"), ("UCI_Elo", str(LEVELS[2].elo)))


def test_a_perfect_player_without_its_tables_is_refused_or_reported(tmp_path: Path) -> None:
    flags = ("-engine", "level=perfect", "nodes=50", "-engine", "level=Club", "-variant", "morris")
    status, out, err = play_one_game(*flags, tables=tmp_path)
    remedy = "merels tables build -all -placing -variant morris"
    assert (status, out) == (2, "") and "no tables for morris" in err and remedy in err
    build = remedy.replace("-all -placing", "-men 8").split()[1:]
    assert run_process(*build, tables=tmp_path).returncode == 0
    status, out, err = play_one_game(*flags, tables=tmp_path)
    assert status == 0 and "Score of Perfect vs Club: " in out
    assert "and at most 8 are on the board, and searches elsewhere" in err and remedy in err
    # Tables hold only for their own rule set.
    status, _, err = play_one_game(*flags, "-set", "Flying=never", tables=tmp_path)
    assert status == 2 and f"{remedy} -set Flying=never" in err
    # A perfect player needs more than the small tables that merels builds automatically.
    for file in [*tmp_path.glob("*/5-3*"), *tmp_path.glob("*/4-4*")]:
        file.unlink()
    status, _, err = play_one_game(*flags, tables=tmp_path)
    assert status == 2 and "small ones" in err


def test_the_run_prints_which_positions_tables_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    # Complete tables take gigabytes, so only their headers exist here.
    tables = Tables(make_rules("roman"))
    tables.headers = {sector: Mock() for sector in sectors()}
    monkeypatch.setattr(perfect, "open_tables", lambda *_: tables)
    spec = read_engine(["level=perfect"], ("uci",))

    def coverage() -> str:
        [text] = table_coverage(spec, [tables.rules])
        return text

    assert coverage() == (
        "level=perfect plays roman by tables when no man is in hand, and searches in the placing "
        "phase; merels tables build -all -placing -variant roman makes the rest"
    )
    for placing in kept_placing_sectors(tables.rules):
        tables.headers[placing] = Mock()
    assert coverage() == "level=perfect plays roman by tables from the first man on"
    for sector in list(tables.headers)[:4]:
        del tables.headers[sector]
    assert "certain numbers of men" in coverage()


def test_a_level_passes_the_checks() -> None:
    run = run_process("check", "-engine", "level=Casual", "-fast", "-only", "search")
    assert run.returncode == 0, run.stdout


def test_help_and_guide_list_the_levels_with_their_ratings() -> None:
    text = run_process("tournament", "--help").stdout
    guide = (ROOT / "tournament" / "guide.md").read_text("utf-8")
    for level in LEVELS:
        assert f"{level.name} {level.elo}" in text
        assert f"{level.name} ({level.elo})" in guide.replace("\n", " ")
