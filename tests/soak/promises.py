"""Promises for a finished tournament: journal, PGN file and statistics agree with the plan."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

from merels.engine.common.saving import DRAFT
from merels.protocol.formats.pgn.reader import parse_record
from merels.tournament.flags.command_line import parse
from merels.tournament.flags.make_settings import make_settings
from merels.tournament.journal.open import read_journal
from merels.tournament.journal.rows import Row
from merels.tournament.run.plan import Plan
from merels.tournament.views.pgn import GameWriter
from tests.soak.faults import LOSING, read_tallies
from tests.soak.play import Broken, Played
from tests.soak.scenario import Scenario

READ_WHOLE = 100
"""Number of games of the PGN file that are replayed; only the tags are read of the others."""
BLAMED = ("abandoned", "illegal move", "time forfeit")
EXPECTED_FILES = {"journal.db", "games.pgn", "errors.txt", "tmp", "start.pos"}
FIRST_TAG = '[Event "'
_TAG = re.compile(r'\[(White|Black|Result|GameId|Termination) "([^"]*)"\]')


def check(scenario: Scenario, played: Played) -> int:
    """Check all promises; return the number of games. Raise `Broken` for a broken promise."""
    with read_journal(str(scenario.journal)) as journal:
        rows, tournament = list(journal.rows()), journal.meta()["id"]
    check_plan(scenario, rows)
    check_records(scenario, rows, tournament)
    check_statistics(scenario, played.output)
    check_blame(scenario, rows, sum(played.stops.values()))
    check_files(scenario)
    return len(rows)


def check_plan(scenario: Scenario, rows: Sequence[Row]) -> None:
    """Check that the journal has exactly the planned games, each once."""
    settings = make_settings(parse(scenario.flags), None)
    plan, unplanned = Plan(settings), {row.number: row for row in rows}
    while tasks := plan.next_round():
        for game in (game for task in tasks for game in task.games):
            row = unplanned.pop(game.number, None)
            if row is None:
                raise Broken(f"game {game.number} was planned and is not in the journal")
            planned = (game.round, game.pair, game.white.name, game.black.name,
                       game.opening.position, " ".join(game.opening.moves))
            if planned != (row.round, row.pair, row.white, row.black, row.position, row.opening):
                raise Broken(f"game {game.number} was planned as {planned}, played as {row}")
            plan.score(game.number, row.white_score)
    if unplanned:
        raise Broken(f"games {sorted(unplanned)} are in the journal and were not planned")


def check_records(scenario: Scenario, rows: Sequence[Row], tournament: str) -> None:
    """Check that the PGN file has exactly the games of the journal, in order."""
    settings = make_settings(parse(scenario.flags), None)
    writer = GameWriter(settings, tournament)
    text = scenario.pgn.read_text(encoding="utf-8")
    games = [FIRST_TAG + rest for rest in text.split(FIRST_TAG)[1:]]
    tags = [
        (f"{tournament}-{row.number}", row.white, row.black, row.result, row.termination)
        for row in rows
    ]
    if (written := list(map(read_tags, games))) != tags:
        pair = next((pair for pair in zip(tags, written) if pair[0] != pair[1]), None)
        raise Broken(f"the PGN file has {len(written)} games of {len(tags)}; "
                     f"first difference: {pair}")
    if list(map(writer.text, rows)) != games:
        raise Broken("the PGN file differs from the journal")
    for row, game in zip(rows[:READ_WHOLE], games):
        record = parse_record(game)
        if [str(move) for move in record.moves] != [*row.opening.split(), *row.moves.split()]:
            raise Broken(f"game {row.number} has other moves in the PGN file")
        record.final()


def read_tags(game: str) -> tuple[str, ...]:
    """Return GameId, White, Black, Result and Termination of a game, without using merels."""
    tags = dict(_TAG.findall(game))
    return tuple(tags[name] for name in ("GameId", "White", "Black", "Result", "Termination"))


def check_statistics(scenario: Scenario, output: Sequence[str]) -> None:
    """Check that ratings from the PGN file, from the journal and in the run's output agree.

    Ratings from the journal have additional lines: brackets, and distributions of times.
    """
    reports = [ratings(str(path)) for path in (scenario.journal, scenario.pgn)]
    journal = iter(reports[0].splitlines())
    if other := [line for line in reports[1].splitlines() if line not in journal]:
        raise Broken(f"ratings from the PGN file are not those from the journal: {other[0]!r}")
    tables, _, after_tables = reports[1].partition("Likelihood")
    endings = after_tables.partition("Termination")[2].partition("\nReason")[0]
    printed = [*tables.splitlines(), *endings.splitlines()[1:]]
    if missing := [line for line in printed if line not in output and line.strip()]:
        raise Broken(f"a line of the PGN file's ratings is not in the run's output: {missing[0]!r}")
    counted = count_points(scenario.pgn.read_text(encoding="utf-8"))
    for line in tables.splitlines():
        words = line.split()
        if len(words) == 8 and words[1] in counted:
            if (int(words[4]), float(words[5])) != counted.pop(words[1]):
                raise Broken(f"the results in the PGN file do not add up to: {line!r}")
    if counted:
        raise Broken(f"the rating list has no line for {sorted(counted)}")


def ratings(path: str) -> str:
    """Return the output of ``merels ratings`` for a file."""
    command = [sys.executable, "-P", "-m", "merels.tournament.commands.main", "ratings", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    if done.returncode:
        raise Broken(f"merels ratings {path} failed: {done.stderr}")
    return done.stdout


def count_points(text: str) -> dict[str, tuple[int, float]]:
    """Return the numbers of games and points of each engine in a PGN file."""
    points = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
    games, scores = Counter[str](), Counter[str]()
    for game in text.split(FIRST_TAG)[1:]:
        _, white, black, result, _ = read_tags(game)
        if result in points:
            games.update((white, black))
            scores[white] += points[result]  # type: ignore[assignment]
            scores[black] += 1 - points[result]  # type: ignore[assignment]
    return {name: (games[name], float(scores[name])) for name in games}


def check_blame(scenario: Scenario, rows: Sequence[Row], stops: int) -> None:
    """Check that only erratic engines lose by faults, and that each losing fault loses a game."""
    lost: Counter[str] = Counter()
    for row in rows:
        if row.termination in BLAMED and row.result in ("1-0", "0-1"):
            loser = row.black if row.result == "1-0" else row.white
            if loser not in scenario.erratic:
                raise Broken(f"{loser} has no faults, but lost game {row.number}: {row.reason}")
            lost[loser] += 1
        if row.termination == "unterminated":
            raise Broken(f"game {row.number} was broken off: {row.reason}")
    concurrency = int(scenario.flags[scenario.flags.index("-concurrency") + 1])
    for name, path in zip(scenario.erratic, scenario.tallies):
        tally = read_tallies([path])
        committed = sum(tally[letter] for letter in LOSING)
        # A game in progress when the runner is stopped is not in the journal.
        if lost[name] < committed - concurrency * stops:
            raise Broken(f"{name} committed {committed} faults and lost only {lost[name]} games")


def check_files(scenario: Scenario) -> None:
    """Check that the folder has only requested files, and drafts of killed runs."""
    expected = EXPECTED_FILES | {path.name for path in scenario.tallies}
    names = {path.name for path in scenario.folder.iterdir() if path.suffix != DRAFT}
    if extra := names - expected:
        raise Broken(f"files are left after the run: {sorted(extra)}")
