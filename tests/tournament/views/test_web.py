"""The web server of a running tournament: events, files, access control, load on the runner."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from merels.engine.game.rules import parse_rules
from merels.tournament.journal.open import open_journal
from merels.tournament.journal.rows import Row, make_row
from merels.tournament.records.games import GameSpec, MoveRecord
from merels.tournament.report.crosstable import Crosstable, crosstable
from merels.tournament.run.plan import Plan
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.tasks import Played
from merels.tournament.statistics.counts import Counts
from merels.tournament.statistics.sprt import Sprt
from merels.tournament.views.broadcast import KEPT_GAMES, Broadcast
from merels.tournament.views.web import MAX_LLR_POINTS, WebView
from tests.kit.fakes import fake
from tests.kit.waiting import wait
from tests.processes import needs_proc
from tests.tournament.processes import COMMAND, Marked, page_address, wait_for
from tests.tournament.specs import (
    NOTES,
    engine_words,
    match,
    planned_games,
    result,
    settings,
)
from tests.tournament.views.listener import Listener


def gated(folder: Path) -> list[str]:
    """Return the flags of engines whose first game starts when ``folder`` has a file ``open``.

    Their trial, which comes before the page, does not wait for this file.
    """
    command = fake(f"start: wait {folder}/open & merels", once=folder / "tried")
    patience = "starttimeout=300"
    return [*engine_words("A", patience, command=command), *engine_words("B", patience)]


def get(address: str) -> str:
    """Return the text at an address."""
    with urllib.request.urlopen(address, timeout=60) as answer:
        return str(answer.read().decode())


def serving() -> tuple[Marked, str]:
    """Start a long run; return the run and the address of its page."""
    run = Marked(*match("-rounds", "2000", "-serve", "0"))
    return run, page_address(run)


@contextmanager
def board_and_view(sprt: Sprt | None = None) -> Iterator[tuple[Scoreboard, WebView]]:
    """Yield the scoreboard of a tournament of ten unplayed games, and its web view."""
    chosen = settings(2, rounds=5, sprt=sprt)
    with open_journal(None, chosen, NOTES) as journal:
        view = WebView(chosen, 0, True)
        board = Scoreboard(Plan(chosen), journal, [view])
        for spec in planned_games(board.plan):
            board.expect(spec)
        try:
            yield board, view
        finally:
            view.close()


def play(board: Scoreboard, number: int) -> None:
    """Simulate a game from its start to its result on the scoreboard."""
    board.begin(number)
    board.end(make_row(replace(result(number), spec=board.playing[number])))
    board.show()


def test_pages_get_the_same_events_and_a_background_thread_makes_the_standings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rated: list[threading.Thread] = []

    def rate(matches: Counts) -> Crosstable:
        rated.append(threading.current_thread())
        return crosstable(matches)

    monkeypatch.setattr("merels.tournament.views.web.crosstable", rate)
    with board_and_view() as (board, view):
        play(board, 1)
        board.tick()
        assert not rated, "the runner made standings although no page was open"
        with Listener(view.address) as first, Listener(view.address) as second:
            states: list[Any] = []

            def listen(listener: Listener) -> None:
                """Collect events until there are standings."""
                state: dict[str, Any] = {}
                while "standings" not in state:
                    event = listener.next()
                    assert event is not None
                    state |= event
                # The pace may differ, because each page gets an event of its own.
                state["score"].pop("pace")
                states.append({key: state[key] for key in ("about", "score", "standings")})

            threads = [
                threading.Thread(target=listen, args=(listener,)) for listener in (first, second)
            ]
            for thread in threads:
                thread.start()
            wait(lambda: board.tick() or not any(map(threading.Thread.is_alive, threads)), 60,
                 "events with standings")
            assert states[0] == states[1]
            assert states[0]["about"] == "merels tournament"
            assert states[0]["score"]["text"] == "1 of 10 games"
            assert "Standings" in states[0]["standings"]
            assert len(rated) == 1 and rated[0] is not threading.current_thread()
            play(board, 2)
            board.run_ended("finished")
            state: dict[str, Any] = {}
            for event in iter(first.next, None):
                assert "about" not in event
                state |= event
            assert state["score"]["share"] == 0.2 and state["results"]["n"] == [2]
            assert state["over"]["text"] == "Finished: all 2 games are played."
        # The server goes on: a page that is opened now gets the end, with the games.
        with Listener(view.address) as late:
            end = late.next()
            assert end is not None and "over" in end and end["results"]["n"] == [1, 2]
            assert late.next() is None


def test_the_runner_does_not_wait_for_slow_ratings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a former version, the runner sent no events for minutes while it rated many engines."""
    is_rating, go_on = threading.Event(), threading.Event()

    def rate(matches: Counts) -> Crosstable:
        is_rating.set()
        assert go_on.wait(60)
        return crosstable(matches)

    monkeypatch.setattr("merels.tournament.views.web.crosstable", rate)
    with board_and_view() as (board, view), Listener(view.address) as listener:
        play(board, 1)
        wait(lambda: board.tick() or is_rating.is_set(), 60, "the runner starts the ratings")
        board.tick()
        state: dict[str, Any] = {}
        while state.get("score", {}).get("text") != "1 of 10 games":
            state |= listener.next() or {}
        assert "standings" not in state, "standings were sent before the ratings were finished"
        go_on.set()
        has_standings = threading.Event()

        def listen() -> None:
            while "Standings" not in (listener.next() or {}).get("standings", ""):
                pass
            has_standings.set()

        threading.Thread(target=listen, daemon=True).start()
        wait(lambda: board.tick() or has_standings.is_set(), 60, "an event with standings")


