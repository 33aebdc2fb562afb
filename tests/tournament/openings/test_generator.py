"""The generator of balanced openings, and the books shipped with merels."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.board import LINE_MASKS, least_image
from merels.engine.game.notation import parse_position
from merels.engine.game.position import WHITE, Position
from merels.engine.game.rules import PRESETS, parse_rules
from merels.engine.search.limits import Info, Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.probe import TableValue, Tables
from merels.tournament.commands.main import main
from merels.tournament.openings.generator import BookSettings, Candidate, make_book
from merels.tournament.openings.reading import load_openings, shipped_book
from merels.tournament.records.settings import OpeningSettings
from tests.tournament.processes import play
from tests.tournament.specs import match

SMALL_BOOK = ["-positions", "8", "-nodes", "3000"]
"""Flags of a book of eight positions, which is made quickly."""
posix = pytest.mark.skipif(os.name == "nt", reason="needs named pipes and symbolic links")
PROVEN = re.compile(
    r"(\S+ [wb] \d \d 0 \d+) ; (\w+) (\d+): proven draw, (\d+) of (\d+) moves hold it"
)
SCORED = re.compile(r"(\S+ [wb] \d \d 0 \d+) ; (\w+) (\d+): score (-?\d+) nodes (\d+)")


def positions_in(book: str) -> list[str]:
    """Return the positions of a book with scores."""
    return [match[1] for match in matches(SCORED, book)]


def matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches of all lines that are not comments; each line must match."""
    lines = [line for line in text.splitlines() if not line.startswith(";")]
    matched = list(filter(None, map(pattern.fullmatch, lines)))
    assert len(matched) == len(lines), lines
    return matched


