"""Options that the board sends to an engine: those of its level."""

from __future__ import annotations

from merels.engine.search.levels import level_named
from tests.protocol.board.server import Server
from tests.protocol.board.steps import BEGINNER, clock


def lines_before_go(server: Server, level: str) -> list[str]:
    """Return the log of an engine up to the event with its first ``go``."""
    session = server.begin(black={"engine": 0, "level": level}, time=clock(60))
    lines: list[str] = []

    def has_go(log: list[list[str]]) -> bool:
        lines.extend(text for _, _, text in log)
        return any(text.startswith("go wtime") for text in lines)

    with server.stream(session) as stream:
        server.api("play", session=session, move="d6", at=0)
        stream.until("log", has_go)
    return lines


def test_a_level_gets_its_rating_and_full_strength_gets_none(server: Server) -> None:
    lines = lines_before_go(server, "Club")
    assert "setoption name UCI_LimitStrength value true" in lines
    assert f"setoption name UCI_Elo value {level_named('Club').elo}" in lines
    assert any(text.startswith("setoption name LevelSeed value ") for text in lines)
    lines = lines_before_go(server, "full")
    assert "setoption name UCI_LimitStrength value true" not in lines
    assert not any("UCI_Elo value" in text or "LevelSeed value" in text for text in lines)


def seeds(server: Server, black: dict[str, object]) -> list[str]:
    """Return the lines that set Black's seed in two games on one board."""
    session = server.begin(black=black, time=clock(60))
    lines: list[str] = []
    with server.stream(session) as stream:
        for _ in range(2):
            server.api("play", session=session, move="d6", at=0)
            stream.until("state", lambda state: state["plies"] == 2)
            server.api("new", session=session)
            stream.until("state", lambda state: state["plies"] == 0)
    with server.stream(session) as stream:  # A new stream gets the whole log.
        stream.until("log", lambda log: lines.extend(text for _, _, text in log) is None)
    return [text for text in lines if text.startswith("setoption name LevelSeed value ")]


def test_a_level_gets_another_seed_in_every_new_game(server: Server) -> None:
    first, second = seeds(server, BEGINNER)
    assert first != second


def test_a_level_of_the_command_line_gets_another_seed_in_every_new_game() -> None:
    with Server("-engine", "level=Club") as server:
        first, second = seeds(server, {"engine": 1})
    assert first != second
