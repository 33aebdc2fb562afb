"""Options that the board sends to an engine: those of its level."""

from __future__ import annotations

from typing import Any

import pytest

from merels.engine.search.levels import level_named
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
from merels.protocol.client.engine_spec import MERELS, EngineSpec
from tests.kit.waiting import wait
from tests.protocol.board.steps import ANALYST, BEGINNER, PERSON, clock, trace


def lines_of_games(session: Session, black: dict[str, Any], games: int = 1) -> list[str]:
    """Return the lines that the board sends to Black's engine in games of two moves."""
    lines = trace(session)
    players = [PERSON, black, ANALYST]
    for _ in range(games):
        act(session, "new", {"players": players, "time": clock(60)})
        act(session, "play", {"move": "d6", "at": 0})
        wait(lambda: session.game.live.ply == 2, 60, "a reply")
    return [line[1:] for line in lines if line[0] == ">"]


def test_a_level_gets_its_rating_and_full_strength_gets_none(session: Session) -> None:
    lines = lines_of_games(session, {"engine": 0, "level": "Club"})
    assert "setoption name UCI_LimitStrength value true" in lines
    assert f"setoption name UCI_Elo value {level_named('Club').elo}" in lines
    assert any(text.startswith("setoption name LevelSeed value ") for text in lines)


def test_full_strength_gets_no_rating(session: Session) -> None:
    lines = lines_of_games(session, {"engine": 0, "level": "full"})
    assert "setoption name UCI_LimitStrength value true" not in lines
    assert not any("UCI_Elo value" in text or "LevelSeed value" in text for text in lines)


@pytest.mark.parametrize("level", ["of the board", "of the command line"])
def test_a_level_gets_another_seed_in_every_new_game(level: str) -> None:
    strong = (("UCI_LimitStrength", "true"), ("UCI_Elo", str(level_named("Club").elo)))
    session = Session("board", [OWN_ENGINE, EngineSpec(MERELS, "Club", options=strong)])
    try:
        black = BEGINNER if level == "of the board" else {"engine": 1}
        lines = lines_of_games(session, black, 2)
    finally:
        session.close()
    first, second = (text for text in lines if text.startswith("setoption name LevelSeed value "))
    assert first != second
