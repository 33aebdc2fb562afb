"""Arguments of clients: each wrong type or value raises `InputError` at once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from merels.engine import Move, Position, make_rules
from merels.engine.common.errors import InputError
from merels.engine.search.limits import Limit
from merels.protocol import (
    Engine,
    EngineError,
    EngineSpec,
    InProcessEngine,
    Option,
    Options,
    PovScore,
    Record,
    ResourceLimits,
    format_record,
    parse_record,
    parse_records,
)
from tests.protocol.client.test_engine import fake

START: Any = Position()
D6 = Move.from_text("d6")


@pytest.mark.parametrize("call", [
    lambda: InProcessEngine(level="Clubb"), lambda: InProcessEngine(level=5),
    lambda: InProcessEngine().play(START, 0.1), lambda: InProcessEngine().play("x", Limit(nodes=1)),
    lambda: InProcessEngine().play(START, Limit(nodes=1), moves="d6"),
    lambda: InProcessEngine().play(START, Limit(nodes=1), moves=5),
    lambda: InProcessEngine().play(START, Limit(nodes=1), root_moves=[5]),
    lambda: InProcessEngine().play(START, Limit(nodes=1), root_moves=["d6-d5"]),
    lambda: InProcessEngine().play(START, Limit()),
    lambda: InProcessEngine().analyse(START, Limit(nodes=1), multipv=0),
    lambda: InProcessEngine().analyse(START, Limit(nodes=1), multipv="2"),
    lambda: next(iter(parse_records(5))), lambda: next(iter(parse_records(b"1. d6 *"))),
    lambda: InProcessEngine().play(START, Limit(nodes=1), stop=True),
    lambda: InProcessEngine().analysis(START, stop=True),
    lambda: Engine.popen(fake("sound"), timeout=-1), lambda: PovScore(20, 0),
    lambda: Engine("./engine"), lambda: next(parse_records("games.pgn")),
    lambda: Record(result="2-0"), lambda: setattr(Record(), "result", "x"),
    lambda: Record(tags={"Variant": "morris"}), lambda: Record().headers.update(Result="won"),
    lambda: InProcessEngine().play(START, Limit(nodes=1), info="no"),
    lambda: InProcessEngine().play(START, Limit(nodes=1), ponder=1),
    lambda: InProcessEngine().play(START, Limit(nodes=1), options={1: 2}),
    lambda: with_tables("tables"),
    lambda: Engine(5), lambda: Engine(EngineSpec(("x",)), trace=5),
    lambda: Engine(EngineSpec(("x",)), stderr=b"log"),
    lambda: Engine.popen("x", directory=5), lambda: Engine.popen("x", directory=b"."),
    lambda: Engine.popen("x", limits="cpu=1"), lambda: Engine.popen("x", rules_known="yes"),
    lambda: EngineSpec(("x",), options={"Hash": 64}), lambda: EngineSpec(("x",), options=[5]),
    lambda: ResourceLimits(cpu="1"), lambda: ResourceLimits(memory=0),
    lambda: ResourceLimits(core=2.5),
    lambda: Record(5), lambda: Record(moves=None), lambda: Record(moves="d6"),
    lambda: Record(tags=5), lambda: Record(tags={"White": 5}), lambda: Record(tags={"FEN": 5}),
    lambda: Record().headers.update(White=5), lambda: str(with_comment(Record(), 5)),
    lambda: Record().find("1"), lambda: Record().add(None, D6), lambda: Record().comment(None, "x"),
    lambda: Record().comment(Record().root, "x"), lambda: Record().stop_at("end"),
    lambda: Record().remove(None), lambda: Record().put(None, 0), lambda: remove_root(Record()),
    lambda: Record().remove(Record(moves=[D6]).root.children[0]),
    lambda: Record().add_variation("d6", 5), lambda: Record().root.annotate(None),
    lambda: Record().root.add_sentence(None), lambda: Record().root.mark("clk", 5),
    lambda: str(with_glyphs("$1")), lambda: str(with_glyphs([1])),
    lambda: format_record(None), lambda: parse_record("1. d6 *", ["morris"]),
    lambda: parse_record("1. d6 *", []), lambda: parse_record(["1. d6", None]),
    lambda: list(parse_records("1. d6 *", on_error=5)),
    lambda: Options(None), lambda: Options([5]), lambda: Options().add(None),
    lambda: Options().find(None), lambda: Options().check(None, 5), lambda: Option(None, "spin"),
    lambda: Option("Hash", "spin", 16), lambda: Option("Hash", "spin", "16", "1", 64),
    lambda: Option("Style", "combo", "a", choices="ab"), lambda: Option("Log", "string").check([5]),
])  # fmt: skip
def test_a_wrong_argument_raises_an_input_error(call: Callable[[], object]) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value), "the message can be written for any type of token"


def with_comment(record: Record, comment: Any) -> Record:
    record.root.comment = comment
    return record


def with_glyphs(glyphs: Any) -> Record:
    record = Record(moves=[D6])
    record.root.children[0].glyphs = glyphs
    return record


def with_tables(tables: Any) -> object:
    engine = InProcessEngine()
    engine.tables = tables
    return engine.play(START, Limit(nodes=1))


def remove_root(record: Record) -> int:
    return record.remove(record.root)


def test_a_name_of_an_option_that_is_no_text_is_not_found() -> None:
    """A mapping has `get` and `in` for any key; in a former version, they raised AttributeError."""
    options = Options([Option("Hash", "spin")])
    name: Any = None
    assert options.get(name) is None and name not in options and options.get("hash") is not None


@pytest.mark.parametrize("call", [
    lambda engine: engine.set_rules(5), lambda engine: engine.ping("d6"),
    lambda engine: engine.close("soon"), lambda engine: engine.greet(None),
    lambda engine: setattr(engine, "timeout", "1"), lambda engine: engine.configure({None: 1}),
    lambda engine: engine.play(START, Limit(nodes=1), options={5: 1}),
])  # fmt: skip
def test_a_wrong_argument_to_a_running_engine_leaves_it_usable(
    call: Callable[[Engine], object],
) -> None:
    with Engine.popen(fake("sound")) as engine:
        with pytest.raises(InputError, match="expected"):
            call(engine)
        assert engine.play(START, Limit(nodes=1)).move is not None


def test_headers_contain_the_result() -> None:
    record = Record(tags={"White": "A"})
    record.headers["Result"] = "1-0"
    record.headers["Black"] = "B"
    assert dict(record.headers) == {"White": "A", "Black": "B", "Result": "1-0"}
    assert len(record.headers) == 3 and record.result == "1-0" and "Result" not in record.tags
    del record.headers["White"]
    assert '[White "?"]\n[Black "B"]\n[Result "1-0"]' in str(record)


@pytest.mark.parametrize(("command", "protocol"), [(5, "uci"), ([b"x"], "uci"), ("x", 5)])
def test_a_wrong_type_of_command_or_protocol_is_an_engine_error(
    command: Any, protocol: Any
) -> None:
    with pytest.raises(EngineError, match="cannot start|no such protocol"):
        Engine.popen(command, protocol=protocol)


def test_moves_are_given_as_text_or_as_move() -> None:
    engine = InProcessEngine(level="Club")
    assert engine.level is not None and engine.level.name == "Club"
    result = engine.play(START, Limit(nodes=10), moves=["d6"], root_moves=["f4", "b4"])
    assert str(result.move) in ("f4", "b4")


def test_an_engine_that_two_threads_use_stays_usable() -> None:
    engine = InProcessEngine()
    errors: list[BaseException] = []

    def intrude() -> None:
        try:
            engine.play(START, Limit(nodes=10))
        except InputError as error:
            errors.append(error)

    with engine.analysis(START) as analysis:
        with engine.used():  # As inside of any call of the engine.
            thread = Thread(target=intrude)
            thread.start()
            thread.join()
        assert analysis.running
    assert len(errors) == 1 and "another thread uses this engine" in str(errors[0])
    assert engine.play(START, Limit(nodes=10)).move is not None


ONE_VARIANT = r"""
import sys
for line in sys.stdin:
    if line == "uci\n":
        print("option name UCI_Variant type combo default {variants}\nuciok", flush=True)
    elif line == "isready\n":
        print("readyok", flush=True)
    elif line.startswith("go"):
        print("info depth 1 score cp 0\nbestmove {move}", flush=True)
