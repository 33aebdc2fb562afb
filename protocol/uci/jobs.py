"""What runs on the worker: a search, a count, the benchmark."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from merels.engine.game.position import Position
from merels.engine.search.limits import Info
from merels.engine.tools.perft import divide
from merels.engine.tools.show import bench_lines
from merels.protocol.uci.dialects import Uci
from merels.protocol.uci.go_command import Go
from merels.protocol.uci.output import Output
from merels.protocol.uci.player import Player
from merels.protocol.uci.worker import Job


class Search(Job):
    """The search for one ``go``; whatever happens, it ends in one bestmove.

    It has its own position and limits, which no later command changes. Made once the job before
    it has ended, since both use the player.
    """

    def __init__(
        self, output: Output, player: Player, position: Position, go: Go, dialect: Uci
    ) -> None:
        super().__init__(output)
        self._player, self._position, self._go, self._dialect = player, position, go, dialect
        self._may_answer = threading.Event()
        """Not set while the answer is held back: until a stop, or a ponderhit if it ponders."""
        if not (go.infinite or go.ponder):
            self._may_answer.set()
        player.searcher.arm()

    def run(self) -> Sequence[str]:
        """Search, and return the bestmove."""
        try:
            return self._searched()
        except Exception as error:
            lines = self.failed(error)
            self._may_answer.wait()
            return lines

    def _searched(self) -> Sequence[str]:
        go, player, searcher = self._go, self._player, self._player.searcher
        settings = player.settings
        show_wdl = settings.flag("UCI_ShowWDL")

        def report(info: Info) -> None:
            self.output.write(self._dialect.info(info, show_wdl))

        untimed = go.limit.untimed and not (go.infinite or go.ponder)
        player.prepare(wait=untimed, stopped=self.stopped.is_set)
        result = searcher.search(
            self._position,
            go.limit,
            report,
            root_moves=go.root_moves,
            infinite=go.infinite,
            ponder=go.ponder,
            multipv=settings.number("MultiPV"),
            overhead=settings.number("Move Overhead") / 1000,
            level=player.level,
        )
        if result.missing:
            had = searcher.threads - result.missing
            self.output.error(
                f"the system allows only {had} of {searcher.threads} threads; using those"
            )
        if result.cut:
            self.output.note(f"depth {(result.info.depth or 0) + 1} was cut short")
        return (self._dialect.bestmove(result.move, result.ponder),)

    def failed(self, error: Exception) -> Sequence[str]:
        """Report the error, and return a score and a bestmove that need no search."""
        super().failed(error)
        over = self._position.outcome() is not None
        moves = () if over else self._go.root_moves or self._position.legal_moves()
        return "info depth 0 score cp 0", self._dialect.bestmove(moves[0] if moves else None, None)

    def stop(self) -> None:
        """End the search: its best move so far is the answer."""
        super().stop()
        self._may_answer.set()
        self._player.searcher.stop()

    def ponderhit(self) -> None:
        """Let the limits count from now on."""
        if not self._go.infinite:
            self._may_answer.set()
        self._player.searcher.ponderhit()


class Count(Job):
    """Counts the leaves below each move, ``depth`` plies from a position."""

    patience = 2.0
    """A script that writes ``go perft 5`` and ``quit`` at once wants the count."""

    def __init__(self, output: Output, position: Position, depth: int) -> None:
        super().__init__(output)
        self._position, self._depth = position, depth

    def run(self) -> Sequence[str]:
        """Print each move's count, and return the sum."""
        if not self._depth:
            return "", "Nodes searched: 1"
        total = 0
        for move, leaves in divide(self._position, self._depth, self.stopped.is_set):
            total += leaves
            self.output.write(f"{move}: {leaves}")
        if self.stopped.is_set():
            self.output.note("the count was stopped; its sum covers what was counted")
        return "", f"Nodes searched: {total}"


class Bench(Job):
    """Runs the benchmark, which has a searcher of its own and cannot be stopped."""

    patience = Count.patience

    def run(self) -> Sequence[str]:
        """Run it, and return its result."""
        from merels.engine.tools.bench import run

        return bench_lines(*run())
