"""The table on a terminal: drawn in place, cut to the terminal's size, with printable names."""

from __future__ import annotations

import io
import itertools
import re
import sys
import threading
from dataclasses import replace

import pytest

from merels.tournament.journal.rows import make_row
from merels.tournament.journal.standings import Standings
from merels.tournament.records.games import Pairing, PairingResult
from merels.tournament.records.settings import Settings
from merels.tournament.report.rounds import live_lines
from merels.tournament.report.table import cut, width
from merels.tournament.run.plan import Plan, Progress
from merels.tournament.statistics import ratings
from merels.tournament.statistics.counts import Counts
from merels.tournament.statistics.ratings import Ratings
from merels.tournament.statistics.sprt import Sprt
from merels.tournament.views import terminal
from merels.tournament.views.output import Pace, Throttle, time_text
from merels.tournament.views.terminal import (
    LiveView,
    bar,
    is_terminal,
    llr_lines,
)
from tests.kit.terminal import on_a_terminal
from tests.kit.waiting import wait
from tests.tournament.processes import COMMAND, LONGEST
from tests.tournament.specs import engine, engine_words, match, result, settings


def view_of(chosen: Settings, columns: int = 80, rows: int = 24) -> tuple[LiveView, io.StringIO]:
    """Return the view of a tournament on a terminal of this size, and the view's output."""
    out = io.StringIO()
    plan = Plan(chosen)
    plan.next()
    return LiveView(chosen, plan, out, lambda: (columns, rows)), out


def played(chosen: Settings, outcomes: list[str]) -> Standings:
    """Return the standings after games of A against B."""
    standings = Standings(tuple(e.name for e in chosen.engines))
    for number, outcome in enumerate(outcomes, 1):
        standings.add(make_row(result(number, outcome)))
    return standings


def test_the_table_of_a_match_shows_score_and_llr() -> None:
    chosen = settings(2, rounds=5, sprt=Sprt(0, 5))
    view, _ = view_of(chosen)
    playing = {number: result(number).spec for number in (7, 5)}
    text = "\n".join(view.lines(played(chosen, ["1-0", "1/2-1/2", "0-1", "1-0"]), playing))
    assert "playing: 7 (A vs B), 5 (A vs B)" in text
    assert "4 of at most 10 games" in text and "Score of A vs B: 2 - 1 - 1" in text
    assert "LLR: H0 -2.94 [" in text


def test_a_part_of_a_tournament_counts_only_its_own_games() -> None:
    chosen = settings(2, rounds=8)
    view = LiveView(chosen, Plan(chosen, (1, 4)), io.StringIO())
    assert "1 of 4 games" in view.lines(played(chosen, ["1-0"]), {})[0]


def test_the_table_of_a_round_robin_is_a_rating_list() -> None:
    chosen = settings(3, rounds=1)
    view, _ = view_of(chosen)
    lines = view.lines(played(chosen, ["1-0", "1/2-1/2"]), {})
    assert any(line.split()[:2] == ["#", "Name"] for line in lines)


def test_many_engines_are_rated_in_a_background_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "MAX_RATED_AT_ONCE", 2)
    go_on, rated_by = threading.Event(), []

    def rate(matches: Counts) -> Ratings:
        rated_by.append(threading.current_thread())
        assert go_on.wait(60)
        return ratings.rate(matches)

    monkeypatch.setattr(terminal, "rate", rate)
    chosen = settings(3, rounds=1)
    view, _ = view_of(chosen)
    standings = played(chosen, ["1-0", "1/2-1/2"])
    assert "rating the engines..." in view.lines(standings, {})
    go_on.set()
    wait(lambda: any(line.split()[:2] == ["#", "Name"] for line in view.lines(standings, {})),
         60, "a rating list")
    assert threading.current_thread() not in rated_by


def test_the_time_to_cut_a_line_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    """A former version measured the whole line again for each character that it cut off."""
    measured = 0

    def counted(text: str) -> int:
        nonlocal measured
        measured += len(text)
        return width(text)

    monkeypatch.setattr(terminal, "width", counted)
    text = "x" * 1_000 + "直e\u0301" * 1_000
    assert cut(text, 20) == "x" * 20
    assert cut("日本語", 4) == "日本"
    assert cut("直" * 3 + "e\u0301x", 7) == "直" * 3 + "e\u0301"
    assert cut(text, 1_004) == "x" * 1_000 + "直e\u0301"
    assert cut(text, 0) == cut(text, -3) == ""
    assert measured <= 3 * len(text)


def test_the_table_is_drawn_in_place_and_fits_the_terminal() -> None:
    chosen = replace(settings(2, rounds=5), engines=(engine("A" * 200), engine("B")))
    view, out = view_of(chosen, columns=40, rows=6)
    view.tick(Standings(("A" * 200, "B")), {})
    drawn = out.getvalue()
    lines = drawn.removeprefix("\r\x1b[J").splitlines()
    assert 1 < len(lines) <= 5 and max(map(len, lines)) < 40
    view.close()
    assert out.getvalue().removeprefix(drawn) == f"\x1b[{len(lines)}A\r\x1b[J"


