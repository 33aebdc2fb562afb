"""Texts of other programs and of people, read by ``merels convert`` and other commands."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START
from merels.engine.game.rules import DEFAULT_RULES
from merels.protocol.formats.pgn.reader import parse_records
from merels.tournament.openings.reading import load_openings
from merels.tournament.records.settings import OpeningSettings
from tests.commands import run

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "data" / "readers.json").read_text(encoding="utf-8")
)
FOUR_MOVES = "d6 f4 d2 b4".split()
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs a command on a text; it returns status, output and errors.

    The words of the command come first; without words, the text is converted to PGN.
    """
    def run_on(text: str | bytes, *words: str) -> tuple[int, str, str]:
        path = tmp_path / "game"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        command, *flags = words or ("convert", "-to", "pgn")
        return run(capsys, [command, str(path), *flags])

    return run_on


def moves_of(pgn: str) -> list[list[str]]:
    """Return the moves of each game."""
    return [list(map(str, record.moves)) for record in parse_records(pgn)]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_games_of_other_programs_are_read(read: Command, case: dict[str, Any]) -> None:
    data = case["text"].encode(case.get("encoding", "utf-8"))
    status, out, error = read(data, "convert", "-to", "wmd", *case.get("args", ()))
    if status and ("or_error" in case or case.get("maybe")):
        form = "GoldToken" if "GoldToken" in case["name"] else "numbering starts again"
        assert status == 2 and form in error and len(error.splitlines()) == 1
        return
    moves = case["moves"]
    assert status == case.get("status", 0 if moves is not None else 2)
    [line] = [line for line in error.splitlines() if "has no place for" not in line] or [""]
    assert all(word in line for word in case.get("error", ())) and bool(line) == ("error" in case)
    assert moves_of(out) == (moves or [])
    if "nags" in case:
        nags = [
            [int(glyph[1:]) for node in record.mainline() for glyph in node.glyphs]
            for record in parse_records(read(data)[1])
        ]
        assert nags == case["nags"]


AGAIN = "the numbering starts again; end each game with its result or with * (line "
MISSING = "the number of the next move; is a move missing? (line 1, game 1 of "
SIX_MEN_FEN = '[FEN "********/O*@*****/******** w 8 8 0 1"]\n\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. d6 f4\n2. d2 b4\n\n1. a1 a7\n", "'1.': expected 3, the number of the next move; "
         + AGAIN + "4, "),
        ("1 d6 f4\n2 d2 b4\n1 a1 a7\n", f"'1': expected 3, the number of the next move; {AGAIN}3"),
        ("1. 5 13 2. 20 19\n\n1.1 2 2.3 4\n", "'1.1': expected 3, the number of the next move; "
         + AGAIN + "3"),
        ("1. a7 2. d1 3. d7\n1. a1", AGAIN),
        ("1. d6 f4 2. d2 b4 4. a1 a7 *", f"'4.': expected 3, {MISSING}"),
        ("1. d6 f4 (1... b4 3. d2) *", f"'3.': expected 2, {MISSING}"),
        ("1. d6 2. d2 b4 *", f"'2.': expected 1, {MISSING}"),
        ("1. a7 2. d1 3. d7 5. a1 *", f"'5.': expected 4, {MISSING}"),
        ("1. 5 13 3. 20 19 *", f"'3.': expected 2, {MISSING}"),
        ("3. d6 f4 *", f"'3.': expected 1, {MISSING}"),
        (SIX_MEN_FEN + "7. d2 b4 9. a1 *", "'9.': expected 8, "),
        ("1. d6 f4 2... d2 *", "'2...': expected 2. and White's move; is a move missing?"),
        ("1. d6 f4 2. ... d2 *", "'...': expected 2. and White's move"),
        ("1. d6 f4 0.5-0.7", "'0.5-0.7': expected 2, "),
    ],
)
def test_a_number_that_contradicts_the_moves_is_named(
    read: Command, text: str, message: str
) -> None:
    status, out, error = read(text)
    assert (status, out, len(error.splitlines())) == (2, "", 1) and message in error


