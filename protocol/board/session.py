"""One board: its game, its players, and the pages that show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from threading import RLock
from time import monotonic

from merels.engine.common.errors import InputError
from merels.engine.common.messages import message
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import DEFAULT_RULES
from merels.engine.game.score import Score
from merels.engine.search.limits import Info
from merels.protocol.board.auto_saver import AutoSaver
from merels.protocol.board.events import Feed
from merels.protocol.board.game_store import Claim, GameStore
from merels.protocol.board.requests import FULL, Player
from merels.protocol.board.reviewing import Reviewer
from merels.protocol.board.seat import OWN_ENGINE, Seat
from merels.protocol.board.search_thread import Job, SearchThread
from merels.protocol.board.table_build import TableBuild
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.json_fields import JSON
from merels.protocol.games.clock import Clock
from merels.protocol.games.game import Game
from merels.protocol.games.record import Record
from merels.protocol.games.tree import Node
from merels.protocol.process.errors import EngineError
from merels.protocol.puzzles.training import Attempt, Trainer
from merels.protocol.web.server import unexpected

UNWATCHED_SECONDS = 20.0
"""Seconds that engines continue after the last event stream was closed."""
HIDDEN_SECONDS = 600.0
"""Seconds that players' engines continue for a page in the background, which has no stream."""
ANALYSIS_SECONDS = 30.0
"""Seconds that an analysis continues for a page in the background."""
LINES = 3
"""Default number of variations of an analysis."""


