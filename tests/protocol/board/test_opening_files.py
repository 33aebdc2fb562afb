"""Opening files: many games, bad games, and games that continue after a draw."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.protocol.formats.pgn.reader import parse_record
from tests.protocol.board.server import Server

DRAWN_BY_REPETITION = next(
    case["text"]
    for case in json.loads((Path(__file__).parents[2] / "data" / "readers.json").read_text("utf-8"))
    if "repetition" in case["name"]
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server for the tests of this file."""
    with Server() as server:
        yield server


def test_a_bad_game_of_a_text_is_skipped(server: Server) -> None:
    session = server.open()
    text = "1. d6 f4 *\n1. d6 d6 *\n1. a1 *\n"
    status, answer = server.api("keep", session=session, text=text)
    assert (status, answer["kept"], answer["skipped"]) == (200, 2, 1)
    fault = "'d6': illegal move, d6 is occupied (move 1, Black, line 2, game 2)"
    assert answer["faults"] == [fault]
    assert server.api("load", session=session, text=text)[1]["found"] == 3
    assert server.api("load", session=session, text=text, game=2) == (200, {"moves": 1})
    status, answer = server.api("load", session=session, text=text, game=1)
    assert status == 400 and "game 2" in answer["error"]


def test_moves_after_a_repetition_are_read_and_the_draw_is_marked(server: Server) -> None:
    session = server.open()
    status, answer = server.api("load", session=session, text=DRAWN_BY_REPETITION)
    assert status == 200 and answer["moves"] == 27
    assert answer["notice"].startswith("Draw by repetition at move 13, Black (a4-a7)")
    record = parse_record(server.api("export", session=session)[1]["record"])
    line = record.mainline()
    assert line[25].comment == "Draw by repetition; the record goes on"
    assert not any(node.comment for node in line[:25]) and record.result == "*"
    with server.stream(session) as stream:
        state = stream.until("state", lambda state: True)
        assert (state["plies"], state["result"], state["final"]) == (27, "*", False)
        # The position after the draw can be analysed.
        stream.until("info", lambda info: info and info["lines"])
        server.api("go", session=session, node=26)
        state = stream.until("state", lambda state: state["ply"] == 26)
        assert state["final"]


def test_a_contradicting_result_is_reported(server: Server) -> None:
    session = server.open()
    text = '[Result "0-1"]\n\n1. d6 f4 1-0\n'
    status, answer = server.api("load", session=session, text=text)
    notice = "the Result tag states 0-1, and the moves end with 1-0; the game counts as 1-0"
    assert (status, answer) == (200, {"moves": 2, "notice": notice})


def test_a_variant_that_is_not_supported_is_reported(server: Server) -> None:
    text = '[Variant "Twelve Men\'s Morris"]\n\n1. d6 *'
    status, answer = server.api("load", session=server.open(), text=text)
    assert status == 400 and "'Twelve Men's Morris': expected a rule set" in answer["error"]
    assert "a game without the tag is read by the rules on the board" in answer["error"]
