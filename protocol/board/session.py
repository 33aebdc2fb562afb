"""One board: its game, its players, and what each of the page's requests does to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock, Thread
from time import monotonic
from typing import Any

from merels.engine.game.errors import InputError
from merels.engine.game.notation import START, parse_move, parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.record import Record, format_record
from merels.engine.game.rules import DEFAULT_RULES
from merels.engine.search.levels import LEVELS
from merels.engine.search.searcher import Searcher
from merels.protocol.board.engines import OWN, Log, Seat
from merels.protocol.board.feed import Feed
from merels.protocol.board.game import Clock, Game, from_record
from merels.protocol.board.requests import read_rules, read_settings, read_text, read_time
from merels.protocol.board.thinking import Job, Thinker
from merels.protocol.board.view import JSON, TABLE_CACHE, info_view, state_view
from merels.protocol.client.engine import Info
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.formats import read_game, write_game
from merels.protocol.review.review import as_json, judge_with, review

UNWATCHED_SECONDS = 20.0
"""How long engines think on for a browser that has vanished."""
HIDDEN_SECONDS = 600.0
"""How long for a page in the background, which lets go of its stream."""
REVIEW_NODES = 100_000
FULL = "full"


class Session:
    """A board for one browser tab; its methods are free for any thread."""

    def __init__(self, name: str, choices: Sequence[EngineSpec]) -> None:
        self.name = name
        self._choices = choices
        self._lock = RLock()
        self._feeds: list[Feed] = []
        self._watch_until = monotonic() + UNWATCHED_SECONDS
        self.log = Log(lambda: self._tell("log"))
        self.game = Game(Position(DEFAULT_RULES))
        self.time: JSON = {"kind": "move", "seconds": 1.0}
        self.paused = False
        self.analysing = False
        self.error = ""
        self.review: JSON | None = None
        self._infos: tuple[Job, list[Info]] | None = None
        self._reviewing = 0
        self._closed = False
        self._asleep = False
        self._thinker = Thinker(
            self._next_job, self._on_info, self._on_move, self._on_error, self._tidy
        )
        self.seats = [
            Seat(part, self.log, self._thinker.heard) for part in ("White", "Black", "Analysis")
        ]
        self.seats[1].seat(choices[0], "Club")
        self.seats[2].seat(choices[0], FULL)
        self._thinker.start()

    # What the browser is told.

    def subscribe(self) -> Feed:
        """A new stream, with all there is to say."""
        feed = Feed()
        for kind in ("state", "info", "review", "log"):
            feed.tell(kind)
        with self._lock:
            self._feeds.append(feed)
            self._asleep = False
        self._changed()
        return feed

    def unsubscribe(self, feed: Feed) -> None:
        """A stream has ended."""
        with self._lock:
            if feed in self._feeds:
                self._feeds.remove(feed)
            self._watch_until = max(self._watch_until, monotonic() + UNWATCHED_SECONDS)

    @property
    def watched(self) -> bool:
        """Whether a browser listens."""
        return bool(self._feeds)

    @property
    def idle_since(self) -> float:
        """When the board was last looked at, or was promised to be, on `monotonic`'s clock."""
        return monotonic() if self._feeds else self._watch_until

    def news(self, kind: str, feed: Feed) -> Any:
        """News of a kind as JSON, for a stream."""
        if kind == "log":
            lines = self.log.since(feed.log_number)
            if lines:
                feed.log_number = lines[-1][0]
            return [list(line[1:]) for line in lines]
        with self._lock:
            if kind == "state":
                return state_view(self)
            if kind == "info":
                if self._infos is None:
                    return None
                job, infos = self._infos
                return info_view(infos, job.position, job.seat.part)
            return self.review

    def _tell(self, kind: str) -> None:
        for feed in list(self._feeds):
            feed.tell(kind)

    # What the engines do.

    def _next_job(self) -> Job | None:
        """What an engine should do now."""
        with self._lock:
            game = self.game
            if self._closed or self._asleep or self.error:
                return None
            mover = self.seats[game.last.side]
            if mover.choice is not None and not game.over and not self.paused:
                start, moves = game.positions[0], tuple(game.moves)
                time = game.clock or self.time["seconds"]
                return Job(mover, mover.version, start, moves, game.last, time)
            if self.analysing and game.shown.outcome() is None:
                moves = tuple(game.moves[: game.cursor])
                analyst = self.seats[2]
                return Job(analyst, analyst.version, game.positions[0], moves, game.shown)
            return None

    def _on_info(self, job: Job, infos: list[Info]) -> None:
        self._infos = (job, list(infos))
        self._tell("info")

    def _on_move(self, job: Job, move: Move) -> None:
        """An engine has chosen its move."""
        with self._lock:
            game = self.game
            if self._next_job() != job:
                return
            if not game.flag():
                follow = game.cursor == len(game.moves)
                looked_at, game.cursor = game.cursor, len(game.moves)
                game.play(move)
                if not follow:
                    game.cursor = looked_at
                self._forget_review()
        self._changed()

    def _on_error(self, job: Job, message: str) -> None:
        """An engine has failed: the game waits for a restart."""
        with self._lock:
            self.error = f"{job.seat.part}: {message}"
            if self.game.clock is not None:
                self.game.clock.run(None)
        self.log.add(job.seat.part, "!", message)
        self._tell("state")

    def _tidy(self) -> None:
        """Nothing is to be done: end engines that have no part any more."""
        for seat in self.seats:
            if self._asleep:
                seat.close()
            else:
                seat.tidy()

    def _changed(self) -> None:
        """Start and stop what follows from a new state, and show it."""
        with self._lock:
            game = self.game
            if game.clock is not None:
                stands = game.over or self.paused or self._asleep or bool(self.error)
                game.clock.run(None if stands or not game.moves else game.last.side)
        self._thinker.changed()
        self._tell("state")

    def tick(self) -> None:
        """Look after what happens by itself; called several times a second."""
        self._thinker.nudge()
        with self._lock:
            fell = self.game.flag()
            leave = not self._feeds and not self._asleep and monotonic() > self._watch_until
            if leave:
                self._asleep = True
                if self.review is not None and self.review["done"] < self.review["moves"]:
                    self._forget_review()
        if leave or fell:
            self._changed()

    def close(self) -> None:
        """End everything."""
        with self._lock:
            self._closed = True
            self._reviewing += 1
        for feed in list(self._feeds):
            feed.close()
        for seat in self.seats:
            seat.end()
        self._thinker.close()
        for seat in self.seats:
            seat.close()

    # What the page asks for.

    def act(self, action: str, body: JSON) -> JSON:
        """Carry out a request; `InputError` or `EngineError` says why it cannot be."""
        handler = ACTIONS.get(action)
        if handler is None:
            raise InputError(action, "no such request")
        return handler(self, body)

    def new(self, body: JSON) -> JSON:
        """Begin a game: rules, players, time and, if not the usual, a first position."""
        rules = read_rules(body)
        start = parse_position(read_text(body, "position", START), rules)
        with self._lock:
            self._set_players(body)
            self._begin(Game(start, self._clock()))
        self._changed()
        return {}

    def players(self, body: JSON) -> JSON:
        """Change who plays, how strong and how long, in the middle of a game."""
        with self._lock:
            before = self.time
            self._set_players(body)
            if self.time != before:
                self.game.clock = self._clock()
            self.error = ""
        self._changed()
        return {}

    def play(self, body: JSON) -> JSON:
        """A person's move in the position looked at, which is after ``at`` moves."""
        move = parse_move(read_text(body, "move"))
        with self._lock:
            game = self.game
            if body.get("at") != game.cursor:
                raise InputError(str(move), "the board has changed meanwhile; look again")
            if self.seats[game.shown.side].choice is not None and not self.paused:
                raise InputError(str(move), "it is the engine's turn; pause it to play for it")
            fell = game.flag()
            if not fell:
                game.play(move)
                self._forget_review()
        self._changed()
        if fell:
            raise InputError(str(move), "the clock has run out")
        return {}

    def undo(self, body: JSON) -> JSON:
        """Take back a person's last move; where no person has played, the last move, and pause."""
        with self._lock:
            game = self.game
            persons = [
                ply
                for ply in range(len(game.moves))
                if self.seats[game.positions[ply].side].choice is None
            ]
            if not game.moves:
                raise InputError("undo", "no move has been played")
            game.cut(persons[-1] if persons else len(game.moves) - 1)
            if not persons:
                self.paused = True
            self._forget_review()
        self._changed()
        return {}

    def go(self, body: JSON) -> JSON:
        """Look at another place of the game."""
        ply = body.get("ply")
        with self._lock:
            if not isinstance(ply, int) or not 0 <= ply <= len(self.game.moves):
                raise InputError(str(ply), f"expected a ply from 0 to {len(self.game.moves)}")
            self.game.cursor = ply
        self._changed()
        return {}

    def resign(self, body: JSON) -> JSON:
        """The person to move, or the only one who plays, gives up."""
        with self._lock:
            if self.game.over:
                raise InputError("resign", "the game is over")
            persons = [side for side in (0, 1) if self.seats[side].choice is None]
            side = persons[0] if len(persons) == 1 else self.game.last.side
            self.game.resign(side)
        self._changed()
        return {}

    def pause(self, body: JSON) -> JSON:
        """Let the players' engines wait, or play on."""
        self.paused = bool(body.get("on"))
        self._changed()
        return {}

    def analyse(self, body: JSON) -> JSON:
        """Switch the analysis of the position looked at on or off."""
        self.analysing = bool(body.get("on"))
        self._changed()
        return {}

    def restart(self, body: JSON) -> JSON:
        """Start the engines afresh after one has failed, and go on."""
        with self._lock:
            self.error = ""
        self._changed()
        return {}

    def load(self, body: JSON) -> JSON:
        """Take over a position or a game record, in any of the forms that are read."""
        record = read_game(read_text(body, "text"), read_rules(body))
        with self._lock:
            game = from_record(record)
            game.clock = self._clock()
            self._begin(game)
            # Whoever opens a game looks at it first: no engine answers, no clock runs.
            engines = any(seat.choice is not None for seat in self.seats[:2])
            self.paused = engines or game.clock is not None
        self._changed()
        return {"moves": len(record.moves)}

    def export(self, body: JSON) -> JSON:
        """The game and the position looked at, in every form that is written."""
        with self._lock:
            record = self.game.record(self.names())
            shown = self.game.shown
        return {"record": format_record(record), **write_game(record, shown)}

    def options(self, body: JSON) -> JSON:
        """The options of one of the three engines, for a dialog."""
        return {"options": self._seat(body).options()}

    def configure(self, body: JSON) -> JSON:
        """Set options of one of the engines."""
        self._seat(body).wish(read_settings(body))
        self._changed()
        return {}

    def start_review(self, body: JSON) -> JSON:
        """Judge every move of the game, or stop doing so."""
        with self._lock:
            self._reviewing += 1
            run = self._reviewing
            record = self.game.record(self.names())
            self.review = {"done": 0, "moves": len(record.moves), "judgements": []}
        if body.get("on", True) and record.moves:
            Thread(target=self._review, args=(record, run), daemon=True).start()
        else:
            self.review = None
        self._tell("review")
        return {}

    def hidden(self, body: JSON) -> JSON:
        """The page lets go of its stream: in the background, for a while, or it was left."""
        seconds = UNWATCHED_SECONDS if body.get("left") else HIDDEN_SECONDS
        with self._lock:
            self._watch_until = monotonic() + seconds
        return {}

    # Helpers of the requests.

    def names(self) -> tuple[str, str]:
        """White's and Black's names."""
        white, black = (self._name(seat) for seat in self.seats[:2])
        return white, black

    def _name(self, seat: Seat) -> str:
        if seat.choice is None:
            return "You"
        strong = seat.level in ("", FULL) or seat.choice is not OWN
        return seat.choice.name if strong else f"{seat.choice.name} ({seat.level})"

    def player_view(self, side: int) -> JSON:
        """One player as the page's form has it; ``engine`` is None for a person."""
        seat = self.seats[side]
        index = None if seat.choice is None else self._choices.index(seat.choice)
        return {"engine": index, "level": seat.level or FULL, "name": self._name(seat)}

    def _begin(self, game: Game) -> None:
        """Put another game on the board."""
        for seat in self.seats:
            seat.new_game()
        self.game = game
        self.error = ""
        self.paused = False
        self._infos = None
        self._forget_review()
        self._tell("info")

    def _forget_review(self) -> None:
        self._reviewing += 1
        if self.review is not None:
            self.review = None
            self._tell("review")

    def _review(self, record: Record, run: int) -> None:
        """Judge a game's moves, telling of each, until another review is wanted."""
        judged: list[JSON] = []
        searcher = Searcher()
        searcher.tables, _ = TABLE_CACHE.fetch(record.start.rules, wait=True)
        for judgement in review(record, judge_with(searcher, REVIEW_NODES)):
            judged.append(as_json(judgement))
            with self._lock:
                if self._reviewing != run:
                    return
                self.review = {
                    "done": len(judged), "moves": len(record.moves), "judgements": list(judged)
                }
            self._tell("review")

    def _set_players(self, body: JSON) -> None:
        """Seat players and set the time, all of it or, after an error, nothing."""
        chosen: list[tuple[EngineSpec | None, str]] = []
        wanted = body.get("players")
        if wanted is not None:
            if not isinstance(wanted, list) or len(wanted) != 3:
                raise InputError("players", "expected White, Black and the analyst")
            chosen = [self._player(player) for player in wanted]
            if chosen[2][0] is None:
                raise InputError("players", "expected an engine as the analyst")
        if "time" in body:
            self.time = read_time(body["time"])
        for seat, (choice, level) in zip(self.seats, chosen):
            if (seat.choice, seat.level) != (choice, level):
                seat.seat(choice, level)

    def _player(self, player: Any) -> tuple[EngineSpec | None, str]:
        if not isinstance(player, dict):
            raise InputError(str(player), "expected an engine and a level")
        index, level = player.get("engine"), player.get("level", FULL)
        if index is None:
            return None, ""
        if not isinstance(index, int) or not 0 <= index < len(self._choices):
            raise InputError(str(index), "no such engine")
        if level not in (FULL, *(known.name for known in LEVELS)):
            raise InputError(str(level), "no such level")
        return self._choices[index], level

    def _clock(self) -> Clock | None:
        if self.time["kind"] != "clock":
            return None
        return Clock(self.time["base"], self.time["increment"])

    def _seat(self, body: JSON) -> Seat:
        part = body.get("seat")
        if not isinstance(part, int) or not 0 <= part < len(self.seats):
            raise InputError(str(part), "expected 0, 1 or 2")
        if self.seats[part].choice is None:
            raise InputError(self.seats[part].part, "no engine plays there")
        return self.seats[part]


ACTIONS: dict[str, Callable[[Session, JSON], JSON]] = {
    "new": Session.new,
    "players": Session.players,
    "play": Session.play,
    "undo": Session.undo,
    "go": Session.go,
    "resign": Session.resign,
    "pause": Session.pause,
    "analyse": Session.analyse,
    "restart": Session.restart,
    "load": Session.load,
    "export": Session.export,
    "options": Session.options,
    "configure": Session.configure,
    "review": Session.start_review,
    "hidden": Session.hidden,
}
