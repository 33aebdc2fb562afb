"""The web server of a running tournament: events, files, access control, load on the runner."""

from __future__ import annotations

import json
import os
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from merels.tournament.journal.open import open_journal
from merels.tournament.journal.rows import Row, make_row
from merels.tournament.records.games import GameSpec, MoveRecord
from merels.tournament.report.crosstable import Crosstable, crosstable
from merels.tournament.run.plan import Plan
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.tasks import Played
from merels.tournament.statistics.counts import Counts
from merels.tournament.views.broadcast import KEPT_GAMES, MAX_LLR_POINTS, Broadcast
from merels.tournament.views.web import WebView
from tests.kit.fakes import fake
from tests.kit.waiting import wait
from tests.processes import needs_proc
from tests.tournament.processes import Marked, page_address, wait_for
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
def board_and_view() -> Iterator[tuple[Scoreboard, WebView]]:
    """Yield the scoreboard of a tournament of ten unplayed games, and its web view."""
    chosen = settings(2, rounds=5)
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
                states.append({key: state[key] for key in ("about", "score", "standings")})

            threads = [
                threading.Thread(target=listen, args=(listener,)) for listener in (first, second)
            ]
            for thread in threads:
                thread.start()
            wait(lambda: board.tick() or not any(map(threading.Thread.is_alive, threads)), 60,
                 "events with standings")
            assert states[0] == states[1]
            assert states[0]["about"]["event"] == "merels tournament"
            assert states[0]["score"]["text"] == "1 of 10 games"
            assert "Standings" in states[0]["standings"]
            assert len(rated) == 1 and rated[0] is not threading.current_thread()
            play(board, 2)
            board.over("finished")
            # Before the end come events that the other page had to wait for, with a new rate.
            end = next(event for event in iter(first.next, None) if "over" in event)
            assert end["score"]["share"] == 0.2 and "about" not in end
            assert end["over"]["text"] == "Finished: all 2 games are played."
            assert [game["n"] for game in end["replays"]] == [1, 2]
            assert first.next() is None


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
        first = listener.next()
        assert first is not None and first["score"]["text"] == "1 of 10 games"
        assert "standings" not in first, "standings were sent before the ratings were finished"
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
    with Listener(address) as listener:
        (tmp_path / "open").touch()
        assert listener.headers["Content-Type"].startswith("text/event-stream")
        while True:
            event = listener.next()
            assert event is not None
            for change in [*event.get("games", []), *event.get("results", [])]:
                if "moves" in change:
                    games.setdefault(change["n"], [])[change["at"]:] = change["moves"]
                    reports += bool(change["moves"])
            if "over" in event:
                break
        assert listener.next() is None
    first = listener.numbers[0]
    assert listener.numbers == list(range(first, first + len(listener.numbers)))
    assert event["over"]["text"] == "Finished: all 2 games are played."
    assert reports > len(games) > 0
    replays = {game["n"]: game["moves"] for game in event["replays"]}
    assert all(moves == replays[number] for number, moves in games.items())
    assert run.wait()[0] == 0


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
            numbers += [result["n"] for result in event.get("results", [])]
            end = event
    assert run.wait()[0] == 0
    assert end["over"]["text"] == "Finished: all 4 games are played."
    assert sorted(numbers) == [game["n"] for game in end["replays"]] == [1, 2, 3, 4]


def test_only_the_page_and_games_are_served_and_not_to_other_sites() -> None:
    run, address = serving()
    with urllib.request.urlopen(address, timeout=60) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert b"https://" not in answer.read()
    for name in ("app.js", "cards.js", "dom.js", "drawing.js", "theme.css", "tables.css"):
        assert "https://" not in get(address + name)
    wait_for(run, "Finished game 1 ")
    for name, kind in (("", "text/html"), ("game/1", "application/json"), ("news", "text/event")):
        request = urllib.request.Request(address + name, method="HEAD")
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.headers["Content-Type"].startswith(kind) and answer.read() == b""
            assert name == "news" or int(answer.headers["Content-Length"]) > 0
    game = json.loads(get(address + "game/1"))
    assert game["n"] == 1 and game["moves"]
    for name in ("etc/passwd", "..%2fweb.py", "game/", "game/0", "game/x", "game/" + "9" * 99,
                 "board.js", "index.html/"):
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