@pytest.mark.thorough
def test_a_page_gets_the_moves_of_games_in_progress_and_the_end_of_the_run(
    tmp_path: Path
) -> None:
    run = Marked(*gated(tmp_path), "-rounds", "1", "-serve", "0", "-srand", "5",
                 "-maxmoves", "20", "-each", "st=0.04", "timemargin=20000")
    address = page_address(run)
    games: dict[int, list[Any]] = {}
    reports = 0
    ended: dict[int, list[Any]] = {}
    with Listener(address) as listener:
        (tmp_path / "open").touch()
        assert listener.headers["Content-Type"].startswith("text/event-stream")
        while (event := listener.next()) is not None:
            for game in event.get("games", []):
                games[game["n"]] = game["moves"]
                reports += bool(game["moves"])
            ended |= moves_of(event)
            end = event
    assert end["over"]["text"] == "Finished: all 2 games are played."
    assert ended.keys() == {1, 2} and reports > len(games) > 0
    assert all(moves == ended[number][: len(moves)] for number, moves in games.items())
    assert run.wait()[0] == 0


def moves_of(event: dict[str, Any]) -> dict[int, list[Any]]:
    """Return the moves of the finished games in an event, by number."""
    lot = event.get("results", {"n": [], "moves": []})
    return dict(zip(lot["n"], lot["moves"]))


def test_games_on_a_user_supplied_executor_are_sent_when_they_are_over(tmp_path: Path) -> None:
    run = Marked(
        *gated(tmp_path), "-rounds", "2", "-serve", "0", "-srand", "5", "-maxmoves", "8",
        "-executor", "concurrent.futures:ThreadPoolExecutor",
        "-each", "st=0.03", "timemargin=20000",
    )
    address = page_address(run)
    numbers = []
    with Listener(address) as listener:
        (tmp_path / "open").touch()
        while (event := listener.next()) is not None:
            numbers += moves_of(event)
            end = event
    assert run.wait()[0] == 0
    assert end["over"]["text"] == "Finished: all 4 games are played."
    assert sorted(numbers) == [1, 2, 3, 4]


def test_only_the_page_is_served_and_not_to_other_sites() -> None:
    run, address = serving()
    with urllib.request.urlopen(address, timeout=60) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert b"https://" not in answer.read()
    for name in ("page.js", "page.css", "stream.js"):
        assert "https://" not in get(address + name)
    wait_for(run, "Finished game 1 ")
    for name, kind in (("", "text/html"), ("icon.svg", "image/svg"), ("events", "text/event")):
        request = urllib.request.Request(address + name, method="HEAD")
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.headers["Content-Type"].startswith(kind) and answer.read() == b""
            assert name == "events" or int(answer.headers["Content-Length"]) > 0
    for name in ("etc/passwd", "..%2fweb.py", "game/1", "board.js", "index.html/"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            get(address + name)
        assert refused.value.code == 404
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"},
                    {"Sec-Fetch-Site": "cross-site"}):
        with Listener(address, headers) as listener:
            assert listener.status == 403
    run.process.terminate()
    assert run.wait()[0] == 130


@needs_proc
def test_a_closed_page_frees_its_descriptor_while_the_run_is_busy() -> None:
    with board_and_view() as (board, view):
        with Listener(view.address):
            before = len(os.listdir("/proc/self/fd"))
        # The runner's thread does not call `tick`, so it cannot close the connections.
        for _ in range(20):
            with Listener(view.address):
                pass
        wait(lambda: len(os.listdir("/proc/self/fd")) <= before, 60, "descriptors closed")