@pytest.mark.parametrize(
    ("text", "plies"),
    [
        ("1. a7 (1. d6 2. d1) 2. d1 3. d7 *", 3), ("01. d6 f4 02. d2 *", 3), ("1. d6 f4 2. *", 2),
        ("1. d6 1. f4 2. d2 2. b4 *", 4), ("1. d6 f4 2. d2 3. 1-0", 3),
        ("1.d6 (1.f4)1...f4 2.d2", 3),
        (SIX_MEN_FEN + "7. d2 b4 8. a1 *", 3), (SIX_MEN_FEN + "1. d2 b4 2. a1 *", 3),
        (SIX_MEN_FEN.replace("w 8 8 0 1", "b 8 7 0 3") + "1... d2 2. b4 a1 *", 3),
        (SIX_MEN_FEN.replace("w 8 8 0 1", "b 8 7 0 3") + "3... d2 4. b4 a1 *", 3),
    ],
)
def test_numbers_of_other_programs_are_read(read: Command, text: str, plies: int) -> None:
    status, out, error = read(text)
    assert (status, error) == (0, "") and [len(moves) for moves in moves_of(out)] == [plies]


def test_an_openings_file_whose_numbering_starts_again_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "openings.pgn"
    path.write_text("1. d6 f4\n1. a1 g7\n1. d2 b4\n")
    with pytest.raises(InputError, match="the numbering starts again.*line 2"):
        load_openings(OpeningSettings(file=str(path), format="pgn"), DEFAULT_RULES)


WON_BY_BLACK = '[FEN "@@@*****/OO*****@/******** w 0 0 0 9"]\n'


@pytest.mark.parametrize(
    ("text", "result", "notice"),
    [
        ('[Result "0-1"]\n\n1. d6 f4 1-0', "1-0",
         "the Result tag states 0-1, and the moves end with 1-0; the game counts as 1-0"),
        ('[Result "1-0"]\n\n1. d6 f4 *', "1-0", "states 1-0, and the moves end with *"),
        ('[Result "*"]\n\n1. d6 f4 0-1', "0-1", "states *, and the moves end with 0-1"),
        ('[Result "White"]\n\n1. d6 f4', "*", "the Result tag 'White' is no result such as 1-0"),
        ('[Result "1-O"]\n\n1. d6 f4 1-0', "1-0", "the Result tag '1-O' is no result"),
        (f'{WON_BY_BLACK}[Result "1-0"]\n\n1-0', "1-0",
         "the game ends in 'Black wins, White has two men', but its result is 1-0"),
        (f'{WON_BY_BLACK}[Result "1-0"]\n[Termination "time forfeit"]\n\n1-0', "1-0", ""),
        (f'{WON_BY_BLACK}\n0-1', "0-1", ""), (f"{WON_BY_BLACK}\n*", "*", ""),
        ('[Result "?"]\n\n1. d6 f4 1-0', "1-0", ""), ('[Result "1-0 "]\n\n1. d6', "1-0", ""),
        ('[Result "1 - 0"]\n\n1. d6 f4 1-0', "1-0", ""),
        ('[Result "0.5-0.5"]\n\n1. d6 f4', "1/2-1/2", ""), ("1. d6 f4 0,5:0,5", "1/2-1/2", ""),
        ("1. d6 f4 .5-.5", "1/2-1/2", ""), ('[Result " *"]\n\n1. d6 f4 *', "*", ""),
        ('[Result ",5:,5"]\n\n1. d6 f4', "1/2-1/2", ""),
        ("1. d6 f4 2.½-½", "1/2-1/2", ""),
    ],
)
def test_a_contradicting_or_unreadable_result_is_named(
    read: Command, text: str, result: str, notice: str
) -> None:
    for words in (("convert", "-to", "pgn"), ("review", "-nodes", "1", "-pgn")):
        if words[0] == "review" and "FEN" in text:
            continue
        status, out, error = read(text, *words)
        assert (status, len(error.splitlines())) == (0, bool(notice))
        assert notice in error and ("game 1 of " in error) == bool(notice)
        assert [record.result for record in parse_records(out)] == [result]