"""


def engine_of(variants: str, move: str = "d6") -> list[str]:
    return [sys.executable, "-c", ONE_VARIANT.format(variants=variants, move=move)]


@pytest.mark.parametrize("variants, rules, is_played", [
    ("mill var mill", "mill", True), ("mill var mill", "loc", False),
    ("nmm var nmm var tmm", "mill", False), ("morris var morris", "mill", False),
    ("morris var morris", "morris", True), ("mill var mill var loc", "loc", True),
])  # fmt: skip
def test_an_engine_without_options_for_the_rules_is_refused(
    variants: str, rules: str, is_played: bool
) -> None:
    position = Position(rules=make_rules(rules))
    with Engine.popen(engine_of(variants)) as engine:
        if is_played:
            assert str(engine.play(position, Limit(nodes=1)).move) == "d6"
        else:
            with pytest.raises(EngineError, match="has no option for .*rules_known"):
                engine.play(position, Limit(nodes=1))
    with Engine.popen(engine_of(variants), rules_known=True) as engine:
        assert str(engine.play(position, Limit(nodes=1)).move) == "d6"


def test_an_option_beyond_those_that_are_read_is_refused_with_their_number() -> None:
    code = """
import sys
for line in sys.stdin:
    if line == "uci\\n":
        for number in range(600):
            print(f"option name P{number} type spin default 1 min 0 max 9")
        print("uciok", flush=True)
    elif line == "isready\\n":
        print("readyok", flush=True)
