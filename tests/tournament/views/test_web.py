"""The page's server: what it tells, to whom, and that it costs the run nothing."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
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
from merels.tournament.views.broadcast import KEPT, MOST_POINTS, Broadcast
from merels.tournament.views.web import WebView
from tests.processes import needs_proc
from tests.protocol.board.webdriver import wait
from tests.tournament.processes import Marked, wait_for
from tests.tournament.specs import match, result, settings
from tests.tournament.views.listener import Listener


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return str(answer.read().decode())


def serving(*more: str) -> tuple[Marked, str]:
    """A long run and the address of its page."""
    run = Marked(*match("-rounds", "2000", "-serve", "0", *more))
    return run, next(line for line in run.process.stderr if "standings at" in line).split()[-1]


@contextmanager
def board_and_view() -> Iterator[tuple[Scoreboard, WebView]]:
    """A tournament of ten games, nothing of it played, and its page."""
    chosen = settings(2, rounds=5)
    with open_journal(None, chosen, {"id": "x", "arguments": "[]"}) as journal:
        board = Scoreboard(Plan(chosen), journal)
        view = WebView(board, 0, True)
        board.views.append(view)
        for task in board.plan.next_round():
            for spec in task.games:
                board.expect(spec)
        try:
            yield board, view
        finally:
            view.close()


def play(board: Scoreboard, number: int) -> None:
    """Count a game."""
    board.begin(number)
    board.end(make_row(replace(result(number), spec=board.playing[number])))
    board.show()


def test_news_is_made_once_for_all_readers_and_standings_beside_the_runners_thread(
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
        assert not rated  # Nobody looks.
        with Listener(view.address) as one, Listener(view.address) as other:
            heard: list[Any] = []

            def listen(listener: Listener) -> None:
                """Collect the news until there are standings."""
                news: dict[str, Any] = {}
                while "standings" not in news:
                    news |= listener.next() or {}
                heard.append({key: news[key] for key in ("about", "score", "standings")})

            threads = [
                threading.Thread(target=listen, args=(listener,)) for listener in (one, other)
            ]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                board.tick()
            assert heard[0] == heard[1]
            assert heard[0]["about"]["event"] == "merels tournament"
            assert heard[0]["score"]["text"] == "1 of 10 games"
            assert "Standings" in heard[0]["standings"]
            assert len(rated) == 1 and rated[0] is not threading.current_thread()
            play(board, 2)
            board.over("finished")
            last = one.next()
            assert last is not None and last["score"]["share"] == 0.2 and "about" not in last
            assert last["over"]["text"] == "Finished: all 2 games are played."
            assert [game["n"] for game in last["replays"]] == [1, 2]
            assert one.next() is None


def test_the_runner_does_not_wait_for_the_ratings_of_a_large_field(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page stood still, and with it the runner, for minutes."""
    begun, go_on = threading.Event(), threading.Event()

    def rate(matches: Counts) -> Crosstable:
        begun.set()
        assert go_on.wait(60)
        return crosstable(matches)

    monkeypatch.setattr("merels.tournament.views.web.crosstable", rate)
    with board_and_view() as (board, view), Listener(view.address) as reader:
        play(board, 1)
        while not begun.is_set():
            board.tick()
        board.tick()
        first = reader.next()
        assert first is not None and first["score"]["text"] == "1 of 10 games"
        assert "standings" not in first, "news goes out while the ratings are made"
        go_on.set()
        ended = threading.Event()

        def listen() -> None:
            while "Standings" not in (reader.next() or {}).get("standings", ""):
                pass
            ended.set()

        threading.Thread(target=listen, daemon=True).start()
        while not ended.wait(0.01):
            board.tick()


@pytest.mark.thorough
def test_a_run_is_told_from_its_first_move_to_its_end() -> None:
    words = match("-rounds", "1", "-serve", "0", "-maxmoves", "20", "-each", "st=0.04",
                  "timemargin=20000")
    run = Marked(*(word for word in words if not word.startswith("nodes=")))
    address = next(line for line in run.process.stderr if "standings at" in line).split()[-1]
    games: dict[int, list[Any]] = {}
    pieces = 0
    with Listener(address) as listener:
        assert listener.headers["Content-Type"].startswith("text/event-stream")
        while True:
            news = listener.next()
            assert news is not None
            for told in [*news.get("games", []), *news.get("results", [])]:
                if "moves" in told:
                    games.setdefault(told["n"], [])[told["at"]:] = told["moves"]
                    pieces += bool(told["moves"])
            if "over" in news:
                break
        assert listener.next() is None
    first = listener.numbers[0]
    assert listener.numbers == list(range(first, first + len(listener.numbers)))
    assert news["over"]["text"] == "Finished: all 2 games are played."
    assert pieces > len(games) > 0
    whole = {game["n"]: game["moves"] for game in news["replays"]}
    assert all(moves == whole[number] for number, moves in games.items())
    assert run.wait()[0] == 0


def test_the_games_of_a_foreign_executor_are_told_when_they_are_over() -> None:
    run = Marked(*match(
        "-rounds", "2", "-serve", "0", "-executor", "concurrent.futures:ThreadPoolExecutor",
        "-each", "st=0.03", "timemargin=20000", "-maxmoves", "8",
    ))
    address = next(line for line in run.process.stderr if "standings at" in line).split()[-1]
    told = []
    with Listener(address) as listener:
        while (news := listener.next()) is not None:
            told += [result["n"] for result in news.get("results", [])]
            last = news
    assert run.wait()[0] == 0
    assert last["over"]["text"] == "Finished: all 4 games are played."
    assert sorted(told) == [game["n"] for game in last["replays"]] == [1, 2, 3, 4]


