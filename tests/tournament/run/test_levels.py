"""The built-in levels under every rule set: their order of strength, and no faults."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from merels.engine.game.rules import PRESETS
from merels.engine.search.levels import LEVELS, Level
from merels.tournament.commands.main import main
from merels.tournament.statistics.counts import GameScore, count_matches
from merels.tournament.statistics.ratings import rate
from tests.kit.fakes import fake
from tests.tournament.processes import play
from tests.tournament.run.test_sprt_match import engines, level
from tests.tournament.specs import engine_words, parallel, rows_of

BEGINNER = "go: answer bestmove {pick([move for move in moves if 'x' in move] or moves)}"
"""Script of an engine that closes a mill whenever it can; its other choices are random."""

pytestmark = pytest.mark.thorough


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


def test_the_documented_ratings_follow_from_the_stored_round_robin() -> None:
    with open(Path(__file__).parents[2] / "data" / "levels.csv", newline="") as file:
        games = [
            GameScore(row["white"], row["black"], float(row["score"]), int(row["pair"]))
            for row in csv.DictReader(file)
        ]
    assert len(games) == 1800
    players = {player.name: player for player in rate(count_matches(games)).players}
    lowest = players[LEVELS[0].name].elo - LEVELS[0].elo
    for entry in LEVELS:
        assert entry.elo == pytest.approx(players[entry.name].elo - lowest, abs=3)
    for low, high in zip(LEVELS, LEVELS[1:]):
        weak, strong = players[low.name], players[high.name]
        assert weak.elo + weak.error < strong.elo - strong.error


def test_the_weakest_level_scores_like_a_player_that_only_closes_mills(tmp_path: Path) -> None:
    points = points_by_name(
        tmp_path, 100, *engine_words("Level", *level(LEVELS[0].elo), "option.LevelSeed=7"),
        *engine_words("Scripted", "nodes=1", command=fake(BEGINNER)),
        "-rounds", "50",
    )
    assert 35 <= points["Level"] <= 65


@pytest.mark.parametrize("rules", PRESETS)
def test_three_levels_rank_in_order_under_every_rule_set(tmp_path: Path, rules: str) -> None:
    levels = [LEVELS[0], LEVELS[2], LEVELS[4]]
    ranking = meet(tmp_path, rules, levels, 4, 10_000)
    assert ranking == [entry.name for entry in reversed(levels)]


@pytest.mark.slow
@pytest.mark.parametrize("rules", PRESETS)
def test_all_levels_rank_in_order_after_a_thousand_games(tmp_path: Path, rules: str) -> None:
    ranking = meet(tmp_path, rules, list(LEVELS), 34, 100_000)
    assert ranking == [entry.name for entry in reversed(LEVELS)]
