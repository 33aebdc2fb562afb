"""Steps about go: every way to limit a search, and whether the limit is kept."""

from __future__ import annotations

from merels.protocol.check.conversation import LATE
from merels.protocol.check.faults import Fault, Skip
from merels.protocol.check.positions import MOVING, PLACING, START, WINNING
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Kind, Search, read

GROUP = Group("search", "Searches", needs=("greeting", "ready", "answers"))
NODES_WARN = (1.1, 1_000)
"""A limit of nodes may be overrun so many times, and by so many more."""
NODES_FAIL = (2.0, 20_000)


def _no_deeper(search: Search, depth: int) -> None:
    """No finished iteration of a search may be deeper than this."""
    for info in search.infos:
        if info.scored and info.numbers.get("depth", 0) > depth:
            raise Fault(f"searched deeper than depth {depth}, {search}", info.line.raw)


@GROUP.step()
def go_depth(engine: Subject) -> None:
    """'go depth N' ends by itself and finishes no deeper iteration than N; matches at fixed depth
    compare nothing otherwise."""
    for depth in (1, 2, 4):
        _no_deeper(engine.search(f"go depth {depth}", MOVING), depth)


@GROUP.step()
def go_nodes(engine: Subject) -> None:
    """'go nodes N' ends by itself near N (a fault: over twice N and 20000 more); matches at fixed
    nodes are what is the same on every machine."""
    told = False
    for nodes in (1, 1000, 20_000):
        search = engine.search(f"go nodes {nodes}", PLACING)
        counts = [info.numbers["nodes"] for info in search.infos if "nodes" in info.numbers]
        told = told or bool(counts)
        used = max(counts, default=0)
        line = search.infos[-1].line.raw if counts else None
        if used > NODES_FAIL[0] * nodes + NODES_FAIL[1]:
            raise Fault(f"searched {used} nodes for 'go nodes {nodes}'", line)
        if used > NODES_WARN[0] * nodes + NODES_WARN[1]:
            engine.warn(f"searched {used} nodes for 'go nodes {nodes}'", line)
    if not told:
        engine.warn("no info line tells of nodes, so the limit cannot be judged")


def _timed(
    engine: Subject, go: str, milliseconds: int, start: str = START
) -> tuple[float, str, bytes | None]:
    """A search that has so long: by how many seconds it was late, and what is to say of that."""
    limit = milliseconds / 1000
    search = engine.search(go, start, seconds=limit + max(engine.pace.answer, LATE))
    return search.elapsed - limit, f"'{search.go}' took {search.elapsed:.3f} s", search.quote


@GROUP.step()
def go_movetime(engine: Subject) -> None:
    """'go movetime N' answers within N ms (unusual: 100 ms more, a fault: a second more)."""
    for milliseconds in (1, engine.pace.movetime):
        engine.judge_late(*_timed(engine, f"go movetime {milliseconds}", milliseconds))


@GROUP.step()
def go_clock(engine: Subject) -> None:
    """With clocks and increments an engine answers long before its clock is down; after it the
    game is lost on time (unusual: up to 100 ms after, a fault: later)."""
    clock = 2 * engine.pace.movetime
    go = f"go wtime {clock} btime {clock} winc 10 binc 10"
    engine.judge_clock(*_timed(engine, go, clock))


@GROUP.step()
def go_moves_to_go(engine: Subject) -> None:
    """'movestogo' is understood: with one move to go the clock may be used up, never overrun
    (unusual: up to 100 ms, a fault: more)."""
    for clock, left in ((engine.pace.movetime, 1), (2 * engine.pace.movetime, 0)):
        go = f"go wtime {clock} btime {clock} movestogo {left}"
        engine.judge_clock(*_timed(engine, go, clock))


@GROUP.step()
def go_one_clock(engine: Subject) -> None:
    """The clock of the side to move is enough, without increments, and is not overrun (unusual:
    up to 100 ms, a fault: more); some clients send no more."""
    clock = 2 * engine.pace.movetime
    engine.judge_clock(*_timed(engine, f"go wtime {clock}", clock, MOVING))
    engine.judge_clock(*_timed(engine, f"go btime {clock}", clock, WINNING))


