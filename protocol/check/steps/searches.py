"""Steps about searches: limits, stop, infinite search and pondering."""

from __future__ import annotations

from time import monotonic_ns

from merels.protocol.check.conversation import FAIL_DELAY, Fault
from merels.protocol.check.positions import FORCED, MOVING, PLACING, START, WINNING
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Kind, Search, move_or_none

STOPPING = Group("stopping", "Stopping")
SEARCH = Group("search", "Searches")
PONDER_CLOCK = 600
"""Clock of a ponder search, in milliseconds."""
NODES_WARN = (1.1, 1_000)
"""Factor and addend: more nodes than factor × limit + addend are a warning."""
NODES_FAIL = (2.0, 20_000)
"""Factor and addend: more nodes than factor × limit + addend are a failure."""


def _start(engine: Subject, go: str, text: str = START) -> Search:
    """Start a search; before ``go ponder``, turn on Ponder (`Skip` without this option)."""
    if "ponder" in go:
        engine.set_option(engine.require_option("Ponder").name, "true")
    return engine.start_search(go, text)


def _check_stop(engine: Subject, what: str, go: str, *texts: str, patience: float) -> None:
    """Search each position of ``texts``; judge the delay from stop to bestmove.

    Stop is sent after ``patience`` times `Pace.listen`; ``what`` names the stop in reasons.
    """
    for text in texts:
        search = _start(engine, go, text)
        if engine.watch(search, patience * engine.pace.listen) is None:
            seconds = engine.stop(search)
            engine.judge_delay(seconds, f"{what} was answered after {seconds:.2f} s",
                               search.best)


def _check_waits(engine: Subject, go: str) -> None:
    """Search several positions; raise `Fault` for a bestmove before stop."""
    for text in (START, FORCED, WINNING):
        search = _start(engine, go, text)
        line = engine.watch(search, engine.pace.watch)
        if line is not None:
            raise Fault(f"'{search.go}' ended without stop after '{search.setup}'", line)
        engine.stop(search)


def _check_ponderhit(engine: Subject, *searches: tuple[str, int], patience: float = 0.5) -> None:
    """Ponder, then send ponderhit; judge the delay from ponderhit to bestmove.

    Each of ``searches`` is a ``go`` and its time after ponderhit in milliseconds. Ponderhit is
    sent after ``patience`` times `Pace.listen`.
    """
    for go, milliseconds in searches:
        search = _start(engine, go)
        if engine.watch(search, patience * engine.pace.listen) is not None:
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
        engine.judge_delay(
            elapsed - milliseconds / 1000, f"'{search.go}' took {elapsed:.3f} s after ponderhit",
            search.best, clock="wtime" in go,
        )


STOPPING.add(
    "stop", "'stop' is answered by bestmove at once (warning: after 100 ms, failure: after 1 s); "
    "users wait for it, and so do tournaments after a wrong ponder move.",
    _check_stop, "stop", "go infinite", START, MOVING, patience=1)
STOPPING.add(
    "stop-at-once", "A stop right after go is not lost; both may arrive in one packet.",
    _check_stop, "stop right after go", "go infinite", START, START, START, patience=0,
    needs=("stop",))
STOPPING.add(
    "stop-timed", "'stop' also ends a search that has limits.",
    _check_stop, "stop in a timed search", "go movetime 60000 depth 1000", START, patience=1,
    needs=("stop",))


@STOPPING.step()
def stop_idle(engine: Subject) -> None:
    """'stop' and 'ponderhit' are ignored when no search runs; clients would read a bestmove as the
    answer to the next go."""
    engine.new_game()
    engine.send("stop", "ponderhit", "stop")
    lines = engine.ping() + engine.listen(engine.pace.listen)
    for line in lines:
        if line.first == "bestmove":
            raise Fault("a bestmove without a go", line)


STOPPING.add(
    "infinite-waits", "'go infinite' ends only after stop, even with one legal move or a "
    "proven win; clients do not expect its answer before stop.",
    _check_waits, "go infinite", needs=("stop",))


