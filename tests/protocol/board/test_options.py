"""Engine options: those that the page may set, and those for the command line only."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.engine.search.levels import level_named
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.seat import OWN_ENGINE, Seat
from merels.protocol.board.session import Session
from merels.protocol.client.engine_spec import EngineSpec
from tests.kit.waiting import wait
from tests.kit.fakes import fake
from tests.protocol.board.conftest import BUSY
from tests.protocol.board.server import Server
from tests.protocol.board.steps import ANALYST, PERSON, clock

FOREIGN_ENGINE = """
import sys
for line in sys.stdin:
    if line == "uci\\n":
        print("option name EvalFile type string default nets/small.nnue")
        print("option name Book type string default <empty>")
        print("option name Tables type path default <empty>")
        print("option name Style type combo default Solid")
        print("option name Mood type combo default calm var calm var wild")
        print("option name Skill type spin default 5 min 0 max 9")
        print("option name Fast type check default false")
        print("option name Save type button")
        print("uciok", flush=True)
    elif line == "isready\\n":
        print("readyok", flush=True)
    elif line == "quit\\n":
        break
"""
"""An engine with options of every kind."""


@pytest.fixture
def board() -> Iterator[Session]:
    """A board whose analyst is a foreign engine; the command line sets its option Book."""
    command = (sys.executable, "-c", FOREIGN_ENGINE)
    foreign = EngineSpec(command, "Foreign", options=(("Book", "b.bin"),))
    session = Session("board", [OWN_ENGINE, foreign])
    act(session, "players", {"players": [PERSON, {"engine": 0}, {"engine": 1}]})
    yield session
    session.close()


def option_names(session: Session, seat: int) -> set[str]:
    """Return the names of the options that the page shows for a seat's engine."""
    return {option["name"] for option in act(session, "options", {"seat": seat})["options"]}


def test_the_page_cannot_make_an_engine_write_a_file(session: Session, tmp_path: Path) -> None:
    log = tmp_path / "profile"
    settings = {"Debug Log File": str(log), "UCI_Opponent": "x; touch pwned; #"}
    with pytest.raises(InputError, match="^'Debug Log File': .*command line"):
        act(session, "configure", {"seat": 2, "settings": settings})
    act(session, "analyse", {"on": True})
    wait(lambda: session.infos, 60, "a variation")
    assert not log.exists()


@pytest.mark.parametrize("name", ["Debug Log File", "debug log file", "TablePath", "UCI_Opponent"])
def test_the_page_cannot_set_text_options_of_merels(session: Session, name: str) -> None:
    with pytest.raises(InputError, match="command line"):
        act(session, "configure", {"seat": 2, "settings": {"Hash": 8, name: "x"}})
    options = act(session, "options", {"seat": 2})["options"]
    assert {option["name"]: option["value"] for option in options}["Hash"] != "8"
    assert not {"Debug Log File", "TablePath", "UCI_Opponent"} & option_names(session, 2)


@pytest.mark.parametrize("name", ["EvalFile", "Book", "Tables", "Style"])
def test_the_page_cannot_set_text_options_of_a_foreign_engine(board: Session, name: str) -> None:
    with pytest.raises(InputError, match="command line"):
        act(board, "configure", {"seat": 2, "settings": {name: "x"}})
    settings = {"Mood": "wild", "Skill": 7, "Fast": True, "Save": None}
    act(board, "configure", {"seat": 2, "settings": settings})
    assert option_names(board, 2) == set(settings)


def is_in(thread: Thread, function: Any) -> bool:
    """Return whether a running thread is inside a call of a function."""
    frame = sys._current_frames().get(thread.ident or 0)
    return any(place.f_code is function.__code__ for place, _ in traceback.walk_stack(frame))


@pytest.mark.parametrize("analyst", [None, ANALYST], ids=["first", "replaced"])
@pytest.mark.parametrize(
    "action, body", [("options", {}), ("configure", {"settings": {"Style": "Risky"}})]
)
def test_a_request_during_an_engines_start_is_answered_during_its_search(
    action: str, body: dict[str, Any], analyst: dict[str, Any] | None, tmp_path: Path
) -> None:
    slow = EngineSpec(fake(f"start: wait {tmp_path / 'gate'}; {BUSY}"), "Slow")
    session = Session("board", [OWN_ENGINE, slow])
    answers = []
    request = Thread(
        target=lambda: answers.append(act(session, action, {"seat": 2, **body})), daemon=True
    )
    try:
        if analyst is not None:
            act(session, "players", {"players": [PERSON, PERSON, analyst]})
            act(session, "analyse", {"on": True})
            wait(lambda: session.infos, 60, "a variation")
        act(session, "players", {"players": [PERSON, PERSON, {"engine": 1}]})
        act(session, "analyse", {"on": True})
        wait(lambda: session.seats[2]._starting, 60, "the start of the engine")
        request.start()
        wait(lambda: is_in(request, Seat.open), 60, "the request")
        (tmp_path / "gate").touch()
        request.join(30)
        assert len(answers) == 1
        wait(lambda: session.infos and session.infos[0].seat.choice is slow, 60, "a variation")
    finally:
        session.close()


def lines_before_go(server: Server, level: str) -> list[str]:
    """Return the log of an engine up to the event with its first ``go``."""
    session = server.begin(black={"engine": 0, "level": level}, time=clock(60))
    lines: list[str] = []

    def has_go(log: list[list[str]]) -> bool:
        lines.extend(text for _, _, text in log)
        return any(text.startswith("go wtime") for text in lines)

    with server.stream(session) as stream:
        server.api("play", session=session, move="d6", at=0)
        stream.until("log", has_go)
    return lines


def test_a_level_gets_its_rating_and_full_strength_gets_none(server: Server) -> None:
    lines = lines_before_go(server, "Club")
    assert "setoption name UCI_LimitStrength value true" in lines
    assert f"setoption name UCI_Elo value {level_named('Club').elo}" in lines
    assert any(text.startswith("setoption name LevelSeed value ") for text in lines)
    lines = lines_before_go(server, "full")
    assert "setoption name UCI_LimitStrength value true" not in lines
    assert not any("UCI_Elo value" in text or "LevelSeed value" in text for text in lines)
