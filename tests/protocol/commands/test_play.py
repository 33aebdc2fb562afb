"""``merels play``: games in the terminal, by lines typed into a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.protocol.formats.pgn.reader import parse_record, parse_records
from tests.commands import call, output

QUICK = ("-level", "Beginner", "-time", "0.05")
"""Flags for fast moves of the engine."""


def shown(typed: str, *arguments: str) -> str:
    """Run ``merels play`` with ``typed`` as its whole input; return its output."""
    return output("play", *arguments, typed=typed)


@pytest.mark.parametrize("typed", ["", "quit\n", "d6\n", "\n\n \n", "d6\nquit\n"])
def test_the_end_of_the_input_ends_the_game(typed: str) -> None:
    assert "Goodbye." in shown(typed, *QUICK)


def test_the_board_is_drawn_before_each_move() -> None:
    text = shown("d6\n", *QUICK)
    assert "You play White under mill." in text
    assert "Black plays " in text
    assert text.count("7  ") == 3


def test_the_engine_moves_first_if_the_user_has_black() -> None:
    text = shown("", *QUICK, "-colour", "black", "-variant", "multi")
    assert text.index("You play Black under multi.") < text.index("White plays ")


def test_bad_moves_are_explained() -> None:
    text = shown("z9\nxyz\nd6\nd6\nd6-d5\nxd6\nd5 e5\n", *QUICK)
    for part in ("'z9': expected a move", "'xyz': expected a move such as", "'d6': illegal move",
                 "'d6-d5': illegal move", "'xd6': expected a move before the removal"):
        assert part in text
    assert "'e5': expected one move at a time" in text


def test_a_mill_without_a_removal_lists_the_possible_moves() -> None:
    position = ("-position", "startpos moves a1 d6 d1 f4")
    text = shown("g1\ng1 xf4\n", *QUICK, *position)
    assert "'g1': this closes a mill; name the man to remove: g1xd6, g1xf4" in text
    assert text.count("Black plays ") == 1


def test_each_command_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    text = shown(
        f"help\nmoves\nundo\nd6\nundo\nhint\nlevel\nlevel club\nlevel nobody\ntime 0.01\ntime x\n"
        f"swap\nboard\nsave\nsave {path}\nnew\nresign\nd6\nhint\nundo\nquit\n",
        *QUICK,
    )
    for part in (
        "  undo     take back your last move",
        "d5 e5 e4",
        "'undo': you have not played a move yet",
        "looks best (",
        "level: Beginner",
        "level: Club",
        "'nobody': expected Beginner",
        "time: 0.01 s a move",
        "'x': expected seconds from 0.001 to 86400",
        "You play Black now.",
        "'save': expected the name of a file",
        f"The game was saved to {path}",
        "has resigned",
        "'d6': the game is over",
        "'hint': the game is over",
        "Goodbye.",
    ):
        assert part in text, part
    record = parse_record(path.read_text(encoding="utf-8"))
    assert record.result == "*" and len(record.moves) == 1


def test_an_unfinished_game_is_saved_at_the_end_of_the_input(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    shown("d6\nresign\n", *QUICK, "-record", str(path))
    shown("d6\n", *QUICK, "-record", str(path), "-set", "Flying=never")
    first, second = parse_records(path.read_text(encoding="utf-8"))
    assert (first.result, second.result) == ("0-1", "*")
    assert first.tags["White"] == "You" and first.tags["Black"] == "merels (Beginner)"
    assert len(first.moves) == len(second.moves) == 2
    assert second.start.rules.flying == "never"


def test_every_game_of_a_session_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    shown("d6\nresign\nnew\nnew\na1\nquit\n", *QUICK, "-record", str(path))
    first, second = parse_records(path.read_text(encoding="utf-8"))
    assert (first.result, str(first.moves[0])) == ("0-1", "d6")
    assert (second.result, str(second.moves[0])) == ("*", "a1")


def test_a_move_taken_back_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    shown("d6\nundo\na1\nresign\n", *QUICK, "-record", str(path))
    record = parse_record(path.read_text(encoding="utf-8"))
    assert str(record.moves[0]) == "a1" and len(list(record)) == len(record.moves) + 1
    assert record.end().comment == "Black wins, White resigns"


def test_a_write_error_does_not_prevent_a_new_game(tmp_path: Path) -> None:
    flags = (*QUICK, "-record", str(tmp_path))
    text = call("play", *flags, typed="d6\nnew\na1\nquit\n").stdout
    assert text.count("cannot write the record to this file") == 1
    assert "1. d6 " in text and "1. a1 " in text


def test_a_write_error_at_the_end_prints_the_record(tmp_path: Path) -> None:
    done = call("play", *QUICK, "-record", str(tmp_path), typed="d6\nquit\n")
    assert done.returncode == 2
    assert "cannot write the record to this file" in done.stderr
    assert '[Variant "mill"]' in done.stdout and "1. d6 " in done.stdout


def test_a_game_is_played_to_its_end_by_either_side(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    for colour, position, typed in (
        ("white", "OO******/@@@*****/*O****** w 0 0 0 30", "g7-c5xd6\nd5-d6\n"),
        ("black", "**@****@/****@***/OO*OO*O* b 0 0 0 30", "e4-d5\n"),
    ):
        flags = ("-colour", colour, "-position", position, "-record", str(path))
        text = shown(typed, "-time", "0.3", *flags)
        assert "The game is over: White wins, Black has two men" in text
        assert text.count("thinking") == (colour == "black")
    for record in parse_records(path.read_text(encoding="utf-8")):
        assert record.result == "1-0"
        assert record.end().comment == ""


def test_help_lists_the_levels() -> None:
    text = shown("", "--help")
    assert text.startswith("usage: merels play")
    assert "Beginner 800" in text


WON = ("-position", "OO******/@@@*****/*O****** w 0 0 0 30")
"""A position in which White wins by g7-c5 with any removal."""


def test_undo_after_the_end_needs_two_commands_and_keeps_the_result(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    typed = "g7-c5xd6\nundo\nboard\nundo\nundo\ng7-c5xf6\n"
    text = shown(typed, *QUICK, *WON, "-record", str(path))
    assert text.count("'undo': the game is over; type undo again to take the end back") == 2
    records = parse_records(path.read_text(encoding="utf-8"))
    assert [(record.result, str(*record.moves)) for record in records] == [
        ("1-0", "g7-c5xd6"), ("1-0", "g7-c5xf6")
    ]


def test_an_undo_that_is_refused_saves_no_second_copy_of_the_game(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    text = shown("undo\nundo\n", *QUICK, *WON, "-colour", "black", "-record", str(path))
    assert "The game is over" in text and "you have not played a move yet" in text
    assert len(list(parse_records(path.read_text(encoding="utf-8")))) == 1


def test_a_resignation_taken_back_is_saved_as_a_game(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    shown("d6\nresign\nundo\nundo\na1\nquit\n", *QUICK, "-record", str(path))
    first, second = parse_records(path.read_text(encoding="utf-8"))
    assert (first.result, len(first.moves)) == ("0-1", 2)
    assert (second.result, len(second.moves)) == ("*", 4)


def test_settings_after_the_end_apply_to_the_next_game(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    shown("d6\nresign\nswap\nlevel club\nnew\nquit\n", *QUICK, "-record", str(path))
    record = next(parse_records(path.read_text(encoding="utf-8")))
    assert record.result == "0-1"
    assert (record.tags["White"], record.tags["Black"]) == ("You", "merels (Beginner)")