def test_a_page_that_does_not_read_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merels.tournament.views.web_server.MAX_QUEUED", 1 << 20)
    with board_and_view() as (board, view), Listener(view.address):
        board.tick()
        for _ in range(1000):
            view._server.send({"notices": ["x" * 100_000]})
            if not view._server.is_watched:
                break
        assert not view._server.is_watched


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


def broadcast_after(games: int) -> Broadcast:
    """Return a broadcast after ``games`` finished games, with one more game in progress."""
    broadcast = Broadcast({})
    for number in range(1, games + 1):
        broadcast.game_started(spec_of(number))
        broadcast.game_ended(row_of(number))
        broadcast.add_llr(number, number / 1000)
    broadcast.game_started(spec_of(games + 1))
    broadcast.game_continued(Played(games + 1, 0, (MOVE,) * 50, 0))
    return broadcast


def test_the_state_and_an_event_do_not_grow_with_the_number_of_finished_games() -> None:
    few, many = broadcast_after(10 * KEPT_GAMES), broadcast_after(50 * KEPT_GAMES)
    for small, large in ((few.all(), many.all()), (few.news(), many.news())):
        assert set(small) == set(large)
        assert all(
            len(large[name]) <= len(small[name]) + MAX_LLR_POINTS * (name == "ratios")
            for name in small
        )
    assert len(many.all()["ratios"]) <= MAX_LLR_POINTS + 1
    assert many.all()["ratios"][-1] == (50 * KEPT_GAMES, 50 * KEPT_GAMES / 1000)
    assert many.replay(50 * KEPT_GAMES) is not None and many.replay(1) is None


def test_a_game_restarted_on_another_worker_is_sent_from_its_start() -> None:
    broadcast = Broadcast({})
    broadcast.game_started(spec_of(1))
    broadcast.game_continued(Played(1, 0, (MOVE,) * 3, 0))
    assert len(broadcast.news()["games"][0]["moves"]) == 3
    broadcast.game_continued(Played(1, 3, (MOVE,), 0))
    (more,) = broadcast.news()["games"]
    assert more["at"] == 3 and len(more["moves"]) == 1 and "position" not in more
    assert broadcast.news() == {}
    broadcast.game_continued(Played(1, 0, (MOVE,) * 2, 0))
    (restarted,) = broadcast.news()["games"]
    assert restarted["at"] == 0 and len(restarted["moves"]) == 2
    broadcast.game_ended(row_of(1))
    assert broadcast.news()["results"][0]["at"] == 2


def test_the_end_of_a_shown_game_is_sent_although_many_games_end_at_once() -> None:
    broadcast = Broadcast({})
    broadcast.game_started(spec_of(1))
    assert broadcast.news()["games"][0]["n"] == 1
    broadcast.game_ended(row_of(1))
    for number in range(2, 500):
        broadcast.game_started(spec_of(number))
        broadcast.game_ended(row_of(number))
    results = broadcast.news()["results"]
    assert [game["n"] for game in results if "moves" in game] == [1]
    assert results[-1]["n"] == 499 and len(results) < 50


@pytest.mark.parametrize(("end", "why", "text"), [
    ("failed", "the disk is full", "Ended after 2 of 10 games: the disk is full"),
    ("failed", "", "Ended after 2 of 10 games."),
    ("timed_out", "", "Given up after 2 of 10 games: no worker could play."),
])
def test_the_page_shows_how_a_run_ended(end: str, why: str, text: str) -> None:
    with board_and_view() as (board, view):
        play(board, 1)
        play(board, 2)
        board.over(end, why)
        assert view._broadcast.all()["over"]["text"] == text
