"""Copies of a league in which players were added apart."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.league.league import Member, merge_copy, open_league, read_league
from merels.tournament.records.games import Entrant, TimeControl
from tests.tournament.league.leagues import add_games, game, make_league


def add(folder: str, *command: str, program: str = "", nodes: int = 100) -> None:
    """Add the player ``New``."""
    entrant = Entrant(EngineSpec(command, "New"), TimeControl(nodes=nodes))
    with open_league(folder) as league:
        league.with_new([entrant], [Member("2026-01-02", program=program)]).save()


def merge(folder: str, copy: str) -> int:
    """Merge a copy; return the number of new games."""
    with open_league(folder) as league, read_league(copy) as part:
        return merge_copy(league, part)[1]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    """A league and its copy, in which one more game is played."""
    folder, copy = make_league(tmp_path / "a", ["A", "B"], [game(1, "A", "B")]), str(tmp_path / "b")
    shutil.copytree(folder, copy)
    add_games(copy, [game(2, "B", "A")])
    return folder, copy


@pytest.mark.parametrize(("ours", "theirs"), [
    ({"program": "1"}, {"program": "2"}),
    ({"program": "1", "nodes": 100}, {"program": "1", "nodes": 200}),
    ({}, {"program": "1"}),
])
def test_two_engines_of_one_name_are_not_merged(
    folders: tuple[str, str], ours: dict[str, object], theirs: dict[str, object]
) -> None:
    """In a former version, the games of both engines were counted for the league's own engine."""
    folder, copy = folders
    add(folder, "/engines/new", **ours)  # type: ignore[arg-type]
    add(copy, "/engines/new", **theirs)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="New here and New of .* are different engines"):
        merge(folder, copy)
    with read_league(folder) as league:
        assert sum(1 for _ in league.rows()) == 1


def test_two_commands_of_one_name_are_not_merged(folders: tuple[str, str]) -> None:
    folder, copy = folders
    add(folder, "/engines/new")
    add(copy, "/engines/newer")
    with pytest.raises(InputError, match="are different engines"):
        merge(folder, copy)


def test_one_engine_may_be_added_to_both_copies_from_different_places(
    folders: tuple[str, str]
) -> None:
    folder, copy = folders
    add(folder, "/engines/new", "-fast", program="1")
    add(copy, "/home/new", "-fast", program="1")
    assert merge(folder, copy) == 1
