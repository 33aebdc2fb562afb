"""Steps about searches: their limits, stop, and the searches that wait: infinite and ponder."""

from __future__ import annotations

from time import monotonic_ns

from merels.protocol.check.conversation import LATE, Fault
from merels.protocol.check.positions import FORCED, MOVING, PLACING, START, WINNING
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Kind, Search, read

STOPPING = Group("stopping", "Stopping")
SEARCH = Group("search", "Searches")
CLOCK = 600
"""Milliseconds on the clock of a ponder search."""
NODES_WARN = (1.1, 1_000)
"""The factor, plus a number of nodes, by which a node limit may be exceeded."""
NODES_FAIL = (2.0, 20_000)


def _begin(engine: Subject, go: str, text: str = START) -> Search:
    """Start a search; before they ponder, clients turn pondering on."""
    if "ponder" in go:
        engine.set_option(engine.needs_option("Ponder").name, "true")
    return engine.begin(go, text)


def _stops(engine: Subject, what: str, go: str, *texts: str, patience: float) -> None:
    """Search in several positions; stop is answered at once.

    It is sent after ``patience`` times `Pace.listen`.
    """
    for text in texts:
        search = _begin(engine, go, text)
        if engine.watch(search, patience * engine.pace.listen) is None:
            seconds = engine.stop(search)
            engine.judge_delay(seconds, f"{what} was answered after {seconds:.2f} s",
                               search.best)


def _waits(engine: Subject, go: str) -> None:
    """Search in several positions; only stop may end it."""
    for text in (START, FORCED, WINNING):
        search = _begin(engine, go, text)
        line = engine.watch(search, engine.pace.watch)
        if line is not None:
            raise Fault(f"'{search.go}' ended without stop after '{search.setup}'", line)
        engine.stop(search)


def _hits(engine: Subject, *searches: tuple[str, int], patience: float = 0.5) -> None:
    """Ponder, then send ponderhit, after which each search has its milliseconds.

    The opponent thinks for ``patience`` times `Pace.listen`.
    """
    for go, milliseconds in searches:
        search = _begin(engine, go)
        if engine.watch(search, patience * engine.pace.listen) is not None:
            continue
        seconds = milliseconds / 1000 + LATE
        hit = monotonic_ns()
        engine.send("ponderhit")
        try:
            engine.finish(search, seconds)
        except Fault as fault:
            raise Fault(f"no bestmove within {seconds:g} s of ponderhit, '{search.go}'",
                        fault.line) from None
        took = search.seconds_from(hit)
        engine.judge_delay(
            took - milliseconds / 1000, f"'{search.go}' took {took:.3f} s after ponderhit",
            search.best, clock="wtime" in go,
        )


STOPPING.add(
    "stop", "'stop' is answered by bestmove at once (warning: after 100 ms, a failure: after 1 s); "
    "users wait for it, and tournaments after a ponder miss.",
    _stops, "stop", "go infinite", START, MOVING, patience=1)
STOPPING.add(
    "stop-at-once", "A stop right after go is not lost; clients that change their mind send both "
    "in one packet.",
    _stops, "stop right after go", "go infinite", START, START, START, patience=0, needs=("stop",))
STOPPING.add(
    "stop-timed", "'stop' also ends a search that has limits.",
    _stops, "stop in a timed search", "go movetime 60000 depth 1000", START, patience=1,
    needs=("stop",))


@STOPPING.step()
def stop_idle(engine: Subject) -> None:
    """'stop' and 'ponderhit' are ignored when no search runs; a bestmove would be mistaken for the
    answer to the next search."""
    engine.new_game()
    engine.send("stop", "ponderhit", "stop")
    lines = engine.ping() + engine.listen(engine.pace.listen)
    for line in lines:
        if line.first == "bestmove":
            raise Fault("a bestmove without a go", line)


STOPPING.add(
    "infinite-waits", "'go infinite' ends only after stop, even with one legal move or a "
    "proven win; clients do not expect its answer before stop.",
    _waits, "go infinite", needs=("stop",))


@STOPPING.step(needs=("infinite-waits",))
def ready_in_search(engine: Subject) -> None:
    """isready is answered during a search, without ending it; clients ask whether the engine is
    alive, and take a silent one for dead."""
    search = engine.begin("go infinite")
    engine.send("isready")
    try:
        lines = engine.until("readyok", LATE, "isready in a search")
    except Fault as fault:
        raise Fault(f"no readyok within {LATE:g} s of isready in a search", fault.line) from None
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
    _waits, "go ponder wtime 50 btime 50", needs=("stop",))
STOPPING.add(
    "ponder-stop", "'stop' ends a ponder search with a bestmove: the opponent has played another "
    "move.",
    _stops, "stop in a ponder search", "go ponder wtime 60000 btime 60000", START, patience=0.5,
    needs=("ponder-waits",))