UNUSUAL: dict[str, str | bytes] = {
    "glyphs of one sign": "1. d6‼ f4⁇ 2. d2⁈ b4⁉ *",
    "wide glyphs": "1. d6！ f4？！ 2. d2 b4 *",
    "mixed glyphs": "1. d6!! $14 f4 ?! 2. d2 !? b4!?$6 *",
    "long glyphs": "1. d6!!! f4??? 2. d2!?! b4 *",
    "signs of an evaluation": "1. d6 ± f4 -/+ 2. d2 = b4 +- *",
    "ellipses": "1. d6 {a} 1... f4 2. d2 {b} 2… b4 *",
    "ellipses of their own": "1. d6 … f4 2. d2 ... b4 *",
    "ellipses behind a number": "1. d6 {a} 1 ... f4 2. d2 {b} 2.... b4 *",
    "ellipses without a space": "1.d6 1...f4 2.d2 2…b4 *",
    "numbers with brackets": "1) d6 f4 2) d2 b4 *",
    "bare numbers for each move": "1 d6 1 f4 2 d2 2 b4",
    "no numbers": "d6 f4 d2 b4",
    "a move a line": "d6\nf4\nd2\nb4\n",
    "only carriage returns": '[White "A"]\r\r1. d6 f4\r2. d2 b4 *\r',
    "UTF-16": '[White "Mühle"]\r\n\r\n1. d6 f4 2. d2 b4 *'.encode("utf-16"),
    "UTF-16 without a mark": '[White "Mühle"]\r\n\r\n1. d6 f4 2. d2 b4 *'.encode("utf-16-le"),
    "UTF-16 of the other order without a mark": "1. d6 f4 2. d2 b4 *".encode("utf-16-be"),
    "UTF-16 of the other order": b"\xfe\xff" + "1. d6 f4 2. d2 b4 *".encode("utf-16-be"),
    "a mark of UTF-8": "\ufeff1. d6 f4 2. d2 b4 *",
    "Windows-1252": '[White "„Mühle“"]\n\n1. d6 f4 2. d2 b4 ½–½'.encode("cp1252"),
    "half a point": "1. d6 f4 2. d2 b4 1/2",
    "a dash of a result": "1. d6 f4 2. d2 b4 1–0",
    "a colon of a result": "1. d6 f4 2. d2 b4 1:0",
    "no result": "1. d6 f4 2. d2 b4",
    "comments in comments": "1. d6 {a {b} c} f4 {{d}} 2. d2 b4 *",
    "empty comments": "1. d6 {} f4 { } 2. d2 b4 ; \n*",
    "comments in variations": "1. d6 f4 ({a} 1... d2 ;b\n) (;c\n$1 1... b4) 2. d2 b4 *",
    "a comment at first": "{by Anna} 1. d6 f4 2. d2 b4 *",
    "comments to the line's end": "; hello\n1. d6 ; {\nf4 2. d2 b4 *",
    "lines of other programs": "%a {\n%b\n1. d6 f4\n% 1. x6\n2. d2 b4 *",
    "spaces without a width": "\u200b1.\u200bd6 f4\u200b 2. d2 b4 *",
    "hard spaces": "1.\u00a0d6\u00a0f4 2. d2 b4 *",
    "tags without spaces": '[White"A"]\n[Black  "B" ]1. d6 f4 2. d2 b4 *',
    "quotes in a tag": '[White "A "the" B"]\n1. d6 f4 2. d2 b4 *',
    "numbers of points with glyphs": "1. 5! 14?! 2. 20 11 *",
    "numbers of points with ellipses": "1. 5 {a} 1... 14 2. 20 2. ... 11 ½-½",
}


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_pgn_is_read(read: Command, text: str | bytes) -> None:
    status, out, error = read(text)
    assert (status, error) == (0, "")
    assert moves_of(out) == [FOUR_MOVES]


