"""Schedules: who meets whom, colours, openings and parts; they depend only on the settings."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.tournament.pairing.schedule import circle, schedule_for
from merels.tournament.records.games import GameSpec
from merels.tournament.records.settings import OpeningSettings, read_settings
from merels.tournament.run.plan import Plan
from tests.tournament.specs import planned_games, settings


def test_the_score_of_an_unknown_game_is_ignored() -> None:
    plan = Plan(settings(4, format="swiss", rounds=2))
    games = [task.games for task in (plan.next(), plan.next()) if task is not None]
    plan.score(10_000, 1.0)
    assert plan.next() is None
    for spec in games[0] + games[1]:
        plan.score(spec.number, 1.0)
    assert plan.next() is not None


@pytest.mark.parametrize("count", range(2, 13))
def test_in_a_circle_all_players_meet_once(count: int) -> None:
    rounds = list(circle(count))
    assert len(rounds) == count - 1 + count % 2
    for meetings in rounds:
        players = [player for pair in meetings for player in pair]
        assert len(players) == len(set(players)) == count - count % 2
    pairs = [pair for meetings in rounds for pair in meetings]
    assert sorted(pairs) == [(a, b) for a in range(count) for b in range(a + 1, count)]


@pytest.mark.parametrize("count", [2, 3, 4, 7])
@pytest.mark.parametrize("games", [1, 2, 3, 4])
def test_a_round_robin_plays_each_pairing_equally_often(count: int, games: int) -> None:
    chosen = settings(count, rounds=3, games=games)
    played = list(planned_games(Plan(chosen)))
    assert [game.number for game in played] == list(range(1, len(played) + 1))
    assert len(played) == schedule_for(chosen).games(chosen) == 3 * games * count * (count - 1) // 2
    meetings = Counter(frozenset((g.white.name, g.black.name)) for g in played)
    assert set(meetings.values()) == {3 * games}
    for name in (engine.name for engine in chosen.engines):
        whites = sum(game.white.name == name for game in played)
        blacks = sum(game.black.name == name for game in played)
        assert abs(whites - blacks) <= (games % 2)


@pytest.mark.parametrize("games", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [1, 2, 3, 100])
def test_the_share_of_a_part_is_its_number_of_games(games: int, count: int) -> None:
    for index in range(1, count + 1):
        plan = Plan(settings(3, rounds=3, games=games), (index, count))
        ours = 0
        while (task := plan.next()) is not None:
            ours += len(task.games)
        assert plan.own_games == ours and plan.games == 9 * games


def test_the_games_of_a_pair_have_one_opening_and_exchanged_colours() -> None:
    plan = Plan(settings(3, rounds=4))
    while (task := plan.next()) is not None:
        first, second = task.games
        assert first.opening == second.opening and first.pair == second.pair
        assert (first.white, first.black) == (second.black, second.white)
        assert first.seed != second.seed


def test_noswap_keeps_colours() -> None:
    task = Plan(settings(2, swap=False)).next()
    assert task is not None
    assert [game.white.name for game in task.games] == ["A", "A"]


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_in_a_gauntlet_only_the_seeds_play_all_others(seeds: int) -> None:
    played = list(planned_games(Plan(settings(5, format="gauntlet", seeds=seeds, rounds=2))))
    meetings = Counter(tuple(sorted((g.white.name, g.black.name))) for g in played)
    assert meetings == {(a, b): 4 for a in "ABCDE"[:seeds] for b in "ABCDE"[seeds:]}


@pytest.mark.parametrize("seeds", [0, 5])
def test_a_gauntlet_refuses_impossible_seeds(seeds: int) -> None:
    with pytest.raises(InputError, match="expected -seeds from 1 to 4"):
        Plan(settings(5, format="gauntlet", seeds=seeds))


def test_one_engine_is_refused() -> None:
    with pytest.raises(InputError, match="at least two engines"):
        Plan(settings(1))


def test_the_plan_depends_only_on_the_settings() -> None:
    first, second = (list(planned_games(Plan(settings(4, rounds=3)))) for _ in range(2))
    assert first == second
    reseeded = list(planned_games(Plan(settings(4, rounds=3, seed=8))))
    assert [g.opening for g in reseeded] != [g.opening for g in first]
    assert [(g.white, g.black) for g in reseeded] == [(g.white, g.black) for g in first]


def test_more_rounds_begin_with_the_games_of_fewer() -> None:
    fewer, more = (list(planned_games(Plan(settings(3, rounds=rounds)))) for rounds in (2, 5))
    assert more[: len(fewer)] == fewer


@pytest.mark.parametrize("games", [1, 2, 3, 4])
@pytest.mark.parametrize("style", ["roundrobin", "gauntlet", "swiss", "knockout"])
def test_opponents_meet_the_same_openings_in_each_round(
    tmp_path: Path, style: str, games: int
) -> None:
    """In a former version, with as many openings as opponents each had its own in all rounds."""
    book = tmp_path / "book.pgn"
    book.write_text("".join(f"1. {point} *\n\n" for point in ("a1", "d1", "g1", "a4", "b4")))
    chosen = settings(
        6, format=style, rounds=4, games=games, openings=OpeningSettings(str(book), "pgn")
    )
    plan = Plan(chosen)
    rounds = defaultdict[int, defaultdict[frozenset[str], list[int]]](lambda: defaultdict(list))
    while (task := plan.next()) is not None:
        assert len({game.opening for game in task.games}) == 1
        point = task.games[0].opening.moves[0]
        number = ("a1", "d1", "g1", "a4", "b4").index(point)
        rounds[task.games[0].round][task.engines].append(number)
        for game in task.games:
            plan.score(game.number, 0.5)
    earlier = 0
    for sequences in rounds.values():
        # A knockout's first round holds all four pairings of a match.
        length = len(next(iter(sequences.values())))
        expected = [number % 5 for number in range(earlier, earlier + length)]
        assert all(numbers == expected for numbers in sequences.values())
        earlier += length
    assert earlier > (games + 1) // 2


def test_a_part_of_a_tournament_has_the_openings_of_the_whole() -> None:
    chosen = settings(4, rounds=3, games=4)
    whole = {game.number: game.opening for game in planned_games(Plan(chosen))}
    plan = Plan(chosen, (2, 3))
    for game in planned_games(plan):
        assert game.opening == whole[game.number]


def test_each_pairing_of_an_old_journal_still_takes_the_next_openings() -> None:
    """Their settings lack the policy."""
    chosen = settings(4, openings=OpeningSettings(policy="encounter"))
    text = chosen.as_json().replace('"policy": "encounter", ', "")
    assert "policy" not in text and read_settings(text) == chosen
    openings = {game.opening for game in planned_games(Plan(chosen)) if game.round == 1}
    assert len(openings) == 6
    shared = replace(chosen, openings=OpeningSettings())
    assert read_settings(shared.as_json()) == shared


@pytest.mark.parametrize("style", ["roundrobin", "gauntlet"])
def test_a_round_of_many_engines_is_paired_as_its_games_are_needed(
    monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    """In a former version, a round of 400 engines took 20 s before its first game."""
    made: list[GameSpec] = []

    def make(*fields: Any) -> GameSpec:
        made.append(GameSpec(*fields))
        return made[-1]

    monkeypatch.setattr("merels.tournament.run.plan.GameSpec", make)
    plan = Plan(settings(60, format=style, seeds=30, rounds=2))
    first, second = plan.next(), plan.next()
    assert first is not None and second is not None and first.engines != second.engines
    assert len(made) == 4, "only the games of these pairs are made"


@pytest.mark.parametrize(("style", "excluded"), [
    ("roundrobin", "ABC"), ("gauntlet", "A"), ("gauntlet", "BCD"), ("swiss", "BCD"),
])
def test_a_plan_has_no_next_pair_without_the_engines_that_every_pair_needs(
    style: str, excluded: str
) -> None:
    plan = Plan(settings(4, format=style, rounds=2))
    assert plan.next(set(excluded)) is None
    assert plan.next(set(excluded[1:])) is not None
