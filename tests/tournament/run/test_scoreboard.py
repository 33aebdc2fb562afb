"""The scoreboard: the order in which games are journaled, counted and shown, and the SPRT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import pytest

from merels.engine.common.errors import Failure, InputError
from merels.tournament.journal.open import open_journal
from merels.tournament.journal.rows import Row, make_row
from merels.tournament.journal.standings import Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.records.settings import Settings
from merels.tournament.run.plan import Plan
from merels.tournament.run.scoreboard import Scoreboard, View
from merels.tournament.statistics.sprt import Sprt
from tests.tournament.specs import NOTES, planned_games, result, settings


class EventView(View):
    """Records the events that a view receives, as text with the number of counted games."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def game_started(self, spec: GameSpec, time: str) -> None:
        self.events.append(f"began {spec.number}")

    def game_ended(self, row: Row, time: str) -> None:
        self.events.append(f"ended {row.number}")

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        self.events.append(f"finished {row.number} of {standings.finished}")

    def found_in_journal(self, row: Row, standings: Standings) -> None:
        self.events.append(f"found {row.number} of {standings.finished}")


@contextmanager
def board_of(chosen: Settings) -> Iterator[tuple[Scoreboard, EventView]]:
    """Yield a scoreboard that expects all games, with a journal in memory, and its view."""
    with open_journal(None, chosen, NOTES) as journal:
        view = EventView()
        board = Scoreboard(Plan(chosen), journal, [view])
        for spec in planned_games(board.plan):
            board.expect(spec)
        yield board, view


def end(board: Scoreboard, number: int, outcome: str = "1-0") -> None:
    """End a game with a result."""
    spec = {**board.waiting, **board.playing}[number]
    board.end(make_row(result(outcome=outcome, spec=spec)))


def test_games_are_shown_at_once_and_counted_in_number_order() -> None:
    with board_of(settings(2, rounds=1, games=4)) as (board, view):
        assert board.uncounted == {1, 2, 3, 4} == set(board.waiting)
        board.begin(2)
        board.begin(1)
        assert view.events == ["began 2", "began 1"]
        assert list(board.playing) == [2, 1] and set(board.waiting) == {3, 4}
        view.events.clear()
        end(board, 2)
        board.show()
        assert view.events == ["ended 2"] and board.standings.finished == 0
        assert board.played == {2} and list(board.playing) == [1]
        end(board, 1)
        board.show()
        assert view.events[1:] == ["ended 1", "finished 1 of 1", "finished 2 of 2"]
        assert board.uncounted == {3, 4}


def test_a_resumed_run_reads_each_stored_game_once_and_without_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a former version, each stored game took a query of its own, for all of its moves."""
    monkeypatch.setattr("merels.tournament.run.scoreboard.READ_AHEAD", 4)
    chosen = settings(2, rounds=5)
    with open_journal(None, chosen, NOTES) as journal:
        games = list(planned_games(Plan(chosen)))
        for spec in games:
            if spec.number != 7:
                journal.append(make_row(result(spec=spec)))
        found: list[Row] = []
        view = EventView()
        monkeypatch.setattr(view, "found_in_journal", lambda row, standings: found.append(row))
        board = Scoreboard(Plan(chosen), journal, [view])
        queries: list[str] = []
        journal._database.set_trace_callback(queries.append)
        for spec in games:
            board.expect(spec)
            board.show()
        assert [row.number for row in found] == [1, 2, 3, 4, 5, 6]
        board.show_rest()
        assert [row.number for row in found] == [1, 2, 3, 4, 5, 6, 8, 9, 10]
        assert not any(row.times for row in found) and len(queries) == 3


def test_a_game_restarted_on_another_worker_is_shown_once() -> None:
    with board_of(settings(2, rounds=1)) as (board, view):
        board.begin(1)
        board.begin(1)
        end(board, 1)
        assert view.events == ["began 1", "ended 1"]
        # The start of a game is shown even if only its end was reported.
        end(board, 2)
        assert view.events[2:] == ["began 2", "ended 2"]


def test_games_after_a_missing_one_are_counted_at_the_end() -> None:
    with board_of(settings(2, rounds=1, games=4)) as (board, view):
        for number in (4, 2):
            end(board, number)
        board.show()
        assert board.standings.finished == 0
        board.show_rest()
        assert view.events[-2:] == ["finished 2 of 1", "finished 4 of 2"]
        board.show_rest()
        assert board.standings.finished == 2 and board.uncounted == {1, 3}


def test_games_of_an_earlier_run_are_shown_and_not_played() -> None:
    chosen = settings(2, rounds=1, games=4)
    with board_of(chosen) as (board, _):
        end(board, 1)
        end(board, 2)
        view = EventView()
        resumed = Scoreboard(Plan(chosen), board.journal, [view])
        for spec in planned_games(resumed.plan):
            resumed.expect(spec)
        assert resumed.played == {1, 2} and set(resumed.waiting) == {3, 4}
        resumed.show()
        assert view.events == ["found 1 of 1", "found 2 of 2"] and resumed.uncounted == {3, 4}


def test_an_sprt_is_decided_by_whole_pairs_and_counts_no_later_game() -> None:
    sprt = Sprt(0, 100, 0.3, 0.3)
    chosen = settings(2, rounds=1, games=40, sprt=sprt)
    with board_of(chosen) as (board, view):
        for number in range(1, 41):
            spec = board.waiting[number]
            end(board, number, "1-0" if spec.white.name == "A" else "0-1")
        assert board.llr == 0.0
        board.show()
        counted = board.standings.finished
        assert board.verdict == "H1" and board.llr >= sprt.upper
        assert 2 <= counted < 40 and counted % 2 == 0
        assert board.journal.meta()["verdict"] == "H1"
        board.show_rest()
        assert board.standings.finished == 40


def test_a_swiss_that_another_version_paired_otherwise_is_not_continued() -> None:
    """Continued, its stored games would count for pairings of other engines."""
    chosen = settings(4, format="swiss", rounds=1)
    with board_of(chosen) as (board, _):
        task = Plan(chosen).next()
        assert task is not None
        board.check(task)
        white, black = board.waiting[1].white, board.waiting[1].black
        spec = replace(board.waiting[1], white=black, black=white)
        board.end(make_row(result(spec=spec)))
        with pytest.raises(InputError, match="game 1 of this journal is C vs A, where this version "
                           "of merels pairs A vs C; continue it with the version that wrote it"):
            board.check(task)


class BrokenView(EventView):
    """Fails at each update."""

    ticks = 0

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        self.ticks += 1
        raise ArithmeticError("no ratings")

    def notice(self, text: str) -> None:
        self.events.append(text)


def test_an_error_in_a_view_does_not_end_the_run() -> None:
    """In a former version, an exception in a drawing of ratings ended the tournament."""
    with board_of(settings(2, rounds=1)) as (board, view):
        broken = BrokenView()
        board.views.insert(0, broken)
        board.tick()
        board.tick()
        end(board, 1)
        board.notice("later")
        assert broken.ticks == 1 and broken.incomplete and not view.incomplete
        text = "BrokenView failed and shows no more: ArithmeticError('no ratings')"
        assert broken.events == [text] and view.events == ["began 1", "ended 1"]


@pytest.mark.parametrize("error", [Failure("no output"), InputError("x", "expected y")])
def test_a_failure_that_a_view_reports_ends_the_run(error: Exception) -> None:
    with board_of(settings(2, rounds=1)) as (board, view):
        def fail() -> None:
            raise error

        view.round_paired = fail  # type: ignore[method-assign]
        with pytest.raises(type(error)):
            board.round_paired()
