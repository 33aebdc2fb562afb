"""merels as a bot for OpenSpiel's game nine_mens_morris, and a comparison of the rules.

    pip install open_spiel
    python -m merels.protocol.examples.openspiel compare 1000
    python -m merels.protocol.examples.openspiel play 10

``compare`` plays random games and compares the legal moves of both programs in every position;
``play`` plays merels against a random player. OpenSpiel's rules are ``morris Repetition=0
NoRemovalPlies=0``; a game that reaches OpenSpiel's maximum length is a draw. A move of merels is
one action in OpenSpiel, and its removal a second action.
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
"""OpenSpiel's number of each point: row by row as in PlayOK, but from 0."""


def actions_of(move: Move) -> tuple[int, ...]:
    """Return OpenSpiel's actions for a move: one for the step, and one for each removal."""
    step = NUMBERS[move.to]
    if move.origin is not None:
        step += len(NUMBERS) * (1 + NUMBERS[move.origin])
    return (step, *(NUMBERS[point] for point in move.removed))


def read_history(actions: list[int]) -> tuple[Position, tuple[int, ...]]:
    """Return the position after the last complete move, and the actions of an incomplete move."""
    position = Position(RULES)
    partial: tuple[int, ...] = ()
    for action in actions:
        partial = (*partial, action)
        complete = [move for move in position.legal_moves() if actions_of(move) == partial]
        if complete:
            position, partial = position.push(complete[0]), ()
    return position, partial


class MerelsBot(pyspiel.Bot):  # type: ignore[misc]
    """An OpenSpiel bot that plays the moves of an engine."""

    def __init__(self, engine: Engine | InProcessEngine, limit: Limit) -> None:
        super().__init__()
        self._engine, self._limit = engine, limit
        self._pending: tuple[int, ...] = ()
        """Remaining actions of the current move."""

    def step(self, state: pyspiel.State) -> int:
        """Return the action to take in a state of a game that is not over."""
        position, partial = read_history(state.history())
        if not partial:
            move = self._engine.play(position, self._limit).move
            assert move is not None, "step was called although the game is over"
            self._pending = actions_of(move)
        action, *pending = self._pending
        self._pending = tuple(pending)
        return action


def compare(games: int, seed: int = 1) -> int:
    """Play random games in both programs; return the number of legal moves compared.

    Raise AssertionError if the legal moves or the results differ.
    """
    game, generator, compared = pyspiel.load_game("nine_mens_morris"), random.Random(seed), 0
    for _ in range(games):
        state, position = game.new_initial_state(), Position(RULES)
        while not state.is_terminal() and position.outcome() is None:
            ours = {actions_of(move): move for move in position.legal_moves()}
            theirs = dict(complete_moves(state))
            if ours.keys() != theirs.keys() or position.side != state.current_player():
                raise AssertionError(f"different moves: {position!r} and\n{state}")
            compared += len(ours)
            chosen = generator.choice(sorted(ours))
            position, state = position.push(ours[chosen]), theirs[chosen]
        outcome = position.outcome()
        # merels has no limit on the length of a game, so None here is a draw in OpenSpiel.
        value = 0 if outcome is None else outcome.value(0)
        if not state.is_terminal() or state.returns() != [value, -value]:
            raise AssertionError(f"different results: {position!r} and\n{state}")
    return compared


def complete_moves(state: pyspiel.State) -> Iterator[tuple[tuple[int, ...], pyspiel.State]]:
    """Yield the actions of every legal move, with the state after them."""
    for action in state.legal_actions():
        after = state.child(action)
        if after.is_terminal() or after.current_player() != state.current_player():
            yield (action,), after
        else:
            for removal in after.legal_actions():
                yield (action, removal), after.child(removal)


def play(games: int) -> float:
    """Play games against a random player with alternating colours; return merels' points."""
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
