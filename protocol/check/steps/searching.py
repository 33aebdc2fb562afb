"""Steps about go: every limit of a search, and whether it is kept."""

from __future__ import annotations

from merels.protocol.check.conversation import LATE, Fault, Skip
from merels.protocol.check.positions import MOVING, PLACING, START, WINNING
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Kind, Search, read

GROUP = Group("search", "Searches", needs=("greeting", "ready", "answers"))
NODES_WARN = (1.1, 1_000)
"""The factor, plus a number of nodes, by which a node limit may be exceeded."""
NODES_FAIL = (2.0, 20_000)


def _no_deeper(search: Search, depth: int) -> None:
    """Find fault with an iteration deeper than this."""
    for info in search.infos:
        if info.scored and info.numbers.get("depth", 0) > depth:
            raise Fault(f"searched deeper than depth {depth}, {search}", info.line.raw)


@GROUP.step()
def go_depth(engine: Subject) -> None:
    """'go depth N' ends by itself after depth N; otherwise matches at fixed depth are meaningless.
    """
    for depth in (1, 2, 4):
        _no_deeper(engine.search(f"go depth {depth}", MOVING), depth)


@GROUP.step()
def go_nodes(engine: Subject) -> None:
    """'go nodes N' ends by itself near N (a fault: more than 2 N + 20000); matches at fixed nodes
    are the same on every machine."""
    known = False
    for nodes in (1, 1000, 20_000):
        search = engine.search(f"go nodes {nodes}", PLACING)
        counts = [info.numbers["nodes"] for info in search.infos if "nodes" in info.numbers]
        known = known or bool(counts)
        used = max(counts, default=0)
        line = search.infos[-1].line.raw if counts else None
        if used > NODES_FAIL[0] * nodes + NODES_FAIL[1]:
            raise Fault(f"searched {used} nodes for 'go nodes {nodes}'", line)
        if used > NODES_WARN[0] * nodes + NODES_WARN[1]:
            engine.warn(f"searched {used} nodes for 'go nodes {nodes}'", line)
    if not known:
        engine.warn("no info line states the nodes, so the limit cannot be judged")


def _in_time(
    engine: Subject, go: str, milliseconds: int, start: str = START, *, clock: bool = False
) -> None:
    """Judge the delay of a search with a time limit."""
    limit = milliseconds / 1000
    search = engine.search(go, start, seconds=limit + max(engine.pace.answer, LATE))
    reason = f"'{search.go}' took {search.elapsed:.3f} s"
    engine.judge_delay(search.elapsed - limit, reason, search.quote, clock=clock)


@GROUP.step()
def go_movetime(engine: Subject) -> None:
    """'go movetime N' answers within N ms (unusual: over 100 ms more, a fault: over 1 s more)."""
    for milliseconds in (1, engine.pace.movetime):
        _in_time(engine, f"go movetime {milliseconds}", milliseconds)


@GROUP.step()
def go_clock(engine: Subject) -> None:
    """With clocks and increments the answer comes long before the clock runs out; later the game is
    lost on time (unusual: exceeded by up to 100 ms, a fault: by more)."""
    clock = 2 * engine.pace.movetime
    go = f"go wtime {clock} btime {clock} winc 10 binc 10"
    _in_time(engine, go, clock, clock=True)


@GROUP.step()
def go_moves_to_go(engine: Subject) -> None:
    """'movestogo' is understood: with one move to go the clock may be used up, but not exceeded
    (unusual: by up to 100 ms, a fault: by more)."""
    for clock, left in ((engine.pace.movetime, 1), (2 * engine.pace.movetime, 0)):
        go = f"go wtime {clock} btime {clock} movestogo {left}"
        _in_time(engine, go, clock, clock=True)


@GROUP.step()
def go_one_clock(engine: Subject) -> None:
    """The clock of the side to move is enough, and is not exceeded (unusual: by up to 100 ms, a
    fault: by more); some clients send nothing else."""
    clock = 2 * engine.pace.movetime
    _in_time(engine, f"go wtime {clock}", clock, MOVING, clock=True)
    _in_time(engine, f"go btime {clock}", clock, WINNING, clock=True)


@GROUP.step()
def go_little_time(engine: Subject) -> None:
    """A clock of a few milliseconds, zero or less still gets a move at once (unusual: after
    100 ms, a fault: after 1 s); clients with a time margin send such clocks, and a late move is
    better than none."""
    for clock in (20, 1, 0, -50):
        go = f"go wtime {clock} btime {clock} winc 0 binc 0"
        _in_time(engine, go, max(0, clock))


@GROUP.step()
def go_huge_numbers(engine: Subject) -> None:
    """Huge limits do no harm: the first limit reached ends the search."""
    engine.search(f"go depth 1 nodes {10**18} movetime {10**12}")
    engine.search(f"go wtime {10**15} btime {10**15} depth 2")


