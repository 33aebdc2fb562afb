"""The built-in engine in this process, used through the client's interface."""

from __future__ import annotations

import doctest
import threading

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import parse_move
from merels.engine.game.position import Position
from merels.engine.game.score import PovScore
from merels.engine.search.limits import Info, Limit
from merels.protocol.client import in_process
from merels.protocol.client.in_process import InProcessEngine


def test_the_example_in_the_docstring_runs() -> None:
    failed, tried = doctest.testmod(in_process)
    assert tried and not failed


def test_play_accepts_every_kind_of_limit_and_only_legal_moves() -> None:
    position = Position()
    with InProcessEngine() as engine:
        for limit in (
            Limit(nodes=500), Limit(depth=3), Limit(time=0.02), Limit(mate=1, depth=3),
            Limit(white_clock=0.2, white_inc=0.01),
        ):
            result = engine.play(position, limit)
            assert result.move in position.legal_moves()
            assert isinstance(result.info.score, PovScore) and result.info.score.side == 0
        moves = [parse_move(token) for token in ("d6", "f4", "d7", "b4")]
        only = parse_move("d5xf4")
        assert engine.play(position, Limit(nodes=99), moves=moves, root_moves=[only]).move == only
        with pytest.raises(InputError):
            engine.play(position, Limit(nodes=1), moves=[parse_move("d6-d5")])
        with pytest.raises(InputError, match="'a1-a4': illegal move in root_moves"):
            engine.play(position, Limit(nodes=1), root_moves=[parse_move("a1-a4")])


def test_an_analysis_runs_until_it_is_stopped_or_followed_by_a_search() -> None:
    with InProcessEngine() as engine:
        with engine.analysis(Position(), multipv=3) as analysis:
            for info in analysis:
                assert isinstance(info, Info)
                if len(analysis.infos) == 3 and (info.depth or 0) >= 3:
                    break
        assert not analysis.running and [info.multipv for info in analysis.infos] == [1, 2, 3]
        variations = engine.analyse(Position(), Limit(depth=2), multipv=2)
        assert len(variations) == 2
        best = engine.analyse(Position(), Limit(depth=2))
        assert best.depth == 2
        analysis = engine.analysis(Position())
        assert engine.play(Position(), Limit(nodes=100)).move is not None
        assert not analysis.running
        analysis = engine.analysis(Position())
        threading.Timer(0.1, analysis.stop).start()
        assert analysis.wait().score is not None
