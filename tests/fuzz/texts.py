"""Fuzzing of the readers of text: positions, moves, rules, and games in every form."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.core import core
from merels.engine.core.convert import core_board, core_moves, core_rules, decode_move
from merels.engine.game.fields import MAXIMUM_NUMBER
from merels.engine.game.notation import (
    START,
    format_moves,
    format_position,
    format_seventeen,
    parse_move,
)
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import MAXIMUM_PLIES, MEN_PER_SIDE, PRESETS, parse_rules
from merels.protocol.formats.files import pasted
from merels.protocol.formats.forms import write_game
from merels.protocol.formats.mfen import format_mfen, read_position
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.writer import format_record
from merels.protocol.formats.playok import (
    format_playok,
    format_playok_move,
    parse_playok_move,
)
from merels.protocol.games.record import Record
from merels.protocol.uci.position_command import read_setup
from tests.engine.random_games import random_positions, random_rules
from tests.fuzz.harness import Case, Defect, Fuzzer, Tally
from tests.fuzz.mutate import spoil

_GAMES = Path(__file__).parents[1] / "data" / "games.json"
_SHARE_SOUND = 0.05
"""Share of undamaged texts, which readers accept."""


class Texts(Fuzzer):
    """Texts that must be refused with `InputError`, or survive writing and reading.

    A case is the kind of the text, the rules for reading it, and the text.
    """

    kinds: dict[str, tuple[Callable[[random.Random], str], Callable[[str, str], None]]]

    def make(self, chance: random.Random) -> Case:
        """Return a random kind, rules, and a text that is usually damaged."""
        kind = chance.choice(list(self.kinds))
        text = self.kinds[kind][0](chance)
        if chance.random() < _SHARE_SOUND:
            return [kind, str(_rules(chance)), text]
        return [kind, str(_rules(chance)), spoil(text, chance, (self.kinds[kind][0](chance),))]

    def check(self, case: Case) -> Tally:
        """Read the text."""
        kind, rules, text = case if len(case) == 3 else ("position", "mill", "".join(case))
        if kind not in self.kinds:
            return Tally(rejected=1)
        try:
            parse_rules(rules)
            self.kinds[kind][1](text, rules)
        except InputError as error:
            expect_one_line(error)
            return Tally(rejected=1)
        return Tally(accepted=1)


def expect_one_line(error: InputError) -> None:
    """Raise `Defect` unless an error's message is one line of less than 1,000 characters."""
    if not 0 < len(str(error)) < 1000 or len(str(error).splitlines()) != 1:
        raise Defect(f"not one line: {str(error)[:300]!r}")


def expect_same(first: object, second: object, subject: str) -> None:
    """Raise `Defect` if two values differ."""
    if first != second:
        raise Defect(f"{subject}: {first!r} became {second!r}")


def check_position(position: Position) -> None:
    """Check that a position is valid, and that readable rules and core agree on its moves."""
    white, black = position.men
    if white & black or (white | black) >> 24:
        raise Defect(f"men on the same or on no point: {position!r}")
    for men, hand in zip(position.men, position.hands):
        if not 0 <= hand <= MEN_PER_SIDE or men.bit_count() + hand > MEN_PER_SIDE:
            raise Defect(f"too many men: {position!r}")
    if not 0 <= position.plies <= MAXIMUM_PLIES or not 1 <= position.number <= MAXIMUM_NUMBER:
        raise Defect(f"numbers out of bounds: {position!r}")
    moves = position.legal_moves()
    moves_of_core = {decode_move(code) for code in core_moves(position)}
    expect_same(set(moves), moves_of_core, "the core's moves")
    counted = core.perft(core_rules(position.rules), core_board(position), 1)
    expect_same(len(moves), counted, "perft 1")
    position.outcome()
    for move in moves[:2]:
        check_written(position.play(move))


def check_written(position: Position) -> None:
    """Check that a position round-trips through each of its text forms.

    MFEN does not state the side to move of a finished game; its readers assume that it is the
    loser. Therefore a finished position with the winner to move has no MFEN.
    """
    bare = Position.of(
        position.rules, position.men, position.hands, position.side, position.plies, position.number
    )
    outcome = position.outcome()
    for write in (format_position, format_seventeen, format_mfen):
        if write is format_mfen and outcome is not None and outcome.winner == position.side:
            continue
        expect_same(bare, read_position(write(bare), position.rules), write.__name__)


def _position(text: str, rules: str) -> None:
    position = read_position(text, parse_rules(rules))
    check_written(position)
    check_position(position)


def _setup(text: str, rules: str) -> None:
    setup = read_setup(text.split(), parse_rules(rules))
    check_position(setup.position)
    expect_same(setup.position, setup.under(setup.position.rules).position, "the setup read again")


