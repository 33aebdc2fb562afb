"""A board's review and results, and its engines while no page shows it."""

from __future__ import annotations

from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import pytest

from merels.engine.game.rules import Rules
from merels.protocol.board import server as board_server
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import (
    ANALYSIS_SECONDS,
    HIDDEN_SECONDS,
    UNWATCHED_SECONDS,
    Session,
)
from merels.protocol.board.sessions import Sessions
from merels.protocol.board.view import event_data
from merels.protocol.review.review import Judge
from tests.kit.waiting import wait
from tests.protocol.board.server import serving_here
from tests.protocol.board.steps import ANALYST, BEGINNER, PERSON


def test_the_review_of_an_unwatched_board_is_discarded(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_judge = Event()
    judge = session.reviewer.judge

    def judge_late(rules: Rules) -> Judge:
        may_judge.wait(60)
        return judge(rules)

    monkeypatch.setattr(session.reviewer, "judge", judge_late)
    act(session, "load", {"text": "1. d6 f4 2. d2 b4 3. f2 b2 4. f6 b6xf6 5. d5 a4 *"})
    act(session, "review", {})
    assert session.reviewer.running
    monkeypatch.setattr(session, "_awake_until", 0.0)
    session.tick()
    may_judge.set()
    # An incomplete review would be shown as running forever.
    assert session.reviewer.progress is None


@pytest.mark.parametrize(
    ("players", "names"),
    [
        ([PERSON, PERSON], ["Player", "Player"]),
        ([PERSON, BEGINNER], ["You", "merels (Beginner)"]),
        ([BEGINNER, PERSON], ["merels (Beginner)", "You"]),
    ],
)
def test_a_person_without_a_name_is_you_only_against_an_engine(
    session: Session, players: list[dict[str, Any]], names: list[str]
) -> None:
    act(session, "new", {"players": [*players, ANALYST]})
    assert [str(session.player_name(part)) for part in (0, 1)] == names


def test_a_review_is_kept_when_the_game_continues(session: Session) -> None:
    act(session, "load", {"text": "1. d6 *"})
    act(session, "review", {})
    wait(lambda: session.reviewer.progress and not session.reviewer.running, 60, "a review")
    act(session, "play_on", {})
    wait(lambda: session.game.live.ply == 2, 60, "a move")
    assert session.reviewer.progress is not None
    assert len(session.reviewer.progress.judgements) == 1


def test_engines_continue_longer_for_a_hidden_page_than_for_a_closed_page(
    session: Session
) -> None:
    for body, seconds in (({}, HIDDEN_SECONDS), ({"left": True}, UNWATCHED_SECONDS)):
        before = monotonic()
        act(session, "hidden", body)
        assert before <= session.idle_since - seconds <= monotonic()


def test_the_analysis_of_a_hidden_page_stops_within_a_minute(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert max(ANALYSIS_SECONDS, UNWATCHED_SECONDS) <= 45
    feed = session.subscribe()
    act(session, "analyse", {"on": True})
    assert session.next_job() is not None
    wait(lambda: session.infos, 60, "the first variation")
    act(session, "hidden", {})
    session.unsubscribe(feed)
    session.tick()
    assert session.next_job() is not None, "the page may come back at once"
    monkeypatch.setattr(session, "_analyse_until", 0.0)
    session.tick()
    assert session.next_job() is None
    session.tick()
    wait(lambda: not session._search_thread._job, 60, "the end of the search")
    session.subscribe()
    assert session.next_job() is not None


def test_a_hidden_page_does_not_stop_the_engine_of_a_game(session: Session) -> None:
    act(session, "new", {"players": [{"engine": None}, {"engine": 0}, {"engine": 0}]})
    session._analyse_until = 0.0
    session.tick()
    act(session, "play", {"move": "d6", "at": 0})
    job = session.next_job()
    assert job is not None and job.time is not None


def test_moves_and_state_are_announced_together(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream that sends its events in between would show a move without its effects."""
    announced: list[set[str]] = []
    feed = session.subscribe()
    monkeypatch.setattr(feed, "announce", lambda *kinds: announced.append(set(kinds)))
    act(session, "new", {"players": [PERSON, PERSON, ANALYST]})
    act(session, "play", {"move": "d6", "at": 0})
    assert {"moves", "state"} in announced
    assert all("state" in kinds for kinds in announced if "moves" in kinds)


def test_the_events_of_one_take_describe_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A move between two events would be in the state, but not yet in the list of moves."""
    can_change: list[bool] = []

    def view(session: Session, kind: str) -> Any:
        def change() -> None:
            can_change.append(session.lock.acquire(blocking=False))
            if can_change[-1]:
                session.lock.release()

        thread = Thread(target=change)
        thread.start()
        thread.join()
        return event_data(session, kind)

    monkeypatch.setattr(board_server, "event_data", view)
    with serving_here() as client:
        with client.stream(client.open()) as stream:
            stream.until("state", lambda state: True)
    assert can_change and not any(can_change)


def test_a_board_is_called_only_when_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions([OWN_ENGINE], None, None)
    try:
        board = sessions.open()
        calls: list[float] = []

        def tick() -> float:
            calls.append(monotonic())
            return Session.tick(board)

        monkeypatch.setattr(board, "tick", tick)
        board.changed()
        wait(lambda: calls, 60, "a call after a change")
        sleep(1.0)
        # The thread may have been about to call the board when it was changed.
        assert len(calls) <= 2
    finally:
        sessions.close()


def test_a_clock_runs_out_although_nothing_else_happens() -> None:
    sessions = Sessions([OWN_ENGINE], None, None)
    try:
        board = sessions.open()
        time = {"kind": "clock", "base": 1, "increment": 0}
        act(board, "new", {"players": [PERSON, PERSON, ANALYST], "time": time})
        act(board, "play", {"move": "d6", "at": 0})
        wait(lambda: board.game.over, 60, "Black's loss on time")
        assert board.game.result() == ("1-0", "White wins, Black is out of time")
    finally:
        sessions.close()
