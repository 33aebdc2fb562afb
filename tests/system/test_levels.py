"""The built-in levels under every rule set: their order of strength, and no faults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from merels.engine.search.levels import LEVELS, Level
from merels.tournament.commands.main import main
from tests.kit.fakes import fake
from tests.tournament.processes import play
from tests.system.test_sprt_match import engines, level
from tests.tournament.specs import engine_words, parallel, rows_of

BEGINNER = "go: answer bestmove {pick([move for move in moves if 'x' in move] or moves)}"
"""Script of an engine that closes a mill whenever it can; its other choices are random."""


def points_by_name(folder: Path, games: int, *flags: str) -> dict[str, float]:
    """Play ``games`` games; return each engine's points, ordered by rating, the best first."""
    path, report = folder / "journal.db", folder / "ratings.json"
    play(*flags, "-srand", "3", "-ratinginterval", "0", "-journal", f"file={path}")
    rows = rows_of(path)
    assert len(rows) == games and {row.termination for row in rows} == {"normal"}
    assert main(["ratings", str(path), "-out", str(report)]) == 0
    players = json.loads(report.read_text())["players"]
    return {player["name"]: player["points"] for player in players}


def meet(folder: Path, rules: str, levels: list[Level], pairs: int, nodes: int) -> list[str]:
    """Play a round robin of levels; return their names by rating, the best first."""
    limits = ((entry.name, [*level(entry.elo), f"nodes={nodes}"]) for entry in levels)
    games = pairs * len(levels) * (len(levels) - 1)
    return list(points_by_name(
        folder, games, *engines(*limits), "-variant", rules, "-openings", "book",
        "-rounds", str(pairs), *parallel(2),
    ))


def test_the_weakest_level_scores_like_a_player_that_only_closes_mills(tmp_path: Path) -> None:
    points = points_by_name(
        tmp_path, 100, *engine_words("Level", *level(LEVELS[0].elo), "option.LevelSeed=7"),
        *engine_words("Scripted", "nodes=1", command=fake(BEGINNER)),
        "-rounds", "50",
    )
    assert 35 <= points["Level"] <= 65


@pytest.mark.parametrize("rules", ["mill", "multi"])
def test_three_levels_rank_in_order(tmp_path: Path, rules: str) -> None:
    levels = [LEVELS[0], LEVELS[2], LEVELS[4]]
    ranking = meet(tmp_path, rules, levels, 4, 10_000)
    assert ranking == [entry.name for entry in reversed(levels)]