LONG_NAME = "An Engine With A Long Name 1.2"


@pytest.mark.parametrize("columns", [40, 60])
def test_a_narrow_terminal_keeps_points_and_score(columns: int) -> None:
    chosen = settings(2, rounds=500, sprt=Sprt(0, 5))
    view, _ = view_of(chosen, columns=columns)
    lines = view.lines(played(chosen, ["1-0", "1/2-1/2"] * 60), {})
    too_wide = [line for line in lines[:-3] if len(line) >= columns]
    assert not too_wide, f"lines of figures are wider than the terminal: {too_wide}"
    text = "\n".join(lines)
    for figure in ("120 of at most 1000 games", "60 - 0 - 60  [0.750] 120", "WL/DD Ratio: ",
                   "Points: 90.0 (75.00 %)", "LLR: H0 -2.94 [", "] 2.94 H1", "[0.00, 5.00]"):
        assert figure in text


@pytest.mark.parametrize(("columns", "heads"), [
    (40, ["#", "Name", "Elo", "Points", "Score"]),
    (60, ["#", "Name", "Elo", "+/-", "Games", "Points", "Score", "Draws"]),
])
def test_a_narrow_table_leaves_out_columns(columns: int, heads: list[str]) -> None:
    names = (LONG_NAME, "B", "名" * 30)
    chosen = replace(settings(3, rounds=500), engines=tuple(map(engine, names)))
    view, out = view_of(chosen, columns=columns)
    standings = Standings(names)
    for number, (white, black) in enumerate(itertools.permutations(names, 2), 1):
        standings.add(make_row(result(number))._replace(white=white, black=black))
    view.tick(standings, {})
    drawn = out.getvalue().removeprefix("\r\x1b[J").splitlines()
    assert heads in [line.split() for line in drawn]
    assert sum(line.endswith("50.0%") or "50.0%  " in line for line in drawn) == 3
    assert max(map(width, drawn)) < columns


def test_a_narrow_table_of_a_swiss_tournament_keeps_points() -> None:
    engines = tuple(map(engine, (LONG_NAME, "B" * 40, "C")))
    chosen = replace(settings(3, rounds=3, format="swiss"), engines=engines)
    rounds = [[PairingResult(Pairing(0, 1), (2.0, 0.0))]]
    for columns, heads in ((39, ["#", "Name", "Points", "Bye"]),
                           (59, ["#", "Name", "Points", "Buchholz", "Bye"])):
        lines = live_lines(chosen, rounds, False, columns)
        assert lines[0].split() == heads and max(map(width, lines)) <= columns


@pytest.mark.parametrize(("columns", "final", "heads"), [
    (29, "An En... vs BBB...", ["Match", "Score"]),
    (39, "An En... vs BBBBB...", ["Stage", "Match", "Score"]),
    (59, "An Engine W... vs BBBBBBBBBBB...", ["Stage", "#", "Match", "Score"]),
])
def test_a_narrow_bracket_keeps_both_engines_and_the_score(
    columns: int, final: str, heads: list[str]
) -> None:
    engines = tuple(map(engine, (LONG_NAME, "B" * 40)))
    chosen = replace(settings(2, rounds=1, format="knockout"), engines=engines)
    lines = live_lines(chosen, [[PairingResult(Pairing(0, 1), (10.0, 10.0))]], False, columns)
    assert lines[0].split()[: len(heads)] == heads
    score = "10.0-10.0"
    assert f"{final}  {score}" in lines[1] and lines[1].index(score) + len(score) <= columns


def test_hostile_names_do_not_move_the_cursor() -> None:
    evil = "B\x1b[31m"
    chosen = replace(settings(2, rounds=5), engines=(engine("A"), engine(evil)))
    view, out = view_of(chosen, columns=200)
    standings = Standings(("A", evil))
    spec = replace(result().spec, black=engine(evil))
    row = make_row(replace(result(), spec=spec))._replace(reason="because \x1b[2J")
    standings.add(row)
    view.finished_in_order(row, standings)
    view.notice("evil \x1b[2J text")
    view.tick(standings, {2: spec})
    drawn = out.getvalue().removeprefix("\r\x1b[J")
    for words in ("playing: 2 (A vs B", "last:    game 1 (A vs B", "because", "note:    evil"):
        assert words in drawn
    assert "\x1b" not in drawn


def test_the_leader_has_the_greatest_share_of_points() -> None:
    standings = Standings(("A", "B"))
    assert terminal.leader(standings, 80) == ""
    for number, outcome in enumerate(["1-0", "1/2-1/2"], 1):
        standings.add(make_row(result(number, outcome)))
    assert terminal.leader(standings, 80) == "A leads with 75.0 %"
    standings.add(make_row(result(3, "0-1")))
    assert terminal.leader(standings, 80) == "", "both engines have 50 %"


