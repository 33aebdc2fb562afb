"""The plain view: starts are shown as they happen, results in the order of numbers."""

from __future__ import annotations

import io
import re
from pathlib import Path

from merels.tournament.journal.open import open_journal
from merels.tournament.journal.rows import make_row
from merels.tournament.records.output import Intervals, LogOptions
from merels.tournament.run.plan import Plan
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.views.log import LogView
from merels.tournament.views.plain import PlainView
from tests.tournament.specs import NOTES, planned_games, result, settings


def test_a_slow_game_hides_no_start_of_a_later_game() -> None:
    """In a former version, a start was shown only after the starts of all earlier games."""
    chosen, out = settings(2, rounds=2), io.StringIO()
    with open_journal(None, chosen, NOTES) as journal:
        plan = Plan(chosen)
        board = Scoreboard(plan, journal, [PlainView(chosen, plan, Intervals(0, 0), out)])
        specs = {spec.number: spec for spec in planned_games(plan)}
        for spec in specs.values():
            board.expect(spec)
        board.begin(3)
        assert out.getvalue() == "Started game 3 of 4 (A vs B)\n"
        board.end(make_row(result(spec=specs[3])))
        board.begin(1)
        board.begin(4)
        board.show()
        assert re.findall(r"\w+ game \d", out.getvalue()) == [
            "Started game 3", "Started game 1", "Started game 4"
        ]
        board.end(make_row(result(spec=specs[1])))
        board.end(make_row(result(spec=specs[2])))
        board.show()
        assert re.findall(r"Finished game (\d)", out.getvalue()) == ["1", "2", "3"]


def test_a_line_of_the_log_has_the_time_of_its_event_and_its_game(tmp_path: Path) -> None:
    """In a former version, it had the time at which the runner read of the event."""
    chosen, path = settings(2, rounds=1), tmp_path / "log"
    with open_journal(None, chosen, NOTES) as journal:
        view = LogView(LogOptions(str(path), "info"))
        board = Scoreboard(Plan(chosen), journal, [view])
        for spec in planned_games(board.plan):
            board.expect(spec)
        row = make_row(result(spec=board.waiting[2]))
        board.begin(2, "2026-01-02T03:04:05.678+00:00")
        board.end(row, "2026-01-02T03:04:09.012+00:00")
        board.notice("a notice")
        view.close()
    started, ended, notice = path.read_text().splitlines()
    assert started == "2026-01-02T03:04:05.678+00:00 info  game 2: B vs A started"
    assert ended.startswith("2026-01-02T03:04:09.012+00:00 info  game 2: B vs A 1-0 normal (")
    assert re.search(r" warn  process \d+: a notice$", notice)
