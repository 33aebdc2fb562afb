"""The engine process as a GUI uses it: handshake, unusual lines, positions, and its end."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from merels.engine.game.notation import START, format_position, parse_position
from merels.engine.game.position import Position
from tests.protocol.gui import Gui


def test_the_engine_imports_and_writes_nothing_in_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("raise ImportError('from the working directory')")
    with Gui(tmp_path) as gui:
        assert gui.go("go depth 1")[-1].startswith("bestmove")
    assert [path.name for path in tmp_path.iterdir()] == ["random.py"]


def test_every_kind_of_line_end_and_white_space_is_accepted(gui: Gui) -> None:
    for data in (b"isready\n", b"isready\r\n", b"  isready\t \n", b"\n\r\n \t\nisready\n"):
        gui.raw(data)
        assert gui.line() == "readyok"
    gui.raw(b"\xef\xbb\xbfisready\nISREADY\n")
    assert [gui.line(), gui.line()] == ["readyok", "readyok"]
    gui.raw(b"isready")
    gui.close_input()
    assert gui.line() == "readyok"
    assert gui.exit_code() == 0


def test_invalid_utf_8_and_lines_of_megabytes_get_short_answers(gui: Gui) -> None:
    for data in (
        b"\xff\xfe\x80\x00\n",
        b"\x00\n",
        b"x" * (1 << 20) + b"\n",
        b" " * (1 << 20) + b"\n",
        b"setoption name " + b"a " * (1 << 19) + b"\n",
        b"setoption name Hash" + b" " * (1 << 20) + b"value 0\n",
        b"position fen " + b"* " * (1 << 19) + b"\n",
        b"position startpos moves" + b" d6" * (1 << 18) + b"\n",
        b"go perft " + b"9" * (1 << 20) + b" searchmoves" + b" z9" * 1000 + b"\nstop\n",
        b"y" * (1 << 24) + b"\n",
        b"z" * ((1 << 24) + 10) + b"\n",
    ):
        gui.raw(data)
        gui.send("isready")
        lines = gui.until("readyok")
        assert all(len(line) < 1000 for line in lines)
    assert gui.fen() == START


@pytest.mark.parametrize(
    ("unknown", "command", "answer"),
    [
        ("joho", "isready", "readyok"),
        ("what is this", "isready", "readyok"),
        ("xyz", "debug on isready", "info string error 'on isready': expected debug on or"),
    ],
)
def test_unknown_words_are_reported_and_the_command_after_them_is_executed(
    gui: Gui, unknown: str, command: str, answer: str
) -> None:
    gui.send(f"{unknown} {command}")
    assert gui.line().startswith(f"info string unknown command '{unknown}' is ignored")
    assert gui.line().startswith(answer)


@pytest.mark.parametrize("name", ["isready", "stop", "ponderhit", "d", "ucinewgame", "help"])
def test_words_after_a_command_without_arguments_are_reported(gui: Gui, name: str) -> None:
    lines = gui.ask(f"{name} foo bar")
    assert lines[0] == f"info string 'foo bar' after {name} is ignored"


def test_quit_and_bench_inside_a_sentence_are_not_executed(gui: Gui) -> None:
    lines = gui.ask("please quit", "do not bench now")
    assert len(lines) == 2
    assert all(line.startswith("info string unknown command") for line in lines)


def test_an_invalid_position_is_reported_and_the_old_position_kept(gui: Gui) -> None:
    gui.send("position startpos moves d6 f4")
    position = gui.fen()
    for line, message in (
        ("position startpos moves d6 f4 d2 d6 b2", "'d6' (token 3): "),
        ("position startpos moves d6 f4 d2 zz", "'zz' (token 3): "),
        ("position startpos moves xd6", "'xd6' (token 0): "),
        ("position startpos moves d6-d5", "'d6-d5' (token 0): "),
        ("position startpos moves d6 f4 xd6", "'f4xd6' (token 1): "),
        ("position fen ********/********/******** w 9 9 0 1 moves a1 a1", "'a1' (token 1): "),
        ("position", "'position': expected startpos or fen after it"),
        ("position nonsense", "'nonsense': expected startpos or fen"),
        ("position startpos d6", "'d6': expected moves or nothing"),
        ("position fen", "'': expected the 6 or 17 fields of a position, found 0"),
        ("position fen ********/********/******* w 9 9 0 1", "'********/********/*******' "),
        ("position fen ********/********/******** x 9 9 0 1", "'x' (token 1): "),
        ("position fen ********/********/******** w 10 9 0 1", "'10' (token 2): "),
        ("position fen ********/********/******** w 9 9 0", "w 9 9 0': expected the 6 or 17"),
        ("position fen OO******/********/******** w 8 9 0 1", "'8' (token 2): "),
    ):
        (error,) = gui.ask(line)
        assert error.startswith("info string error ")
        assert message in error
        assert gui.fen() == position


def test_every_form_of_a_position_line_is_read(gui: Gui) -> None:
    gui.send("position startpos moves")
    assert gui.fen() == START
    gui.send("POSITION FEN ********/@*@*****/***OOO** w 6 7 0 4 MOVES")
    assert gui.fen() == "********/@*@*****/***OOO** w 6 7 0 4"
    seventeen_fields = "********/@*******/******** w p p 0 9 1 8 0 0 0 0 0 0 0 0 2"
    gui.send(f"position fen {seventeen_fields} moves a1")
    assert gui.fen() == "********/@*******/*****O** b 8 8 0 2"
    gui.send(f"position fen {seventeen_fields} ids:nodes moves A1")
    assert gui.fen() == "********/@*******/*****O** b 8 8 0 2"
    removal_due = "********/@*@*****/***OOO** w p r 3 6 2 7 1 0 -1 -1 -1 -1 0 0 3"
    (error,) = gui.ask(f"position fen {removal_due}")
    assert "removal" in error
    assert gui.ask("fen 18") == ["info string error '18': expected fen or fen 17"]
    assert gui.ask("fen 17") == ["********/@*******/*****O** b p p 1 8 1 8 0 0 0 0 0 0 0 0 2"]
    # A removal may be part of the move's token, or a separate token.
    gui.send("position startpos moves a1 d6 d1 f4 g1xf4")
    one_token = gui.fen()
    gui.send("position startpos", "position startpos moves a1 d6 d1 f4 g1 xf4")
    assert gui.fen() == one_token


def test_a_game_sent_move_by_move_gives_the_same_position(gui: Gui) -> None:
    generator = random.Random(7)
    position = Position()
    tokens: list[str] = []
    while position.outcome() is None and len(tokens) < 120:
        move = generator.choice(position.legal_moves())
        position = position.play(move)
        tokens.append(str(move))
        gui.send("position startpos moves " + " ".join(tokens))
        if len(tokens) % 20 == 0:
            assert gui.fen() == format_position(position)
    assert gui.fen() == format_position(position)
    # Go back to the tenth move, then forward by two moves.
    gui.send("position startpos moves " + " ".join(tokens[:10]))
    gui.send("position startpos moves " + " ".join(tokens[:12]))
    position = Position()
    for token in tokens[:12]:
        move = next(move for move in position.legal_moves() if str(move) == token)
        position = position.play(move)
    assert gui.fen() == format_position(position)


def test_d_eval_and_help_print_their_lines(gui: Gui) -> None:
    gui.send("position startpos moves d6 f4")
    drawing = gui.ask("d")
    assert any("O" in line for line in drawing[:13])
    assert f"Fen: {gui.fen()}" in drawing
    assert "Legal moves: 22" in drawing
    assert any(line.startswith("Key: ") for line in drawing)
    assert any(line.startswith("Rules: mill Flying=own") for line in drawing)
    evaluation = gui.ask("eval")
    assert evaluation[0].split() == ["term", "worth"]
    assert evaluation[-1].startswith("Evaluation: ")
    lines = gui.ask("help")
    for command in ("uci", "go", "position", "perft", "bench", "query", "quit"):
        assert any(line.startswith(command + " ") for line in lines)


def test_flip_swaps_the_colours(gui: Gui) -> None:
    text = "*O*@O**@/*@*O**@*/O*@**O** w 0 0 12 24"
    swapped = text.translate(str.maketrans("O@", "@O")).replace(" w ", " b ")
    gui.send(f"position fen {text}", "flip")
    assert gui.fen() == swapped
    gui.send("flip")
    assert parse_position(gui.fen()) == parse_position(text)


def test_a_new_game_sets_up_the_starting_position(gui: Gui) -> None:
    gui.send("position startpos moves d6", "ucinewgame")
    assert gui.fen() == START


def test_lines_of_two_threads_are_not_mixed(gui: Gui) -> None:
    gui.send("setoption name MultiPV value 24", "go infinite")
    starts = tuple(
        "info depth |info string |readyok|bestmove |Fen: |Key: |Rules: |Legal moves: |Outcome: "
        "|White to move".split("|")
    )
    for _ in range(100):
        gui.send("d", "isready", "nonsense")
    lines = gui.stop()
    drawing = set(gui.ask("d")[:14])
    assert sum(line == "readyok" for line in lines) == 100
    for line in lines:
        assert line.startswith(starts) or line in drawing or not line, line
        if line.startswith("info depth"):
            assert line.count("info") == 1 and " pv " in line
    # The lines of one drawing are consecutive, too.
    for index, line in enumerate(lines):
        if line.startswith("Fen: "):
            assert lines[index + 1].startswith("Key: ")
            assert lines[index + 2].startswith("Rules: ")