STOPPING.add(
    "ponder-hit", "After 'ponderhit' the search ends within its limits, which count from then on "
    "(warning: a clock exceeded by up to 100 ms, a failure: by more).",
    _hits, (f"go ponder wtime {CLOCK} btime {CLOCK}", CLOCK), ("go ponder movetime 100", 100),
    ("go ponder depth 2", CLOCK),
    needs=("ponder-waits",))
STOPPING.add(
    "ponder-hit-at-once", "A ponderhit right after go is not lost: the opponent may move at once.",
    _hits, *[("go ponder movetime 50", 50)] * 3, patience=0, needs=("ponder-waits", "ponder-hit"))


def _no_deeper(engine: Subject, *searches: tuple[str, int]) -> None:
    """Search up to a depth; no iteration may be deeper."""
    for go, depth in searches:
        search = engine.search(go, MOVING)
        for line, info in search.scored:
            if info.numbers.get("depth", 0) > depth:
                raise Fault(f"searched deeper than depth {depth}, {search}", line)


SEARCH.add(
    "go-depth", "'go depth N' ends after depth N without stop; otherwise matches at fixed depth "
    "are meaningless.", _no_deeper, *((f"go depth {depth}", depth) for depth in (1, 2, 4)))


@SEARCH.step()
def go_nodes(engine: Subject) -> None:
    """'go nodes N' ends near N without stop (a failure: more than 2 N + 20000); matches at fixed
    nodes are the same on every machine."""
    known = False
    for nodes in (1, 1000, 20_000):
        search = engine.search(f"go nodes {nodes}", PLACING)
        infos = [(line, info) for line, info in search.infos if "nodes" in info.numbers]
        known = known or bool(infos)
        used = max((info.numbers["nodes"] for _, info in infos), default=0)
        line = infos[-1][0] if infos else None
        if used > NODES_FAIL[0] * nodes + NODES_FAIL[1]:
            raise Fault(f"searched {used} nodes for 'go nodes {nodes}'", line)
        if used > NODES_WARN[0] * nodes + NODES_WARN[1]:
            engine.warn(f"searched {used} nodes for 'go nodes {nodes}'", line)
    if not known:
        engine.warn("no info line states the nodes, so the limit cannot be judged")


def _in_time(engine: Subject, *searches: str, start: str = START, clock: bool = True) -> None:
    """Search with time limits, the first number of each in milliseconds.

    SHORT stands for `Pace.movetime`, LONG for twice that.
    """
    short = engine.pace.movetime
    for go in searches:
        go = go.replace("SHORT", str(short)).replace("LONG", str(2 * short))
        limit = max(0, int(go.split()[2])) / 1000
        seconds = limit + max(engine.pace.answer, LATE)
        search = engine.search(go, start, seconds=seconds)
        took = search.seconds_from(search.started)
        reason = f"'{search.go}' took {took:.3f} s"
        engine.judge_delay(took - limit, reason, search.best, clock=clock)


def _answers(engine: Subject, *searches: str) -> None:
    """Search; the answer may be any."""
    for go in searches:
        engine.search(go)


SEARCH.add(
    "go-movetime", "'go movetime N' answers within N ms (warning: over 100 ms more, a failure: "
    "over 1 s more).", _in_time, "go movetime 1", "go movetime SHORT", clock=False)
SEARCH.add(
    "go-clock", "With clocks and increments the answer comes long before the clock runs out; later "
    "the game is lost on time (warning: exceeded by up to 100 ms, a failure: by more).",
    _in_time, "go wtime LONG btime LONG winc 10 binc 10")
SEARCH.add(
    "go-moves-to-go", "'movestogo' is understood: with one move to go the clock may be used up, "
    "but not exceeded (warning: by up to 100 ms, a failure: by more).",
    _in_time, "go wtime SHORT btime SHORT movestogo 1", "go wtime LONG btime LONG movestogo 0")


@SEARCH.step()
def go_one_clock(engine: Subject) -> None:
    """The clock of the side to move is enough, and is not exceeded (warning: by up to 100 ms, a
    failure: by more); some clients send nothing else."""
    _in_time(engine, "go wtime LONG", start=MOVING)
    _in_time(engine, "go btime LONG", start=WINNING)


SEARCH.add(
    "go-little-time", "A clock of a few milliseconds, zero or less still gets a move at once "
    "(warning: after 100 ms, a failure: after 1 s); clients with a time margin send such clocks, "
    "and a late move is better than none.",
    _in_time, *(f"go wtime {clock} btime {clock} winc 0 binc 0" for clock in (20, 1, 0, -50)),
    clock=False)
SEARCH.add(
    "go-huge-numbers", "Huge limits do no harm: the first limit reached ends the search.",
    _answers, f"go depth 1 nodes {10**18} movetime {10**12}",
    f"go wtime {10**15} btime {10**15} depth 2")
