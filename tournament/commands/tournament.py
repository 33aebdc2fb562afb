"""``merels tournament``: play a tournament, or continue one."""

from __future__ import annotations

from collections.abc import Sequence

from merels.protocol.commands.exit_status import OK
from merels.tournament.commands.run import asks_for_help, command_line, is_live, prepared
from merels.tournament.flags.help import help_text
from merels.tournament.flags.make_settings import make_settings
from merels.tournament.records.table import FLAGS
from merels.tournament.report.summary import match_lines
from merels.tournament.run.scoreboard import View
from merels.tournament.views.output import put
from merels.tournament.views.plain import PlainView, final_lines
from merels.tournament.views.terminal import LiveView

NAME = "merels tournament"


def main(argv: list[str]) -> int:
    """Run ``merels tournament``; return the exit status."""
    if asks_for_help(argv):
        print(help_text())
        return OK
    status, _ = play_tournament(argv)
    return status


def play_tournament(argv: list[str], continuing: Sequence[str] = ()) -> tuple[int, list[str]]:
    """Play a tournament and print its report; return the exit status and the lines of a match.

    ``continuing``: flags that continue the run, by default those of its own journal.
    """
    with command_line(argv, FLAGS, NAME) as (given, stored):
        settings = make_settings(given, None if stored is None else stored.settings.seed)
        with prepared(given, stored, settings, continuing=continuing) as run:
            board = run.board
            view: View = PlainView(board.settings, board.plan, run.options.intervals, run.out)
            if is_live(run.out):
                view = LiveView(board.settings, board.plan, run.out)
            status = run.play(view)
            put(run.out, "\n".join(final_lines(board)).lstrip("\n") + "\n")
            match = match_lines(
                board.standings.matches, board.standings.names, board.settings, board.verdict
            )
            return run.finish(status), match