@pytest.mark.parametrize("move", [
    "b2:f4", "b2 :f4", "b2 : f4",
    "b2 x f4", "b2x f4", "b2 xf4", "b2×f4", "b2 × f4", "b2Xf4", "B2xF4!", "b2 {so} xf4"
])
def test_a_removal_with_any_sign_is_read(read: Command, move: str) -> None:
    _, out, _ = read(f"1. d2 f4 2. f2 b4 3. {move} a1 *")
    assert moves_of(out) == [["d2", "f4", "f2", "b4", "b2xf4", "a1"]]


def test_a_colon_before_a_removal_is_read(read: Command) -> None:
    moves = "1. d6 f4 2. b6 b4 3. f6:f4 a1 4. g1 d1 *"
    assert moves_of(read(moves)[1]) == moves_of(read(moves.replace(":", "x"))[1])
    numbers = "1. 5 14 2. 4 11 3. 6:14 22 *"
    assert moves_of(read(numbers)[1]) == moves_of(read(numbers.replace(":", "x"))[1]) != []


@pytest.mark.parametrize("dash", "-–—−‐")
def test_a_move_with_any_dash_is_read(read: Command, dash: str) -> None:
    start = "@*O*@***/O***@***/O******* w 0 0 0 9"
    for move in (f"e4{dash}e5", f"e4 {dash} e5", f"E4{dash} e5"):
        _, out, error = read(f'[FEN "{start}"]\n\n9. {move} {dash.join("10")}\n')
        [record] = parse_records(out)
        assert (error, list(map(str, record.moves)), record.result) == ("", ["e4-e5"], "1-0")


def test_glyphs_become_their_numbers(read: Command) -> None:
    _, out, _ = read("1. d6! f4? 2. d2!! b4?? 3. a1!? g7?! 4. e5‼ ± a7⁇ ∞ 5. g1⁉$18 e3⁈ *")
    assert (
        "1. d6 $1 f4 $2 2. d2 $3 b4 $4 3. a1 $5 g7 $6 4. e5 $3 $16 a7 $4 $13 5. g1 $5 $18\ne3 $6 *"
        in out
    )


def test_games_without_an_empty_line_between_them_are_read(read: Command) -> None:
    fen = '[FEN "********/O*@*****/******** w 8 8 0 2"]\n'
    text = (
        '[White "A"]\n1. d6 f4 1-0\n[White "B"]\n1. d6 f4\n[White "C"]\n1. d6 1-0 1. d2 0-1 [White '
        '"E"] 1. a1 * {the end}\n' + fen + "\n" + fen + '*\n[White "H"]\n1. d6 (1. d2 1-0) f4'
    )
    _, out, error = read(text)
    records = list(parse_records(out))
    assert error == "" and [record.tags["White"] for record in records] == [
        "A", "B", "C", "?", "E", "?", "?", "H"
    ]
    assert [len(record.moves) for record in records] == [2, 2, 1, 1, 1, 0, 0, 2]
    assert [record.result for record in records] == ["1-0", "*", "1-0", "0-1", *"****"]
    assert records[4].end().comment == "the end"


@pytest.mark.parametrize(
    "name", ["Nine Men's Morris", "Nine Men’s Morris", "9 men's morris", "Mühle", "Mill", "?", ""]
)
def test_a_variant_tag_with_a_name_of_the_game_means_mill_by_default(
    read: Command, name: str
) -> None:
    text, pgn = f'[Variant "{name}"]\n\n1. d6 f4 *', ("convert", "-to", "pgn")
    assert '[Variant "mill"]' in read(text, *pgn)[1]
    assert '[Variant "multi"]' in read(text, *pgn, "-variant", "multi")[1]