def _same_move(
    parse: Callable[[str], Move], write: Callable[[Move], str]
) -> Callable[[str, str], None]:
    """Return a check that a move has distinct points and round-trips through its text."""

    def check(text: str, rules: str) -> None:
        move = parse(text)
        points = [move.to, *move.removed, *([] if move.origin is None else [move.origin])]
        if len(set(points)) != len(points) or not all(0 <= point < 24 for point in points):
            raise Defect(f"a move with impossible points: {move!r}")
        expect_same(move, parse(write(move)), parse.__name__)

    return check


def _rule_set(text: str, rules: str) -> None:
    parsed = parse_rules(text)
    expect_same(parsed, parse_rules(str(parsed)), "the rules")
    core_moves(Position(rules=parsed))


def _game(text: str, rules: str) -> None:
    _check_record(parse_record(text, parse_rules(rules)))


def _playok(text: str, rules: str) -> None:
    record = parse_record(text, parse_rules(rules))
    _check_record(record)
    if format_position(record.start) == START:
        reread = parse_record(format_playok(record))
        expect_same((record.moves, record.result), (reread.moves, reread.result), "PlayOK's game")


def _any_game(text: str, rules: str) -> None:
    for found in pasted(text):
        record = found.read(RecordRules(parse_rules(rules)))
        assert isinstance(record, Record)
        _check_record(record)
        write_game(record, record.final())


def _check_record(record: Record) -> None:
    """Check that every move is legal, and that the record round-trips through PGN."""
    position = record.start
    check_position(position)
    for move in record.moves:
        position = position.push(move)
    check_written(position)
    text = format_record(record)
    reread = parse_record(text)
    expect_same((record.start, record.moves), (reread.start, reread.moves), "the game")
    expect_same(record.result, reread.result, "the result")
    expect_same(text, format_record(reread), "the record's text")


def _rules(chance: random.Random) -> str:
    return chance.choice(list(PRESETS))


_POSITIONS = [position for position in random_positions(1, 400)]


def _some_position(chance: random.Random) -> str:
    write = chance.choice((format_position, format_seventeen, format_mfen))
    return write(chance.choice(_POSITIONS))


def _some_setup(chance: random.Random) -> str:
    record = _some_record(chance)
    start = format_position(record.start)
    start = "startpos" if start == START else f"fen {start}"
    return f"{start} moves {format_moves(record.moves)}"


def _some_move(chance: random.Random) -> Move:
    return chance.choice(chance.choice(_POSITIONS).legal_moves() or [Move(None, 0)])


def _some_record(chance: random.Random) -> Record:
    """Return the first moves of a game, with some comments, marks, glyphs and variations."""
    game = chance.choice(_RECORDS)
    number = chance.choice((0, 1, 3, 10, 30, 80))
    record = Record(game.start, game.moves[:number], game.result, game.tags)
    for node in record.mainline():
        kind = chance.randrange(20)
        if kind < 4:
            node.comment = "+0.25/6 0.001s"
        elif kind == 4:
            node.mark(chance.choice(("clk", "eval")), chance.choice(("0:04:59.5", "-0.17,9", "#3")))
        elif kind == 5:
            node.glyphs = [f"${chance.randrange(20)}"]
        elif kind == 6 and node.parent is not None:
            record.add(node.parent, chance.choice(node.parent.position.legal_moves()))
    if chance.random() < 0.1:  # The moves after `stop` were taken back.
        record.stop = chance.choice([record.root, *record.mainline()])
    return record


def _records() -> list[Record]:
    records = []
    for game in json.loads(_GAMES.read_text()):
        start = read_position(game["position"], parse_rules(game["rules"]))
        tags = {"White": 'A "b" \\ c', "Black": "Mühle", "Round": "1"}
        records.append(Record(start, map(parse_move, game["moves"].split()), game["result"], tags))
    return records


_RECORDS = _records()
_FROM_START = [record for record in _RECORDS if format_position(record.start) == START]


def _some_numbers(chance: random.Random) -> str:
    record = chance.choice(_FROM_START)
    number = chance.choice((0, 1, 3, 10, 30, 80))
    return format_playok(Record(record.start, record.moves[:number], result=record.result))


class Positions(Texts):
    """Positions with 6 and 17 fields and as MFEN, positions with moves, and rules."""

    name = "positions"
    kinds = {
        "position": (_some_position, _position),
        "setup": (_some_setup, _setup),
        "rules": (lambda chance: str(random_rules(chance)), _rule_set),
    }


class Moves(Texts):
    """Single moves in standard notation and in PlayOK's."""

    name = "moves"
    kinds = {
        "move": (lambda chance: str(_some_move(chance)), _same_move(parse_move, str)),
        "numbers": (
            lambda chance: format_playok_move(_some_move(chance)),
            _same_move(parse_playok_move, format_playok_move),
        ),
    }


class Games(Texts):
    """Game records: PGN, PlayOK's, and texts pasted into the board."""

    name = "games"
    kinds = {
        "record": (lambda chance: format_record(_some_record(chance)), _game),
        "playok": (_some_numbers, _playok),
        "pasted": (
            lambda chance: chance.choice(
                (_some_position, _some_numbers, lambda c: format_record(_some_record(c)))
            )(chance),
            _any_game,
        ),
    }
