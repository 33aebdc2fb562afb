"""Steps about searches: stop, infinite search, pondering, limits and positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic_ns

from merels.engine.game.position import Position
from merels.protocol.check.conversation import FAIL_DELAY, Fault
from merels.protocol.check.positions import (
    FLYING,
    FORCED,
    GAME,
    MOVING,
    PLACING,
    SHUFFLE,
    START,
    WINNING,
    rule_moves,
)
from merels.protocol.check.step import step
from merels.protocol.check.subject import Kind, Search, Subject, judge, move_or_none

PONDER_CLOCK = 600
"""Clock of a ponder search, in milliseconds."""
NODES_WARN = (1.1, 1_000)
"""Factor and addend: more nodes than factor × limit + addend are a warning."""
NODES_FAIL = (2.0, 20_000)
"""Factor and addend: more nodes than factor × limit + addend are a failure."""
BAD_POSITIONS = {
    "a missing field": "********/********/******** w 9 9 0",
    "two rings": "********/******** w 9 9 0 1",
    "a ring of nine": "*********/********/******** w 9 9 0 1",
    "an unknown man": "*****?**/********/******** w 9 9 0 1",
    "an unknown side": "********/********/******** x 9 9 0 1",
    "too many men": "OOOOOOOO/OOOOOOOO/******** w 9 9 0 1",
    "too many in hand": "********/********/******** w 12 9 0 1",
    "a word for a number": "********/********/******** w nine 9 0 1",
    "nothing": "",
}
"""Invalid text after ``position fen``, by a description of the mistake."""
NOT_POSITIONS = ("position", "position nonsense", "position moves d6")
"""Lines without a position."""
BAD_MOVES = {
    "an unknown point": "position startpos moves d6 z9",
    "an occupied point": "position startpos moves d6 d6",
    "a move while men are in hand": "position startpos moves d6 d6-d5",
    "a removal without a mill": "position startpos moves d6 d2 a1xd6",
    "a mill without its removal": "position startpos moves d6 a1 d5 a4 d7",
    "a removal from a mill while another man is free":
        "position fen *O*@**O*/@@*****@/****OO** w 5 5 0 5 moves g1xd6",
    "a word": "position startpos moves d6 castle",
}
"""Lines whose last move is illegal, by a description of the move."""
BAD_STEPS = {
    "a step to a point that is not adjacent": f"position fen {MOVING} moves g7-a1",
    "a flight with four men":
        "position fen *O*@**O*/@**@***@/*@**OO** w 0 0 0 25 moves e5-a7",
}
"""Lines of the moving phase whose last move is illegal, by a description of the move."""


# Stop and pondering.


def _start(engine: Subject, go: str, text: str = START) -> Search:
    """Start a search; before ``go ponder``, turn on Ponder (`Skip` without this option)."""
    if "ponder" in go:
        engine.set_option(engine.require_option("Ponder").name, "true")
    return engine.start_search(go, text)


def _stop_after(engine: Subject, seconds: float, what: str, go: str, *texts: str) -> None:
    """Search each position for ``seconds``; judge the delay from stop to bestmove."""
    for text in texts:
        search = _start(engine, go, text)
        if engine.watch(search, seconds) is None:
            delay = engine.stop(search)
            engine.judge_delay(delay, f"{what} was answered after {delay:.2f} s", search.best)


def _check_waits(engine: Subject, *searches: str) -> None:
    """Search several positions; raise `Fault` for a bestmove before stop."""
    for go in searches:
        for text in (START, FORCED, WINNING):
            search = _start(engine, go, text)
            line = engine.watch(search, engine.pace.watch)
            if line is not None:
                raise Fault(f"'{search.go}' ended without stop after '{search.setup}'", line)
            delay = engine.stop(search)
            reason = f"stop after '{search.go}' was answered after {delay:.2f} s"
            engine.judge_delay(delay, reason, search.best)


@step("stopping")
def stop(engine: Subject) -> None:
    """'stop' is answered by bestmove at once (warning: after 100 ms, failure: after 1 s), also in a
    search that has limits; users wait for it, and so do tournaments after a wrong ponder move."""
    listen = engine.pace.listen
    _stop_after(engine, listen, "stop", "go infinite", START, MOVING)
    _stop_after(engine, listen, "stop in a timed search", "go movetime 60000 depth 1000", START)


@step("stopping", "stop")
def stop_at_once(engine: Subject) -> None:
    """A stop right after go is not lost; both may arrive in one packet."""
    _stop_after(engine, 0, "stop right after go", "go infinite", *[START] * 3)


@step("stopping")
def stop_idle(engine: Subject) -> None:
    """'stop' and 'ponderhit' are ignored when no search runs; clients would read a bestmove as the
    answer to the next go."""
    engine.new_game()
    engine.send("stop", "ponderhit", "stop")
    lines = engine.ping() + engine.listen(engine.pace.listen)
    for line in lines:
        if line.first == "bestmove":
            raise Fault("a bestmove without a go", line)


@step("stopping", "stop")
def infinite_waits(engine: Subject) -> None:
    """'go infinite' and 'go' without arguments end only after stop, even with one legal move or a
    proven win; clients do not expect an answer before stop."""
    _check_waits(engine, "go infinite", "go")


@step("stopping", "infinite-waits")
def ready_in_search(engine: Subject) -> None:
    """isready is answered during a search, which goes on; clients use it to test whether the
    engine is alive."""
    search = engine.start_search("go infinite")
    engine.send("isready")
    try:
        lines = engine.until("readyok", FAIL_DELAY, "isready in a search")
    except Fault as fault:
        reason = f"no readyok within {FAIL_DELAY:g} s of isready in a search"
        raise Fault(reason, fault.line) from None
    for line in lines:
        if line.first == "bestmove":
            raise Fault("isready ended the search", line)
    seconds = (lines[-1].arrived - search.started) / 1e9
    engine.judge_delay(seconds, f"readyok took {seconds:.2f} s in a search", lines[-1])
    search.lines += lines[:-1]
    engine.stop(search)


@step("stopping", "stop")
def ponder_waits(engine: Subject) -> None:
    """'go ponder' ends only after ponderhit or stop, even with little time, one legal move or a
    proven win: the opponent has not moved yet. Clients send stop after another move."""
    _check_waits(engine, "go ponder wtime 50 btime 50", "go ponder wtime 60000 btime 60000")


@step("stopping", "ponder-waits")
def ponder_hit(engine: Subject) -> None:
    """After 'ponderhit', which may follow go at once, the search ends within its limits, which
    count from ponderhit (for a clock, warning: exceeded by up to 100 ms, failure: by more)."""
    clock = f"go ponder wtime {PONDER_CLOCK} btime {PONDER_CLOCK}"
    wait = engine.pace.listen / 2
    for go, milliseconds, patience in (
        (clock, PONDER_CLOCK, wait), ("go ponder movetime 100", 100, wait),
        ("go ponder depth 2", PONDER_CLOCK, wait), *[("go ponder movetime 50", 50, 0)] * 3,
    ):
        search = _start(engine, go)
        if engine.watch(search, patience) is not None:
            continue
        seconds = milliseconds / 1000 + FAIL_DELAY
        hit = monotonic_ns()
        engine.send("ponderhit")
        try:
            engine.finish(search, seconds)
        except Fault as fault:
            raise Fault(f"no bestmove within {seconds:g} s of ponderhit, '{search.go}'",
                        fault.line) from None
        elapsed = search.seconds_from(hit)
        reason = f"'{search.go}' took {elapsed:.3f} s after ponderhit"
        late = elapsed - milliseconds / 1000
        engine.judge_delay(late, reason, search.best, clock="wtime" in go)


# Limits.


def _check_depth(engine: Subject, go: str, depth: int) -> None:
    """Search to a depth limit; raise `Fault` for an info line with a greater depth."""
    search = engine.search(go, MOVING)
    for line, info in search.scored:
        if info.numbers.get("depth", 0) > depth:
            raise Fault(f"searched deeper than depth {depth}, {search}", line)


@step("search")
def go_depth(engine: Subject) -> None:
    """'go depth N' ends after depth N without stop; otherwise matches at fixed depth are
    meaningless."""
    for depth in (1, 2, 4):
        _check_depth(engine, f"go depth {depth}", depth)


@step("search")
def go_nodes(engine: Subject) -> None:
    """'go nodes N' ends near N without stop (failure: more than 2 N + 20000 nodes); matches at
    fixed nodes are the same on every machine."""
    states_nodes = False
    for nodes in (1, 1000, 20_000):
        search = engine.search(f"go nodes {nodes}", PLACING)
        infos = [(line, info) for line, info in search.infos if "nodes" in info.numbers]
        states_nodes = states_nodes or bool(infos)
        used = max((info.numbers["nodes"] for _, info in infos), default=0)
        line = infos[-1][0] if infos else None
        reason = f"searched {used} nodes for 'go nodes {nodes}'"
        if used > NODES_FAIL[0] * nodes + NODES_FAIL[1]:
            raise Fault(reason, line)
        if used > NODES_WARN[0] * nodes + NODES_WARN[1]:
            engine.warn(reason, line)
    if not states_nodes:
        engine.warn("no info line states the nodes, so the limit cannot be judged")


def _check_time(engine: Subject, go: str, start: str = START, *, clock: bool = True) -> None:
    """Search with a time limit; judge the answer's delay beyond the limit.

    The third word of ``go`` is the limit in milliseconds: SHORT is `Pace.movetime`, LONG twice as
    much. With ``clock`` the limit is a game clock.
    """
    short = engine.pace.movetime
    go = go.replace("SHORT", str(short)).replace("LONG", str(2 * short))
    limit = max(0, int(go.split()[2])) / 1000
    search = engine.search(go, start, seconds=limit + max(engine.pace.answer, FAIL_DELAY))
    elapsed = search.seconds_from(search.started)
    reason = f"'{search.go}' took {elapsed:.3f} s"
    engine.judge_delay(elapsed - limit, reason, search.best, clock=clock)


@step("search")
def go_movetime(engine: Subject) -> None:
    """'go movetime N' is answered within N ms (warning: after N + 100 ms, failure: after
    N + 1000 ms)."""
    _check_time(engine, "go movetime 1", clock=False)
    _check_time(engine, "go movetime SHORT", clock=False)


@step("search")
def go_clock(engine: Subject) -> None:
    """With a clock the answer comes before it runs out, with increments, with 'movestogo 1', and if
    only the mover's clock is sent; a later answer loses on time (warning: exceeded by up to 100 ms,
    failure: by more)."""
    _check_time(engine, "go wtime LONG btime LONG winc 10 binc 10")
    _check_time(engine, "go wtime SHORT btime SHORT movestogo 1")
    _check_time(engine, "go wtime LONG", MOVING)
    _check_time(engine, "go btime LONG", WINNING)


@step("search")
def go_little_time(engine: Subject) -> None:
    """A clock of a few milliseconds, zero or less still gets a move at once (warning: after 100 ms,
    failure: after 1 s); clients with a time margin send such clocks."""
    for clock in (20, 1, 0, -50):
        _check_time(engine, f"go wtime {clock} btime {clock} winc 0 binc 0", clock=False)


@step("search", "go-depth")
def go_mixed(engine: Subject) -> None:
    """Limits can be combined in any order, and may be huge; the first one reached ends the search.
    Unknown words and invalid numbers are ignored."""
    _check_depth(engine, "go binc 0 depth 2 btime 90000 winc 0 nodes 900000 wtime 90000", 2)
    for go in (f"go depth 1 nodes {10**18} movetime {10**12}",
               f"go wtime {10**15} btime {10**15} depth 2",
               "go quickly depth 1 please", "go movetime soon depth 1"):
        engine.search(go)


@step("search", "stop")
def go_mate(engine: Subject) -> None:
    """If there is a win in one move, 'go mate 1' ends without stop (only a warning), and a mate
    score is 'mate 1'."""
    search = engine.start_search("go mate 1", WINNING)
    if engine.watch(search, engine.pace.watch) is None:
        engine.warn("'go mate 1' did not end without stop despite a win in one")
        engine.stop(search)
    if search.final is not None and search.final[1].numbers.get("mate", 1) != 1:
        raise Fault("the score of a win in one is not mate 1", search.final[0])


@step("search")
def go_searchmoves(engine: Subject) -> None:
    """The engine chooses only among the moves after 'searchmoves'; analysis uses it to find
    alternatives."""
    engine.ensure_ready()
    for text in (START, MOVING):
        moves = engine.position(text).legal_moves()
        # Two different moves: one of them may be the engine's own choice anyway.
        for move in (moves[0], moves[-1]):
            search = engine.search(f"go depth 2 searchmoves {move}", text)
            if search.kind is Kind.LEGAL and search.move != move:
                raise Fault(f"plays a move that '{search.go}' does not allow", search.best)


@step("search")
def multipv(engine: Subject) -> None:
    """With MultiPV 3 there are three lines, numbered from 1, with different first moves; the best
    line comes first and begins with the bestmove (only a warning)."""
    option = engine.require_option("MultiPV", 3)
    engine.set_option(option.name, "3")
    search = engine.search("go depth 3", MOVING)
    last = {info.numbers["multipv"]: (line, info) for line, info in search.infos
            if info.pv and "multipv" in info.numbers}
    if sorted(last) != [1, 2, 3]:
        raise Fault(f"expected three lines with a pv, found lines with multipv {sorted(last)}",
                    search.lines[-1] if search.lines else None)
    infos = [last[number][1] for number in (1, 2, 3)]
    firsts = [info.pv[0] for info in infos if info.pv]
    moves = [move_or_none(first) for first in firsts]
    if len(set(moves)) < 3:
        raise Fault(f"the three lines begin with {', '.join(firsts)}", last[3][0])
    if moves[0] != search.move:
        engine.warn("bestmove is not the first line's move", search.best)
    scores = [info.numbers["cp"] for info in infos if "cp" in info.numbers]
    if len(scores) == 3 and scores != sorted(scores, reverse=True):
        engine.warn(f"the lines are not ordered by their scores: {scores}", last[1][0])


@step("search", "go-nodes")
def deterministic(engine: Subject) -> None:
    """A search with a node limit has the same result after a new game and in a new process (only a
    warning); otherwise bugs cannot be reproduced."""
    results = []
    for fresh in (False, False, True):
        if fresh:
            engine.discard()
        engine.new_game()
        search = engine.search("go nodes 5000", PLACING)
        numbers = search.final[1].numbers if search.final else {}
        details = " ".join(f"{word} {numbers[word]}" for word in ("cp", "mate", "depth", "nodes")
                           if word in numbers)
        results.append(f"{search.answer} ({details})" if details else search.answer)
    for place, result in zip(("after a new game", "in a new process"), results[1:]):
        if result != results[0]:
            engine.warn(f"'go nodes 5000' {place}: {result}; before: {results[0]}")


# Positions.


def _reject_stale_position(search: Search, previous: Position, complaint: str) -> None:
    """Raise `Fault` for an answer that is illegal here but legal in the previous position.

    The step bestmove-legal judges all other illegal answers.
    """
    if search.kind is Kind.ILLEGAL and judge(previous, search.answer) is Kind.LEGAL:
        raise Fault(complaint, search.best)


def _check_latest_position(
    engine: Subject, setups: Iterable[tuple[str, Sequence[str]]]
) -> None:
    """Search in several positions; raise `Fault` for an answer to the previous position.

    Each of ``setups`` is a position and the moves after it.
    """
    previous: Position | None = None
    for start, moves in setups:
        search = engine.search("go depth 1", start, moves)
        if previous is not None:
            complaint = f"plays in the previous position, after '{search.setup}'"
            _reject_stale_position(search, previous, complaint)
        previous = search.position


@step("position")
def position_fen(engine: Subject) -> None:
    """'position startpos' and 'position fen …' set up positions of the placing, moving and flying
    phase, and moves may follow both."""
    # In the moving phase no move is legal for both sides, so a stale answer is recognised.
    _check_latest_position(engine, (
        (START, ()), (MOVING, ()), (MOVING, SHUFFLE[:1]), (START, ()), (MOVING, ()), (PLACING, ()),
        (FLYING, ()),
    ))


@step("position")
def position_moves(engine: Subject) -> None:
    """The moves after 'moves' are played, with removals as parts of their words, and each position
    line replaces the game before it: a longer one after a move, a shorter one after a take-back."""
    # The point of the engine's first move is then occupied, so the same answer again is illegal.
    first = engine.search("go depth 1")
    moves = [first.answer] if first.kind is Kind.LEGAL else []
    search = engine.search("go depth 1", START, moves)
    _reject_stale_position(search, first.position, "plays as if no move had been played")
    counts = (12, 0, 1, 2, 3, 7, 8, 12, 6, 7, 1, 0)
    _check_latest_position(engine, [(START, GAME[:count]) for count in counts])


@step("position")
def position_rules(engine: Subject) -> None:
    """The moves that the engine's rules allow are played: a man flies, or one of the men that are
    all in mills is removed, or two mills closed at once remove one man or two; steps along all
    edges, and removals by all mills. An engine that refuses such a move would lose the game for its
    opponent's move."""
    engine.ensure_ready()
    for before, start, moves in rule_moves(engine.rules):
        engine.send(f"position fen {before}")
        search = engine.search("go depth 1", start, moves)
        complaint = f"refuses {' '.join(moves)}, which its rules allow after 'position fen {start}'"
        _reject_stale_position(search, engine.position(before), complaint)


