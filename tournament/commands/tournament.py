"""``merels tournament``: play a tournament, or continue one."""

from __future__ import annotations

from typing import TextIO

from merels.protocol.commands.exit_status import OK
from merels.tournament.commands.run import Command, asks_for_help, is_live, run
from merels.tournament.flags.command_line import ParsedFlags
from merels.tournament.flags.make_settings import make_settings
from merels.tournament.flags.run_options import RunOptions
from merels.tournament.flags.help import help_text
from merels.tournament.records.settings import Settings
from merels.tournament.records.table import FLAGS
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.view import View
from merels.tournament.views.output import put
from merels.tournament.views.plain import PlainView, final_lines
from merels.tournament.views.terminal import LiveView


def main(argv: list[str]) -> int:
    """Run ``merels tournament``; return the exit status."""
    if asks_for_help(argv):
        print(help_text())
        return OK
    return run(argv, Tournament())


class Tournament(Command):
    """``merels tournament``."""

    name = "merels tournament"
    flags = FLAGS

    def settings(self, given: ParsedFlags, seed: int | None) -> Settings:
        return make_settings(given, seed)

    def view(
        self, board: Scoreboard, options: RunOptions, given: ParsedFlags, out: TextIO
    ) -> View:
        """Return a view that redraws a table, or one that prints lines."""
        if is_live(out):
            return LiveView(board.settings, board.plan, out)
        return PlainView(board.settings, board.plan, options.intervals, out)

    def finish(self, board: Scoreboard, given: ParsedFlags, out: TextIO, status: int) -> int:
        """Print the final report."""
        lines = final_lines(
            board.settings, board.plan, board.standings, board.journal, board.verdict
        )
        put(out, "\n".join(lines).lstrip("\n") + "\n")
        return status
