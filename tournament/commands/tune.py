"""``merels tune``: tune an engine's spin options by SPSA, then test what came of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from merels.engine.common.files import file_error, report_error, write_report
from merels.engine.common.numbers import counted
from merels.protocol.client.engine_spec import OPTION
from merels.protocol.commands.exit_status import OK
from merels.tournament.commands.run import Command, asks_for_help, is_live, run
from merels.tournament.commands.tournament import TOURNAMENT
from merels.tournament.flags.command_line import ParsedFlags, without
from merels.tournament.flags.make_tuning import SIDES, make_tuning, test_words, without_options
from merels.tournament.flags.run_options import RunOptions, file_of
from merels.tournament.flags.tune_table import OWN, TUNE_FLAGS, tune_help
from merels.tournament.journal.open import is_new
from merels.tournament.play.preflight import options_of
from merels.tournament.records.settings import Settings
from merels.tournament.report.summary import match_lines
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.view import View
from merels.tournament.tuning.report import final_lines, html_report, tuned_values
from merels.tournament.tuning.spsa_state import lag
from merels.tournament.tuning.tune_plan import TuningPlan
from merels.tournament.tuning.views import LiveTuneView, PlainTuneView
from merels.tournament.views.output import notify, put, set_command

TEST_ENDING = ".sprt"
"""Suffix of the journal's name for the games of the test."""
OF_THE_TUNE = ("-pgnout", "-log", "-serve")
"""Flags whose files and pages belong to the tune and not to its test, besides its own flags."""
PRINTED = 100
"""How often the values are printed in a whole tune, unless -interval says otherwise."""


def main(argv: list[str]) -> int:
    """Run ``merels tune``; returns the exit status."""
    if asks_for_help(argv):
        print(tune_help())
        return OK
    set_command(TUNE.name)
    return run(argv, TUNE)


def _settings(given: ParsedFlags, seed: int | None) -> Settings:
    """The settings that the flags ask for, and the engine declares."""
    settings = make_tuning(given, seed, options_of)
    out, journal = given.text("-out", ""), file_of(given, "-journal")
    if out and (why := report_error(out)):
        raise file_error(out, f"cannot write this file: {why}")
    if journal is not None and given.has("-sprt"):
        test = journal + TEST_ENDING
        if is_new(journal) and not is_new(test):
            raise file_error(test, "this file exists, which is for the games of the test")
    if out and journal and os.path.realpath(out) in map(
        os.path.realpath, (journal, journal + TEST_ENDING)
    ):
        raise file_error(out, "-out and -journal cannot have the same file")
    most = lag(settings.rounds)
    if given.number("-concurrency", 1) > most:
        whole, at_once = counted(settings.rounds, "pair"), counted(most, "pair")
        notify(f"a tune of {whole} plays {at_once} at once; the other workers wait")
    return settings


def _view(board: Scoreboard, options: RunOptions, given: ParsedFlags, out: TextIO) -> View:
    """A table that is redrawn, or lines."""
    plan = _tuning_plan(board)
    interval = given.number("-interval", max(1, plan.course.pairs // PRINTED), 1)
    return LiveTuneView(plan, out) if is_live(out) else PlainTuneView(plan, interval, out)


def _tuning_plan(board: Scoreboard) -> TuningPlan:
    assert isinstance(board.plan, TuningPlan)
    return board.plan


def _finish(board: Scoreboard, given: ParsedFlags, out: TextIO, status: int) -> int:
    """Print the values, test them once all pairs are played, and write the report."""
    course = _tuning_plan(board).course
    course.count_all()
    put(out, "\n".join(["", *final_lines(course), ""]))
    _write_report(board, given, [])
    if status != OK or not given.has("-sprt"):
        return status
    if tuned_values(course) == [parameter.start for parameter in course.parameters]:
        notify("no value has changed: there is nothing to test")
        return status
    lines: list[str] = []

    def finish(test: Scoreboard, given: ParsedFlags, out: TextIO, status: int) -> int:
        names, matches = test.standings.names, test.standings.matches
        lines.extend(match_lines(matches, names, test.settings, test.verdict))
        return TOURNAMENT.finish(test, given, out, status)

    status = run(_test_line(board, given), TOURNAMENT._replace(finish=finish))
    _write_report(board, given, lines)
    return status


def _test_line(board: Scoreboard, given: ParsedFlags) -> list[str]:
    """The flags, those of merels tournament, of a test of tuned against untuned."""
    course = _tuning_plan(board).course
    names = [parameter.name for parameter in course.parameters]
    starts = [parameter.start for parameter in course.parameters]
    name = board.settings.engines[0].name.removesuffix(SIDES[0])
    line = without(given.line, {*OWN, "-journal", "-resume", "-srand", *OF_THE_TUNE}, TUNE_FLAGS)
    for kind, values in (("tuned", tuned_values(course)), ("untuned", starts)):
        words = without_options(given.engines[0], names) | {"name": f"{name} {kind}"}
        words |= {OPTION + option: str(value) for option, value in zip(names, values)}
        line += ["-engine", *(f"{key}={value}" for key, value in words.items())]
    line += ["-sprt", *(f"{key}={value}" for key, value in test_words(given).items())]
    # Other openings than those that the values were tuned by.
    line += ["-srand", str((board.settings.seed + 1) % 2**63)]
    path = file_of(given, "-journal")
    return line if path is None else [*line, "-journal", path + TEST_ENDING, "-resume"]


def _write_report(board: Scoreboard, given: ParsedFlags, match: Sequence[str]) -> None:
    """Write the page of -out, with the lines of the test, if it has been played."""
    if path := given.text("-out", ""):
        course = _tuning_plan(board).course
        write_report(path, html_report(board.settings, course, board.journal, match))


TUNE = Command("merels tune", TUNE_FLAGS, _settings, TuningPlan, _view, _finish)
