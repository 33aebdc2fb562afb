"""Reading and writing of game records in PGN."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, parse_move, parse_position
from merels.engine.game.position import WHITE, Move, Position
from merels.engine.game.rules import parse_rules
from merels.engine.game.score import PovScore, Score
from merels.protocol.common.files import read_paragraphs
from merels.protocol.formats.files import read_file
from merels.protocol.formats.pgn.reader import build_record, parse_record, parse_records
from merels.protocol.formats.pgn.tokens import read_tags, split_games
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.writer import format_record
from merels.protocol.games.record import Record

GAMES = json.loads((Path(__file__).parents[2] / "data" / "games.json").read_text())


def make_record(game: dict[str, Any]) -> Record:
    rules = parse_rules(game["rules"])
    moves = map(parse_move, game["moves"].split())
    tags = {"Event": 'A "quoted" \\ name', "White": "A", "Black": "B"}
    return Record(parse_position(game["position"], rules), moves, game["result"], tags)


def comments(record: Record) -> list[str]:
    return [node.comment for node in record.mainline()]


def test_records_are_equal_after_writing_and_reading() -> None:
    records = [make_record(game) for game in GAMES]
    for record in records:
        for i, node in enumerate(record.mainline()):
            node.comment = f"+0.{i % 100:02}/6 0.001s"
    text = "".join(map(format_record, records))
    parsed = list(parse_records(text))
    assert len(parsed) == len(records)
    for original, record in zip(records, parsed):
        assert record.start == original.start
        assert record.moves == original.moves
        assert comments(record) == comments(original)
        assert record.result == original.result
        assert record.tags["Event"] == 'A "quoted" \\ name'
        assert record.final().outcome() == original.final().outcome()
    assert max(map(len, text.splitlines())) <= 100


def test_movetext_in_a_loose_style_is_read() -> None:
    text = """\ufeff[White "A"]
    % begins no comment inside a line
    1. D6 {a plan} f4 2.f6 ; better
    g4 $3 3. b6 xf4 *"""
    with pytest.raises(InputError, match="'%'"):
        parse_record(text)
    record = parse_record(text.replace("% begins no comment inside a line", ""))
    assert [str(move) for move in record.moves] == ["d6", "f4", "f6", "g4", "b6xf4"]
    assert comments(record) == ["a plan", "", "better", "", ""]
    assert [list(node.glyphs) for node in record.mainline()] == [[], [], [], ["$3"], []]
    assert record.result == "*"


def test_tag_names_are_read_in_any_case() -> None:
    text = '[white "A"]\n[RESULT "1-0"]\n[variant "loc"]\n[Fen "{}"]\n[own "x"]\n\n4. e4'
    record = parse_record(text.format("****O*@*/**@**O**/O@****** w 6 6 0 4"))
    assert record.start.rules.variant == "loc" and record.start.number == 4
    assert (record.result, record.tags["White"], record.tags["own"]) == ("1-0", "A", "x")
    assert next(split_games(['[ result "0-1" ]\n', "1. d6\n"])).result == "0-1"


def test_joined_files_with_a_byte_order_mark_each_are_read() -> None:
    game = '[Event "A"]\n[White "B"]\n\n1. d6 *\n'
    for text in (f"{game}\n\ufeff{game}", f"\ufeff\ufeff{game}\ufeff{game}"):
        tags = [record.tags for record in parse_records(text)]
        assert [(names["Event"], names["White"]) for names in tags] == [("A", "B")] * 2
        assert len(list(split_games(text.splitlines(True)))) == 2


def test_headers_without_moves_are_games_without_an_empty_line_between_them() -> None:
    text = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n'
    for lines in ([text * 3], (text * 3).splitlines(True), [text, text + text]):
        assert [game.result for game in split_games(lines)] == ["1-0"] * 3
    # A repeated tag inside a header begins no game.
    repeated = '[Event "A"]\n[Annotator "B"]\n[Annotator "C"]\n\n1. d6 *'
    assert len(list(parse_records(repeated))) == 1


@pytest.mark.parametrize("between", ["\n", "\n\n", "\n\n\n", "\n{resigns} ", " {over two\nlines} "])
def test_a_result_after_a_result_belongs_to_the_same_game(tmp_path: Path, between: str) -> None:
    """Such a result makes no game without moves, and replaces ``*``."""
    rest = '[Event "B"]\n[White "C"]\n\n1. d7 0-1\n'
    for first, result in (("*", "1-0"), ("1-0", "1-0"), ("1/2-1/2", "1/2-1/2")):
        text = f'[Event "A"]\n\n1. d6 f4 {first}{between}1-0\n\n{rest}'
        (tmp_path / "games").write_text(text)
        for runs in (text.splitlines(True), read_paragraphs(str(tmp_path / "games"))):
            assert [game.result for game in split_games(runs)] == [result, "0-1"]
        records = list(parse_records(text))
        assert [(len(record.moves), record.result) for record in records] == [
            (2, result), (1, "0-1")
        ]
        assert [record.tags["Event"] for record in records] == ["A", "B"]


def test_a_comment_after_the_result_may_have_several_lines() -> None:
    text = "1. d6 f4 1-0 {a comment\n\nof two lines}\n\n{a plan} 1. d7 *"
    first, second = parse_records(text)
    assert comments(first) == ["", "a comment of two lines"] and len(second.moves) == 1
    assert second.root.comment == "a plan"


def test_two_start_positions_or_rule_sets_of_a_game_are_refused() -> None:
    for name, first, second in (
        ("Variant", "loc", "mill"), ("FEN", "x", "********/********/******** w 9 9 0 1")
    ):
        text = f'[Event "A"]\n[{name} "{first}"]\n[{name} "{second}"]\n\n1. d6 *'
        with pytest.raises(InputError, match=rf"'{first}' before it \(tag {name}, line 3"):
            parse_record(text)
    assert parse_record('[Variant "loc"]\n[Variant "loc"]\n\n1. d6 *').start.rules.variant == "loc"


def test_annotation_glyphs_belong_to_the_move_before_them() -> None:
    moves = "1. d6 $1 $14 {a plan} f4 $2 ( 1... d2 $6 {or this} 2. b4 $10 ) 2. b4 *"
    assert format_record(parse_record(moves)).endswith(f"\n\n{moves}\n\n")
    assert list(parse_record("$7 1. d6 *").end().glyphs) == ["$7"]


def test_an_illegal_move_of_a_record_is_refused() -> None:
    moves = list(map(parse_move, ("d6", "f4", "d6")))
    with pytest.raises(InputError, match=r"'d6': .*d6 is occupied \(move 2, White\)"):
        Record(moves=moves)
    assert Record(moves=moves[:2]).moves == moves[:2]


def test_a_fen_of_another_game_is_refused() -> None:
    fen = "********/O*@*****/******** w 8 8 0 2"
    other = Record(Position(fen), [Move.from_text("d2")])
    other.tags = {"White": "A", "PlyCount": "1"}
    read = parse_record(str(other))
    assert read.headers["FEN"] == fen and read.headers["PlyCount"] == "1"
    assert Record(read.start, tags=read.tags).start == read.start
    for start in (None, Position("********/O*@*****/******** b 8 8 0 2")):
        with pytest.raises(InputError, match="the tag FEN differs from the first position"):
            Record(start, tags=read.tags)
    text = str(Record(moves=map(Move.from_text, ("d6", "f4")), tags={"PlyCount": "9"}))
    assert "FEN" not in text and "SetUp" not in text and '[PlyCount "2"]' in text


def test_a_record_is_read_and_extended_as_in_python_chess() -> None:
    record = parse_record("1. d6 {[%clk 0:04:59.5] [%eval 0.35,12]} f4 (1... b4 {x [%eval #-2]}) *")
    first, second = record.mainline()
    assert (first.clock(), second.clock()) == (299.5, None)
    assert first.eval() == PovScore(Score(cp=35), WHITE) and second.eval() is None
    mated = first.variations[1].eval()
    assert mated is not None and mated.white().mate() == -2 and record.variations == [first]
    for text, moves in (("#3", 3), ("#-0", 0), ("#0", 1)):
        first.mark("eval", text)
        score = first.eval()
        assert score is not None and score.relative.mate() == moves, text
    assert first.add_variation("f4") is second
    added = second.add_variation("d2", "good [%clk 0:01:00]")
    assert (added.comment, added.clock(), added.position.man_at("d2")) == ("good", 60.0, WHITE)
    with pytest.raises(InputError, match="illegal move, d6 is occupied"):
        first.add_variation("d6")
    assert parse_record(str(record)).mainline()[2].comment == "good"
    assert record.copy().root.add_variation("a1").moves == (Move.from_text("a1"),)


def test_marks_of_one_node_are_not_those_of_all() -> None:
    """All nodes without marks shared a dict, into which a program could write."""
    node = Record().root.add_variation("d6")
    with pytest.raises(TypeError):
        node.marks["clk"] = "0:01:00"  # type: ignore[index]
    node.mark("clk", "0:01:00")
    assert node.clock() == 60.0 and "clk" not in str(parse_record("1. a1 a4 *"))
    assert str(Record().copy()) == str(Record())


def test_an_empty_file_of_games_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.pgn"
    path.touch()
    with path.open() as file, pytest.raises(InputError, match=r"none.pgn': expected a game"):
        parse_record(file)


def test_games_are_read_from_an_open_file_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text("\ufeff" + '[White "A"]\n\n1. d6 *\n\n' * 3, encoding="utf-8")
    with path.open(encoding="utf-8") as file:
        records = parse_records(file)
        assert next(records).headers["White"] == "A"
        assert file.readline() != "", "the rest of the file is read later"
    taken: list[str] = []

    def lines() -> Iterator[str]:
        for number in range(10**9):
            taken.append(f"1. d6 {{{number}}} *\n")
            yield taken[-1]

    assert [record.mainline()[0].comment for record in islice(parse_records(lines()), 3)] == [
        "0", "1", "2"
    ]
    assert len(taken) < 10


def test_a_game_that_cannot_be_read_is_named_and_need_not_end_the_reading() -> None:
    text = "1. d6 *\n\n1. d6 2. z9 *\n\n1. f4 *\n"
    errors: list[InputError] = []
    records = list(parse_records(text, on_error=errors.append))
    assert [str(record.moves[0]) for record in records] == ["d6", "f4"]
    assert len(errors) == 1 and "line 3, game 2" in str(errors[0])
    reading = parse_records(text)
    next(reading)
    with pytest.raises(InputError, match="line 3, game 2"):
        next(reading)


@pytest.mark.parametrize("name", ["White Elo", "", "A]", "A\n", 'A"'])
def test_a_tag_that_could_not_be_read_is_not_written(name: str) -> None:
    with pytest.raises(InputError, match="expected a tag name"):
        format_record(Record(tags={name: "x"}))


def test_tags_that_are_written_can_be_read() -> None:
    tags = {"White": 'x\\ "] ', "Größe": "½", "A-b:c+d=e#f_1": "[]", "W": "{;%"}
    assert parse_record(format_record(Record(tags=tags))).tags.items() >= tags.items()


def test_a_result_that_could_not_be_read_is_not_written() -> None:
    with pytest.raises(InputError, match="'White': expected a result: 1-0, 0-1"):
        format_record(Record(result="White"))


def test_a_record_may_begin_with_black_s_move() -> None:
    start = parse_position("********/********/******** b 9 9 0 1", parse_rules("roman"))
    record = Record(start, [parse_move("d6"), parse_move("f4")], "1/2-1/2")
    text = format_record(record)
    assert '[SetUp "1"]' in text and '[Variant "roman"]' in text and "1... d6 2. f4" in text
    assert parse_record(text).start == start


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "expected a game record"),
        ("1. d6 {never closed", "comment that ends"),
        ('[White "A', "a tag such as"),
        ("1. d6 d6 *", "occupied.*line 1"),
        ("1. d6\n\nf9 *", "expected a move.*line 3"),
        ("1. d6 * 1. d6 *", "found several"),
        ("(1. d6) 1. f4 *", "'\\(': expected a move before the variation.*line 1"),
        ("1. d6 (( 1. f4 )) *", "expected a move before the variation.*line 1"),
        ("1. d6 (1. f4 (1. b4) *", "expected '\\)' after the variation.*line 1"),
        ("1. d6\n) *", "before the end of a variation.*line 2"),
        ("1. d6 () *", "a move before the end"),
        ("1. d6 (1. f4 f4) *", "occupied.*line 1"),
    ],
)
def test_the_error_about_a_malformed_record_names_reason_and_line(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse_record(text)


@pytest.mark.parametrize(("text", "games"), [
    ("1. d6 f4 1-0 *", ["2 1-0"]), ("1. d6 f4 * 1-0\n", ["2 1-0"]), ("1. d6 1-0\n*\n", ["1 1-0"]),
    ("1. d6 1-0 * 1. a1 f4 0-1", ["1 1-0", "2 0-1"]), ("1. d6 f4 1 - 0\n", ["2 1-0"]),
    ("1. d6 f4 0 – 1", ["2 0-1"]), ("1. d6 1/2 - 1/2 1. a1 *", ["1 1/2-1/2", "1 *"]),
    ("1. d6 (1. f4 1 - 0) f4 *", ["2 *"]), ("1. d6 f4 *\x1a", ["2 *"]),
    ("1. d6 f4 *\n\x1a", ["2 *"]), ("1. d6 f4\n\x1a\x1a", ["2 *"]),
    ("1. d6 f4\n\n1-0\n", ["2 1-0"]),
    ("1. d6 *\n\n1. a1 0-1", ["1 *", "1 0-1"]),
])  # fmt: skip
@pytest.mark.parametrize("as_file", [False, True])
def test_a_second_result_spaces_in_it_and_the_end_mark_of_dos_begin_no_game(
    text: str, games: list[str], as_file: bool, tmp_path: Path
) -> None:
    """In a former version, they made an empty game, or were refused as moves."""
    path = tmp_path / "games.pgn"
    path.write_text(text, encoding="utf-8")
    from_path = [item.read(RecordRules()) for item in read_file(str(path))]
    for found in (list(parse_records(StringIO(text) if as_file else text)), from_path):
        records = [record for record in found if isinstance(record, Record)]
        assert [f"{len(record.moves)} {record.result}" for record in records] == games


def test_a_file_of_positions_may_end_with_the_end_mark_of_dos(tmp_path: Path) -> None:
    path = tmp_path / "positions.txt"
    path.write_text(f"{START}\n\x1a", encoding="utf-8")
    assert len(list(read_file(str(path)))) == 1


def test_hostile_tags_and_comments_are_written_as_one_printable_game() -> None:
    hostile = 'x } 1-0 {" \x1b[2J\n[White "Y"]\u202e\u2028\x00\ud800'
    record = make_record(GAMES[0])
    record.tags["White"] = hostile
    for node in record:
        node.comment = hostile
    text = format_record(record)
    assert all(c == "\n" or c.isprintable() for c in text)
    reread = parse_record(text)
    assert (reread.moves, reread.result) == (record.moves, record.result)
    assert set(reread.tags) == set(parse_record(format_record(make_record(GAMES[0]))).tags)


def test_an_error_that_quotes_a_file_is_one_printable_line() -> None:
    error = InputError("a\x1b[2J", "expected \u202e no\nsuch thing")
    assert str(error) == "'a?[2J': expected ? no?such thing"


@pytest.mark.parametrize(
    ("text", "token", "line"),
    [
        ('[Event "x"]\n\nxd6 *', "xd6", 3),
        ('[Event "x"]\n\nd6\nf4\nd6 *', "d6", 5),
        ('[Event "x"]\n[Variant "chess"]\n\nd6 *', "chess", 2),
        ('[FEN "nonsense"]\n\nd6 *', "nonsense", 1),
        ('[Event "x"]\n\nd6 *\n\n[Event "y"]\n[FEN "w"]\n\nd6 *', "w", 6),
    ],
)
def test_an_error_names_the_invalid_token_and_its_line(text: str, token: str, line: int) -> None:
    with pytest.raises(InputError) as caught:
        list(parse_records(text))
    assert caught.value.token == token
    number = 2 if line == 6 else 1
    assert caught.value.expected.endswith(f"line {line}, game {number})")


VARIATIONS = """[Event "?"]
[Site "?"]
[Date "????.??.??"]
[Round "?"]
[White "?"]
[Black "?"]
[Result "*"]
[Variant "morris"]