class Session:
    """The board of one browser tab. Thread-safe.

    Code that changes the game, its players or its settings holds ``lock``, and calls `changed`
    after releasing it.
    """

    def __init__(
        self, name: str, choices: Sequence[EngineSpec], store: GameStore | None = None,
        trainer: Trainer | None = None, on_due: Callable[[], object] = lambda: None,
    ) -> None:
        """Create a board that saves to ``store``, if given; ``trainer`` selects puzzles.

        ``on_due`` is called when `tick` may be due earlier than it has returned.
        """
        self.name = name
        self.choices = choices
        self._on_due = on_due
        self.lock = RLock()
        self.game = Game(Position(rules=DEFAULT_RULES))
        self.generation = 0
        """Number of games that were on this board before the current one."""
        self._sent_moves = (0, 0, 0)
        """Generation, edits and size of the tree of moves when it was last announced."""
        self.time: JSON = {"kind": "move", "seconds": 1.0}
        """The time control, in the form of `check_time`."""
        self.names = ["", ""]
        """The names typed for users as White and as Black; empty if none."""
        self.paused = False
        self.analysing = False
        """Whether the user analyses: players' engines and clocks stop, a user moves both sides."""
        self.show_evaluation = [False, True]
        """Whether evaluations are shown in play, and in an analysis."""
        self.lines = LINES
        """Number of variations of an analysis."""
        self.engine_error = ""
        """An engine's failure, or empty; no engine searches until it is cleared."""
        self.unexpected_error = ""
        """The last unexpected error in this game, as one line for the page."""
        self._last_error = ""
        """Representation of the last unexpected error."""
        self.infos: tuple[Job, list[Info]] | None = None
        """The latest variations and the job that they come from."""
        self.last_scores: list[Score | None] = [None, None]
        """The last scores of White's and Black's engine, each from its own side."""
        self.table_build: TableBuild | None = None
        """The build of tables in the background, or None."""
        self.trainer = trainer or Trainer()
        self.attempt: Attempt | None = None
        """The current puzzle, or None."""
        self.reviewer = Reviewer(lambda: self.announce("review"), self.report_error)
        self._was_over = False
        """Whether the game was over at the last call of `changed`."""
        self._feeds: list[Feed] = []
        self.saver = AutoSaver(store, lambda: self.watched)
        self._awake_until = monotonic() + UNWATCHED_SECONDS
        """Time after which an unwatched board ends its engines and its review."""
        self._analyse_until = self._awake_until
        self._resting = False
        """Whether the analysis has ended because no page shows it."""
        self._closed = False
        self._asleep = False
        """Whether engines and review have ended because no page shows the board."""
        self._search_thread = SearchThread(self)
        self.seats = [
            Seat(role, self._search_thread.receive)
            for role in ("White", "Black", "Analysis")
        ]
        self.seats[1].assign(choices[0], "Club")
        self.seats[2].assign(choices[0], FULL)
        self._search_thread.start()

    # Event streams.

    def subscribe(self) -> Feed:
        """Return a new stream, in which every kind of event is pending; wake the engines."""
        feed = Feed()
        feed.announce("moves", "state", "info", "review", "failure")
        with self.lock:
            self._feeds.append(feed)
            self._asleep = self._resting = False
            self.saver.acquire()
        self.changed()
        return feed

    def unsubscribe(self, feed: Feed) -> None:
        """Remove a stream."""
        with self.lock:
            if feed in self._feeds:
                self._feeds.remove(feed)
            self._awake_until = max(self._awake_until, monotonic() + UNWATCHED_SECONDS)
            self._analyse_until = max(self._analyse_until, monotonic() + UNWATCHED_SECONDS)
        self._on_due()

    def hide(self, left: bool) -> None:
        """Set how long engines continue without a stream, after the page was left or hidden."""
        with self.lock:
            now = monotonic()
            self._awake_until = now + (UNWATCHED_SECONDS if left else HIDDEN_SECONDS)
            self._analyse_until = now + (UNWATCHED_SECONDS if left else ANALYSIS_SECONDS)
        self._on_due()

    @property
    def playing(self) -> bool:
        """Whether a game is in progress and the board is not in an analysis."""
        return self.game.in_play and not self.analysing

    @property
    def watched(self) -> bool:
        """Whether a browser has an open stream."""
        return bool(self._feeds)

    @property
    def idle_since(self) -> float:
        """Time at which the board became or becomes idle, by `time.monotonic`; now if watched."""
        return monotonic() if self._feeds else self._awake_until

    def announce(self, *kinds: str) -> None:
        """Mark kinds of events as pending in every stream, which sends them together."""
        for feed in list(self._feeds):
            feed.announce(*kinds)

    def report_error(self, error: Exception) -> None:
        """Log an unexpected error and show it on the page; ignore immediate repetitions."""
        if repr(error) != self._last_error:
            self._last_error, self.unexpected_error = repr(error), unexpected(error)
            self.announce("failure")

    # Properties derived from the state.

    @property
    def users(self) -> list[int]:
        """The sides that users play: 0 White, 1 Black."""
        return [side for side in (0, 1) if self.seats[side].choice is None]

    @property
    def may_move(self) -> bool:
        """Whether the user may play or try a move in the position shown."""
        game = self.game
        if game.shown.outcome() is not None or self.analysing:
            return game.shown.outcome() is None
        is_turn = game.last.side in self.users and not self.paused
        return self.playing and game.at is game.live and is_turn

    @property
    def can_undo(self) -> bool:
        """Whether there is a move to take back, or in analysis a change to undo."""
        if self.analysing:
            return self.game.can_undo_edit
        return self.game.played and self.before_last_own() is not None

    @property
    def can_redo(self) -> bool:
        """Whether a move taken back can be replayed, or in analysis an undone change redone."""
        return self.game.can_redo_edit if self.analysing else self.game.can_replay

    def before_last_own(self) -> Node | None:
        """Return the node before the last move of a user, or of an engine if no user plays."""
        node, users = self.game.live, self.users or (0, 1)
        while node.parent is not None:
            if node.parent.position.side in users:
                return node.parent
            node = node.parent
        return None

    def changed(self) -> None:
        """Update the clock, the stored game, engines and pages after a change of the state."""
        with self.lock:
            game = self.game
            if game.clock is not None:
                halted = not self.playing or self.paused or self._asleep or bool(self.engine_error)
                started = game.live.parent is not None
                game.clock.run(game.last.side if started and not halted else None)
            self._save()
            has_ended = game.played and game.over and not self._was_over
            self._was_over = game.over
            moves = (self.generation, game.record.edits, game.record.next_number)
            kinds = ["state"] if moves == self._sent_moves else ["moves", "state"]
            self._sent_moves = moves
        if has_ended:
            self._review_quietly()
        self._search_thread.changed()
        self.announce(*kinds)
        self._on_due()

    def _review_quietly(self) -> None:
        """Review a game that has just ended."""
        record = self.snapshot()
        with suppress(RuntimeError):  # The system cannot start a thread.
            if record.moves:
                self.reviewer.start(record, quiet=True)

    def _save(self) -> None:
        """Save the game if it has changed; the caller holds the lock."""
        if self.game.played and self.game.over:  # Players chosen later have not played this game.
            for number, name in enumerate(("White", "Black")):
                self.game.record.tags.setdefault(name, self.player_name(number))
        if self.saver.has_unsaved_changes(self.game):
            are_engines = [seat.choice is not None for seat in self.seats[:2]]
            self.saver.save(self.game, self.snapshot(), self.time, are_engines)

    def tick(self) -> float:
        """Do what is due: let the clock run out, stop engines; return when to call this again.

        An unwatched board first ends its analysis. Later it ends its engines and review, and
        releases its game to other boards.
        """
        with self.lock:
            now = monotonic()
            unwatched = not self._feeds
            self._resting |= unwatched and now >= self._analyse_until
            flag_fell = self.game.flag()
            falls_asleep = unwatched and not self._asleep and now >= self._awake_until
            if falls_asleep:
                self._asleep = True
                self.saver.release()
                if self.reviewer.running:
                    self.reviewer.discard()
            due = [
                self._analyse_until if unwatched and not self._resting else inf,
                self._awake_until if unwatched and not self._asleep else inf,
            ]
            clock = self.game.clock
            if clock is not None and clock.running is not None:
                due.append(now + clock.left(clock.running))
        if falls_asleep or flag_fell:
            self.changed()
        return min(*due, self._search_thread.stop_unwanted())

    def close(self) -> None:
        """Save the game, and end streams, engines and threads."""
        with self.lock:
            self._closed = True
            self._save()
            self.saver.release()
        self.reviewer.discard()
        for feed in list(self._feeds):
            feed.close()
        for seat in self.seats:
            seat.abort_start()
        self._search_thread.close()

    # The game and its players; the caller holds the lock.

    def begin(self, game: Game, claim: Claim | None = None) -> None:
        """Put another game on the board; ``claim`` belongs to a stored game."""
        self.saver.begin(game, claim)
        for seat in self.seats:
            seat.new_game()
        game.clock = self.new_clock() if game.played else None
        self.game = game
        self.generation += 1
        self._was_over = game.over
        self.analysing = not game.played
        self.last_scores = [None, None]
        self.engine_error = self.unexpected_error = self._last_error = ""
        self.paused = False
        self.infos = None
        self.reviewer.discard()
        self.announce("info")
        self.announce("failure")

    def change_game(self, change: Callable[[], None], as_new: bool = False) -> None:
        """Change the game; with ``as_new`` save it as a new game, and keep the previous game."""
        self._save()
        change()
        if as_new:
            self.saver.begin(self.game)
        self.last_scores = [None, None]

    def set_players(self, players: Sequence[Player]) -> None:
        """Assign White, Black and the analyst; an unchanged player keeps its engine process."""
        for number, (seat, (choice, level, name)) in enumerate(zip(self.seats, players)):
            if (seat.choice, seat.level) != (choice, level):
                seat.assign(choice, level)
            if number < 2:
                self.names[number] = name

    def new_clock(self) -> Clock | None:
        """Return a clock for a new game; None if the time control is per move."""
        if self.time["kind"] != "clock":
            return None
        return Clock(self.time["base"], self.time["increment"])

    @property
    def shows_evaluation(self) -> bool:
        """Whether evaluations, variations and proven values are shown now."""
        return self.show_evaluation[self.analysing]

    def snapshot(self) -> Record:
        """Return a copy of the game's record."""
        return self.game.snapshot((self.player_name(0), self.player_name(1)))

    def player_name(self, number: int) -> str:
        """Return the name of White (0), Black (1) or the analyst (2); '' if it is unknown.

        A name that neither the user nor a record has given is a `Message`.
        """
        seat = self.seats[number]
        recorded = self.game.record.tags.get(("White", "Black", "")[number])
        if recorded is not None or number < 2 and not self.game.played:
            return recorded or ""
        if seat.choice is None:
            plays_engine = self.seats[1 - number].choice is not None
            return self.names[number] or message("You" if plays_engine else "Player")
        if seat.level in ("", FULL) or seat.choice is not OWN_ENGINE:
            return seat.choice.name
        return message("merels ({level})", level=seat.level)

    # The interface `Board` of the search thread.

    def next_job(self) -> Job | None:
        """Return the search that the state requires now, or None."""
        with self.lock:
            game = self.game
            if self._closed or self._asleep or self.engine_error:
                return None
            first = game.record.start
            player = self.seats[game.last.side]
            if self.playing and player.choice is not None and not self.paused:
                time = game.clock or self.time["seconds"]
                start = first.under(game.last.rules)
                return Job(player, player.version, start, game.live.moves, game.last, time)
            if self.shows_evaluation and game.shown.outcome() is None and not self._resting:
                analyst, moves = self.seats[2], game.at.moves
                start = first.under(game.shown.rules)
                return Job(
                    analyst, analyst.version, start, moves, game.shown, lines=self.lines
                )
            return None

    def on_info(self, job: Job, infos: list[Info]) -> None:
        """Show variations, and store the last score of a player's engine."""
        self.infos = (job, list(infos))
        if job.time is not None and infos and (score := infos[0].score) is not None:
            self.last_scores[job.position.side] = score.pov(job.position.side)
        self.announce("info")

    def on_move(self, job: Job, move: Move) -> None:
        """Play an engine's move, unless its job is no longer current."""
        with self.lock:
            game = self.game
            if self.next_job() != job:
                return
            if not game.flag():
                game.play(move)
        self.changed()

    def on_error(self, job: Job | None, error: Exception) -> None:
        """Stop the game until the user restarts the failed engine.

        Without a job the error is the board's own and does not stop the game.
        """
        if job is None:
            self.report_error(error)
            return
        expected = isinstance(error, (EngineError, InputError))
        reason = str(error) if expected else unexpected(error)
        with self.lock:
            self.engine_error = message("{role}: {reason}", role=job.seat.role, reason=reason)
            if self.game.clock is not None:
                self.game.clock.run(None)
        self.announce("state")

    def on_idle(self) -> None:
        """End engines that were replaced, and all engines if the board is asleep or closed."""
        for seat in self.seats:
            if self._asleep or self._closed:
                seat.close()
            else:
                seat.end_replaced()