@pytest.mark.parametrize("words", [
    ("convert", "-to", "pgn"), ("review", "-nodes", "10"), ("accuracy", "-tables", "{folder}"),
])
def test_the_variant_tag_of_another_game_is_overridden(
    tmp_path: Path, read: Command, words: tuple[str, ...]
) -> None:
    text = '[Variant "Twelve Men\'s Morris"]\n\n1. d6 f4 *'
    words = tuple(word.format(folder=tmp_path) for word in words)
    status, _, error = read(text, *words)
    assert status == 2 and len(error.splitlines()) == 1
    assert "'Twelve Men's Morris': expected a rule set: loc, mill, " in error
    assert "; ;" not in error
    assert "-variant overrides the tag (tag Variant, line 1, game 1 of " in error
    assert "Variant" not in read(text, *words, "-variant", "roman")[2]


def test_flags_override_the_rules_of_a_tag(read: Command) -> None:
    text, pgn = '[Variant "multi"]\n\n1. d6 f4 *', ("convert", "-to", "pgn")
    assert '[Variant "multi"]' in read(text, *pgn)[1]
    assert '[Variant "loc"]' in read(text, *pgn, "-variant", "loc")[1]
    assert '[Variant "multi Flying=own"]' in read(text, *pgn, "-set", "Flying=own")[1]


SECOND_ILLEGAL = "1. d6 f4 2. d2 b4 *\n\n1. d6 d6 *\n\n1. a1 *\n"


def test_an_illegal_game_is_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, out = tmp_path / "games", tmp_path / "out"
    games.write_text(SECOND_ILLEGAL)
    words = ["convert", str(games), "-to", "wmd"]
    fault = (
        "merels convert: 'd6': illegal move, d6 is occupied "
        f"(move 1, Black, line 3, game 2 of {games}"
    )
    others = "1. d6 f4\n2. d2 b4\n*\n\n1. a1\n*\n\n"
    assert run(capsys, words) == (1, others, f"{fault}); skipped\n")
    assert run(capsys, [*words, "-out", str(out)])[0] == 1
    assert out.read_text() == others
    status, _, error = run(capsys, [*words, "-strict"])
    assert status == 2 and error == f"{fault})\n"
    # If no game can be read, the output file is not written.
    games.write_text("1. d6 d6 *\n1. x *\n")
    status, _, error = run(capsys, [*words, "-out", str(out)])
    assert status == 2 and len(error.splitlines()) == 2 and "d2 b4" in out.read_text()


@pytest.mark.parametrize(
    "broken",
    ["1. d6 {never closed *", "1. d6 (1. f4 *", "1. d6 ) f4 *", '[White "never closed', "[ ] d6",
     "1. d6 } f4 *", "1. d6 $ f4 *"],
)  # fmt: skip
def test_a_broken_game_does_not_hide_the_next_game(read: Command, broken: str) -> None:
    status, out, error = read(
        f'1. a1 *\n[Event "x"]\n{broken}\n\n[Event "y"]\n\n1. d6 f4 2. d2 b4 *\n'
    )
    assert status == 1 and len(error.splitlines()) == 1 and "game 2 of " in error
    assert moves_of(out) == [["a1"], FOUR_MOVES]


@pytest.mark.parametrize(("form", "first", "bad", "last"), [
    ("six", START, "********/********/*******x w 9 9 0 1", START),
    ("rules", "mill", "mill Flying=up", "loc"),
])
def test_an_invalid_position_or_rule_set_is_skipped(
    read: Command, form: str, first: str, bad: str, last: str
) -> None:
    status, out, error = read(f"{first}\n{bad}\n{last}\n", "convert", "-to", form)
    assert (status, out) == (1, f"{first}\n{last}\n") and "line 2 of " in error


