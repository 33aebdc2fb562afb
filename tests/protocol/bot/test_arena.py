"""CodinGame's arena, played against a referee that speaks its lines to a real process."""

from __future__ import annotations

import random
import subprocess

import pytest

from merels.engine.game.board import NAMES, NEIGHBOURS, points_of
from merels.engine.game.position import Position
from merels.protocol.bot.arena import RULES
from merels.protocol.formats.codingame import format_command, parse_command
from tests.commands import MERELS, refusal
from tests.processes import limited


def board(position: Position) -> str:
    """The arena's board: each point with its owner, 2 for nobody."""
    return ";".join(
        f"{name.upper()}:"
        + ("0" if position.men[0] >> point & 1 else "1" if position.men[1] >> point & 1 else "2")
        for point, name in enumerate(NAMES)
    )


@pytest.mark.parametrize("player", [0, 1])
def test_a_whole_game(player: int) -> None:
    chance = random.Random(player)
    started = subprocess.Popen(
        [*MERELS, "bot", "-codingame"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    )  # fmt: skip
    with limited(started, 300) as process:
        play_a_game(process, player, chance)


def play_a_game(process: subprocess.Popen[str], player: int, chance: random.Random) -> None:
    """Play a whole game against a random opponent, which must be won."""
    assert process.stdin is not None and process.stdout is not None
    neighbours = [
        f"{name}:{';'.join(NAMES[near] for near in points_of(NEIGHBOURS[point]))}".upper()
        for point, name in enumerate(NAMES)
    ]
    print(player, 24, *neighbours, sep="\n", file=process.stdin)
    position, last = Position(RULES), ""
    for _ in range(200):
        if position.outcome() is not None:
            break
        moves = position.legal_moves()
        if position.side != player:
            move = chance.choice(moves)
            last = format_command(move)
        else:
            lines = [last, board(position), str(len(moves)), *map(format_command, moves)]
            print(*lines, sep="\n", file=process.stdin)
            move = parse_command(process.stdout.readline())
            assert move in moves
        position = position.play(move)
    outcome = position.outcome()
    assert outcome is not None and outcome.winner == player
    process.stdin.close()
    assert process.wait(60) == 0


@pytest.mark.parametrize(
    "text, word",
    [
        ("", "the player's number"),
        ("7\n", "'7'"),
        ("0\n1\nA1:D1\n\nA1:2;Z9:2\n1\nPLACE;A1\n", "'Z9:2'"),
        ("0\n0\n", "'0'"),
        ("0\n1\nA1:D1\n\nA1:2\n2\nPLACE;A1\n", "a command"),
    ],
)
def test_lines_that_are_not_the_arenas(text: str, word: str) -> None:
    assert word in refusal("bot", "-codingame", typed=text)
