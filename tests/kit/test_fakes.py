"""The fake engine: its moves, and the actions of its scripts."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from merels.engine.game.position import Position
from merels.engine.game.rules import make_rules
from tests.kit.fake_engine import Board
from tests.kit.fakes import fake


def answers(script: str, *lines: str, once: Path | None = None) -> list[str]:
    """Return the lines that a fake engine writes after ``lines``."""
    command, text = fake(script, once=once), "".join(line + "\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return [*done.stdout.splitlines(), f"exit {done.returncode}"]


def test_a_fake_engine_plays_exactly_the_legal_moves() -> None:
    chance = random.Random(1)
    for variant in ("mill", "multi", "loc"):
        for _ in range(5):
            position, board = Position(rules=make_rules(variant)), Board()
            while position.outcome() is None and position.number < 60:
                legal = list(map(str, position.legal_moves()))
                assert sorted(legal) == sorted(board.moves(variant))
                move = chance.choice([move for move in legal if "x" in move] or legal)
                position = position.push(move)
                board.play(move)


def test_a_script_changes_the_conversation(tmp_path: Path) -> None:
    go = "position startpos moves d6", "go nodes 1"
    assert len(answers("", *go, *go)) == 5
    assert answers("go#2: exit 3", *go, *go)[2:] == ["exit 3"]
    for script, expected in {
        "go: answer bestmove {line}": ["bestmove go nodes 1", "exit 0"],
        "go: write a & exit 3": ["a", "exit 3"],
        "go: hold; stop: answer {len(moves)}": ["exit 0"],
        "in: s/go nodes/stop/": ["exit 0"],
        "go{'depth' in line}: hang; go{'nodes' in line}: drop": ["exit 0"],
        r"out: s/(best|info).*/\1/": ["info", "best", "exit 0"],
        "go: print 1 & reply & do write('2'); out: drop": ["1", "2", "exit 0"],
        "start: merels; go: drop": ["exit 0"],
        "end: exit 4; go: drop": ["exit 4"],
        "eof: exit 5; go: drop": ["exit 5"],
    }.items():
        assert answers(script, *go) == expected, script
    for number in (0, 6, 6):
        done = answers("start: exit 6", "quit", once=tmp_path / "once")
        assert done == [f"exit {number}"]