def test_the_state_kept_for_a_page_that_does_not_read_is_bounded() -> None:
    """Each page gets the changes since its last event, so that no events are queued for it."""
    broadcast = broadcast_after(50 * KEPT_GAMES)
    for number in range(1000):
        broadcast.notice("x" * 1000)
    _, changes = broadcast.since(0)
    assert len(json.dumps(changes)) < 400_000


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_with_a_terminal_the_page_stays_after_the_last_game_until_ctrl_c() -> None:
    """In a former version, the page of a run that was over could not be opened again."""
    main, terminal = os.openpty()
    words = [*COMMAND, *match("-rounds", "1", "-serve", "0")]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=terminal) as run:
        os.close(terminal)
        with os.fdopen(main, "rb") as lines:
            line = next(line for line in lines if b"the page stays at" in line).decode()
            with Listener(re.findall(r"http://\S+", line)[0]) as listener:
                state = listener.next()
            assert state is not None and state["results"]["n"] == [1, 2]
            assert state["over"]["text"] == "Finished: all 2 games are played."
            run.send_signal(signal.SIGINT)
            assert run.wait(60) == 0


class PressesCtrlC(io.StringIO):
    """A terminal whose user presses Ctrl-C as soon as a line is shown."""

    def flush(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_right_after_the_notice_of_a_page_that_stays_is_no_interruption(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with board_and_view() as (_, view):
        view.run_ended("finished")
        monkeypatch.setattr("sys.stderr", PressesCtrlC())
        view.stay()


def test_a_port_in_use_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, _, err = Marked(*match("-rounds", "1", "-serve", port)).wait()
    assert status == 2 and "cannot serve at this port" in err


MOVE = MoveRecord("d6", 79, None, 6, 1234, 1_000_000, 59_000_000_000)


def spec_of(number: int) -> GameSpec:
    return replace(result().spec, number=number)


def row_of(number: int) -> Row:
    return make_row(replace(result(), spec=spec_of(number)))


def broadcast_of(*numbers: int) -> Broadcast:
    """Return a broadcast with games that have just started."""
    broadcast = Broadcast(parse_rules("mill"), "A match")
    for number in numbers:
        broadcast.game_started(spec_of(number))
    return broadcast


def broadcast_after(games: int) -> Broadcast:
    """Return a broadcast after ``games`` finished games, with one more game in progress."""
    broadcast = broadcast_of(*range(1, games + 2))
    for number in range(1, games + 1):
        broadcast.game_ended(row_of(number))
    broadcast.game_continued(Played(games + 1, 0, (MOVE,) * 50, 0))
    return broadcast


def test_the_state_does_not_grow_with_the_number_of_finished_games() -> None:
    few, many = (broadcast_after(count * KEPT_GAMES).since(0)[1] for count in (2, 20))
    assert few.keys() == many.keys()
    assert len(few["results"]["n"]) == len(many["results"]["n"]) == KEPT_GAMES
    assert many["playing"] == [20 * KEPT_GAMES + 1]


def test_the_graph_of_a_test_does_not_grow_with_the_number_of_games() -> None:
    with board_and_view(sprt=Sprt(0, 5)) as (board, view):
        for games in range(1, 50 * MAX_LLR_POINTS + 1):
            board.standings.finished = games
            view._count(row_of(1), board.standings)
        numbers = [number for number, _ in view._points]
    assert len(numbers) <= MAX_LLR_POINTS
    steps = {second - first for first, second in zip([0, *numbers], numbers)}
    assert len(steps) == 1 and numbers[-1] > 49 * MAX_LLR_POINTS


def test_a_page_gets_only_the_games_that_have_changed() -> None:
    broadcast = broadcast_of(1, 2)
    version, state = broadcast.since(0)
    assert state["about"] == "A match" and [game["n"] for game in state["games"]] == [1, 2]
    assert broadcast.since(version) == (version, {})
    broadcast.game_continued(Played(2, 0, (MOVE,) * 3, 0))
    version, changes = broadcast.since(version)
    assert changes.keys() == {"playing", "games"} and changes["playing"] == [1, 2]
    assert [(game["n"], len(game["moves"])) for game in changes["games"]] == [(2, 3)]
    broadcast.game_ended(row_of(1))
    version, changes = broadcast.since(version)
    assert changes["playing"] == [2] and changes["games"] == []
    assert changes["results"]["n"] == [1] and len(changes["results"]["moves"]) == 1


def test_a_game_restarted_on_another_worker_is_sent_from_its_start() -> None:
    broadcast = broadcast_of(1)
    for reported, moves in ((0, 3), (3, 1), (0, 2)):
        broadcast.game_continued(Played(1, reported, (MOVE,) * moves, 0))
        (game,) = broadcast.since(0)[1]["games"]
        assert len(game["moves"]) == reported + moves


@pytest.mark.parametrize(("end", "why", "text"), [
    ("failed", "the disk is full", "Ended after 2 of 10 games: the disk is full."),
    ("failed", "", "Ended after 2 of 10 games."),
    ("timed_out", "", "Given up after 2 of 10 games: no worker could play."),
])
def test_the_page_shows_how_a_run_ended(end: str, why: str, text: str) -> None:
    with board_and_view() as (board, view):
        play(board, 1)
        play(board, 2)
        board.run_ended(end, why)
        assert view._broadcast.since(0)[1]["over"]["text"] == text
