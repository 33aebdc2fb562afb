"""Random openings, which are legal, quiet and distinct, and openings from files."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.board import in_mills, least_image
from merels.engine.game.notation import START, parse_position, play_moves
from merels.engine.game.position import Position
from merels.engine.game.rules import PRESETS, Rules, parse_rules
from merels.protocol.common.files import file_digest, read_text
from merels.protocol.games.record import Record
from merels.protocol.games.writer import format_record
from merels.tournament.openings.reading import Openings, load_openings
from merels.tournament.records.games import Opening
from merels.tournament.records.settings import OpeningSettings

MILL = parse_rules("mill")
SECOND_MOVE = "O*@*****/********/******** b 8 8 0 2"


def position_after(opening: Opening, rules: Rules = MILL) -> Position:
    return play_moves(parse_position(opening.position, rules), opening.moves)


@pytest.mark.parametrize("name", PRESETS)
def test_random_openings_are_distinct_and_no_move_closes_a_mill(name: str) -> None:
    rules = parse_rules(name)
    openings = Openings(OpeningSettings(), rules, 3)
    boards = set()
    for index in range(200):
        opening = openings[index]
        assert 4 <= len(opening.moves) <= 8
        position = position_after(opening, rules)
        assert position.outcome() is None
        assert not in_mills(position.men[0]) and not in_mills(position.men[1])
        for move in position.legal_moves():
            assert not move.removed
        boards.add(least_image(position.men))
    assert len(boards) == 200


def test_random_openings_depend_only_on_the_seed() -> None:
    first, same_seed, other_seed = (
        [Openings(OpeningSettings(), MILL, seed)[index] for index in range(20)]
        for seed in (1, 1, 2)
    )
    assert first == same_seed != other_seed


def test_zero_plies_start_from_the_empty_board() -> None:
    openings = Openings(OpeningSettings(plies=0), MILL, 1)
    assert {openings[index] for index in range(9)} == {openings.trial} == {Opening(START)}


@pytest.mark.parametrize("settings", [
    OpeningSettings(), OpeningSettings(plies=3), OpeningSettings(file="book", order="random"),
])
def test_the_trial_opening_does_not_depend_on_the_seed(settings: OpeningSettings) -> None:
    assert len({Openings(settings, MILL, seed).trial for seed in range(9)}) == 1


def test_plies_set_the_length_of_random_openings() -> None:
    for plies in (1, 3, 12):
        openings = Openings(OpeningSettings(plies=plies), MILL, 1)
        assert {len(openings[index].moves) for index in range(30)} == {plies}
    with pytest.raises(InputError, match="plies from 0 to 12"):
        Openings(OpeningSettings(plies=13), MILL, 1)[0]


def write(tmp_path: Path, text: str, name: str = "book.pos") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_a_file_of_positions_may_have_comments_and_empty_lines(tmp_path: Path) -> None:
    path = write(tmp_path, f"{START} ; the start\n\n; nothing here\n{SECOND_MOVE}\n")
    first, second = load_openings(OpeningSettings(file=path), MILL)
    assert (first.position, first.name) == (START, "the start")
    assert (second.position, second.moves) == (SECOND_MOVE, ())


def test_positions_of_seventeen_fields_are_read(tmp_path: Path) -> None:
    path = write(
        tmp_path, "********/@*@*****/***OOO** w p p 3 6 2 7 0 0 -1 -1 -1 -1 0 0 3 ids:nodes\n"
    )
    (opening,) = load_openings(OpeningSettings(file=path), MILL)
    assert opening.position == "********/@*@*****/***OOO** w 6 7 0 3"


def test_plies_cut_the_games_of_a_file(tmp_path: Path) -> None:
    text = '[Opening "Cross"]\n\n1. d6 f4 2. d2 b4 *\n\n[Event "?"]\n\n1. a1 *\n'
    path = write(tmp_path, text, "book.pgn")
    openings = load_openings(OpeningSettings(file=path, format="pgn", plies=3), MILL)
    assert [(o.moves, o.name) for o in openings] == [(("d6", "f4", "d2"), "Cross"), (("a1",), "")]


def random_game(plies: int, seed: int = 1, start: str = START) -> str:
    """Return the record of a game of random moves that ends after ``plies`` plies at the latest."""
    rng, position = random.Random(seed), parse_position(start, MILL)
    record = Record(position)
    node = record.root
    while node.ply < plies and position.outcome() is None:
        node = record.append(node, rng.choice(position.legal_moves()))
        position = node.position
    return format_record(record)


def test_opening_lines_are_used_completely(tmp_path: Path) -> None:
    path = write(tmp_path, random_game(2) + random_game(17, 2) + random_game(2), "lines.pgn")
    openings = load_openings(OpeningSettings(file=path, format="pgn"), MILL)
    assert [len(opening.moves) for opening in openings] == [2, 17, 2]


@pytest.mark.parametrize("plies", [25, 1000])
def test_whole_games_give_their_first_moves(tmp_path: Path, plies: int) -> None:
    """Neither the end of a game nor the last position of an adjudicated game is an opening."""
    near_the_end = "OO******/@*@**@*@/O******* w 0 0 0 9"
    text = random_game(2) + random_game(plies, 2) * 2 + random_game(9, 3, near_the_end)
    path = write(tmp_path, text, "games.pgn")
    openings = load_openings(OpeningSettings(file=path, format="pgn"), MILL)
    assert [len(opening.moves) for opening in openings[:2]] == [2, 8] and len(openings) == 3
    assert all(position_after(opening).outcome() is None for opening in openings)
    with pytest.raises(InputError, match=r"over here.*\(game \d of .*\); use fewer plies="):
        load_openings(OpeningSettings(file=path, format="pgn", plies=1000), MILL)


def test_an_opening_ends_before_a_draw_that_its_game_plays_past(tmp_path: Path) -> None:
    """Games of other programs may go on after a repetition."""
    moves = "g1 d6 d2 a7 g4 d5 d1 f6 b6 e5 c3 e3 b2 a4 c4 b4 d7 d3".split()
    moves += "c4-c5 e5-e4 c5-c4 e4-e5".split() * 5
    path = write(tmp_path, f"{' '.join(moves)} *", "lines.pgn")
    settings = OpeningSettings(file=path, format="pgn", plies=100)
    notices: list[str] = []
    [opening] = load_openings(settings, MILL, notices)
    # The eighth of the repeated moves makes the third occurrence of a position.
    assert opening.moves == tuple(moves[: 18 + 7]) and position_after(opening).outcome() is None
    assert len(notices) == 1 and "Draw by repetition at move 13, Black (e4-e5)" in notices[0]
    assert Openings(settings, MILL, 1).notices == notices
    [complete] = load_openings(settings, parse_rules("mill Repetition=0"))
    assert complete.moves == tuple(moves)


def test_openings_are_played_by_the_tournaments_rules(tmp_path: Path) -> None:
    path = write(tmp_path, '[Variant "Twelve Men\'s Morris"]\n\n1. 5 14 *', "lines.pgn")
    [opening] = load_openings(OpeningSettings(file=path, format="pgn"), MILL)
    assert opening.moves == ("d6", "f4")


def test_a_file_is_used_in_passes_each_shuffled_if_its_order_is_random(tmp_path: Path) -> None:
    lines = [START.replace("1", str(number)) for number in range(1, 8)]
    path = write(tmp_path, "\n".join(lines))
    sequence = Openings(OpeningSettings(file=path, start=6), MILL, 1)
    assert [sequence[i].position for i in range(9)] == (lines * 3)[5:14]
    shuffled = Openings(OpeningSettings(file=path, order="random"), MILL, 1)
    passes = [[shuffled[i + 7 * p].position for i in range(7)] for p in range(3)]
    assert all(sorted(positions) == lines for positions in passes)
    assert len({tuple(positions) for positions in passes} - {tuple(lines)}) == 3
    again = Openings(OpeningSettings(file=path, order="random"), MILL, 1)
    assert again[20] == shuffled[20]
    # Only the first pass leaves out the openings before ``start``.
    from_third = Openings(OpeningSettings(file=path, order="random", start=3), MILL, 1)
    assert [from_third[i] for i in range(12)] == [shuffled[i] for i in range(2, 14)]


def test_plies_are_refused_for_a_file_of_positions(tmp_path: Path) -> None:
    path = write(tmp_path, f"{START}\n")
    with pytest.raises(InputError, match=r"'4': plies= is for games and .*, not for .*book\.pos"):
        load_openings(OpeningSettings(file=path, plies=4), MILL)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("book.pos", "", "at least one opening"),
        ("book.pos", "; only words\n", "at least one opening"),
        ("book.pos", f"{START}\nrubbish\n", "line 2"),
        ("book.pos", f"{START}\n********/********/*******x w 9 9 0 1\n", "line 2"),
        ("book.pos", "O@******/********/******** w 0 0 0 1\n", "the game is over here.*line 1"),
        ("book.pgn", "1. d6 d6 *\n", "line 1"),
        ("book.pgn", "1. d6 {open", "line 1"),
        ("book.pgn", "", "at least one"),
    ],
)
def test_an_invalid_file_is_refused_by_name(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = write(tmp_path, text, name)
    with pytest.raises(InputError, match=message) as error:
        load_openings(OpeningSettings(file=path, format=name[-3:]), MILL)
    assert name in str(error.value)


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name, message in (
        ("none", "cannot read this file: No such file"), ("", "cannot read this file"),
        ("binary", "UTF-8"),
    ):
        with pytest.raises(InputError, match=message):
            load_openings(OpeningSettings(file=str(tmp_path / name)), MILL)


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes and /dev/zero")
def test_devices_folders_and_endless_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), str(tmp_path), "/dev/zero"):
        with pytest.raises(InputError, match="expected a regular file"):
            file_digest(name)
    with pytest.raises(InputError, match="at most 134217728 characters"):
        read_text("/dev/zero")


def test_a_start_beyond_the_last_opening_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, f"{START}\n")
    with pytest.raises(InputError, match="start= from 1 to 1"):
        load_openings(OpeningSettings(file=path, start=2), MILL)
