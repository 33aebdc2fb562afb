"""``merels tune``: tune an engine's spin options by SPSA, then test the tuned values."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from merels.engine.common.numbers import counted
from merels.protocol.client.engine_spec import OPTION
from merels.protocol.commands.exit_status import OK
from merels.protocol.common.files import file_error, unwritable_reason, write_report
from merels.protocol.common.notices import notify
from merels.tournament.commands.run import (
    Run,
    asks_for_help,
    command_line,
    is_live,
    prepared,
    resume_flags,
)
from merels.tournament.commands.tournament import play_tournament
from merels.tournament.flags.command_line import ParsedFlags, without_flags
from merels.tournament.flags.help import tune_help
from merels.tournament.flags.make_tuning import (
    SIDES,
    engine_to_tune,
    make_tuning,
    sprt_values,
    without_options,
)
from merels.tournament.journal.open import is_new
from merels.tournament.play.preflight import begin_trial
from merels.tournament.records.table import SPRT, TUNE_FLAGS, TUNE_OWN
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.tuning.report import final_lines, html_report, tuned_values
from merels.tournament.tuning.spsa_state import SpsaState, max_pending
from merels.tournament.tuning.tune_plan import TuningPlan
from merels.tournament.tuning.views import LiveTuneView, PlainTuneView
from merels.tournament.views.output import put

NAME = "merels tune"
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
    with command_line(argv, TUNE_FLAGS, NAME) as (given, stored), contextlib.ExitStack() as ending:
        engine, trial = engine_to_tune(given), None
        if given.value("-executor") is None:
            trial = ending.enter_context(begin_trial(engine))
        options = None if trial is None else trial.engine.options
        seed = None if stored is None else stored.settings.seed
        settings = make_tuning(given, seed, engine, options)
        _check_files(given)
        maximum = max_pending(settings.rounds)
        if given.value("-concurrency", default=1) > maximum:
            pairs, at_once = counted(settings.rounds, "pair"), counted(maximum, "pair")
            notify(f"a tune of {pairs} plays at most {at_once} at once; the other workers wait")
        with prepared(given, stored, settings, TuningPlan, first_trial=trial) as run:
            plan = run.board.plan
            assert isinstance(plan, TuningPlan)
            return run.finish(_tune(run, plan, given))


def _check_files(given: ParsedFlags) -> None:
    """Raise `InputError` if the report or the games of the final SPRT cannot be written."""
    out, journal = given.value("-out"), given.value("-journal", "file")
    if out and (why := unwritable_reason(out)):
        raise file_error(out, f"cannot write this file: {why}")
    if journal is None:
        return
    test = journal + TEST_ENDING
    if given.has("-sprt") and is_new(journal) and not is_new(test):
        raise file_error(
            test, "the games of the test go into this file, which exists; remove or rename it"
        )
    if out and os.path.realpath(out) in map(os.path.realpath, (journal, test)):
        raise file_error(out, "-out and -journal cannot have the same file")


def _tune(run: Run, plan: TuningPlan, given: ParsedFlags) -> int:
    """Play the games, print the values, and write the report; return the exit status.

    The final SPRT is played if all pairs are played.
    """
    out, state = run.out, plan.state
    interval = given.value("-interval", default=max(1, state.pairs // DEFAULT_PRINTS))
    view = LiveTuneView(plan, out) if is_live(out) else PlainTuneView(plan, interval, out)
    status = run.play(view)
    state.count_all()
    put(out, "\n".join(["", *final_lines(state), ""]))
    _write_report(run.board, state, given, [])
    if status != OK or not given.has("-sprt"):
        return status
    if tuned_values(state) == [parameter.start for parameter in state.parameters]:
        notify("no value has changed, so there is nothing to test")
        return status
    # The test has its own journal, but only these flags continue it as a part of the tune.
    continuing = resume_flags(run.board, given)
    status, lines = play_tournament(_test_line(run.board, state, given), continuing)
    _write_report(run.board, state, given, lines)
    return status


def _test_line(board: Scoreboard, state: SpsaState, given: ParsedFlags) -> list[str]:
    """Return the command line of ``merels tournament`` for the SPRT of tuned against untuned."""
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


def _write_report(
    board: Scoreboard, state: SpsaState, given: ParsedFlags, match: Sequence[str]
) -> None:
    """Write the page of -out; ``match``: the lines of the final SPRT, or none."""
    if path := given.value("-out"):
        write_report(path, html_report(board.settings, state, board.journal, match))
