"""One board: its game, its players, and who watches it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock
from time import monotonic

from merels.engine.common.errors import InputError
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import DEFAULT_RULES
from merels.engine.game.score import Score
from merels.engine.search.limits import Info
from merels.protocol.board.auto_saver import AutoSaver
from merels.protocol.board.events import Feed, Log
from merels.protocol.board.game_store import Claim, GameStore
from merels.protocol.board.requests import FULL, Player
from merels.protocol.board.reviewing import Reviewer
from merels.protocol.board.seat import OWN, Seat
from merels.protocol.board.search_thread import Job, SearchThread
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.json_fields import JSON
from merels.protocol.games.clock import Clock
from merels.protocol.games.game import Game
from merels.protocol.games.record import Record
from merels.protocol.games.record import Node
from merels.protocol.process.errors import EngineError
from merels.protocol.puzzles.training import Attempt, Trainer
from merels.protocol.web.server import unexpected

UNWATCHED_SECONDS = 20.0
"""How long engines keep thinking after the browser has vanished."""
HIDDEN_SECONDS = 600.0
"""The same for a page in the background, which closes its stream."""
LINES = 3
"""The variations of an analysis, unless another number is asked for."""


class Session:
    """The board of one browser tab; its methods are free for any thread.

    Code that changes the public state holds ``lock``, and calls `changed` afterwards.
    """

    def __init__(
        self, name: str, choices: Sequence[EngineSpec], store: GameStore | None = None,
        trainer: Trainer | None = None,
    ) -> None:
        """``store`` keeps games, if it is not None; ``trainer`` gives puzzles."""
        self.name = name
        self.choices = choices
        self.lock = RLock()
        self.log = Log(lambda: self.announce("log"))
        self.game = Game(Position(DEFAULT_RULES))
        self.time: JSON = {"kind": "move", "seconds": 1.0}
        """The time control, as `read_time` gives it."""
        self.names = ["", ""]
        """The names typed for users who play White and Black."""
        self.paused = False
        self.analysing = False
        """Whether this is an analysis: engines and clocks rest, and a user moves both sides."""
        self.show_evaluation = [False, True]
        """Whether evaluations are shown: in play, and in an analysis."""
        self.lines = LINES
        """The variations of an analysis."""
        self.error = ""
        """Why an engine failed; nothing is searched until it is cleared."""
        self.failure = ""
        """The last unexpected error in this game, as a line for the page."""
        self._failed = ""
        self.infos: tuple[Job, list[Info]] | None = None
        """The latest variations, with the search that they come from."""
        self.last_scores: list[Score | None] = [None, None]
        """The last scores of White's and Black's engine, each from its own side."""
        self.trainer = trainer or Trainer()
        self.attempt: Attempt | None = None
        """The puzzle that is being solved."""
        self.reviewer = Reviewer(lambda: self.announce("review"), self.failed)
        self._feeds: list[Feed] = []
        self.saver = AutoSaver(store, lambda: self.watched)
        self._watch_until = monotonic() + UNWATCHED_SECONDS
        self._closed = False
        self._asleep = False
        self._search_thread = SearchThread(self)
        self.seats = [
            Seat(part, self.log, self._search_thread.receive)
            for part in ("White", "Black", "Analysis")
        ]
        self.seats[1].seat(choices[0], "Club")
        self.seats[2].seat(choices[0], FULL)
        self._search_thread.start()

    # Who watches.

    def subscribe(self) -> Feed:
        """A new stream, which begins with an event of each kind."""
        feed = Feed()
        for kind in ("moves", "state", "info", "review", "log", "failure"):
            feed.announce(kind)
        with self.lock:
            self._feeds.append(feed)
            self._asleep = False
            self.saver.hold()
        self.changed()
        return feed

    def unsubscribe(self, feed: Feed) -> None:
        """End a stream."""
        with self.lock:
            if feed in self._feeds:
                self._feeds.remove(feed)
            self._watch_until = max(self._watch_until, monotonic() + UNWATCHED_SECONDS)

    def hide(self, left: bool) -> None:
        """Note that the page closes its stream: it was left, or is in the background."""
        with self.lock:
            self._watch_until = monotonic() + (UNWATCHED_SECONDS if left else HIDDEN_SECONDS)

    @property
    def playing(self) -> bool:
        """Whether the game goes on here: its next move is its players'."""
        return self.game.in_play and not self.analysing

    @property
    def watched(self) -> bool:
        """Whether a browser has an open stream."""
        return bool(self._feeds)

    @property
    def idle_since(self) -> float:
        """Time up to which the board was watched, or stays awake (`time.monotonic`)."""
        return monotonic() if self._feeds else self._watch_until

    def announce(self, kind: str) -> None:
        """Announce an event of a kind to every stream."""
        for feed in list(self._feeds):
            feed.announce(kind)

    def failed(self, error: Exception) -> None:
        """Log an unexpected error and show it on the page, once if it repeats; any thread may."""
        if repr(error) != self._failed:
            self._failed, self.failure = repr(error), unexpected(error)
            self.announce("failure")

    # Derived from the state.

    @property
    def users(self) -> list[int]:
        """The sides that users play."""
        return [side for side in (0, 1) if self.seats[side].choice is None]

    @property
    def may_move(self) -> bool:
        """Whether the user may play or try a move in the position shown."""
        game = self.game
        if game.shown.outcome() is not None or self.analysing:
            return game.shown.outcome() is None
        theirs = game.last.side in self.users and not self.paused
        return self.playing and game.at is game.live and theirs

    @property
    def can_undo(self) -> bool:
        """Whether there is a move to take back, or in analysis a change to undo."""
        if self.analysing:
            return self.game.can_undo_edit
        return self.game.played and self.before_last_own() is not None

    @property
    def can_redo(self) -> bool:
        """Whether what was taken back, or in analysis undone, can be done again."""
        return self.game.can_redo_edit if self.analysing else self.game.can_replay

    def before_last_own(self) -> Node | None:
        """The node before a user's last move, or in a game of engines before the last move."""
        node, users = self.game.live, self.users or (0, 1)
        while node.parent is not None:
            if node.parent.position.side in users:
                return node.parent
            node = node.parent
        return None

    def changed(self) -> None:
        """Apply the new state to the engines and the clock, save the game, and announce both."""
        with self.lock:
            game = self.game
            if game.clock is not None:
                stands = not self.playing or self.paused or self._asleep or bool(self.error)
                begun = game.live.parent is not None
                game.clock.run(game.last.side if begun and not stands else None)
            self._keep()
        self._search_thread.changed()
        self.announce("moves")
        self.announce("state")

    def _keep(self) -> None:
        """Keep the game if it has changed; the caller holds the lock."""
        if self.game.played and self.game.over:  # Whoever sits here next has not played it.
            for part, name in enumerate(("White", "Black")):
                self.game.record.tags.setdefault(name, self.player_name(part))
        if self.saver.is_behind(self.game):
            programs = [seat.choice is not None for seat in self.seats[:2]]
            self.saver.keep(self.game, self.snapshot(), self.time, programs)

    def tick(self) -> None:
        """Check clocks and watchers; called several times a second."""
        self._search_thread.nudge()
        with self.lock:
            fell = self.game.flag()
            leave = not self._feeds and not self._asleep and monotonic() > self._watch_until
            if leave:
                self._asleep = True
                self.saver.release()
                if self.reviewer.running:
                    self.reviewer.forget()
        if leave or fell:
            self.changed()

    def close(self) -> None:
        """End everything."""
        with self.lock:
            self._closed = True
            self._keep()
            self.saver.release()
        self.reviewer.forget()
        for feed in list(self._feeds):
            feed.close()
        for seat in self.seats:
            seat.end()
        self._search_thread.close()
        for seat in self.seats:
            seat.close()

    # The game and its players; the caller holds the lock.

    def begin(self, game: Game, claim: Claim | None = None) -> None:
        """Put another game on the board; ``claim`` is that to a kept one."""
        self.saver.begin(game, claim)
        for seat in self.seats:
            seat.new_game()
        game.clock = self.new_clock()
        self.game = game
        self.analysing = not game.played
        self.last_scores = [None, None]
        self.error = self.failure = self._failed = ""
        self.paused = False
        self.infos = None
        self.reviewer.forget()
        self.announce("info")
        self.announce("failure")

    def change_game(self, change: Callable[[], None], another: bool = False) -> None:
        """Change the game; with ``another`` the result is saved beside the game before."""
        self._keep()
        change()
        if another:
            self.saver.begin(self.game)
        self.last_scores = [None, None]

    def set_players(self, players: Sequence[Player]) -> None:
        """Seat White, Black and the analyst; those who stay keep their engines."""
        for part, (seat, (choice, level, name)) in enumerate(zip(self.seats, players)):
            if (seat.choice, seat.level) != (choice, level):
                seat.seat(choice, level)
            if part < 2:
                self.names[part] = name

    def new_clock(self) -> Clock | None:
        """A clock for a new game, if the time control has one."""
        if self.time["kind"] != "clock":
            return None
        return Clock(self.time["base"], self.time["increment"])

    @property
    def reveals(self) -> bool:
        """Whether evaluations, variations and proven values are shown."""
        return self.show_evaluation[self.analysing]

    def snapshot(self) -> Record:
        """A copy of the game's record as it is now."""
        return self.game.snapshot((self.player_name(0), self.player_name(1)))

    def player_name(self, part: int) -> str:
        """The name of White (0), Black (1) or the analyst (2)."""
        seat, recorded = self.seats[part], self.game.record.tags.get(("White", "Black", "")[part])
        if recorded is not None:
            return recorded
        if seat.choice is None:
            single = self.seats[1 - part].choice is not None
            return self.names[part] or ("You" if single else "Player")
        strong = seat.level in ("", FULL) or seat.choice is not OWN
        return seat.choice.name if strong else f"{seat.choice.name} ({seat.level})"

    # Engines.

    def next_job(self) -> Job | None:
        """The job that an engine should do now."""
        with self.lock:
            game = self.game
            if self._closed or self._asleep or self.error:
                return None
            first = game.record.start
            mover = self.seats[game.last.side]
            if self.playing and mover.choice is not None and not self.paused:
                time = game.clock or self.time["seconds"]
                start = first.under(game.last.rules)
                return Job(mover, mover.version, start, game.live.moves(), game.last, time)
            if self.reveals and game.shown.outcome() is None:
                analyst, moves = self.seats[2], game.at.moves()
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
        """Play an engine's move, unless the state has changed meanwhile."""
        with self.lock:
            game = self.game
            if self.next_job() != job:
                return
            if not game.flag():
                game.play(move)
        self.changed()

    def on_error(self, job: Job | None, error: Exception) -> None:
        """Stop the game: an engine has failed and must be restarted.

        Without a job the error is the board's own.
        """
        if job is None:
            self.failed(error)
            return
        expected = isinstance(error, (EngineError, InputError))
        message = str(error) if expected else unexpected(error)
        with self.lock:
            self.error = f"{job.seat.part}: {message}"
            if self.game.clock is not None:
                self.game.clock.run(None)
        self.log.add(job.seat.part, "!", message)
        self.announce("state")

    def on_idle(self) -> None:
        """End the engines that are not needed any more."""
        for seat in self.seats:
            if self._asleep:
                seat.close()
            else:
                seat.tidy()
