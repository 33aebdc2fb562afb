"""The catalogue of faults: what each means for a client, a game, its report and the trial."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from merels.engine.game.position import Position
from merels.engine.search.limits import Limit
from merels.protocol.client import connection
from merels.protocol.client.engine import Engine
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.process.errors import EngineError
from merels.tournament.journal.standings import HealthCounter
from merels.tournament.journal.rows import make_row
from merels.tournament.play import player
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.game import NotStarted, play_game
from merels.tournament.records.games import SECOND, Adjudication, Entrant, TimeControl
from tests.commands import refusal
from tests.kit.fakes import fake
from tests.kit.rows import check_rows
from tests.tournament.specs import engine_words, game, match

pytestmark = pytest.mark.thorough

NODES = TimeControl(nodes=10)
CLOCK = TimeControl(time=SECOND // 2)
ONE_SECOND = TimeControl(per_move=SECOND, margin=SECOND // 5)
"""A second for each move, in which an engine can move even on a busy machine."""
HOUR = TimeControl(time=3600 * SECOND)
SHORT = Adjudication(max_moves=12)
AT_ONCE = 6
"""Rows that are checked at the same time; most of them wait."""
PATIENCE = 60.0
"""Timeout in seconds that only a hang exceeds."""

DEAF = "does not respond for 2 s"
IDLE = "answers isready but does nothing else for 2 s"
NO_BESTMOVE = "loses on time (no bestmove, even after stop"
LATE = r"loses on time \(\d+ms overrun\)"
LINE = "last output: 'info string fake error: no legal action'"
FLOOD = "last output: 'info depth 1 score cp 1 nodes 1 pv d6'"
NO_MILL = "the move closes no mill and removes nothing"
CR = (
    "gives no answer to uci in SECONDS s; last output, without a line feed: "
    r"'id name Fake\rid author nobody\roption name UCI_Variant type combo default mill…var multi "
    r"var loc\roption name Hash type spin default 16 min 1 max 1024\ruciok\r'"
)


@dataclass(frozen=True)
class Fault:
    """A fake engine, and the texts about it; an empty text: there is none, the engine plays on.

    A text may also be a pattern. SECONDS stands for the timeout of the test.
    """

    script: str
    """A name of the kit's fakes with its argument, or a script."""
    client: str = ""
    """Error of a client that asks three times for a move in a tenth of a second."""
    trial: str = ""
    """Error of the trial before the first game."""
    game: str = ""
    """Reason of the game that it loses as White; "does not start": there is no game."""
    cause: str = ""
    """The fault in the game's record, and the column of the report in which it is counted."""
    moves: int | None = None
    """Moves of the game."""
    limit: TimeControl = NODES
    ping: float = PATIENCE
    """Timeout of isready in the game, in seconds."""
    start: float = PATIENCE
    """Timeout of uci in the game, in seconds."""


def exits(script: str, why: str, moves: int, trial: str = "") -> Fault:
    """Return the fault of an engine that ends in the game or, with ``trial``, before it."""
    gone = f"the engine has gone: {why}"
    if trial:
        return Fault(script, gone, f"{trial}: {why}", f"does not start ({why})")
    return Fault(script, gone, "", f"disconnects ({why})", "crash", moves)


FAULTS = (
    # It ends.
    exits("die-start 0", "ends before uciok, exit code 0", 0, "does not start"),
    exits("die-start SIGSEGV", "ends before uciok, killed by SIGSEGV", 0, "does not start"),
    exits("die-ready 1", "exit code 1", 0, "does not get ready"),
    exits("die-ready SIGSEGV", "killed by SIGSEGV", 0, "does not get ready"),
    exits("die-search 1", "exit code 1", 2),
    exits("die-search SIGSEGV", "killed by SIGSEGV", 2),
    exits("die-after 0", "exit code 0", 4),
    exits("die-after SIGSEGV", "killed by SIGSEGV", 4),
    exits("close-stdout", "closed its output", 2),
    # The engine exits, but its child holds its pipes.
    exits("parent-dies", "exit code 3", 2),
    # The engine exits after its third move, a line without an end, which counts.
    replace(exits("no-newline", "exit code 0", 6), client=""),
    # The engine ends within its move, which is then no illegal move.
    Fault("cut-move 1", "the engine has gone: exit code 1", "plays no move: exit code 1",
          "disconnects (exit code 1)", "crash", 0),
    # It does not answer.
    Fault("mute", "gives no answer to uci in SECONDS s",
          "gives no answer to uci in SECONDS s; an engine must flush every line that it writes; "
          "see proto= and starttimeout=", "does not start (gives no answer to uci in SECONDS s)",
          start=1.0),
    Fault("cr", CR, CR, f"does not start ({CR})", start=1.0),
    Fault("never-ready", "gives no answer to isready in SECONDS s",
          "gives no answer to isready in SECONDS s; see pingtimeout=",
          "does not start (gives no answer to isready in SECONDS s)", ping=1.0),
    Fault("never", "plays no move in its time", "plays no move within 1 s after stop",
          f"stalls ({IDLE})", "stall", 0, ping=1.0),
    Fault("never", game=f"{NO_BESTMOVE})", cause="time", moves=0, limit=CLOCK),
    Fault("stops-only", game=f"stalls ({IDLE})", cause="stall", moves=0, ping=1.0),
    Fault("stops-only", game=LATE, cause="time", moves=0, limit=CLOCK),
    Fault("late 1.7", game=LATE, cause="time", moves=2, limit=ONE_SECOND),
    Fault("deaf", DEAF, "", f"stalls ({DEAF})", "stall", 2, ping=1.0),
    # The fault is detected long before an hour has passed.
    Fault("deaf", DEAF, "", f"stalls ({DEAF})", "stall", 2, limit=HOUR, ping=1.0),
    Fault(r"text-for-bestmove info string fake error: no legal action\n", f"{DEAF}; {LINE}",
          f"plays no move within 1 s after stop; {LINE}", f"stalls ({DEAF}; {LINE})", "stall", 0,
          ping=1.0),
    Fault(r"text-for-bestmove info string fake error: no legal action\n",
          game=f"{NO_BESTMOVE}; {LINE})", cause="time", moves=0, limit=CLOCK),
    Fault(r"text-for-bestmove bestmo\x1b",
          rf"{DEAF}; last output, without a line feed: 'bestmo\x1b'",
          game=rf"stalls ({DEAF}; last output, without a line feed: 'bestmo\x1b')", cause="stall",
          moves=0, ping=1.0),
    Fault("flood", f"writes more than 32 MiB for a move; {FLOOD}", "",
          f"stalls (writes more than 32 MiB for a move; {FLOOD})", "stall", 0),
    # It answers something else.
    Fault("illegal", f"illegal move 'a1xg7': {NO_MILL}",
          f"makes an illegal move: 'a1xg7', {NO_MILL}, after 'position startpos moves",
          f"makes an illegal move ('a1xg7', {NO_MILL})", "illegal move", 0),
    Fault("garbage", "illegal move '?ÿ%$': expected a move such as d6, d6xb4",
          "is not a move", r"makes an illegal move \('.*' is not a move\)", "illegal move", 0),
    Fault("none", "no move: the engine answered '(none)' in a running game", "is not a move",
          "makes an illegal move ('(none)' is not a move)", "illegal move", 0),
    Fault("zeros", "no move: the engine answered '0000' in a running game", "is not a move",
          "makes an illegal move ('0000' is not a move)", "illegal move", 0),
    Fault("empty", "illegal move '': expected a move such as d6, d6xb4", "an empty bestmove",
          "makes an illegal move (an empty bestmove)", "illegal move", 0),
    # It answers in an unusual form, or writes much.
    *(Fault(script) for script in (
        "sound", "upper", "crlf", "tab", "blank", "split", "double", "stale", "long-line",
        "many-lines", "junk", "bad-numbers", "stderr", "stubborn", "family",
    )),
)  # fmt: skip


