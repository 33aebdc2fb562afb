"""OpenSpiel: merels as a bot for its game nine_mens_morris, and its rules beside merels'.

    pip install open_spiel
    python -m merels.protocol.examples.openspiel compare 1000
    python -m merels.protocol.examples.openspiel play 10

The first plays random games and compares what is legal in both, move by move; in the second merels
meets a random player. OpenSpiel's rules are ``morris Repetition=0 NoRemovalPlies=0``, but it calls
every long game a draw. A move of merels is one action of OpenSpiel, or two: the removal is an
action of its own.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pyspiel  # type: ignore[import-not-found, unused-ignore]

from merels.engine import Move, Position
from merels.engine.game.board import POINTS
from merels.engine.game.rules import parse_rules
from merels.protocol import Engine, InProcessEngine, Limit
from merels.protocol.formats.playok import ROW_BY_ROW

RULES = parse_rules("morris Repetition=0 NoRemovalPlies=0")
NUMBERS = {POINTS[name]: number for number, name in enumerate(ROW_BY_ROW)}
"""OpenSpiel's number for each of our points: row by row, like PlayOK's, but from 0."""


def actions_of(move: Move) -> tuple[int, ...]:
    """OpenSpiel's actions for a move."""
    first = NUMBERS[move.to]
    if move.origin is not None:
        first += len(NUMBERS) * (1 + NUMBERS[move.origin])
    return (first, *(NUMBERS[point] for point in move.removed))


def read_history(actions: list[int]) -> tuple[Position, tuple[int, ...]]:
    """The position after a game's last whole move, and the action of a move that is not whole."""
    position = Position(RULES)
    partial: tuple[int, ...] = ()
    for action in actions:
        partial = (*partial, action)
        whole = [move for move in position.legal_moves() if actions_of(move) == partial]
        if whole:
            position, partial = position.push(whole[0]), ()
    return position, partial


class MerelsBot(pyspiel.Bot):  # type: ignore[misc]
    """A bot who asks an engine: merels itself, or any that speaks its protocol."""

    def __init__(self, engine: Engine | InProcessEngine, limit: Limit) -> None:
        super().__init__()
        self._engine, self._limit = engine, limit
        self._rest: tuple[int, ...] = ()
        """The remaining part of a move of which a part was played."""

    def step(self, state: pyspiel.State) -> int:
        """The action to take in a state that is not over."""
        position, partial = read_history(state.history())
        if not partial:
            move = self._engine.play(position, self._limit).move
            assert move is not None, "OpenSpiel asks for no move where the game is over"
            self._rest = actions_of(move)
        action, *rest = self._rest
        self._rest = tuple(rest)
        return action


def compare(games: int, seed: int = 1) -> int:
    """Play random games under both rules; returns how many moves were legal in both.

    Fails where one has a choice that the other has not, or the results differ.
    """
    game, chance, compared = pyspiel.load_game("nine_mens_morris"), random.Random(seed), 0
    for _ in range(games):
        state, position = game.new_initial_state(), Position(RULES)
        while not state.is_terminal() and position.outcome() is None:
            ours = {actions_of(move): move for move in position.legal_moves()}
            theirs = dict(whole_moves(state))
            if ours.keys() != theirs.keys() or position.side != state.current_player():
                raise AssertionError(f"{position!r} has other moves than\n{state}")
            compared += len(ours)
            chosen = chance.choice(sorted(ours))
            position, state = position.push(ours[chosen]), theirs[chosen]
        outcome = position.outcome()
        # OpenSpiel ends a long game as a draw; for merels it goes on.
        value = 0 if outcome is None else outcome.value(0)
        if not state.is_terminal() or state.returns() != [value, -value]:
            raise AssertionError(f"{position!r} ends otherwise than\n{state}")
    return compared


def whole_moves(state: pyspiel.State) -> Iterator[tuple[tuple[int, ...], pyspiel.State]]:
    """The actions of every move, with the state after it."""
    for action in state.legal_actions():
        after = state.child(action)
        if after.is_terminal() or after.current_player() != state.current_player():
            yield (action,), after
        else:
            for removal in after.legal_actions():
                yield (action, removal), after.child(removal)


def play(games: int) -> float:
    """The points of merels against a random player, with both colours in turn."""
    game, points = pyspiel.load_game("nine_mens_morris"), 0.0
    with InProcessEngine() as engine:
        for number in range(games):
            own = number % 2
            bots = [pyspiel.make_uniform_random_bot(1 - own, number)] * 2
            bots[own] = MerelsBot(engine, Limit(nodes=2000))
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(bots[state.current_player()].step(state))
            points += (state.returns()[own] + 1) / 2
    return points


if __name__ == "__main__":
    command, games = sys.argv[1], int(sys.argv[2])
    if command == "play":
        print(f"merels: {play(games):g} of {games} points")
    else:
        print(f"{games} games, {compare(games)} legal moves, the same in both")