def test_a_review_skips_an_illegal_game(read: Command) -> None:
    words = (SECOND_ILLEGAL, "review", "-nodes", "10")
    status, out, error = read(*words)
    assert status == 1 and "Game 1: " in out and "Game 3: " in out and "All 2 games:" in out
    assert len(error.splitlines()) == 1 and "game 2 of " in error
    assert read(*words, "-strict")[0] == 2
    status, out, _ = read(*words, "-json")
    assert status == 1 and [game["game"] for game in json.loads(out)["games"]] == [1, 3]


@pytest.mark.parametrize(
    "text, message",
    [
        ("MPK/1.0 x", "'MPK/1.0 x': expected games (PGN, "),
        ("mfen/1.0 mill24-state-v1", "expected MFEN/1.0, in capitals"),
        ("1\tPlace to d6\tPlace to f4\n", "GoldToken's notation"),
        ("1\td6 -> d5, take f4", "GoldToken's notation"),
        ("(;FF[4]GM[1])", "'(': expected ')' after the variation"),
        ('{"format": "MRS/1.0"}', "'{\"format\": \"MRS/1.0\"}': expected games (PGN, "),
        (gzip.compress(b"1. d6 *"), "': expected games (PGN, "),
        (bytes(range(256)), "': expected games (PGN, "),
        ("Dear diary,\ntoday", "'Dear diary,': expected games (PGN, "),
        ("; a comment\n\nnonsense", "(line 3 of "),
    ],
    ids=lambda value: str(value)[:12] if isinstance(value, str) else "bytes",
)
def test_a_text_in_another_form_is_refused_with_its_first_words(
    read: Command, text: str | bytes, message: str
) -> None:
    for words in (("convert", "-to", "wmd"), ("review", "-nodes", "1")):
        status, out, error = read(text, *words)
        assert (status, out, len(error.splitlines())) == (2, "", 1)
        assert message in error or words[0] == "review" and "expected games" in error


def test_a_comment_that_begins_a_game_is_no_json(read: Command) -> None:
    assert read('{"Well played", said Anna} 1. d6 f4 *')[0] == 0


@pytest.mark.parametrize("command", [("convert", "-to", "wmd"), ("review", "-nodes", "1")])
def test_a_move_after_a_decisive_end_is_an_error(read: Command, command: tuple[str, ...]) -> None:
    end = "expected no move after the end of the game: Black wins, White "
    text = '[FEN "@@*@****/OO******/******** w 0 0 0 9"]\n\n9. d6-b6 d5-c5 *\n'
    status, _, error = read(text, *command)
    assert status == 2
    assert f"'d6-b6': {end}has two men (move 9, White, line 3, game 1 of " in error
    text = '[FEN "********/****@*@*/**@OOOO@ w 0 0 0 9"]\n\n9. a1-a4 *\n'
    assert f"{end}is blocked" in read(text, *command)[2]


def game_after_draw(reason: str) -> tuple[str, str, str]:
    """Return a game with moves after a draw, the draw's text, and the flags that prevent it."""
    if reason == "repetition":
        text = next(case["text"] for case in CASES if "repetition" in case["name"])
        return text, "Draw by repetition at move 13, Black (a4-a7)", "-set Repetition=0"
    if reason == "three":
        start = "O*O*****/@*@*****/O***@*** w 0 0 2 20"
        moves = "20. e4-e5 f4-f6 21. e5-e4 f6-f4 22. e4-e5"
        return (
            f'[FEN "{start}"]\n\n{moves} *\n', "Draw, three against three at move 20, Black",
            "-set ThreeThreePlies=0 or -variant morris",
        )  # fmt: skip
    start = "O*O*****/@*@*****/O***@@O* w 0 0 78 60"
    moves = "60. e4-e5 f4-f6 61. e5-e4 f6-f4 62. e4-e5"
    return (
        f'[FEN "{start}"]\n\n{moves} *\n', "Draw by the no-removal rule at move 60, Black",
        "-set NoRemovalPlies=0",
    )  # fmt: skip