@step("position")
def position_bare_moves(engine: Subject) -> None:
    """The list after 'moves' may be empty; simple clients send such a line before the first move
    of a game, and engines have crashed on it."""
    engine.search("go depth 1", MOVING)
    setup = "position startpos moves"
    engine.send(setup)
    search = engine.finish(engine.start_search_here("go depth 1", engine.position(START), setup))
    _reject_stale_position(search, engine.position(MOVING), "ignores the line")


def _check_refusal(
    engine: Subject, bad: str, what: str, before: str, needs_message: bool = True
) -> None:
    """Send an invalid line; raise `Fault` if it changes the position ``before``.

    ``what`` describes the line. With ``needs_message``, a refusal without an info line is a
    warning.
    """
    engine.search("go depth 1", before)
    lines = engine.survive(bad.encode() + b"\n", f"'{bad}' ({what})")
    setup = f"position fen {before}, then '{bad}'"
    search = engine.start_search_here("go depth 1", engine.position(before), setup)
    engine.finish(search)
    # The line's position is of another phase than ``before``: a move of that phase shows that the
    # engine accepted the line. The step bestmove-legal judges other illegal moves.
    move = search.move
    is_other_phase = move is not None and (move.origin is None) == (before == MOVING)
    if search.kind is Kind.NONE or search.kind is Kind.ILLEGAL and is_other_phase:
        raise Fault(f"does not keep the position before '{bad}' ({what})", search.best)
    if needs_message and not any(line.first == "info" for line in lines):
        engine.warn(f"{what} was refused without a message (info string): '{bad}'")