1. d6 {best} ( {or} 1. f4 {bold} d6 ( 1... b4 ) 2. f6 ) ( 1. b4 ) 1... f4 2. d2
( 2. f6 ) *

"""


def test_variations_are_read_and_written() -> None:
    record = parse_record(VARIATIONS)
    # A comment before a variation's first move becomes a comment on that move.
    text = format_record(record)
    assert text.split() == VARIATIONS.replace("{or} 1. f4 {bold}", "1. f4 {or bold}").split()
    assert format_record(parse_record(text)) == text
    assert list(map(str, record.moves)) == ["d6", "f4", "d2"]
    _, bold, other = record.root.children
    assert (str(bold.move), str(other.move), bold.comment) == ("f4", "b4", "or bold")
    assert [[str(after.move) for after in node.children] for node in (bold, bold.children[0])] == [
        ["d6", "b4"], ["f6"]
    ]
    assert [str(node.move) for node in record.mainline()[1].children] == ["d2", "f6"]


def test_a_variation_may_come_before_the_comment_on_its_move_and_may_have_a_result() -> None:
    record = parse_record("1.d6(1.f4 d6 2.f6 b6 3.b4 g4 4.f2 xg4 1-0){now}f4 *")
    assert [str(node.move) for node in record][-1] == "f2xg4"
    assert (comments(record), record.result) == (["now", ""], "*")


def test_variations_may_be_nested_deeper_than_the_recursion_limit() -> None:
    depth = 5000
    rules = parse_rules("morris Repetition=0 NoRemovalPlies=0 ThreeThreePlies=0")
    record = Record(parse_position("O*@*O*@*/@*O*@*O*/***O***@ w 0 0 0 1", rules))
    node = record.root
    for _ in range(depth):
        for move in [move for move in node.position.legal_moves() if not move.removed][:2]:
            other = record.append(node, move)
        node = other
    text = format_record(record)
    assert text.count("(") == text.count(")") == depth
    assert format_record(parse_record(text)) == text == format_record(record.copy())


def test_variations_that_begin_with_the_same_move_are_merged() -> None:
    record = parse_record("1. d6 {a} ( 1. d6 $1 {b} f4 {c} ( 1... f4 $2 2. d2 ) ) b4 *")
    assert format_record(record).endswith("\n\n1. d6 $1 {a b} b4 ( 1... f4 $2 {c} 2. d2 ) *\n\n")


def test_a_game_without_moves_may_have_variations() -> None:
    text = "{none} ( 1. d6 {a start} f4 ( 1... b4 ) ) ( 1. f4 ) 0-1"
    record = parse_record(text)
    assert (record.moves, record.end(), record.stop) == ([], record.root, record.root)
    assert format_record(record).endswith(f"\n\n{text}\n\n")


MARKED = (
    "{[%clk 0:05:00]} 1. d6 {[%eval 0.17,9] [%clk 0:04:59.5] a plan} f4 $2 {[%eval #-3]} "
    "( 1... b4 {[%emt 0:01] [%emt 0:02] [%emt two} ) 2. d2 {[%csl Ga1,Rd6] [%cal Ga1a4]} *"
)


def test_commands_in_comments_are_read_and_written_as_marks() -> None:
    record = parse_record(MARKED.replace("{[%clk 0:05:00]}", "{ [%clk\n0:05:00] }"))
    first, second, third = record.mainline()
    assert record.root.marks == {"clk": "0:05:00"} and record.root.comment == ""
    assert first.marks == {"eval": "0.17,9", "clk": "0:04:59.5"} and first.comment == "a plan"
    assert (second.marks, second.glyphs) == ({"eval": "#-3"}, ["$2"])
    assert first.children[1].marks == {"emt": "0:01"}
    assert first.children[1].comment == "[%emt 0:02] [%emt two"
    assert third.marks == {"csl": "Ga1,Rd6", "cal": "Ga1a4"}
    for text in (format_record(record), format_record(record.copy())):
        assert " ".join(text.split("\n\n")[1].split()) == MARKED


def test_a_line_is_not_broken_inside_a_mark() -> None:
    record = parse_record("1. d6 f4 *")
    for length in range(60, 80):
        record.root.comment = "x" * length
        for node in record.mainline():
            node.mark("clk", "0:04:59.5")
        text = format_record(record)
        assert text.count("[%clk 0:04:59.5]") == 2 and "\0" not in text


def test_marks_of_a_repeated_move_are_merged() -> None:
    text = "1. d6 {[%clk 1] a} ( 1. d6 {[%clk 1] [%eval 2] b} f4 ) ( 1. d6 {[%clk 3]} b4 ) g4 *"
    written = format_record(parse_record(text)).split("\n\n")[1].split()
    assert " ".join(written) == (
        "1. d6 {[%clk 1] [%eval 2] a b [%clk 3]} g4 ( 1... f4 ) ( 1... b4 ) *"
    )


@pytest.mark.parametrize("end", ["1-0", "0-1", "*", ""])
def test_a_game_in_a_list_has_the_result_of_its_record(end: str) -> None:
    """The result after the moves takes precedence over the Result tag."""
    for tag in ("1-0", "0-1", "?"):
        (game,) = split_games([f'[Result "{tag}"]\n', "\n", f"1. d6 f4 {end}\n"])
        assert game.result == build_record(game, RecordRules()).result


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("", {}), ("\ufeff", {}), ("1. d6 f4 *", {}),
        ('\ufeff[White "A"]\n\n1. d6 *\n\n[White "B"]\n', {"White": "A"}),
    ],
)  # fmt: skip
def test_the_tags_are_those_of_the_first_game(text: str, tags: dict[str, str]) -> None:
    assert read_tags(text) == tags


def test_a_record_begins_with_a_move_that_is_added() -> None:
    record = Record()
    node = record.add_variation("d6", "solid").add_variation("f4")
    record.add_variation("a1")
    assert node.ply == 2 and [str(move) for move in record.moves] == ["d6", "f4"]
    assert "1. d6 {solid} ( 1. a1 ) 1... f4 *" in str(record)
