"""Games as PGN: tags, comments, escaping; the PGN file after kills and on full disks."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START
from merels.protocol.formats.pgn.reader import parse_record, parse_records
from merels.protocol.games.writer import format_record
from merels.tournament.journal.open import open_journal
from merels.tournament.journal.rows import Row, make_row
from merels.tournament.journal.standings import Standings
from merels.tournament.records.games import SECOND, MoveRecord, TimeControl, control_text
from merels.tournament.records.output import PgnStyle
from merels.tournament.run.plan import Plan
from merels.tournament.run.scoreboard import Scoreboard, View
from merels.tournament.views.output import OutputError
from merels.tournament.views.pgn import GameWriter, PgnView
from merels.tournament.views.pgn_file import PgnFile, PgnOutput
from tests.tournament.specs import NOTES, result, settings


def writer(style: PgnStyle = PgnStyle(), **fields: object) -> GameWriter:
    return GameWriter(settings(2, **fields), "abc", style)


def text_of(*numbers: int, tournament: str = "abc") -> str:
    """Return games with these numbers as PGN; ``tournament`` is the id of their tournament."""
    games = GameWriter(settings(2), tournament)
    return "".join(games.text(make_row(result(number))) for number in numbers)


class Printing(View):
    """Prints notices."""

    def notice(self, text: str) -> None:
        print(text)


def opened(path: Path | str, *numbers: int, append: bool = True) -> PgnView:
    """Return the view of a PGN file; the journal of the run has the games with these numbers."""
    journal = open_journal(None, settings(), NOTES)
    for number in numbers:
        journal.append(make_row(result(number)))
    view = PgnView(PgnFile(str(path), "abc", append), writer())
    Scoreboard(Plan(settings()), journal, [Printing(), view])
    return view


def play(view: PgnView, *numbers: int) -> None:
    """End games in a view."""
    for number in numbers:
        view.finished_in_order(make_row(result(number)), Standings(("A", "B")))


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
    assert [node.comment for node in record.mainline()] == [
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
    comments = [node.comment for node in record.mainline()]
    assert comments == ["", "", "", "", "White wins, Black is blocked"]
    record = parse_record(writer(PgnStyle(nodes=True, clock=True)).text(row))
    assert record.mainline()[2].comment == "+0.79/6 0.001s, tl=59.000s, n=1234"


@pytest.mark.parametrize(
    ("milliseconds", "latency"), [("1250", "0.750"), ("2000", "0.000"), ("2001", "0.000")]
)
def test_latency_is_the_time_that_the_engine_does_not_report(
    milliseconds: str, latency: str
) -> None:
    move = MoveRecord("a1", None, None, 6, 1, 2 * SECOND)
    info = f"info depth 6 time {milliseconds}"
    row = make_row(result(moves=(move,)))._replace(infos=info)
    record = parse_record(writer(PgnStyle(latency=True)).text(row))
    assert record.mainline()[-1].comment.startswith(f"2.000s, latency={latency}s")


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
        (TimeControl(time=60 * SECOND), "60"),
        (TimeControl(time=SECOND // 5, increment=2_000_000), "0.2+0.002"),
        (TimeControl(time=90 * SECOND, moves=40, increment=SECOND), "40/90+1"),
        (TimeControl(per_move=SECOND // 2), "1/0.5"),
    ],
)
def test_text_of_the_time_control_tag(limit: TimeControl, text: str) -> None:
    assert control_text(limit) == text


def test_games_are_appended_unless_the_file_is_to_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    for before in (b"1. d6 *", b"1. d6 *\n", b"1. d6 *\n\n", b"1. d6 *\r\n\r\n"):
        path.write_bytes(before)
        view = opened(path)
        play(view, 1, 2)
        view.close()
        assert path.read_bytes().startswith(before)
        assert len(list(parse_records(path.read_text()))) == 3
    opened(path, append=False).close()
    assert path.read_text() == ""


def test_a_resumed_run_writes_a_missing_file_anew_from_its_journal(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    view = opened(path, 1, 2, 4)
    play(view, 3)
    view.close()
    assert path.read_text() == text_of(1, 2, 3, 4)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_resumed_run_appends_what_a_file_lacks_and_keeps_its_other_text(
    tmp_path: Path, encoding: str
) -> None:
    path, notes = tmp_path / "games.pgn", "a note\n\nand another\n\n"
    for before in (text_of(1), notes + text_of(1) + notes + FOREIGN, text_of(1) + notes):
        path.write_text(before, encoding=encoding)
        view = opened(path, 1, 2, 4)
        play(view, 3)
        view.close()
        assert path.read_text(encoding=encoding) == before + text_of(2, 3, 4)


@pytest.mark.parametrize("before", ["", '[Event "Mine"]\n\n1. d6 *\n\n', FOREIGN])
def test_a_truncated_game_is_written_again(tmp_path: Path, before: str) -> None:
    path, first, both = tmp_path / "games.pgn", text_of(1), text_of(1, 2)
    tag = both.index("]", both.index("GameId", len(first)))
    for size in range(tag + 1, len(both), 40):
        path.write_text(before + both[:size])
        opened(path, 1, 2).close()
        assert path.read_text() == before + both, size


@pytest.mark.parametrize("truncated", ['[Event "Mine"]\n\n1. d6\n', '[Event "Mine"]\n[Site "?"]\n'])
def test_a_truncated_game_of_another_tournament_is_kept(tmp_path: Path, truncated: str) -> None:
    path = tmp_path / "games.pgn"
    for text in (truncated, truncated[:-1]):
        for numbers in ((), (1,)):
            path.write_text(text)
            opened(path, *numbers).close()
            assert path.read_text() == truncated + "\n" + text_of(*numbers)


def test_two_runs_append_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    views = opened(path), opened(path)
    for number in (1, 2):
        for view in views:
            play(view, number)
    assert path.read_text() == text_of(1, 1, 2, 2)


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")
def test_a_pipe_is_written_to_and_not_read() -> None:
    reading_end, writing_end = os.pipe()
    view = opened(f"/dev/fd/{writing_end}")
    play(view, 1)
    view.close()
    os.close(writing_end)
    with open(reading_end) as reader:
        assert reader.read() == text_of(1)


@pytest.mark.parametrize("stored", [(), (2,)])
def test_a_disk_that_fills_up_leaves_whole_games_and_one_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    stored: Sequence[int],
) -> None:  # fmt: skip
    path, real_write = tmp_path / "games.pgn", os.write
    view = opened(path, *stored)
    play(view, 1)
    first_game = path.read_text()

    def write_to_full_disk(descriptor: int, data: bytes) -> int:
        if len(data) < 200:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(descriptor, data[:100])

    monkeypatch.setattr(os, "write", write_to_full_disk)
    play(view, *sorted({2, 3} - set(stored)))
    view.close()
    assert path.read_text() == first_game and view.incomplete
    (notice,) = capsys.readouterr().out.splitlines()
    assert "No space left" in notice and "game 2" in notice


def test_a_game_that_would_end_after_year_9999_has_no_end_time() -> None:
    row = make_row(result(1, started="9999-12-31T23:59:59", elapsed=10**18))
    assert parse_record(writer().text(row)).tags["GameEndTime"] == "?"


@pytest.mark.parametrize("column", ["position", "opening", "moves"])
def test_the_error_for_an_invalid_game_of_the_journal_has_its_number(column: str) -> None:
    row = Row(**{**make_row(result(7))._asdict(), column: "z9 z9 z9"})
    with pytest.raises(InputError, match="game 7 of the journal"):
        writer().text(row)


@pytest.mark.parametrize("position", [START, f"{'*' * 8}/O{'*' * 7}/{'*' * 8} b 8 9 0 4"])
def test_a_game_written_from_its_texts_is_that_of_its_record(position: str) -> None:
    for plies in range(4):
        game = make_row(result(1))._replace(position=position, opening="")
        columns = {name: " ".join(getattr(game, name).split()[:plies])
                   for name in ("moves", "scores", "depths", "nodes", "times", "clocks")}
        game = game._replace(**columns, late="", waited="")
        assert writer().text(game) == format_record(writer().record(game))


def test_an_unwritable_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write this file"):
        opened(tmp_path / "none" / "x.pgn")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_view_that_cannot_write_its_missing_games_may_be_closed_again(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command closes a view when its run ends, and again after the journal."""
    with open_journal(None, settings(), NOTES) as journal:
        for number in (1, 2):
            journal.append(make_row(result(number)))
        view = PgnView(PgnOutput(), writer())
        Scoreboard(Plan(settings()), journal, [view])
        monkeypatch.setattr("sys.stdout", open("/dev/full", "w", encoding="utf-8"))
        with pytest.raises(OutputError):
            view.close()
    view.close()
