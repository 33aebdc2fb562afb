"""Games as PGN: everything of a row that a reader needs, and nothing that would break the file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.formats.pgn.reader import parse_record, parse_records
from merels.tournament.journal.rows import Row, Standings, make_row
from merels.tournament.records.games import NANOSECONDS, TimeControl
from merels.tournament.records.output import PgnStyle
from merels.tournament.views import pgn_file
from merels.tournament.views.pgn import GameWriter, PgnView, time_control_text
from merels.tournament.views.pgn_file import PgnFile
from tests.tournament.specs import result, settings


def writer(style: PgnStyle = PgnStyle(), **fields: object) -> GameWriter:
    return GameWriter(settings(2, **fields), "abc", style)


def text_of(*numbers: int, by: GameWriter | None = None) -> str:
    return "".join((by or writer()).text(make_row(result(number))) for number in numbers)


def opened(path: Path | str, **options: bool) -> PgnFile:
    return PgnFile(str(path), "abc", writer().head, **options)


def numbers_in(path: Path) -> list[str]:
    return [record.tags["GameId"] for record in parse_records(path.read_text())]


def test_a_game() -> None:
    text = writer(event='The "Cup"', site="Here").text(make_row(result(4)))
    record = parse_record(text)
    assert record.tags | {
        "Event": 'The "Cup"', "Site": "Here", "Date": "2026.01.02", "Round": "1", "White": "A",
        "Black": "B", "Result": "1-0", "Variant": "mill", "Termination": "normal",
        "TimeControl": "-", "PlyCount": "5", "GameDuration": "00:00:03", "GameId": "abc-4",
        "PairId": "abc-2",
        "GameStartTime": "2026-01-02T03:04:05.678+00:00",
        "GameEndTime": "2026-01-02T03:04:09.178+00:00", "Opening": "o",
    } == record.tags
    assert [str(move) for move in record.moves] == ["d6", "f4", "d2", "b4", "a1"]
    assert [node.comment for node in record.line()] == [
        "", "", "+0.79/6 0.001s", "-M2/3 0.003s", "0.000s, White wins, Black is blocked",
    ]


def test_a_game_without_moves() -> None:
    row = make_row(result(moves=(), reason="White does not start", termination="abandoned"))
    record = parse_record(writer().text(row._replace(opening="")))
    assert record.root.comment == "White does not start"
    assert record.moves == [] and record.tags["Termination"] == "abandoned"


def test_a_game_from_elsewhere_has_no_times() -> None:
    record = parse_record(writer().text(make_row(result())._replace(started="", elapsed=0)))
    assert record.tags["Date"] == "????.??.??"
    assert not {tag for tag in record.tags if tag.startswith("Game")} - {"GameId"}


def test_styles() -> None:
    row = make_row(result())
    record = parse_record(writer(PgnStyle(minimal=True)).text(row))
    comments = [node.comment for node in record.line()]
    assert comments == ["", "", "", "", "White wins, Black is blocked"]
    record = parse_record(writer(PgnStyle(nodes=True, clock=True)).text(row))
    assert record.line()[2].comment == "+0.79/6 0.001s, tl=59.000s, n=1234"


def test_other_rules_and_positions() -> None:
    row = make_row(result())._replace(
        position="********/********/@@@@@@@@ w 9 1 0 4", opening="", opening_name=""
    )
    record = parse_record(writer(rules="multi Flying=never").text(row._replace(moves="d6 f4 d2")))
    assert record.tags["Variant"] == "multi Flying=never"
    assert record.tags["FEN"] == row.position and record.tags["SetUp"] == "1"


def test_hostile_text_stays_inside() -> None:
    row = make_row(result(reason='bad } 0-1 {" \x1b[31m\n[White "X"]'))
    text = writer().text(row._replace(white='A"]\n[Black "Z', opening_name="\\"))
    record = parse_record(text)
    assert record.result == "1-0" and record.tags["Black"] == "B"
    assert record.tags["White"] == 'A"] [Black "Z' and "\x1b" not in text


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (TimeControl(nodes=5), "-"),
        (TimeControl(time=60 * NANOSECONDS), "60"),
        (TimeControl(time=NANOSECONDS // 5, increment=2_000_000), "0.2+0.002"),
        (TimeControl(time=90 * NANOSECONDS, moves=40, increment=NANOSECONDS), "40/90+1"),
        (TimeControl(per_move=NANOSECONDS // 2), "1/0.5"),
    ],
)
def test_time_control_tag(limit: TimeControl, text: str) -> None:
    assert time_control_text(limit) == text


def test_games_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text("1. d6 *")
    file = opened(path)
    for number in (1, 2):
        file.add(number, text_of(number))
    file.close()
    assert len(list(parse_records(path.read_text()))) == 3
    opened(path, append=False).close()
    assert path.read_text() == ""


@pytest.mark.thorough
def test_a_torn_game_of_ours_is_cut_off_and_whole_ones_stay(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    first, both = text_of(1), text_of(1, 2)
    for foreign, step in (("", 20), ('[Event "Mine"]\n\n1. d6 *\n\n', 1)):
        for size in range(1, len(both), step):
            path.write_text(foreign + both[:size])
            opened(path).close()
            whole = first if size >= len(first) else ""
            assert path.read_text() == foreign + whole, size


def test_games_after_a_missing_one_stay_until_it_comes(tmp_path: Path) -> None:
    """A resumed run may be killed at any moment: the file is never shorter than before."""
    path = tmp_path / "games.pgn"
    others = text_of(3, by=GameWriter(settings(), "other"))
    path.write_text(others + text_of(1, 2, 4, 6))
    view, standings = PgnView(opened(path), writer(), print), Standings(("A", "B"))
    for number, there in ((1, "1246"), (2, "1246"), (3, "12346"), (4, "12346"), (5, "123456"),
                          (6, "123456"), (7, "1234567")):
        view.finished(make_row(result(number)), standings)
        assert path.read_text() == others + text_of(*map(int, there)), number
    view.close()


def test_a_game_that_is_told_otherwise_now_takes_its_own_place(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(text_of(1, 2, 3))
    short = writer(PgnStyle(minimal=True))
    view, standings = PgnView(opened(path), short, print), Standings(("A", "B"))
    for number in (1, 2):
        view.found(make_row(result(number)), standings)
    assert path.read_text() == text_of(1, 2, by=short) + text_of(3)


def test_games_that_another_run_adds_meanwhile_are_not_moved(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(text_of(1, 3))
    file, others = opened(path), text_of(9, by=GameWriter(settings(), "other"))
    with open(path, "a") as another:
        another.write(others)
    for number in (1, 2, 3, 4):
        file.add(number, text_of(number))
    file.close()
    assert path.read_text() == text_of(1, 3) + others + text_of(2, 4)


def test_many_games_after_a_missing_one_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgn_file, "MOST_MOVED", 2 * len(text_of(1)) + 1)
    path = tmp_path / "games.pgn"
    path.write_text(text_of(1, 3, 4, 5))
    show(path, (1, 2))
    assert path.read_text() == text_of(1, 2)
    show(path, range(1, 6))
    assert path.read_text() == text_of(*range(1, 6))


def test_a_full_disk_leaves_the_games_after_a_missing_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real_write = tmp_path / "games.pgn", os.write
    path.write_text(text_of(1, 3))
    size = path.stat().st_size

    def write_some(descriptor: int, data: bytes) -> int:
        room = size - os.fstat(descriptor).st_size
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(descriptor, data[:room])

    monkeypatch.setattr(os, "write", write_some)
    said: list[str] = []
    view = PgnView(opened(path), writer(), said.append)
    for number in (1, 2):
        view.finished(make_row(result(number)), Standings(("A", "B")))
    assert path.read_text() == text_of(1, 3) and "No space left" in said[0]


@pytest.mark.thorough
def test_a_torn_game_that_another_tournament_closed_is_added_again(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    whole, others = text_of(1), GameWriter(settings(), "other")
    for size in range(1, len(whole) - 1):
        path.write_text(whole[:size])
        file = PgnFile(str(path), "other", others.head)
        file.add(1, text_of(1, by=others))
        file.close()
        show(path, (1,), there=(1,))
        text = path.read_text()
        assert whole.rstrip() in text and text.count(text_of(1, by=others)) == 1, size


@pytest.mark.parametrize("torn", ['[Event "Mine"]\n\n1. d6\n', '[Event "Mine"]\n[Site "?"]\n'])
def test_a_torn_game_of_others_is_kept(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "games.pgn"
    for text in (torn, torn[:-1]):
        path.write_text(text)
        opened(path).close()
        assert path.read_text() == torn + "\n"


def show(path: Path, numbers: Iterable[int], there: Sequence[int] = ()) -> None:
    """Show a file's view these games in turn, those that are "there" as an earlier run's."""
    view, standings = PgnView(opened(path), writer(), print), Standings(("A", "B"))
    for number in numbers:
        (view.found if number in there else view.finished)(make_row(result(number)), standings)
    view.close()


def test_found_games_are_added_once(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    for numbers in ((1, 2), (1, 2, 3)):
        show(path, numbers, there=numbers)
    assert numbers_in(path) == ["abc-1", "abc-2", "abc-3"]


def test_games_behind_a_byte_order_mark_are_found(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(text_of(1, 2), encoding="utf-8-sig")
    show(path, (1, 2, 3), there=(1, 2))
    assert path.read_text(encoding="utf-8-sig") == text_of(1, 2, 3)


def test_games_that_an_interrupted_run_left_out_come_in_order(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    others = GameWriter(settings(), "other")
    path.write_text(text_of(3, by=others))
    show(path, (1, 2, 4, 6))
    show(path, (1, 2, 4, 6), there=(1, 2, 4, 6))  # interrupted before any game was over
    assert path.read_text() == text_of(3, by=others) + text_of(1, 2, 4, 6)
    show(path, range(1, 8), there=(1, 2, 4, 6))
    assert path.read_text() == text_of(3, by=others) + text_of(*range(1, 8))


def test_nothing_of_others_is_cut_off_for_the_sake_of_order(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    before = text_of(1, 3) + text_of(9, by=GameWriter(settings(), "other"))
    path.write_text(before)
    show(path, (1, 2, 3, 4), there=(1, 3))
    assert path.read_text() == before + text_of(2, 4)


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="names a pipe by its descriptor")
def test_a_pipe_is_written_to_and_not_read(tmp_path: Path) -> None:
    end, pipe = os.pipe()
    file = opened(f"/dev/fd/{pipe}")
    file.add(1, text_of(1))
    file.close()
    os.close(pipe)
    with open(end) as reader:
        assert reader.read() == text_of(1)


def test_a_full_disk_leaves_whole_games_and_a_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.pgn"
    said: list[str] = []
    view = PgnView(opened(path), writer(), said.append)
    standings = Standings(("A", "B"))
    view.finished(make_row(result(1)), standings)
    whole, real_write = path.read_text(), os.write

    def write_some(descriptor: int, data: bytes) -> int:
        if len(data) < 200:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(descriptor, data[:100])

    monkeypatch.setattr(os, "write", write_some)
    view.finished(make_row(result(2)), standings)
    view.finished(make_row(result(3)), standings)
    assert path.read_text() == whole
    assert len(said) == 1 and "No space left" in said[0] and "game 2" in said[0]


def test_a_game_that_would_end_after_the_last_year_has_no_end() -> None:
    row = make_row(result(1, started="9999-12-31T23:59:59", elapsed=10**18))
    assert parse_record(writer().text(row)).tags["GameEndTime"] == "?"


@pytest.mark.parametrize("column", ["position", "opening", "moves"])
def test_a_game_that_makes_no_sense_is_named(column: str) -> None:
    row = Row(**{**make_row(result(7))._asdict(), column: "z9 z9 z9"})
    with pytest.raises(InputError, match="game 7 of the journal"):
        writer().text(row)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write this file"):
        opened(tmp_path / "none" / "x.pgn")