@GROUP.step(needs=("go-depth",))
def go_mixed(engine: Subject) -> None:
    """Limits can be combined in any order; the first one reached ends the search."""
    search = engine.search("go binc 0 depth 2 btime 90000 winc 0 nodes 900000 wtime 90000")
    _no_deeper(search, 2)


@GROUP.step()
def go_unknown_words(engine: Subject) -> None:
    """Unknown words after go are ignored, and so are invalid numbers."""
    engine.search("go quickly depth 1 please")
    engine.search("go movetime soon depth 1")


@GROUP.step(needs=("stop",))
def go_alone(engine: Subject) -> None:
    """'go' without a limit is answered, by itself or after stop."""
    search = engine.begin("go")
    if engine.watch(search, engine.pace.listen) is None:
        engine.stop(search)


@GROUP.step(needs=("stop",))
def go_mate(engine: Subject) -> None:
    """'go mate 1' ends by itself if there is a win in one, whose score is 'mate 1'."""
    search = engine.begin("go mate 1", WINNING)
    if engine.watch(search, engine.pace.watch) is None:
        engine.warn("'go mate 1' did not end by itself despite a win in one")
        engine.stop(search)
    final = search.final
    if final is not None and final.numbers.get("mate", 1) != 1:
        raise Fault("the score of a win in one is not mate 1", final.line.raw)


@GROUP.step()
def go_searchmoves(engine: Subject) -> None:
    """'searchmoves' lists the only moves to choose from; analysis uses it to look for
    alternatives."""
    for text in (START, MOVING):
        moves = engine.position(text).legal_moves()
        # Two moves, because one of them may be the move that the engine prefers anyway.
        for move in (moves[0], moves[-1]):
            search = engine.search(f"go depth 2 searchmoves {move}", text)
            if search.kind is Kind.LEGAL and read(search.answer) != move:
                raise Fault(f"plays a move that '{search.go}' does not allow", search.quote)


@GROUP.step()
def multipv(engine: Subject) -> None:
    """With MultiPV 3 there are three lines, numbered from 1, each with another first move, the
    best first."""
    engine.ensure()
    option = engine.option("MultiPV")
    if option is None or (option.maximum or 0) < 3:
        raise Skip("the engine has no option MultiPV")
    engine.needs(MOVING)
    engine.changed = True
    engine.set_option(option.name, "3")
    search = engine.search("go depth 3", MOVING)
    last = {info.numbers["multipv"]: info for info in search.infos
            if info.pv and "multipv" in info.numbers}
    if sorted(last) != [1, 2, 3]:
        raise Fault(f"expected three lines with a pv, found those numbered {sorted(last)}",
                    search.lines[-1].raw if search.lines else None)
    firsts = [info.pv[0] for _, info in sorted(last.items()) if info.pv]
    moves = [read(first) for first in firsts]
    if len(set(moves)) < 3:
        raise Fault(f"the three lines begin with {', '.join(firsts)}", last[3].line.raw)
    if moves[0] != read(search.answer):
        engine.warn("bestmove is not the first line's move", search.best)
    scores = [last[index].numbers.get("cp") for index in (1, 2, 3)]
    known = [score for score in scores if score is not None]
    if len(known) == 3 and known != sorted(known, reverse=True):
        engine.warn(f"the lines are not ordered by their scores: {known}", last[1].line)


@GROUP.step(needs=("go-nodes",))
def deterministic(engine: Subject) -> None:
    """A search of fixed nodes has the same result after a new game and in a new process;
    otherwise bugs cannot be reproduced. With several threads, or limited strength, a difference is
    only unusual."""
    results = []
    for fresh in (False, False, True):
        if fresh:
            engine.discard()
        engine.new_game()
        search = engine.search("go nodes 5000", PLACING)
        final = search.final
        numbers = final.numbers if final else {}
        facts = {key: numbers.get(key) for key in ("cp", "mate", "depth", "nodes")}
        results.append((search.answer, facts))
    for place, result in zip(("after a new game", "in a new process"), results[1:]):
        if result != results[0]:
            reason = f"'go nodes 5000' {place}: {_tell(*result)}; before: {_tell(*results[0])}"
            limited = engine.value("UCI_LimitStrength") == "true"
            if limited or engine.value("Threads") not in ("", "1"):
                engine.warn(reason)
            else:
                raise Fault(reason)


def _tell(move: str, facts: dict[str, int | None]) -> str:
    """A search's result, in short."""
    known = " ".join(f"{key} {value}" for key, value in facts.items() if value is not None)
    return f"{move} ({known})" if known else move


@GROUP.step(needs=("stop",))
def go_in_search(engine: Subject) -> None:
    """A second go during a search breaks the protocol, but the engine should survive it, and answer
    both (only unusual)."""
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
