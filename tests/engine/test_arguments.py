"""Arguments of wrong types and values to the public functions of the engine."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from merels.engine import (
    BLACK,
    DEFAULT_RULES,
    WHITE,
    Clock,
    Level,
    Limit,
    Move,
    Outcome,
    Position,
    PovScore,
    Rules,
    Score,
    Searcher,
    Tables,
    evaluate,
    format_moves,
    format_position,
    format_seventeen,
    level_named,
    make_rules,
    open_tables,
    parse_move,
    parse_position,
    parse_rules,
    play_moves,
)
from merels.engine.common.errors import InputError

TEXT = "********/O*@*****/******** w 8 8 0 2"
START = Position()
KEYS = (START.key, START.key + 1)


@pytest.mark.parametrize("values", [
    {"nodes": 0}, {"mate": 0}, {"depth": 0}, {"depth": -1}, {"depth": 2.5}, {"depth": True},
    {"nodes": 10**30}, {"nodes": math.inf}, {"nodes": math.nan}, {"nodes": "9"}, {"nodes": [1]},
    {"remaining_moves": 0}, {"time": math.inf, "nodes": 50}, {"time": math.nan}, {"time": -1},
    {"time": "1"}, {"time": True}, {"time": 10**27}, {"time": 1j}, {"white_clock": -0.05},
    {"black_clock": math.nan}, {"white_inc": -1}, {"black_inc": "0"},
])
def test_a_value_that_is_no_limit_is_refused_at_once(values: dict[str, Any]) -> None:
    """In a former version, searches with these values did not end, overflowed, or were accepted."""
    with pytest.raises(InputError, match="expected a (whole )?number from"):
        Limit(**values)


def test_a_whole_float_is_an_integer_limit() -> None:
    limit = Limit(nodes=1e6, depth=100.0)  # type: ignore[arg-type]
    assert (limit.nodes, limit.depth) == (1_000_000, 100)
    assert type(limit.nodes) is int and type(limit.depth) is int


@pytest.mark.parametrize("values", [
    {"rules": TEXT}, {"rules": "morris"}, {"rules": 5}, {"rules": None}, {"men": 5},
    {"men": (1, 1)}, {"men": (1 << 24, 0)}, {"men": (0.5, 0)}, {"men": (1,)}, {"hands": (10, 0)},
    {"hands": (-1, 0)}, {"men": (3, 0)}, {"side": 2}, {"side": "w"}, {"plies": -1}, {"number": 0},
    {"number": "1"}, {"history": [START.key]}, {"history": KEYS}, {"history": ("x",)},
])
def test_a_position_of_wrong_values_is_refused_at_once(values: dict[str, Any]) -> None:
    """In a former version, a text was stored as rules, and failed seven plies later."""
    with pytest.raises(InputError, match="expected"):
        Position.of(**values)


def test_a_text_makes_a_position() -> None:
    """In a former version, a text was stored as rules."""
    position = Position("O***@***/********/******** b 8 8 0 2")
    assert (position.turn, position.man_at("d5"), position.man_at("D3")) == (BLACK, WHITE, BLACK)
    assert position.man_at("a1") is None
    assert position.fen() == "O***@***/********/******** b 8 8 0 2"
    assert Position(START.fen()) == START == Position(rules=DEFAULT_RULES)
    loc = make_rules("loc")
    assert Position(TEXT, loc) == parse_position(TEXT, loc) == Position(rules=loc, text=TEXT)
    assert Position(loc) == Position(rules=loc), "rules alone are the start under them"
    for text in ("morris", "", b"x", 5, None):
        with pytest.raises(InputError, match="position"):
            Position(text)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"make_rules\('morris'\)"):
        Position(TEXT, "morris")  # type: ignore[arg-type]
    for point in ("d8", "", 5, -1, True, None):
        with pytest.raises(InputError, match="a point of the board"):
            START.man_at(point)  # type: ignore[arg-type]


def test_a_position_states_whether_the_game_is_over() -> None:
    assert not START.is_game_over()
    assert Position("OO******/@@@*****/******** w 0 0 0 9").is_game_over()


def test_a_position_cannot_be_changed() -> None:
    for position in (Position(), Position().push("d6")):
        for name in ("side", "history"):
            with pytest.raises(AttributeError):
                setattr(position, name, 1)
        with pytest.raises(AttributeError):
            del position.men
        assert copy.deepcopy(position) == pickle.loads(pickle.dumps(position)) == position


def test_rules_with_wrong_values_are_refused_at_once() -> None:
    fields: tuple[Any, ...] = ("own", "any", "one", "loses", 3, 80, 4, "mill")
    assert Rules(*fields) == DEFAULT_RULES
    for index, value in (
        (0, "Own"), (1, None), (2, "two"), (3, []), (4, -1), (4, 1), (5, "80"), (6, 10_001),
        (7, "chess"),
    ):
        with pytest.raises(InputError, match="expected"):
            Rules(*fields[:index], value, *fields[index + 1 :])


ANY: Any = object()
HUGE: Any = 10**5000
"""A number that has more digits than Python writes."""
ANY_NUMBER: Any = 0
CALLS: dict[str, Callable[[], object]] = {
    "parse_position(None)": lambda: parse_position(ANY),
    "parse_position(text, name)": lambda: parse_position(TEXT, "morris"),  # type: ignore[arg-type]
    "format_position": lambda: format_position(ANY),
    "format_seventeen": lambda: format_seventeen(ANY),
    "format_moves(number)": lambda: format_moves(ANY_NUMBER),
    "format_moves(text)": lambda: format_moves("d6"),
    "format_moves(int)": lambda: format_moves([5]),  # type: ignore[list-item]
    "format_moves(points)": lambda: format_moves([Move(0, 99)]),
    "parse_move": lambda: parse_move(ANY),
    "parse_rules": lambda: parse_rules(ANY),
    "parse_rules(list)": lambda: parse_rules([]),  # type: ignore[arg-type]
    "make_rules": lambda: make_rules(ANY),
    "make_rules(settings)": lambda: make_rules("mill", [ANY]),
    "make_rules(int)": lambda: make_rules("mill", 5),  # type: ignore[arg-type]
    "make_rules(text)": lambda: make_rules("mill", "Flying=never"),
    "with_field": lambda: DEFAULT_RULES.with_field(ANY, "never"),
    "with_field(value)": lambda: DEFAULT_RULES.with_field("Flying", ANY),
    "with_field(Repetition)": lambda: DEFAULT_RULES.with_field("Repetition", "1"),
    "with_field(number)": lambda: DEFAULT_RULES.with_field("Repetition", 3 + ANY_NUMBER),
    "level_named": lambda: level_named(ANY),
    "play_moves(position)": lambda: play_moves(ANY, ["d6"]),
    "play_moves(text)": lambda: play_moves(START, "d6 f4"),
    "play_moves(int)": lambda: play_moves(START, ANY_NUMBER),
    "play_moves(tokens)": lambda: play_moves(START, [5]),  # type: ignore[list-item]
    "evaluate": lambda: evaluate(ANY),
    "open_tables(root)": lambda: open_tables(ANY, DEFAULT_RULES),
    "open_tables(rules)": lambda: open_tables("tables", "morris"),  # type: ignore[arg-type]
    "open_tables(men)": lambda: open_tables("tables", DEFAULT_RULES, 2.5),  # type: ignore[arg-type]
    "play(text)": lambda: START.play("d6"),  # type: ignore[arg-type]
    "play(tuple)": lambda: START.play((None, 3, ())),  # type: ignore[arg-type]
    "push(int)": lambda: START.push(ANY),
    "push(points)": lambda: START.push(Move(None, 99)),
    "push(text)": lambda: START.push("x"),
    "is_legal(int)": lambda: START.is_legal(ANY),
    "is_legal(tuple)": lambda: START.is_legal((None, 3, ())),  # type: ignore[arg-type]
    "is_legal(points)": lambda: START.is_legal(Move(None, "d6")),  # type: ignore[arg-type]
    "is_legal(removed)": lambda: START.is_legal(Move(None, 3, [5])),  # type: ignore[arg-type]
    "under": lambda: START.under("morris"),  # type: ignore[arg-type]
    "Searcher(hash)": lambda: Searcher(0),
    "Searcher(text)": lambda: Searcher("16"),  # type: ignore[arg-type]
    "Searcher(threads)": lambda: Searcher(4, 0),
    "Searcher.resize": lambda: Searcher(4).resize(ANY),
    "search(position)": lambda: Searcher(4).search(ANY, Limit(nodes=1)),
    "search(limit)": lambda: Searcher(4).search(START, 0.1),  # type: ignore[arg-type]
    "search(root_moves)": lambda: Searcher(4).search(START, Limit(nodes=1), root_moves=[ANY]),
    "search(root_moves, int)": lambda: Searcher(4).search(
        START, Limit(nodes=1), root_moves=ANY_NUMBER),
    "search(root_moves, text)": lambda: Searcher(4).search(
        START, Limit(nodes=1), root_moves="d6"),
    "Tables": lambda: Tables("mill"),  # type: ignore[arg-type]
    "Tables.probe": lambda: Tables(DEFAULT_RULES).probe(ANY),
    "Tables.bounds": lambda: Tables(DEFAULT_RULES).bounds(ANY),
    "Tables.moves": lambda: list(Tables(DEFAULT_RULES).moves(ANY)),
    "Score(text)": lambda: Score(cp="x"),  # type: ignore[arg-type]
    "Score(two)": lambda: Score(cp=1, win_in=1),
    "Score()": lambda: Score(),
    "search(multipv)": lambda: Searcher(4).search(START, Limit(nodes=1), multipv=0),
    "search(level)": lambda: Searcher(4).search(START, Limit(nodes=1), level=ANY),
    "search(overhead)": lambda: Searcher(4).search(START, Limit(nodes=1), overhead=-1),
    "search(on_info)": lambda: Searcher(4).search(START, Limit(nodes=1), ANY),
    "search(clock)": lambda: Searcher(4).search(START, Limit(nodes=1), clock=ANY),
    "search(used clock)": lambda: [
        Searcher(4).search(START, Limit(nodes=1), clock=clock) for clock in [Clock()] * 2],
    "search(asked)": lambda: Searcher(4).search(START, Limit(nodes=1), asked=ANY),
    "search(infinite, int)": lambda: Searcher(4).search(
        START, infinite=5, clock=Clock()),  # type: ignore[arg-type]
    "search(ponder, text)": lambda: Searcher(4).search(
        START, ponder="d6", clock=Clock()),  # type: ignore[arg-type]
    "search(infinite)": lambda: Searcher(4).search(START, infinite=True),
    "search(ponder)": lambda: Searcher(4).search(START, ponder=True),
    "Searcher.threads": lambda: with_attribute(Searcher(4), "threads", 10**400).search(
        START, Limit(nodes=1)),
    "Searcher.hash_mb": lambda: with_attribute(Searcher(4), "hash_mb", "4").search(
        START, Limit(nodes=1)),
    "Searcher.tables": lambda: with_attribute(Searcher(4), "tables", "tables"),
    "Searcher.tables_for": lambda: Searcher(4).tables_for(ANY),
    "Searcher.opening_for": lambda: Searcher(4).opening_for(ANY),
    "Clock.ponderhit": lambda: Clock().ponderhit(ANY),
    "Tables.valid_for": lambda: Tables(DEFAULT_RULES).valid_for(ANY),
    "Tables.has_depths": lambda: Tables(DEFAULT_RULES).has_depths(3, ANY),
    "total": lambda: START.total(ANY),
    "total(-1)": lambda: START.total(-1),
    "flies": lambda: START.flies(5),
    "Outcome.value": lambda: Outcome(0, "men").value(ANY),
    "str(Move)": lambda: str(Move(0, 99)),
    "str(Move, text)": lambda: str(Move("a1", 3)),  # type: ignore[arg-type]
    "Score.score": lambda: Score(win_in=3).score(mate_score=ANY),
    "PovScore(side)": lambda: PovScore(Score(cp=3), ANY),
    "PovScore(score)": lambda: PovScore(ANY, 0),
    "Outcome(winner)": lambda: Outcome(2, "men"),
    "Outcome(reason)": lambda: Outcome(None, ANY),
    "PovScore.pov": lambda: PovScore(Score(cp=3), 0).pov(ANY),
    "Level(nodes)": lambda: Level("x", 800, ANY, 0, 100, 0),
    "Level(name)": lambda: Level(ANY, 800, 60, 0, 100, 0),
    "Level(oversight)": lambda: Level("x", 800, 60, 101, 100, 0),
    "a class for a number": lambda: Searcher(int),  # type: ignore[arg-type]
    "a class for a limit": lambda: Limit(nodes=int),  # type: ignore[arg-type]
    "a number of too many digits": lambda: Limit(depth=HUGE),
    "a text of too many digits": lambda: parse_position(HUGE),
    "format_moves(bytes)": lambda: format_moves(b"d6"),  # type: ignore[arg-type]
}


def with_attribute(searcher: Searcher, name: str, value: Any) -> Searcher:
    setattr(searcher, name, value)
    return searcher


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_of_a_wrong_type_or_value_is_an_input_error(name: str) -> None:
    with pytest.raises(InputError, match="expected"):
        CALLS[name]()


def test_moves_are_accepted_as_texts() -> None:
    assert START.is_legal("d6") and not START.is_legal("d6-d5")
    assert START.objection("a1-a4") == "White still has men to place"
    result = Searcher(4).search(START, Limit(nodes=50), root_moves=["a1"], level="Club")
    assert result.move == Move.from_text("a1")


def test_a_move_s_repr_is_readable() -> None:
    assert repr([Move.from_text("d6-d5xc3")]) == "[<Move d6-d5xc3>]"
    assert repr(Move(0, 99)) == "<Move (0, 99, ())>"


def test_a_level_is_a_level_or_its_name() -> None:
    level = level_named("club")
    assert isinstance(level, Level) and level.name == "Club"