def made(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    """Return the book that the command printed, and its error output."""
    assert main(["book", *words]) == 0
    return capsys.readouterr()


def has_two_in_line(men: tuple[int, int]) -> bool:
    """Return whether a side has two men in a line without opposing men."""
    return any(
        (own & line).bit_count() >= 2 and not other & line
        for line in LINE_MASKS
        for own, other in (men, men[::-1])
    )


@pytest.mark.parametrize("variant", PRESETS)
def test_a_shipped_book_has_distinct_level_positions_that_are_proven_drawn(variant: str) -> None:
    rules = parse_rules(variant)
    text = Path(shipped_book(rules)).read_text(encoding="utf-8")
    lines = matches(PROVEN, text)
    assert len(lines) >= 500
    assert [int(m[3]) for m in lines] == list(range(1, len(lines) + 1))
    assert {m[2] for m in lines} == {variant}
    positions = [parse_position(m[1], rules) for m in lines]
    for position, line in zip(positions, lines):
        moves = len(position.legal_moves())
        assert int(line[5]) == moves and 1 <= int(line[4]) <= moves // 3
    assert len({(least_image(p.men), p.side) for p in positions}) == len(positions)
    assert len({sum(men.bit_count() for men in p.men) for p in positions}) >= 5
    for position in positions:
        assert position.total(0) == position.total(1) == 9, "neither side is ahead"
        placed = sum(men.bit_count() for men in position.men)
        assert (position.side == WHITE) == (placed % 2 == 0)
        assert not has_two_in_line(position.men)
        assert position.outcome() is None
    command = re.search(r"merels book .*", text)
    assert command is not None
    assert f"-variant {variant} -positions {len(lines)} " in command[0]
    assert f"-out tournament/openings/books/{variant}.pos" in command[0] and "-tables" in command[0]


def test_the_same_command_makes_the_same_book(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (first, messages), (second, _) = made(capsys, *SMALL_BOOK), made(capsys, *SMALL_BOOK)
    assert first == second and len(positions_in(first)) == 8
    assert "8 of 8 positions" in messages
    other, _ = made(capsys, *SMALL_BOOK, "-srand", "2")
    assert not {*positions_in(other)} & {*positions_in(first)}
    path = tmp_path / "book.pos"
    made(capsys, *SMALL_BOOK, "-out", str(path))
    assert positions_in(path.read_text()) == positions_in(first)
    assert [entry.name for entry in tmp_path.iterdir()] == ["book.pos"]
    openings = load_openings(OpeningSettings(file=str(path)), parse_rules("mill"))
    assert [opening.position for opening in openings] == positions_in(first)


@posix
def test_out_refuses_what_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("folder", "pipe", "loop", None):
        assert main(["book", *SMALL_BOOK, "-out", str(tmp_path / name) if name else ""]) == 2
        error = capsys.readouterr().err
        assert "expected the name of a file" in error
        assert "tried" not in error, "the error is printed before the search for positions"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder", "loop", "pipe"]
    assert (tmp_path / "pipe").is_fifo()


@posix
def test_out_writes_through_a_symbolic_link(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.pos").write_text("old")
    for name in ("old.pos", "new.pos"):
        link = tmp_path / f"link-to-{name}"
        link.symlink_to(name)
        made(capsys, *SMALL_BOOK, "-out", str(link))
        assert link.is_symlink() and len(positions_in((tmp_path / name).read_text())) == 8


def test_a_book_that_is_interrupted_before_its_first_position_prints_no_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> Iterator[Candidate]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("merels.tournament.commands.book.make_book", interrupted)
    assert main(["book", *SMALL_BOOK]) == 130
    assert capsys.readouterr().err == ""


def test_the_error_of_a_failed_book_names_its_partial_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "book.pos"
    words = ["-positions", "50", "-plies", "1", "-nodes", "100", "-bound", "10000"]
    (tmp_path / "book.pos.part").write_text("the user's")
    assert main(["book", *words, "-out", str(path)]) == 2
    partial = re.search(r"positions found so far are in (.*)", capsys.readouterr().err)
    assert partial is not None
    assert positions_in(Path(partial[1]).read_text()) and not path.exists()
    assert (tmp_path / "book.pos.part").read_text() == "the user's"


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file name that is not valid UTF-8")
def test_a_book_may_have_a_name_that_is_not_utf_8(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(b"b\xff")
    made(capsys, *SMALL_BOOK, "-out", str(tmp_path / name))
    text = (tmp_path / name).read_text()
    assert len(positions_in(text)) == 8 and "b?'" in text


def test_positions_of_each_length_come_in_turn() -> None:
    settings = BookSettings(parse_rules("multi"), 6, 3, 5, nodes=2000, bound=200)
    entries = [candidate.entry for candidate in make_book(settings) if candidate.entry is not None]
    men = [sum(mask.bit_count() for mask in entry.position.men) for entry in entries]
    assert men == [3, 4, 5, 3, 4, 5]


def test_a_position_is_level_and_its_three_best_moves_are_close() -> None:
    """A separate search finds the scores that the generator states."""
    settings = BookSettings(parse_rules("loc"), 5, nodes=4000, bound=20)
    entries = [candidate.entry for candidate in make_book(settings)]
    assert None in entries, "not every position is level"
    for entry in filter(None, entries):
        lines: dict[int, Info] = {}
        searcher = Searcher(32)
        searcher.opening = False  # As the generator, whose scores are estimates.
        result = searcher.search(
            entry.position, Limit(nodes=4000),
            lambda info: lines.__setitem__(info.multipv, info), multipv=3,
        )
        cp, *pair = result.score.cp, lines[1].score, lines[3].score
        best, third = (score.relative.cp if score else None for score in pair)
        assert cp is not None and best is not None and third is not None
        assert entry.comment.startswith(f"score {cp} ")
        assert abs(cp) <= 20
        assert best - third <= 40


def test_a_book_states_its_rules_and_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    text, _ = made(capsys, *SMALL_BOOK, "-variant", "morris", "-set", "Flying=never")
    assert "under the rules morris Flying=never" in text
    assert "-variant morris -set Flying=never -positions 8 -plies 4-10" in text


def test_too_few_positions_are_an_error() -> None:
    settings = BookSettings(parse_rules("mill"), 50, 1, 1, nodes=100, bound=10_000)
    with pytest.raises(InputError, match="found only [0-4] balanced positions"):
        list(make_book(settings))


def test_a_tournament_uses_the_shipped_book_from_its_start_on(tmp_path: Path) -> None:
    play(*match("-openings", "book", "start=3", "-variant", "loc", "-set", "Repetition=2",
                "-rounds", "2", "-pgnout", f"file={tmp_path}/g.pgn", nodes=(9, 20)))
    text = Path(shipped_book(parse_rules("loc"))).read_text(encoding="utf-8")
    book = [line[1] for line in matches(PROVEN, text)]
    games = (tmp_path / "g.pgn").read_text()
    assert re.findall(r'\[FEN "(.*)"\]', games) == [book[2]] * 2 + [book[3]] * 2


def test_a_proven_book_needs_all_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["book", "-positions", "1", "-tables", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    command = f"merels tables build -all -placing -variant mill -dir {tmp_path}"
    assert f"expected all tables of the rules; make them with {command}" in error


def test_a_proven_book_probes_every_position() -> None:
    rules = parse_rules("mill")
    probed: list[Position] = []

    class FakeTables(Tables):
        """Tables of the placing phase, which are too large for a test."""

        def probe(self, position: Position) -> TableValue:
            probed.append(position)
            return TableValue(len(probed) % 2, None)

        def holding(self, position: Position) -> tuple[int, int]:
            return 5 + len(probed) % 3, len(position.legal_moves())

    settings = BookSettings(rules, positions=6, nodes=200, bound=500, proven=True)
    candidates = list(make_book(settings, FakeTables(rules)))
    entries = [candidate.entry for candidate in candidates if candidate.entry is not None]
    assert len(entries) == 6 and candidates[-1].tried == len(probed) > 12
    for entry in entries:
        number, moves = probed.index(entry.position) + 1, len(entry.position.legal_moves())
        assert number % 2 == 0
        assert entry.comment == f"proven draw, {5 + number % 3} of {moves} moves hold it"