def says(expected: str, text: str, seconds: float) -> bool:
    """Return whether a text is, or starts with, what is expected, or matches it as a pattern."""
    expected = expected.replace("SECONDS", f"{seconds:g}")
    try:
        return expected in text or re.search(expected, text) is not None
    except re.error:
        return False


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let idle engines stall at once; a client and a game allow little output for a move."""
    monkeypatch.setattr(player, "IDLE_SECONDS", 0.0)
    monkeypatch.setattr(connection, "MAX_OUTPUT", 1 << 25)
    yield


def test_what_a_client_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(fault: Fault) -> None:
        try:
            with Engine.popen(fake(fault.script), timeout=1.0) as engine:
                engine.connection.watch_silence(1.0)
                for _ in range(3):
                    engine.play(Position(), Limit(time=0.1))
            error = ""
        except EngineError as fault_error:
            error = str(fault_error)
        assert says(fault.client, error, 1.0) and bool(error) == bool(fault.client), error

    rows = [fault for fault in FAULTS if fault.client or not fault.game]
    check_rows(rows, check, AT_ONCE)


def entrant(fault: Fault) -> Entrant:
    """Return the fake engine of a fault."""
    return Entrant(
        EngineSpec(fake(fault.script), fault.script), fault.limit, start_timeout=fault.start,
        ping_timeout=fault.ping,
    )


def test_what_a_game_and_its_report_say() -> None:
    """After the game, the sound opponent can play again."""
    sound = Entrant(EngineSpec(fake(), "sound"), NODES, start_timeout=PATIENCE,
                    ping_timeout=PATIENCE)

    def check(fault: Fault) -> None:
        with EngineCache() as engines:
            if fault.game.startswith("does not start"):
                with pytest.raises(NotStarted) as caught:
                    play_game(game(entrant(fault), sound), engines)
                ((name, reason),) = caught.value.failures.items()
                assert name == fault.script and says(fault.game, reason, 1.0), reason
                return
            result = play_game(game(entrant(fault), sound, adjudication=SHORT), engines)
            again = replace(sound, engine=replace(sound.engine, name="other"))
            next_game = play_game(game(sound, again, adjudication=SHORT), engines)
        assert next_game.termination in ("adjudication", "normal"), next_game.reason
        counter = HealthCounter()
        counter.add(make_row(result))
        health = counter.engines
        assert health["sound"].faults.total() == 0
        assert result.reason.isprintable()
        if not fault.game:
            assert result.termination in ("adjudication", "normal"), result.reason
            assert health[fault.script].faults.total() == 0
            return
        assert result.result == "0-1" and says(f"White {fault.game}", result.reason, 1.0), result
        assert (result.cause, len(result.moves)) == (fault.cause, fault.moves)
        # A loss on time that the machine caused is not the engine's fault.
        excused = result.overtime is not None and result.overtime.excused
        assert health[fault.script].faults == ({} if excused else {fault.cause: 1})

    check_rows(FAULTS, check, AT_ONCE)


def test_what_the_trial_says() -> None:
    def check(fault: Fault) -> None:
        start = 1 if "uci" in fault.trial else 60
        words = engine_words("E", f"starttimeout={start}", "pingtimeout=1", "nodes=20",
                             command=fake(fault.script))
        error = refusal("tournament", *match(*words, "-rounds", "1"))
        assert error.startswith("merels tournament: '-engine E': ") and error.count("\n") == 1
        assert says(fault.trial, error, 1.0), error

    check_rows([fault for fault in FAULTS if fault.trial], check)