@pytest.mark.parametrize("reason", ["repetition", "three", "norem"])
def test_moves_after_a_draw_by_counting_are_read_with_one_notice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reason: str
) -> None:
    text, draw, remedy = game_after_draw(reason)
    game = tmp_path / "game"
    game.write_text(text)
    words = ["convert", str(game), "-to", "pgn"]
    status, out, error = run(capsys, words)
    assert status == 0 and error.startswith(f"merels convert: game 1 of {game}: {draw}")
    assert f"the later moves are read, too; {remedy} turns this draw off" in error
    assert len(error.splitlines()) == 1
    [record] = parse_records(out)
    assert len(record.moves) == (27 if reason == "repetition" else 5)
    # With the flags that the notice names, there is no draw.
    setting = remedy.split()[1]
    assert run(capsys, [*words, "-set", setting])[2] == ""
    if reason == "three":
        assert run(capsys, [*words, "-variant", "morris"])[2] == ""
    # The review marks the move and continues.
    status, out, error = run(capsys, ["review", str(game), "-nodes", "100"])
    marked = [line for line in out.splitlines() if "the record goes on" in line]
    assert status == 0 and len(marked) == 1 and draw.split(" at ")[0] in marked[0]
    assert draw in error and len(error.splitlines()) == 1


@pytest.mark.parametrize("text", ["", " ", "\t\n"])
@pytest.mark.parametrize(
    "command",
    [["tables", "probe"], ["d"], ["eval"], ["analyse"], ["perft", "1", "-position"],
     ["play", "-position"]],
    ids=" ".join,
)  # fmt: skip
def test_an_empty_position_is_an_error(
    capsys: pytest.CaptureFixture[str], command: list[str], text: str
) -> None:
    status, out, error = run(capsys, [*command, text])
    assert (status, out) == (2, "") and "expected a position, found an empty text" in error
    assert len(error.splitlines()) == 1


def test_an_empty_position_of_a_record_is_an_error(read: Command) -> None:
    status, _, error = read('[FEN ""]\n\n1. d6 *')
    assert status == 2 and "found 0 (tag FEN, line 1, game 1 of " in error


TWO_REMOVALS = "1. 1 9 2. 2 23 3. 15 5 4. 24 11 5. 3x23x9 *"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TWO_REMOVALS,
         "'3x23x9': illegal move, the move must remove one man; it is legal with -set "
         "DoubleMill=each (move 5, White, line 1, game 1 of "),
        ("1. a7 e5 2. D7 d1 3. g4 d6 4. g1 b4 5. G7 x D1 × E5 *",
         "'G7 x D1 × E5': illegal move, the move must remove one man; it is legal with -set "
         "DoubleMill=each (move 5, White, "),
        ('[Variant "loc"]\n[FEN "O@O*@***/O*@*@***/******** w 0 0 0 9"]\n\n9. d5-a1 *',
         "'d5-a1': illegal move, a1 is not next to d5; it is legal with -set Flying=own "),
        ("1. d6 f4\n2. d2\nd6 *", "(move 2, Black, line 3, game 1 of "),
        ("1. d6 f4 (1... a1 2. a1) *", "'a1': illegal move, a1 is occupied (move 2, White, "),
        ("1. d6 * 1. d6 * 1. d6 oops *", "'oops': expected a move such as d6, d6xb4, d6-d5 or "),
        ("1. d6 * 1. d6 * 1. d6 oops *", "(move 1, Black, line 1, game 3 of "),
    ],
)
def test_an_illegal_move_is_quoted_with_the_rule_that_would_allow_it(
    read: Command, text: str, message: str
) -> None:
    assert message in read(text, "convert", "-to", "wmd")[2]


def test_a_move_is_legal_with_the_rule_that_an_error_names(read: Command) -> None:
    words = ("convert", "-to", "wmd", "-set", "DoubleMill=each")
    assert read(TWO_REMOVALS, *words)[:2] == (
        0, "1. a7 e5\n2. d7 d1\n3. g4 d6\n4. g1 b4\n5. g7xd1xe5\n*\n\n"
    )