@STOPPING.step(needs=("infinite-waits",))
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
    seconds = (lines[-1].at - search.started) / 1e9
    engine.judge_delay(seconds, f"readyok took {seconds:.2f} s in a search", lines[-1])
    search.lines += lines[:-1]
    engine.stop(search)


STOPPING.add(
    "ponder-waits", "'go ponder' ends only after stop or ponderhit, even with little time, one "
    "legal move or a proven win; the opponent has not moved yet.",
    _check_waits, "go ponder wtime 50 btime 50", needs=("stop",))
STOPPING.add(
    "ponder-stop", "'stop' ends a ponder search with a bestmove; clients send it when the opponent "
    "has played another move.",
    _check_stop, "stop in a ponder search", "go ponder wtime 60000 btime 60000", START,
    patience=0.5, needs=("ponder-waits",))
STOPPING.add(
    "ponder-hit", "After 'ponderhit' the search ends within its limits, which count from ponderhit "
    "(for a clock, warning: exceeded by up to 100 ms, failure: by more).",
    _check_ponderhit, (f"go ponder wtime {PONDER_CLOCK} btime {PONDER_CLOCK}", PONDER_CLOCK),
    ("go ponder movetime 100", 100), ("go ponder depth 2", PONDER_CLOCK),
    needs=("ponder-waits",))
STOPPING.add(
    "ponder-hit-at-once", "A ponderhit right after go is not lost; the opponent may move at once.",
    _check_ponderhit, *[("go ponder movetime 50", 50)] * 3, patience=0,
    needs=("ponder-waits", "ponder-hit"))


def _check_depth(engine: Subject, *searches: tuple[str, int]) -> None:
    """Search to depth limits; raise `Fault` for an info line with a greater depth."""
    for go, depth in searches:
        search = engine.search(go, MOVING)
        for line, info in search.scored:
            if info.numbers.get("depth", 0) > depth:
                raise Fault(f"searched deeper than depth {depth}, {search}", line)


SEARCH.add(
    "go-depth", "'go depth N' ends after depth N without stop; otherwise matches at fixed depth "
    "are meaningless.", _check_depth, *((f"go depth {depth}", depth) for depth in (1, 2, 4)))


@SEARCH.step()
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
        if used > NODES_FAIL[0] * nodes + NODES_FAIL[1]:
            raise Fault(f"searched {used} nodes for 'go nodes {nodes}'", line)
        if used > NODES_WARN[0] * nodes + NODES_WARN[1]:
            engine.warn(f"searched {used} nodes for 'go nodes {nodes}'", line)
    if not states_nodes:
        engine.warn("no info line states the nodes, so the limit cannot be judged")


def _check_time(engine: Subject, *searches: str, start: str = START, clock: bool = True) -> None:
    """Search with time limits; judge each answer's delay beyond the limit.

    The third word of each ``go`` is its limit in milliseconds: SHORT is `Pace.movetime`, LONG
    twice as much. With ``clock`` the limit is a game clock.
    """
    short = engine.pace.movetime
    for go in searches:
        go = go.replace("SHORT", str(short)).replace("LONG", str(2 * short))
        limit = max(0, int(go.split()[2])) / 1000
        seconds = limit + max(engine.pace.answer, FAIL_DELAY)
        search = engine.search(go, start, seconds=seconds)
        elapsed = search.seconds_from(search.started)
        reason = f"'{search.go}' took {elapsed:.3f} s"
        engine.judge_delay(elapsed - limit, reason, search.best, clock=clock)


def _check_answer(engine: Subject, *searches: str) -> None:
    """Run searches; each must end with a bestmove."""
    for go in searches:
        engine.search(go)


SEARCH.add(
    "go-movetime", "'go movetime N' is answered within N ms (warning: after N + 100 ms, failure: "
    "after N + 1000 ms).", _check_time, "go movetime 1", "go movetime SHORT", clock=False)
SEARCH.add(
    "go-clock", "With clocks and increments the answer comes before the clock runs out; a later "
    "answer loses on time (warning: exceeded by up to 100 ms, failure: by more).",
    _check_time, "go wtime LONG btime LONG winc 10 binc 10")
