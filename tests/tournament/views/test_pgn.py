"""Games as PGN: tags, comments, escaping; the PGN file after kills and on full disks."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.common.saving import append_whole
from merels.protocol.formats.pgn.reader import parse_record, parse_records
from merels.tournament.journal.rows import Row, Standings, make_row
from merels.tournament.records.games import NANOSECONDS, TimeControl, control_text
from merels.tournament.records.output import PgnStyle
from merels.tournament.views.pgn import GameWriter, PgnView
from merels.tournament.views.pgn_file import PgnFile
from tests.tournament.specs import result, settings


def writer(style: PgnStyle = PgnStyle(), **fields: object) -> GameWriter:
    return GameWriter(settings(2, **fields), "abc", style)


def text_of(*numbers: int, tournament: str = "abc") -> str:
    """Return games with these numbers as PGN; ``tournament`` is the id of their tournament."""
    games = GameWriter(settings(2), tournament)
    return "".join(games.text(make_row(result(number))) for number in numbers)


def opened(path: Path | str, *numbers: int, append: bool = True) -> PgnFile:
    """Return the PGN file of a tournament whose journal has the games with these numbers."""
    rows = [make_row(result(number)) for number in numbers]
    return PgnFile(str(path), writer(), lambda: rows, append)


@pytest.fixture
def unflushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable fsync for tests that write thousands of files."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


FOREIGN = text_of(3, tournament="other")
"""A game of another tournament."""


def test_a_game_has_all_tags_moves_and_comments() -> None:
    text = writer(event='The "Cup"').text(make_row(result(4)))
    record = parse_record(text)
    assert record.tags | {
        "Event": 'The "Cup"', "Site": "?", "Date": "2026.01.02", "Round": "1", "White": "A",
        "Black": "B", "Result": "1-0", "Variant": "mill", "Termination": "normal",
        "TimeControl": "-", "PlyCount": "5", "GameDuration": "00:00:03", "GameId": "abc-4",
        "PairId": "abc-2", "Cause": "blocked",
        "GameStartTime": "2026-01-02T03:04:05.678+00:00",
        "GameEndTime": "2026-01-02T03:04:09.178+00:00", "Opening": "o",
    } == record.tags
    assert [str(move) for move in record.moves] == ["d6", "f4", "d2", "b4", "a1"]
    assert [node.comment for node in record.line()] == [
        "", "", "+0.79/6 0.001s", "-M2/3 0.003s", "0.000s, White wins, Black is blocked",
    ]


def test_a_game_without_moves_has_its_reason_as_comment() -> None:
    row = make_row(result(moves=(), reason="White does not start", termination="abandoned"))
    record = parse_record(writer().text(row._replace(opening="")))
    assert record.root.comment == "White does not start"
    assert record.moves == [] and record.tags["Termination"] == "abandoned"


def test_an_imported_game_has_no_times() -> None:
    record = parse_record(writer().text(make_row(result())._replace(started="", elapsed=0)))
    assert record.tags["Date"] == "????.??.??"
    assert not {tag for tag in record.tags if tag.startswith("Game")} - {"GameId"}


def test_the_style_selects_the_values_in_comments() -> None:
    row = make_row(result())
    record = parse_record(writer(PgnStyle(minimal=True)).text(row))
    comments = [node.comment for node in record.line()]
    assert comments == ["", "", "", "", "White wins, Black is blocked"]
    record = parse_record(writer(PgnStyle(nodes=True, clock=True)).text(row))
    assert record.line()[2].comment == "+0.79/6 0.001s, tl=59.000s, n=1234"


def test_the_rules_and_another_start_position_have_tags() -> None:
    row = make_row(result())._replace(
        position="********/********/@@@@@@@@ w 9 1 0 4", opening="", opening_name=""
    )
    record = parse_record(writer(rules="multi Flying=never").text(row._replace(moves="d6 f4 d2")))
    assert record.tags["Variant"] == "multi Flying=never"
    assert record.tags["FEN"] == row.position and record.tags["SetUp"] == "1"


def test_hostile_text_stays_inside_its_tag_or_comment() -> None:
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
def test_text_of_the_time_control_tag(limit: TimeControl, text: str) -> None:
    assert control_text(limit) == text


def test_games_are_appended_unless_the_file_is_to_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    for before in (b"1. d6 *", b"1. d6 *\n", b"1. d6 *\n\n", b"1. d6 *\r\n\r\n"):
        path.write_bytes(before)
        file = opened(path)
        for number in (1, 2):
            file.add(number, text_of(number))
        file.close()
        assert path.read_bytes().startswith(before)
        assert len(list(parse_records(path.read_text()))) == 3
    opened(path, append=False).close()
    assert path.read_text() == ""


def test_a_resumed_run_that_replaces_the_file_keeps_its_own_games(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(FOREIGN + text_of(1))
    opened(path, 1, 2, append=False).close()
    assert path.read_text() == text_of(1, 2)


@pytest.mark.thorough
@pytest.mark.usefixtures("unflushed")
@pytest.mark.parametrize("before", ["", '[Event "Mine"]\n\n1. d6 *\n\n', FOREIGN])
def test_a_truncated_file_is_completed_from_the_journal(tmp_path: Path, before: str) -> None:
    path, both = tmp_path / "games.pgn", text_of(1, 2)
    for size in range(len(both)):
        path.write_text(before + both[:size])
        opened(path, 1, 2).close()
        assert path.read_text() == before + both, size


@pytest.mark.thorough
@pytest.mark.usefixtures("unflushed")
def test_a_truncated_game_before_another_tournament_is_added_again(tmp_path: Path) -> None:
    path, game = tmp_path / "games.pgn", text_of(1)
    for size in range(1, len(game) - 1):
        path.write_text(game[:size])
        file = PgnFile(str(path), GameWriter(settings(), "other"), list[Row])
        file.add(3, FOREIGN)
        file.close()
        opened(path, 1).close()
        text = path.read_text()
        assert text.endswith(game) and text.count(FOREIGN) == 1, size


@pytest.mark.parametrize("truncated", ['[Event "Mine"]\n\n1. d6\n', '[Event "Mine"]\n[Site "?"]\n'])
def test_a_truncated_game_of_another_tournament_is_kept(tmp_path: Path, truncated: str) -> None:
    path = tmp_path / "games.pgn"
    for text in (truncated, truncated[:-1]):
        for numbers in ((), (1,)):
            path.write_text(text)
            opened(path, *numbers).close()
            assert path.read_text() == truncated + "\n" + text_of(*numbers)


def test_other_text_between_own_games_is_kept(tmp_path: Path) -> None:
    path, notes = tmp_path / "games.pgn", "a note\n\nand another\n\n"
    path.write_text(notes + text_of(1) + notes + FOREIGN + text_of(2))
    opened(path, 1, 2, 4).close()
    assert path.read_text() == notes + notes + FOREIGN + text_of(1, 2, 4)


def test_games_after_a_byte_order_mark_are_recognized(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    for before in ("", FOREIGN):
        path.write_text(before + text_of(1, 2), encoding="utf-8-sig")
        opened(path, 1, 2, 3).close()
        assert path.read_text(encoding="utf-8-sig") == before + text_of(1, 2, 3)


def test_the_games_are_in_order_at_the_end_of_the_run(tmp_path: Path) -> None:
    """A resumed run plays games whose numbers are lower than some in the file."""
    path = tmp_path / "games.pgn"
    path.write_text(FOREIGN + text_of(1, 4))
    rows = [make_row(result(number)) for number in (1, 4)]
    file = PgnFile(str(path), writer(), lambda: sorted(rows))
    for number in (2, 3, 5):
        rows.append(make_row(result(number)))
        file.add(number, text_of(number))
        numbers = [record.tags["GameId"][4:] for record in parse_records(path.read_text())]
        assert sorted(numbers[1:]) == sorted(str(row.number) for row in rows)
    file.close()
    assert path.read_text() == FOREIGN + text_of(1, 2, 3, 4, 5)


def test_a_game_that_another_run_adds_while_the_file_is_rewritten_stays(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(text_of(1))

    def rows() -> Iterator[Row]:
        yield make_row(result(1))
        append_whole(path, FOREIGN.encode())

    PgnFile(str(path), writer(), rows).close()
    assert path.read_text() == text_of(1) + FOREIGN


def test_a_game_that_another_run_adds_while_the_file_is_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, replace = tmp_path / "games.pgn", os.replace
    other = PgnFile(str(path), GameWriter(settings(), "other"), list[Row])
    adding = threading.Thread(target=other.add, args=(1, FOREIGN), daemon=True)

    def add_before(draft: str, name: str) -> None:
        adding.start()
        adding.join(0.5)  # Without waiting for the lock, the other run adds its game in this time.
        replace(draft, name)

    monkeypatch.setattr(os, "replace", add_before)
    file = opened(path, 1)
    adding.join(60)
    assert not adding.is_alive(), "the other run waits although the file is replaced"
    monkeypatch.undo()
    file.close()
    assert path.read_text() == text_of(1) + FOREIGN


@pytest.mark.parametrize("numbers", [(1, 2), (1, 3)])
def test_a_full_disk_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numbers: Sequence[int]
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(FOREIGN + text_of(*numbers))
    before, real_write = path.read_text(), os.write

    def write_to_full_disk(descriptor: int, data: bytes) -> int:
        free = len(before) + 50 - os.fstat(descriptor).st_size
        if not free:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(descriptor, data[:free])

    monkeypatch.setattr(os, "write", write_to_full_disk)
    with pytest.raises(InputError, match="cannot write this file: No space left"):
        opened(path, 1, 2, 3)
    assert path.read_text() == before and os.listdir(tmp_path) == ["games.pgn"]


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")
def test_a_pipe_is_written_to_and_not_read() -> None:
    reading_end, writing_end = os.pipe()
    file = opened(f"/dev/fd/{writing_end}")
    file.add(1, text_of(1))
    file.close()
    os.close(writing_end)
    with open(reading_end) as reader:
        assert reader.read() == text_of(1)


def test_a_disk_that_fills_up_leaves_whole_games_and_one_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.pgn"
    notices: list[str] = []
    view = PgnView(opened(path), writer(), notices.append)
    standings = Standings(("A", "B"))
    view.finished_in_order(make_row(result(1)), standings)
    first_game, real_write = path.read_text(), os.write

    def write_to_full_disk(descriptor: int, data: bytes) -> int:
        if len(data) < 200:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(descriptor, data[:100])

    monkeypatch.setattr(os, "write", write_to_full_disk)
    view.finished_in_order(make_row(result(2)), standings)
    view.finished_in_order(make_row(result(3)), standings)
    assert path.read_text() == first_game
    (notice,) = notices
    assert "No space left" in notice and "game 2" in notice


def test_a_game_that_would_end_after_year_9999_has_no_end_time() -> None:
    row = make_row(result(1, started="9999-12-31T23:59:59", elapsed=10**18))
    assert parse_record(writer().text(row)).tags["GameEndTime"] == "?"


@pytest.mark.parametrize("column", ["position", "opening", "moves"])
def test_the_error_for_an_invalid_game_of_the_journal_has_its_number(column: str) -> None:
    row = Row(**{**make_row(result(7))._asdict(), column: "z9 z9 z9"})
    with pytest.raises(InputError, match="game 7 of the journal"):
        writer().text(row)


def test_an_unwritable_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write this file"):
        opened(tmp_path / "none" / "x.pgn")