"""
    with Engine.popen([sys.executable, "-c", code]) as engine:
        engine.configure({"P511": 7})
        limit = "'P550': no such option among the first 512; 88 more were not read"
        with pytest.raises(InputError, match=limit):
            engine.configure({"P550": 7})


def test_a_started_engine_has_answered_isready_before_its_first_search() -> None:
    """Otherwise the first timed search paid for the engine's start."""
    sent: list[bytes] = []

    def trace(way: str, data: bytes) -> None:
        if way == ">":
            sent.append(data)

    with Engine.popen(fake("sound"), trace=trace):
        assert b"".join(sent).split() == [b"uci", b"isready"]


UNREAD_LIMIT = (
    "go{words[1] == 'depth'}: print info string error 'go depth 3' is no limit & hold; "
    "go{words[1] == 'nodes'}: print info depth 1\\ninfo string error depth is bad & hold; "
    "go{words[1] == 'movetime'}: answer bestmove d6"
)


@pytest.mark.parametrize("limit", [Limit(depth=3), Limit(nodes=5)])
def test_a_search_whose_limit_the_engine_cannot_read_is_stopped(limit: Limit) -> None:
    sent: list[bytes] = []

    def trace(direction: str, lines: bytes) -> None:
        if direction == ">":
            sent.append(lines)

    with Engine.popen(fake(UNREAD_LIMIT), trace=trace) as engine:
        for search in (engine.play, engine.analyse):
            with pytest.raises(EngineError, match="cannot read the limit of its search: 'info str"):
                search(Position(), limit)
        assert sent.count(b"stop\n") == 2, "one for each search"
        assert str(engine.play(Position(), Limit(time=0.1)).move) == "d6"