def _check_refusals(engine: Subject, cases: Iterable[tuple[str, str]]) -> None:
    """Apply `_check_refusal` to all cases; raise the first `Fault`, and warn of later faults."""
    faults = []
    for what, line in cases:
        before = START if what in BAD_STEPS else MOVING
        try:
            _check_refusal(engine, line, what, before, line not in NOT_POSITIONS)
        except Fault as fault:
            faults.append(fault)
    for other in faults[1:]:
        engine.warn(other.reason, other.line)
    if faults:
        raise faults[0]


@step("position")
def bad_positions(engine: Subject) -> None:
    """An invalid position is refused, and the position before it stays; a client's mistake should
    not end the game or the engine. A refusal without a message is a warning."""
    cases = [(what, f"position fen {text}") for what, text in BAD_POSITIONS.items()]
    _check_refusals(engine, [*cases, *(("not a position", line) for line in NOT_POSITIONS)])


@step("position")
def bad_moves(engine: Subject) -> None:
    """A line with an illegal move is refused as a whole, and the position before it stays. An
    engine that played only the legal moves would be in a different game from the client. A refusal
    without a message is a warning."""
    _check_refusals(engine, (BAD_MOVES | BAD_STEPS).items())


@step("position", "infinite-waits")
def position_in_search(engine: Subject) -> None:
    """A position sent during a search does not disturb the search; the bestmove belongs to the
    position of its go."""
    search = engine.start_search("go infinite", MOVING)
    engine.send("position startpos")
    if engine.watch(search, engine.pace.listen / 2) is not None:
        raise Fault("position ended the search", search.best)
    engine.stop(search)
    sent = engine.position(START)
    _reject_stale_position(search, sent, "answers for the position sent during the search")
