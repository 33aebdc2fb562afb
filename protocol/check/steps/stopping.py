"""Steps about stop, and about searches that wait for it: infinite and ponder."""

from __future__ import annotations

from time import monotonic_ns

from merels.protocol.check.conversation import LATE, Fault, Skip
from merels.protocol.check.positions import FORCED, MOVING, START, WINNING
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Search

GROUP = Group("stopping", "Stopping", needs=("greeting", "ready", "answers"))
CLOCK = 600
"""Milliseconds on the clock of a ponder search."""


def _stops(engine: Subject, search: Search, what: str) -> None:
    """Stop a search, which should answer at once."""
    seconds = engine.stop(search)
    engine.judge_delay(seconds, f"{what} was answered after {seconds:.2f} s", search.quote)


def _never_ends(engine: Subject, go: str) -> None:
    """Find fault with a search that does not wait for stop."""
    for text in (START, FORCED, WINNING):
        search = engine.begin(go, text)
        line = engine.watch(search, engine.pace.watch)
        if line is not None:
            raise Fault(f"'{search.go}' ended by itself after '{search.setup}'", line.raw)
        engine.stop(search)


@GROUP.step()
def stop(engine: Subject) -> None:
    """'stop' is answered by bestmove at once (unusual: after 100 ms, a fault: after 1 s); users
    wait for it, and tournaments after a ponder miss."""
    for text in (START, MOVING):
        search = engine.begin("go infinite", text)
        if engine.watch(search, engine.pace.listen) is not None:
            continue
        _stops(engine, search, "stop")


@GROUP.step(needs=("stop",))
def stop_at_once(engine: Subject) -> None:
    """A stop right after go is not lost; clients that change their mind send both in one packet.
    """
    for _ in range(3):
        search = engine.begin("go infinite")
        _stops(engine, search, "stop right after go")


@GROUP.step(needs=("stop",))
def stop_timed(engine: Subject) -> None:
    """'stop' also ends a search that has limits."""
    search = engine.begin("go movetime 60000 depth 1000")
    if engine.watch(search, engine.pace.listen) is None:
        _stops(engine, search, "stop in a timed search")


@GROUP.step()
def stop_idle(engine: Subject) -> None:
    """'stop' and 'ponderhit' are ignored when no search runs; a bestmove would be mistaken for the
    answer to the next search."""
    engine.new_game()
    engine.send("stop", "ponderhit", "stop")
    lines = engine.ping() + engine.listen(engine.pace.listen)
    for line in lines:
        if line.first == "bestmove":
            raise Fault("a bestmove without a go", line.raw)


@GROUP.step(needs=("stop",))
def infinite_waits(engine: Subject) -> None:
    """'go infinite' never ends by itself, not even with one legal move or a proven win; clients do
    not expect its answer before stop."""
    _never_ends(engine, "go infinite")


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
            raise Fault("isready ended the search", line.raw)
    seconds = (lines[-1].at - search.started) / 1e9
    engine.judge_delay(seconds, f"readyok took {seconds:.2f} s in a search", lines[-1].raw)
    search.lines += lines[:-1]
    engine.stop(search)


def _needs_ponder(engine: Subject) -> None:
    """Turn pondering on, as clients do before they ponder."""
    engine.ensure()
    option = engine.option("Ponder")
    if option is None:
        raise Skip("the engine has no option Ponder")
    engine.changed = True
    engine.set_option(option.name, "true")


@GROUP.step(needs=("stop",))
def ponder_waits(engine: Subject) -> None:
    """'go ponder' never ends by itself, not even with little time, one legal move or a proven win;
    the opponent has not moved yet."""
    _needs_ponder(engine)
    _never_ends(engine, "go ponder wtime 50 btime 50")


@GROUP.step(needs=("ponder-waits",))
def ponder_stop(engine: Subject) -> None:
    """'stop' ends a ponder search with a bestmove: the opponent has played another move."""
    _needs_ponder(engine)
    search = engine.begin("go ponder wtime 60000 btime 60000")
    engine.watch(search, engine.pace.listen / 2)
    _stops(engine, search, "stop in a ponder search")


def _hit(engine: Subject, search: Search, milliseconds: int, *, clock: bool = False) -> None:
    """Send ponderhit, after which the search has so many milliseconds, and judge its delay."""
    seconds = milliseconds / 1000 + LATE
    hit = monotonic_ns()
    engine.send("ponderhit")
    try:
        engine.finish(search, seconds)
    except Fault as fault:
        raise Fault(f"no bestmove within {seconds:g} s of ponderhit, '{search.go}'",
                    fault.line) from None
    assert search.best is not None
    took = (search.best.at - hit) / 1e9
    reason = f"'{search.go}' took {took:.3f} s after ponderhit"
    engine.judge_delay(took - milliseconds / 1000, reason, search.quote, clock=clock)


@GROUP.step(needs=("ponder-waits",))
def ponder_hit(engine: Subject) -> None:
    """After 'ponderhit' the search ends within its limits, which count from then on
    (unusual: a clock exceeded by up to 100 ms, a fault: by more)."""
    _needs_ponder(engine)
    for go, milliseconds, clock in (
        (f"go ponder wtime {CLOCK} btime {CLOCK}", CLOCK, True),
        ("go ponder movetime 100", 100, False),
        ("go ponder depth 2", CLOCK, False),
    ):
        search = engine.begin(go)
        if engine.watch(search, engine.pace.listen / 2) is None:
            _hit(engine, search, milliseconds, clock=clock)


@GROUP.step(needs=("ponder-waits", "ponder-hit"))
def ponder_hit_at_once(engine: Subject) -> None:
    """A ponderhit right after go is not lost: the opponent may move at once."""
    _needs_ponder(engine)
    for _ in range(3):
        search = engine.begin("go ponder movetime 50")
        _hit(engine, search, 50)
