"""Steps about stop, and about searches that wait for it: infinite and ponder."""

from __future__ import annotations

from time import monotonic_ns

from merels.protocol.check.conversation import LATE, Fault
from merels.protocol.check.positions import FORCED, MOVING, START, WINNING
from merels.protocol.check.step import Check, Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Search

GROUP = Group("stopping", "Stopping")
CLOCK = 600
"""Milliseconds on the clock of a ponder search."""


def _begin(engine: Subject, go: str, text: str = START) -> Search:
    """Start a search; before they ponder, clients turn pondering on."""
    if "ponder" in go:
        engine.set_option(engine.needs_option("Ponder").name, "true")
    return engine.begin(go, text)


def _stops(what: str, go: str, *texts: str, patience: float) -> Check:
    """Search in several positions; stop is answered at once.

    It is sent after ``patience`` times `Pace.listen`.
    """

    def check(engine: Subject) -> None:
        for text in texts:
            search = _begin(engine, go, text)
            if engine.watch(search, patience * engine.pace.listen) is None:
                seconds = engine.stop(search)
                engine.judge_delay(seconds, f"{what} was answered after {seconds:.2f} s",
                                   search.best)

    return check


def _waits(go: str) -> Check:
    """Search in several positions; only stop may end it."""

    def check(engine: Subject) -> None:
        for text in (START, FORCED, WINNING):
            search = _begin(engine, go, text)
            line = engine.watch(search, engine.pace.watch)
            if line is not None:
                raise Fault(f"'{search.go}' ended without stop after '{search.setup}'", line)
            engine.stop(search)

    return check


def _hits(*searches: tuple[str, int], patience: float = 0.5) -> Check:
    """Ponder, then send ponderhit, after which each search has its milliseconds.

    The opponent thinks for ``patience`` times `Pace.listen`.
    """

    def check(engine: Subject) -> None:
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

    return check


GROUP.add(
    "stop", "'stop' is answered by bestmove at once (warning: after 100 ms, a failure: after 1 s); "
    "users wait for it, and tournaments after a ponder miss.",
    _stops("stop", "go infinite", START, MOVING, patience=1))
GROUP.add(
    "stop-at-once", "A stop right after go is not lost; clients that change their mind send both "
    "in one packet.",
    _stops("stop right after go", "go infinite", START, START, START, patience=0), needs=("stop",))
GROUP.add(
    "stop-timed", "'stop' also ends a search that has limits.",
    _stops("stop in a timed search", "go movetime 60000 depth 1000", START, patience=1),
    needs=("stop",))


@GROUP.step()
def stop_idle(engine: Subject) -> None:
    """'stop' and 'ponderhit' are ignored when no search runs; a bestmove would be mistaken for the
    answer to the next search."""
    engine.new_game()
    engine.send("stop", "ponderhit", "stop")
    lines = engine.ping() + engine.listen(engine.pace.listen)
    for line in lines:
        if line.first == "bestmove":
            raise Fault("a bestmove without a go", line)


GROUP.add(
    "infinite-waits", "'go infinite' ends only after stop, even with one legal move or a "
    "proven win; clients do not expect its answer before stop.",
    _waits("go infinite"), needs=("stop",))


@GROUP.step(needs=("infinite-waits",))
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


GROUP.add(
    "ponder-waits", "'go ponder' ends only after stop or ponderhit, even with little time, one "
    "legal move or a proven win; the opponent has not moved yet.",
    _waits("go ponder wtime 50 btime 50"), needs=("stop",))
GROUP.add(
    "ponder-stop", "'stop' ends a ponder search with a bestmove: the opponent has played another "
    "move.",
    _stops("stop in a ponder search", "go ponder wtime 60000 btime 60000", START, patience=0.5),
    needs=("ponder-waits",))
GROUP.add(
    "ponder-hit", "After 'ponderhit' the search ends within its limits, which count from then on "
    "(warning: a clock exceeded by up to 100 ms, a failure: by more).",
    _hits((f"go ponder wtime {CLOCK} btime {CLOCK}", CLOCK), ("go ponder movetime 100", 100),
          ("go ponder depth 2", CLOCK)),
    needs=("ponder-waits",))
GROUP.add(
    "ponder-hit-at-once", "A ponderhit right after go is not lost: the opponent may move at once.",
    _hits(*[("go ponder movetime 50", 50)] * 3, patience=0), needs=("ponder-waits", "ponder-hit"))