SEARCH.add(
    "go-mixed", "Limits can be combined in any order; the first one reached ends the search.",
    _no_deeper, ("go binc 0 depth 2 btime 90000 winc 0 nodes 900000 wtime 90000", 2),
    needs=("go-depth",))
SEARCH.add(
    "go-unknown-words", "Unknown words after go are ignored, and so are invalid numbers.",
    _answers, "go quickly depth 1 please", "go movetime soon depth 1")


@SEARCH.step(needs=("stop",))
def go_alone(engine: Subject) -> None:
    """'go' without a limit is answered, with or without stop."""
    search = engine.begin("go")
    if engine.watch(search, engine.pace.listen) is None:
        engine.stop(search)


@SEARCH.step(needs=("stop",))
def go_mate(engine: Subject) -> None:
    """'go mate 1' ends without stop if there is a win in one, whose score is 'mate 1'."""
    search = engine.begin("go mate 1", WINNING)
    if engine.watch(search, engine.pace.watch) is None:
        engine.warn("'go mate 1' did not end without stop despite a win in one")
        engine.stop(search)
    if search.final is not None and search.final[1].numbers.get("mate", 1) != 1:
        raise Fault("the score of a win in one is not mate 1", search.final[0])


@SEARCH.step()
def go_searchmoves(engine: Subject) -> None:
    """'searchmoves' lists the only moves to choose from; analysis uses it to look for
    alternatives."""
    for text in (START, MOVING):
        moves = engine.position(text).legal_moves()
        # Two moves, because one of them may be the move that the engine prefers anyway.
        for move in (moves[0], moves[-1]):
            search = engine.search(f"go depth 2 searchmoves {move}", text)
            if search.kind is Kind.LEGAL and read(search.answer) != move:
                raise Fault(f"plays a move that '{search.go}' does not allow", search.best)


@SEARCH.step()
def multipv(engine: Subject) -> None:
    """With MultiPV 3 there are three lines, numbered from 1, each with another first move, the
    best first."""
    option = engine.needs_option("MultiPV", 3)
    engine.needs(MOVING)
    engine.set_option(option.name, "3")
    search = engine.search("go depth 3", MOVING)
    last = {info.numbers["multipv"]: (line, info) for line, info in search.infos
            if info.pv and "multipv" in info.numbers}
    if sorted(last) != [1, 2, 3]:
        raise Fault(f"expected three lines with a pv, found those numbered {sorted(last)}",
                    search.lines[-1] if search.lines else None)
    infos = [last[number][1] for number in (1, 2, 3)]
    firsts = [info.pv[0] for info in infos if info.pv]
    moves = [read(first) for first in firsts]
    if len(set(moves)) < 3:
        raise Fault(f"the three lines begin with {', '.join(firsts)}", last[3][0])
    if moves[0] != read(search.answer):
        engine.warn("bestmove is not the first line's move", search.best)
    scores = [info.numbers["cp"] for info in infos if "cp" in info.numbers]
    if len(scores) == 3 and scores != sorted(scores, reverse=True):
        engine.warn(f"the lines are not ordered by their scores: {scores}", last[1][0])


@SEARCH.step(needs=("go-nodes",))
def deterministic(engine: Subject) -> None:
    """A search of fixed nodes has the same result after a new game and in a new process;
    otherwise bugs cannot be reproduced. With several threads, or limited strength, a difference is
    only a warning."""
    results = []
    for fresh in (False, False, True):
        if fresh:
            engine.discard()
        engine.new_game()
        search = engine.search("go nodes 5000", PLACING)
        numbers = search.final[1].numbers if search.final else {}
        facts = " ".join(f"{word} {numbers[word]}" for word in ("cp", "mate", "depth", "nodes")
                         if word in numbers)
        results.append(f"{search.answer} ({facts})" if facts else search.answer)
    for place, result in zip(("after a new game", "in a new process"), results[1:]):
        if result != results[0]:
            reason = f"'go nodes 5000' {place}: {result}; before: {results[0]}"
            limited = engine.value("UCI_LimitStrength") == "true"
            if limited or engine.value("Threads") not in ("", "1"):
                engine.warn(reason)
            else:
                raise Fault(reason)


@SEARCH.step(needs=("stop",))
def go_in_search(engine: Subject) -> None:
    """A second go during a search breaks the protocol, but the engine should survive it, and answer
    both (only a warning)."""
    engine.begin("go infinite")
    engine.begin_here("go depth 1", engine.position(START), "position startpos")
    try:
        for _ in range(2):
            engine.until("bestmove", LATE, "a second go")
    except Fault as fault:
        engine.warn(f"two searches at once got fewer than two answers: {fault.reason}")
    engine.ping()
    # A late answer must not be mistaken for that of a later search.
    engine.changed = True