@GROUP.step()
def go_little_time(engine: Subject) -> None:
    """A clock of a few milliseconds, of none or below none still gets a move at once (unusual:
    after 100 ms, a fault: after a second); clients with a time margin send such clocks, and a
    move that is late is better than none."""
    for clock in (20, 1, 0, -50):
        go = f"go wtime {clock} btime {clock} winc 0 binc 0"
        engine.judge_late(*_timed(engine, go, max(0, clock)))


@GROUP.step()
def go_huge_numbers(engine: Subject) -> None:
    """Limits beyond all measure do no harm: the first limit reached ends the search."""
    engine.search(f"go depth 1 nodes {10**18} movetime {10**12}", START)
    engine.search(f"go wtime {10**15} btime {10**15} depth 2", START)


@GROUP.step(needs=("go-depth",))
def go_mixed(engine: Subject) -> None:
    """Limits can be mixed, in any order; the first one reached ends the search."""
    search = engine.search("go binc 0 depth 2 btime 90000 winc 0 nodes 900000 wtime 90000", START)
    _no_deeper(search, 2)


@GROUP.step()
def go_unknown_words(engine: Subject) -> None:
    """Words behind go that an engine does not know are ignored, and so are numbers that are
    none."""
    engine.search("go quickly depth 1 please", START)
    engine.search("go movetime soon depth 1", START)


@GROUP.step(needs=("stop",))
def go_alone(engine: Subject) -> None:
    """'go' without a limit answers by itself or when it is stopped."""
    search = engine.begin("go", START)
    if engine.watch(search, engine.pace.listen) is None:
        engine.stop(search)


@GROUP.step(needs=("stop",))
def go_mate(engine: Subject) -> None:
    """'go mate 1' answers by itself where there is a win in one, and a proven win is 'mate 1'."""
    search = engine.begin("go mate 1", WINNING)
    if engine.watch(search, engine.pace.watch) is None:
        engine.warn("'go mate 1' did not end by itself where a win in one is at hand")
        engine.stop(search)
    final = search.final
    if final is not None and final.numbers.get("mate", 1) != 1:
        raise Fault("the win in one is announced with another number", final.line.raw)


@GROUP.step()
def go_searchmoves(engine: Subject) -> None:
    """'searchmoves' names the only moves to choose from; analysis relies on it to ask what else
    could be played."""
    for text in (START, MOVING):
        moves = engine.position(text).legal_moves()
        # One after the other, so that at most one of them is the move that would be played anyway.
        for move in (moves[0], moves[-1]):
            search = engine.search(f"go depth 2 searchmoves {move}", text)
            if search.kind is Kind.LEGAL and read(search.answer) != move:
                raise Fault(f"plays another move than the only one that '{search.go}' allows",
                            search.quote)


@GROUP.step()
def multipv(engine: Subject) -> None:
    """With MultiPV 3 three lines come, numbered from 1, each with a first move of its own, the
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
        raise Fault(f"three lines were asked for, and those with a pv are numbered {sorted(last)}",
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
        engine.warn(f"the lines are not in the order of their scores: {known}", last[1].line)


@GROUP.step(needs=("go-nodes",))
def deterministic(engine: Subject) -> None:
    """The same search of fixed nodes after a new game, and in a new process, has the same result;
    a fault cannot be found again otherwise. With several threads it is only unusual."""
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
            if engine.value("Threads") not in ("", "1"):
                engine.warn(reason)
            else:
                raise Fault(reason)


def _tell(move: str, facts: dict[str, int | None]) -> str:
    """A search's result in a few words."""
    known = " ".join(f"{key} {value}" for key, value in facts.items() if value is not None)
    return f"{move} ({known})" if known else move


@GROUP.step(needs=("stop",))
def go_in_search(engine: Subject) -> None:
    """A second go during a search is no client's right; the engine should live through it, with
    one answer for each."""
    engine.begin("go infinite", START)
    engine.begin_here("go depth 1", engine.position(START), "position startpos")
    try:
        for _ in range(2):
            engine.until("bestmove", LATE, "a second go")
    except Fault as fault:
        engine.warn(f"two searches at once got fewer than two answers: {fault.reason}")
    engine.ping()
    # The two may have been one answer twice; what then still comes is no later search's answer.
    engine.changed = True