def test_what_is_served_and_to_whom() -> None:
    run, address = serving()
    with urllib.request.urlopen(address, timeout=60) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert b"https://" not in answer.read()
    for name in ("app.js", "cards.js", "dom.js", "drawing.js", "theme.css", "tables.css"):
        assert "https://" not in get(address + name)
    wait_for(run, "Finished game 1 ")
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


@pytest.mark.thorough
def test_a_browser_that_leaves_is_not_reported() -> None:
    run, address = serving()
    port = int(address.rstrip("/").rpartition(":")[2])
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", port)) as browser:
            reset_at_once = struct.pack("ii", 1, 0)
            browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset_at_once)
            browser.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        with Listener(address) as listener:
            assert listener.next()
    wait_for(run, "Finished game 5 ")
    run.process.terminate()
    _, _, err = run.wait()
    assert "Traceback" not in err and "Error" not in err


def test_open_streams_do_not_shut_a_new_page_out() -> None:
    with board_and_view() as (board, view), ExitStack() as stack:
        for _ in range(140):
            assert stack.enter_context(Listener(view.address)).status == 200
        assert "<html" in get(view.address)
        newest = stack.enter_context(Listener(view.address))
        board.tick()
        news = newest.next()
        assert news is not None and news["score"]["text"] == "0 of 10 games"


@needs_proc
def test_a_page_that_left_costs_no_descriptor_while_the_run_is_busy() -> None:
    with board_and_view() as (board, view):
        with Listener(view.address):
            before = len(os.listdir("/proc/self/fd"))
        # Nobody calls tick meanwhile.
        for _ in range(20):
            with Listener(view.address):
                pass
        wait(lambda: len(os.listdir("/proc/self/fd")) <= before, 60, "descriptors closed")


def test_a_reader_that_does_not_read_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merels.tournament.views.web_server.MOST_WAITING", 1 << 20)
    with board_and_view() as (board, view), Listener(view.address):
        board.tick()
        for _ in range(1000):
            view._server.send({"notices": ["x" * 100_000]})
            if not view._server.is_watched:
                break
        assert not view._server.is_watched


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, _, err = Marked(*match("-rounds", "1", "-serve", port)).wait()
    assert status == 2 and "cannot serve at this port" in err


MOVE = MoveRecord("d6", 79, None, 6, 1234, 1_000_000, 59_000_000_000)


def told_of(games: int) -> Broadcast:
    """What a page is told after so many games, with another one in progress."""
    broadcast = Broadcast({})
    for number in range(1, games + 1):
        broadcast.game_began(spec_of(number))
        broadcast.game_ended(row_of(number))
        broadcast.ratio(number, number / 1000)
    broadcast.game_began(spec_of(games + 1))
    broadcast.game_went_on(Played(games + 1, 0, (MOVE,) * 50, 0))
    return broadcast


def spec_of(number: int) -> GameSpec:
    return replace(result().spec, number=number)


def row_of(number: int) -> Row:
    return make_row(replace(result(), spec=spec_of(number)))


def test_what_is_told_does_not_grow_with_the_games_that_are_over() -> None:
    few, many = told_of(10 * KEPT), told_of(50 * KEPT)
    for one, other in ((few.all(), many.all()), (few.news(), many.news())):
        assert set(one) == set(other)
        assert all(
            len(other[name]) <= len(one[name]) + MOST_POINTS * (name == "ratios") for name in one
        )
    assert len(many.all()["ratios"]) <= MOST_POINTS + 1
    assert many.all()["ratios"][-1] == (50 * KEPT, 50 * KEPT / 1000)
    assert many.replay(50 * KEPT) is not None and many.replay(1) is None


def test_a_game_that_begins_anew_with_another_worker_is_told_anew() -> None:
    broadcast = Broadcast({})
    broadcast.game_began(spec_of(1))
    broadcast.game_went_on(Played(1, 0, (MOVE,) * 3, 0))
    assert len(broadcast.news()["games"][0]["moves"]) == 3
    broadcast.game_went_on(Played(1, 3, (MOVE,), 0))
    (more,) = broadcast.news()["games"]
    assert more["at"] == 3 and len(more["moves"]) == 1 and "position" not in more
    assert broadcast.news() == {}
    broadcast.game_went_on(Played(1, 0, (MOVE,) * 2, 0))
    (anew,) = broadcast.news()["games"]
    assert anew["at"] == 0 and len(anew["moves"]) == 2
    broadcast.game_ended(row_of(1))
    assert broadcast.news()["results"][0]["at"] == 2


def test_the_end_of_a_game_that_is_shown_is_told_however_many_others_end() -> None:
    broadcast = Broadcast({})
    broadcast.game_began(spec_of(1))
    assert broadcast.news()["games"][0]["n"] == 1
    broadcast.game_ended(row_of(1))
    for number in range(2, 500):
        broadcast.game_began(spec_of(number))
        broadcast.game_ended(row_of(number))
    results = broadcast.news()["results"]
    assert [game["n"] for game in results if "moves" in game] == [1]
    assert results[-1]["n"] == 499 and len(results) < 50


@pytest.mark.parametrize(("end", "why", "text"), [
    ("failed", "the disk is full", "Ended after 2 of 10 games: the disk is full"),
    ("failed", "", "Ended after 2 of 10 games."),
])
def test_the_page_says_how_a_run_ended(end: str, why: str, text: str) -> None:
    with board_and_view() as (board, view):
        play(board, 1)
        play(board, 2)
        board.over(end, why)
        assert view._broadcast.all()["over"]["text"] == text
