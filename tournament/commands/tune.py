"""``merels tune``: tune an engine's spin options by SPSA, then test the tuned values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from merels.engine.common.files import file_error, report_error, write_report
from merels.engine.common.notices import notify
from merels.engine.common.numbers import counted
from merels.protocol.client.engine_spec import OPTION
from merels.protocol.commands.exit_status import OK
from merels.tournament.commands.run import Command, asks_for_help, is_live, resume_flags, run
from merels.tournament.commands.tournament import Tournament
from merels.tournament.flags.command_line import ParsedFlags, without_flags
from merels.tournament.flags.make_tuning import SIDES, make_tuning, sprt_values, without_options
from merels.tournament.flags.help import tune_help
from merels.tournament.flags.run_options import RunOptions
from merels.tournament.journal.open import is_new
from merels.tournament.play.preflight import options_of
from merels.tournament.records.settings import Settings
from merels.tournament.records.table import SPRT, TUNE_FLAGS, TUNE_OWN
from merels.tournament.report.summary import match_lines
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.view import View
from merels.tournament.tuning.report import final_lines, html_report, tuned_values
from merels.tournament.tuning.spsa_state import lag
from merels.tournament.tuning.tune_plan import TuningPlan
from merels.tournament.tuning.views import LiveTuneView, PlainTuneView
from merels.tournament.views.output import put

TEST_ENDING = ".sprt"
"""Suffix of the journal's name for the games of the final SPRT."""
TUNE_ONLY = ("-pgnout", "-log", "-serve")
"""Flags of ``merels tournament`` that do not apply to the tune's final SPRT."""
DEFAULT_PRINTS = 100
"""Default number of times that a tune prints the values."""


def main(argv: list[str]) -> int:
    """Run ``merels tune``; return the exit status."""
    if asks_for_help(argv):
        print(tune_help())
        return OK
    return run(argv, Tune())


class Tune(Command):
    """``merels tune``."""

    name = "merels tune"
    flags = TUNE_FLAGS
    plan = TuningPlan

    def settings(self, given: ParsedFlags, seed: int | None) -> Settings:
        """Return the settings for the flags and the options that the engine declares."""
        settings = make_tuning(given, seed, options_of)
        out, journal = given.value("-out"), given.value("-journal", "file")
        if out and (why := report_error(out)):
            raise file_error(out, f"cannot write this file: {why}")
        if journal is not None and given.has("-sprt"):
            test = journal + TEST_ENDING
            if is_new(journal) and not is_new(test):
                raise file_error(
                    test,
                    "the games of the test go into this file, which exists; remove or rename it",
                )
        if out and journal and os.path.realpath(out) in map(
            os.path.realpath, (journal, journal + TEST_ENDING)
        ):
            raise file_error(out, "-out and -journal cannot have the same file")
        maximum = lag(settings.rounds)
        if given.value("-concurrency", default=1) > maximum:
            pairs, at_once = counted(settings.rounds, "pair"), counted(maximum, "pair")
            notify(f"a tune of {pairs} plays {at_once} at once; the other workers wait")
        return settings

    def view(
        self, board: Scoreboard, options: RunOptions, given: ParsedFlags, out: TextIO
    ) -> View:
        """Return a view with a redrawn table, or one that prints lines."""
        plan = _tuning_plan(board)
        interval = given.value("-interval", default=max(1, plan.state.pairs // DEFAULT_PRINTS))
        return LiveTuneView(plan, out) if is_live(out) else PlainTuneView(plan, interval, out)

    def finish(self, board: Scoreboard, given: ParsedFlags, out: TextIO, status: int) -> int:
        """Print the values, run the final SPRT if all pairs are played, and write the report."""
        state = _tuning_plan(board).state
        state.count_all()
        put(out, "\n".join(["", *final_lines(state), ""]))
        _write_report(board, given, [])
        if status != OK or not given.has("-sprt"):
            return status
        if tuned_values(state) == [parameter.start for parameter in state.parameters]:
            notify("no value has changed, so there is nothing to test")
            return status
        test = _FinalTest(resume_flags(board.journal, given, TUNE_FLAGS))
        status = run(_test_line(board, given), test)
        _write_report(board, given, test.lines)
        return status


class _FinalTest(Tournament):
    """The SPRT of tuned against untuned values.

    It has its own journal, but only the flags ``continuing`` continue it as a part of the tune.
    """

    def __init__(self, continuing: Sequence[str]) -> None:
        self.continuing = continuing
        self.lines: list[str] = []
        """The result."""

    def finish(self, board: Scoreboard, given: ParsedFlags, out: TextIO, status: int) -> int:
        names, matches = board.standings.names, board.standings.matches
        self.lines += match_lines(matches, names, board.settings, board.verdict)
        return super().finish(board, given, out, status)


def _tuning_plan(board: Scoreboard) -> TuningPlan:
    assert isinstance(board.plan, TuningPlan)
    return board.plan


def _test_line(board: Scoreboard, given: ParsedFlags) -> list[str]:
    """Return the command line of ``merels tournament`` for the SPRT of tuned against untuned."""
    state = _tuning_plan(board).state
    names = [parameter.name for parameter in state.parameters]
    starts = [parameter.start for parameter in state.parameters]
    name = board.settings.engines[0].name.removesuffix(SIDES[0])
    left_out = {*TUNE_OWN, "-journal", "-resume", "-srand", *TUNE_ONLY}
    line = without_flags(given.line, left_out, TUNE_FLAGS)
    for kind, values in (("tuned", tuned_values(state)), ("untuned", starts)):
        words = without_options(given.engines[0], names) | {"name": f"{name} {kind}"}
        words |= {OPTION + option: str(value) for option, value in zip(names, values)}
        line += ["-engine", *(f"{key}={value}" for key, value in words.items())]
    test = sprt_values(given).items()
    line += ["-sprt", *(f"{key}={SPRT[key].show(value)}" for key, value in test)]
    # With another seed, the test has other openings than the tune.
    line += ["-srand", str((board.settings.seed + 1) % 2**63)]
    path = given.value("-journal", "file")
    return line if path is None else [*line, "-journal", path + TEST_ENDING, "-resume"]


def _write_report(board: Scoreboard, given: ParsedFlags, match: Sequence[str]) -> None:
    """Write the page of -out; ``match``: the lines of the final SPRT, or none."""
    if path := given.value("-out"):
        state = _tuning_plan(board).state
        write_report(path, html_report(board.settings, state, board.journal, match))
