"""Undo, end and pause of a game: records stay correct, and no result is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.game_store import GameStore
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
from merels.protocol.board.view import moves_view, state_view
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.puzzles.training import Trainer
from tests.kit.fakes import fake
from tests.kit.waiting import wait
from tests.protocol.board.steps import ANALYST, PERSON, clock, trace
from tests.protocol.board.test_game_store import PUZZLE

NEARLY_WON = "OO******/@@@*****/*O****** w 0 0 0 30"
GAME_OVER = "the game is over"


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Session]:
    """A board that stores games, with a fake engine that moves at once."""
    choices = [OWN_ENGINE, EngineSpec(fake(), "Fake")]
    session = Session("board", choices, GameStore(tmp_path))
    yield session
    session.close()


def begin(board: Session, black: Any = PERSON, white: Any = PERSON, **more: Any) -> None:
    """Begin a game, by default between two users."""
    act(board, "new", {"players": [white, black, ANALYST], **more})


def play(board: Session, *moves: str) -> None:
    """Play moves of a game."""
    for move in moves:
        act(board, "play", {"move": move, "at": board.game.at.number})


def movetext(board: Session) -> str:
    """Return the movetext of the game on the board."""
    return " ".join(act(board, "export", {})["record"].split("\n\n")[1].split())


def movetexts(folder: Path) -> list[str]:
    """Return the movetexts of the games in a folder, oldest first, without clock times."""
    texts = [path.read_text() for path in sorted(folder.glob("*.pgn"))]
    games = [" ".join(text.split("\n\n")[1].split()) for text in texts]
    return [re.sub(r" \{\[%clk [^]]*\]\}|\[%clk [^]]*\] ", "", game) for game in games]


def test_undo_after_a_win_does_not_overwrite_the_win(board: Session, tmp_path: Path) -> None:
    begin(board, position=NEARLY_WON)
    won = next(m for m in board.game.last.legal_moves() if board.game.last.play(m).outcome())
    play(board, str(won))
    with pytest.raises(InputError, match=GAME_OVER):
        act(board, "undo", {})
    assert board.game.result() == ("1-0", "White wins, Black has two men")
    act(board, "undo", {"ended": True})
    act(board, "resign", {})
    # The won game keeps its result, and its continuation is stored as another game.
    first, second = movetexts(tmp_path)
    assert first == f"30. {won} 1-0"
    assert second == f"{{Black wins, White resigns}} ( 30. {won} ) 0-1"


@pytest.mark.parametrize("end", ["resign", "agree", "time"])
def test_undo_after_the_end_needs_a_confirmation_and_erases_no_result(
    board: Session, tmp_path: Path, clock_time: list[float], end: str
) -> None:
    begin(board, **({"time": clock(1)} if end == "time" else {}))
    play(board, "d6", "f4")
    if end == "resign":
        act(board, "resign", {})
    elif end == "agree":
        act(board, "draw", {"how": "offer"})
        act(board, "draw", {"how": "accept"})
    else:
        clock_time[0] += 1.1
        board.tick()
    ended = board.game.result()
    assert ended[0] != "*"
    for body in ({}, {"ended": False}, {"ended": "yes"}):
        with pytest.raises(InputError, match=f"{GAME_OVER}.*{ended[1]}"):
            act(board, "undo", body)
    assert board.game.result() == ended
    act(board, "undo", {"ended": True})
    assert state_view(board)["playing"] and board.game.live.ply == 1
    if end == "time":
        assert board.game.clock is not None and board.game.clock.left(0) > 0.5
    play(board, "b4")
    finished, other = movetexts(tmp_path)
    assert finished == f"1. d6 f4 {{{ended[1]}}} {ended[0]}"
    assert other == "1. d6 b4 ( 1... f4 ) *"


def test_a_finished_game_keeps_the_names_of_its_players(board: Session, tmp_path: Path) -> None:
    begin(board, {"engine": None, "name": "Ben"}, {"engine": None, "name": "Anna"})
    play(board, "d6", "f4")
    act(board, "resign", {})
    others = [{"engine": None, "name": "Cleo"}, {"engine": 0, "level": "Club"}, ANALYST]
    act(board, "players", {"players": others, "time": clock(60)})
    act(board, "comment", {"node": 1, "text": "A start"})
    [path] = tmp_path.glob("*.pgn")
    tags = parse_record(path.read_text()).tags
    assert (tags["White"], tags["Black"], tags["BlackType"]) == ("Anna", "Ben", "human")
    assert "TimeControl" not in tags
    # A game that continues has the new players.
    act(board, "undo", {"ended": True})
    assert board.snapshot().tags["White"] == "Cleo"


def test_a_finished_game_keeps_the_times_left(board: Session, tmp_path: Path) -> None:
    begin(board, time=clock(60))
    play(board, "d6", "f4")
    act(board, "resign", {})
    [path] = tmp_path.glob("*.pgn")
    before = parse_record(path.read_text()).tags
    act(board, "players", {"players": [PERSON, PERSON, ANALYST], "time": clock(600, 5)})
    act(board, "comment", {"node": 1, "text": "A start"})
    record = parse_record(path.read_text())
    assert record.tags == before and before["BlackClock"] < "0:02"
    assert record.mainline()[0].comment == "A start"


def test_a_move_is_refused_unless_the_user_is_to_move_in_the_position_shown(tmp_path: Path) -> None:
    silent = EngineSpec(fake("never"), "Silent")
    board = Session("board", [OWN_ENGINE, silent], GameStore(tmp_path))
    begin(board)
    play(board, "d6", "f4")
    with pytest.raises(InputError, match="the board has changed meanwhile"):
        act(board, "play", {"move": "d2", "at": 1})
    act(board, "go", {"node": 1})
    with pytest.raises(InputError, match="you are looking back"):
        play(board, "d2")
    begin(board, {"engine": 1})
    play(board, "d6")
    with pytest.raises(InputError, match="it is the engine's turn"):
        play(board, "f4")
    assert state_view(board)["plies"] == 1
    board.close()


def test_a_reopened_game_has_its_remaining_time(board: Session) -> None:
    begin(board, time=clock(60, 100))
    play(board, "d6", "f4", "d2")
    timed = board.saver.key
    begin(board, time={"kind": "move", "seconds": 2.0})
    play(board, "d6")
    untimed = board.saver.key
    begin(board, time=clock(300))
    act(board, "reopen", {"key": timed})
    white, black = state_view(board)["clock"]["left"]
    assert 150 < white <= 160 and 150 < black <= 160
    assert board.time == clock(60, 100)
    act(board, "reopen", {"key": untimed})
    assert state_view(board)["clock"] is None and board.time["kind"] == "move"


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_fault_in_one_of_several_games_names_the_game(board: Session, count: int) -> None:
    sound, broken = '[Event "a"]\n\n1. d6 *\n\n', '[Event "b"]\n\n1. d6 d6 *\n\n'
    text = sound * (count - 1) + broken
    with pytest.raises(InputError) as error:
        act(board, "load", {"text": text, "game": count - 1})
    assert (f"game {count}" in str(error.value)) == (count > 1)
    with pytest.raises(InputError, match=f"expected a game from 0 to {max(0, count - 1)}"):
        act(board, "load", {"text": sound * count, "game": count})


def test_the_page_gets_the_end_of_the_main_line_after_undo(board: Session) -> None:
    begin(board)
    play(board, "d6", "f4")
    assert moves_view(board)["stop"] is None
    act(board, "undo", {})
    assert moves_view(board)["stop"] == 1
    act(board, "redo", {})
    assert moves_view(board)["stop"] is None


@pytest.mark.parametrize("black", [PERSON, {"engine": 1}])
def test_a_paused_game_refuses_moves_of_both_sides(board: Session, black: Any) -> None:
    begin(board, black, time=clock(600))
    act(board, "pause", {"on": True})
    with pytest.raises(InputError, match="the game is paused"):
        play(board, "d6")
    state = state_view(board)
    assert state["legal"] == [] and not state["thinking"] and state["plies"] == 0
    act(board, "pause", {"on": False})
    play(board, "d6")
    if black != PERSON:
        wait(lambda: board.game.live.ply == 2, 60, "a reply")
        act(board, "pause", {"on": True})
        act(board, "undo", {})
        assert state_view(board)["clock"]["running"] is None
        with pytest.raises(InputError, match="the game is paused"):
            play(board, "d2")
    else:
        act(board, "pause", {"on": True})
        assert state_view(board)["clock"]["running"] is None
        with pytest.raises(InputError, match="the game is paused"):
            play(board, "f4")
        # An analysis does not end the pause.
        act(board, "analyse", {"on": True})
        play(board, "f4")
        act(board, "analyse", {"on": False})
        assert state_view(board)["paused"] and board.game.live.ply == 1


def test_an_engine_does_not_move_while_the_game_is_paused(tmp_path: Path) -> None:
    slow = EngineSpec(fake("stops-only 0.2"), "Slow")
    session = Session("board", [OWN_ENGINE, slow], GameStore(tmp_path))
    lines = trace(session)
    try:
        begin(session, {"engine": 1}, time=clock(600))
        play(session, "d6")
        wait(lambda: any(line.startswith(">go ") for line in lines), 60, "a go")
        act(session, "pause", {"on": True})
        wait(lambda: any(line.startswith("<bestmove") for line in lines), 60, "the answer")
        wait(lambda: not session._search_thread._job, 60, "the end of the search")
        assert session.game.live.ply == 1
        with pytest.raises(InputError, match="the game is paused"):
            play(session, "f4")
        left = session.game.clock and session.game.clock.left(1)
        assert session.game.clock is not None and session.game.clock.left(1) == left
        act(session, "pause", {"on": False})
        assert session.game.clock.running == 1
    finally:
        session.close()


@pytest.mark.parametrize("text", [
    "********/********/******** w 0 0 0 1", "OO******/@@******/*O****** w 0 0 0 30",
])
def test_a_final_position_cannot_begin_a_game(board: Session, text: str) -> None:
    begin(board)
    play(board, "d6")
    with pytest.raises(InputError, match=GAME_OVER):
        act(board, "new", {"position": text})
    assert movetext(board) == "1. d6 *"
    act(board, "new", {"position": text, "analyse": True})
    state = state_view(board)
    assert state["analysing"] and not board.game.played and state["final"]
    with pytest.raises(InputError, match=GAME_OVER):
        act(board, "play_on", {})
    with pytest.raises(InputError, match=GAME_OVER):
        act(board, "analyse", {"on": False})
    assert not board.game.played


def test_an_analysis_is_stored_without_a_termination_tag(board: Session, tmp_path: Path) -> None:
    act(board, "new", {"position": NEARLY_WON, "analyse": True})
    [move, *_] = board.game.last.legal_moves()
    play(board, str(move))
    assert movetext(board) == f"30. {move} *"
    [path] = tmp_path.glob("*.pgn")
    assert "Termination" not in path.read_text()


def test_undo_clears_the_last_scores_which_decide_on_draw_offers(board: Session) -> None:
    begin(board, {"engine": 1})
    play(board, "d6")
    wait(lambda: board.game.live.ply == 2, 60, "a reply")
    assert board.last_scores[1] is not None
    act(board, "undo", {})
    assert board.last_scores == [None, None]


def test_undo_continues_against_an_engine_and_pauses_between_engines(board: Session) -> None:
    engine = {"engine": 1}
    for players in ((PERSON, engine), (engine, PERSON)):
        own = players.index(PERSON)
        begin(board, white=players[0], black=players[1])
        wait(lambda: board.game.last.side == own, 60, "the user's turn")
        play(board, str(board.game.last.legal_moves()[0]))
        act(board, "undo", {})
        assert board.game.last.side == own and board.game.live.ply == own and not board.paused
    begin(board, white=engine, black=engine)
    wait(lambda: board.game.live.ply > 0, 60, "a move")
    act(board, "undo", {})
    assert board.paused


def test_a_game_with_all_moves_taken_back_resumes_with_its_clocks(
    board: Session, tmp_path: Path
) -> None:
    begin(board, time=clock(60))
    play(board, "d6", "f4")
    act(board, "undo", {})
    act(board, "undo", {})
    [path] = tmp_path.glob("*.pgn")
    text = path.read_text()
    assert '[WhiteClock "0:01:00"]' in text
    key = board.saver.key
    begin(board)
    path.write_text(text.replace('[WhiteClock "0:01:00"]', '[WhiteClock "0:00:41.5"]'))
    act(board, "reopen", {"key": key})
    assert board.game.clock is not None and board.game.clock.left(0) == 41.5
    assert board.game.live is board.game.record.root and board.playing
    [first] = board.game.live.children
    assert [str(move) for move in first.children[0].moves] == ["d6", "f4"]
    play(board, "d6")
    assert board.game.live is first and set(first.marks) == {"clk"}


def test_the_first_hint_for_a_placing_is_a_letter_and_the_second_the_move() -> None:
    board = Session("board", [OWN_ENGINE], None, Trainer(None, [PUZZLE]))
    act(board, "puzzle", {})
    move = str(PUZZLE.line[0])
    assert act(board, "hint", {})["hint"] == {"letter": move[0]}
    assert act(board, "hint", {})["hint"] == {"move": move}
    board.close()


def test_redo_replays_moves_in_play_and_edits_in_analysis(board: Session) -> None:
    begin(board)
    play(board, "d6", "f4")
    assert not state_view(board)["redo"]
    act(board, "undo", {})
    assert state_view(board)["redo"]
    act(board, "analyse", {"on": True})
    assert not state_view(board)["redo"]
    play(board, "d2")
    act(board, "undo", {})
    assert state_view(board)["redo"]
    act(board, "analyse", {"on": False})
    assert state_view(board)["redo"]
    act(board, "redo", {})
    assert not state_view(board)["redo"]