def test_the_table_is_drawn_at_limited_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("merels.tournament.views.output.monotonic", lambda: now)
    view, out = view_of(settings(2))
    for now in [1.0] * 100 + [3600.0] * 100:
        view.tick(Standings(("A", "B")), {})
    assert out.getvalue().count("\x1b[J") == 2


def test_a_table_that_is_slow_to_draw_is_drawn_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    now, starts = 1.0, []

    def draw() -> None:
        nonlocal now
        starts.append(now)
        now += 2.0

    monkeypatch.setattr("merels.tournament.views.output.monotonic", lambda: now)
    throttle = Throttle(0.5, share=0.25, clock=lambda: now)
    while now < 20.0:
        throttle.run(draw)
        now += 1.0
    assert starts == [1.0, 11.0]


@pytest.mark.parametrize(
    ("llr", "place"), [(-9.0, 0), (-2.944438979166, 0), (2.944438979166, 29), (9.0, 29)]
)
def test_the_llr_is_drawn_between_its_bounds(llr: float, place: int) -> None:
    [line] = llr_lines(Sprt(0, 5), llr, 80)
    inside = re.search(r"\[([-|]+)\]", line)
    assert inside is not None and len(inside[1]) == 30 and inside[1].index("|") == place


def test_shares_and_times_are_formatted() -> None:
    assert bar(0.5).count("#") == 15 and bar(7).count(".") == 0
    assert time_text(3725.4) == "1:02:05"
    assert not is_terminal(io.StringIO())


def test_the_pace_is_told_from_the_first_result_on() -> None:
    """In a former version a run began with ``0.0 games/s, at most ? left``."""
    pace = Pace()
    assert pace.text(Progress("0 of 7 games", 0.0, 7)) == "no result yet"
    pace.add()
    some_left = Progress("1 of 7 games", 1 / 7, 6, is_bound=True)
    assert re.fullmatch(r"\d+\.\d games/s, at most 0:00:\d\d left", pace.text(some_left))
    assert re.fullmatch(r"\d+\.\d games/s", pace.text(some_left._replace(left=None)))


def run_on_a_terminal(*flags: str, columns: int = 100) -> str:
    """Return the output of a tournament that succeeds on a pseudo-terminal."""
    output, status = on_a_terminal([*COMMAND, *flags], columns, LONGEST)
    assert status == 0
    return output


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", [40, 100])
@pytest.mark.thorough
def test_a_run_on_a_terminal_shows_a_table_and_then_the_final_report(columns: int) -> None:
    text = run_on_a_terminal("-rounds", "1", "-srand", "1", "-each", "nodes=5", columns=columns)
    assert "games/s" in text and "\x1b[J" in text and "Started game" not in text
    table = text.rpartition("games/s")[2].partition("\x1b[J")[0]
    head = next(line.split() for line in table.splitlines() if line.startswith("#"))
    if head[-1] == "Group":  # The last table may be of the first games, which connect few engines.
        head.pop()
    assert head[-2:] == ["Points", "Score"] if columns == 40 else head[-1] == "Draws"
    assert "Termination" in text.rpartition("\x1b[J")[2], "the final report was cleared"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_the_progress_line_has_games_rate_time_left_and_leader() -> None:
    # With 2000 nodes per move, games last long enough for the line to be drawn between two games.
    words = match("-rounds", "5", "-openings", "plies=0", "-concurrency", "1", nodes=(1, 2000))
    text = run_on_a_terminal(*words, columns=120)
    line = r"\d+ of 10 games  \[[#.]+\]  \d+\.\d games/s, \d+:\d\d:\d\d left  "
    assert re.search(line + r"B leads with \d+\.\d %\r?\n", text), text
    assert "Started game" not in text and "Finished game" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.thorough
def test_a_knockout_shows_its_bracket_and_a_constant_total() -> None:
    words = match("-tournament", "knockout", "-maxmoves", "1")
    text = run_on_a_terminal(*words, *engine_words("C", "nodes=9"))
    totals = set(re.findall(r"games?, (\d) of (\d) matches decided", text))
    assert totals <= {(decided, "2") for decided in "012"} and ("0", "2") in totals
    assert "A (bye)" in text.rpartition("\x1b[J")[0]
    assert "Winner of the knockout: A" in text


def test_the_last_table_of_a_knockout_names_its_winner() -> None:
    chosen = settings(2, format="knockout", rounds=1, games=1)
    plan = Plan(chosen)
    view = LiveView(chosen, plan, io.StringIO())
    plan.next()
    plan.score(1, 1.0)
    last_game = view.lines(played(chosen, ["1-0"]), {})
    assert last_game[0].startswith("1 game, 0 of 1 match decided")
    assert last_game[3].endswith("1.0-0.0")
    assert plan.next() is None
    end = view.lines(played(chosen, ["1-0"]), {})
    assert end[0].startswith("1 game, 1 of 1 match decided") and end[3].endswith("1.0-0.0  A")