SEARCH.add(
    "go-moves-to-go", "With 'movestogo 1' the engine may use up the clock but not exceed it "
    "(warning: by up to 100 ms, failure: by more).",
    _check_time, "go wtime SHORT btime SHORT movestogo 1", "go wtime LONG btime LONG movestogo 0")


@SEARCH.step()
def go_one_clock(engine: Subject) -> None:
    """The clock of the side to move is enough, and is not exceeded (warning: by up to 100 ms,
    failure: by more); some clients send only this clock."""
    _check_time(engine, "go wtime LONG", start=MOVING)
    _check_time(engine, "go btime LONG", start=WINNING)


SEARCH.add(
    "go-little-time", "A clock of a few milliseconds, zero or less still gets a move at once "
    "(warning: after 100 ms, failure: after 1 s); clients with a time margin send such clocks.",
    _check_time, *(f"go wtime {clock} btime {clock} winc 0 binc 0" for clock in (20, 1, 0, -50)),
    clock=False)
SEARCH.add(
    "go-huge-numbers", "Huge limits are accepted; the first limit reached ends the search.",
    _check_answer, f"go depth 1 nodes {10**18} movetime {10**12}",
    f"go wtime {10**15} btime {10**15} depth 2")
SEARCH.add(
    "go-mixed", "Limits can be combined in any order; the first one reached ends the search.",
    _check_depth, ("go binc 0 depth 2 btime 90000 winc 0 nodes 900000 wtime 90000", 2),
    needs=("go-depth",))
SEARCH.add(
    "go-unknown-words", "Unknown words after go are ignored, and so are invalid numbers.",
    _check_answer, "go quickly depth 1 please", "go movetime soon depth 1")


SEARCH.add(
    "go-alone", "'go' without arguments is 'go infinite': it ends only after stop.",
    _check_waits, "go", needs=("stop",))


@SEARCH.step(needs=("stop",))
def go_mate(engine: Subject) -> None:
    """If there is a win in one move, 'go mate 1' ends without stop (only a warning), and a mate
    score is 'mate 1'."""
    search = engine.start_search("go mate 1", WINNING)
    if engine.watch(search, engine.pace.watch) is None:
        engine.warn("'go mate 1' did not end without stop despite a win in one")
        engine.stop(search)
    if search.final is not None and search.final[1].numbers.get("mate", 1) != 1:
        raise Fault("the score of a win in one is not mate 1", search.final[0])


@SEARCH.step()
def go_searchmoves(engine: Subject) -> None:
    """The engine chooses only among the moves after 'searchmoves'; analysis uses it to find
    alternatives."""
    for text in (START, MOVING):
        moves = engine.position(text).legal_moves()
        # Two different moves: one of them may be the engine's own choice anyway.
        for move in (moves[0], moves[-1]):
            search = engine.search(f"go depth 2 searchmoves {move}", text)
            if search.kind is Kind.LEGAL and search.move != move:
                raise Fault(f"plays a move that '{search.go}' does not allow", search.best)


@SEARCH.step()
def multipv(engine: Subject) -> None:
    """With MultiPV 3 there are three lines, numbered from 1, with different first moves; the best
    line comes first and begins with the bestmove (only a warning)."""
    option = engine.require_option("MultiPV", 3)
    engine.require_ongoing(MOVING)
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


@SEARCH.step(needs=("go-nodes",))
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


@SEARCH.step(needs=("stop",))
def go_in_search(engine: Subject) -> None:
    """A second go during a search violates the protocol, but the engine survives and answers both
    searches (a missing answer is only a warning)."""
    engine.start_search("go infinite")
    engine.start_search_here("go depth 1", engine.position(START), "position startpos")
    try:
        for _ in range(2):
            engine.until("bestmove", FAIL_DELAY, "a second go")
    except Fault as fault:
        engine.warn(f"two searches at once got fewer than two answers: {fault.reason}")
    engine.ping()
    # A late bestmove must not be read as the answer to a later search.
    engine.must_restart = True
