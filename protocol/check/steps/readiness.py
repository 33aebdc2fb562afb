"""Steps about isready."""

from __future__ import annotations

from time import monotonic_ns

from merels.protocol.check.conversation import LATE, Fault
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject

GROUP = Group("readiness", "Ready")


@GROUP.step()
def ready(engine: Subject) -> None:
    """isready is answered by readyok, the first one within 15 s, the time that clients give it, and
    preferably within 1 s; they wait for it before every game."""
    engine.discard()
    engine.start()
    engine.ping()
    if engine.preparing > LATE:
        engine.warn(f"the first readyok took {engine.preparing:.1f} s")


@GROUP.step()
def ready_at_once(engine: Subject) -> None:
    """With nothing to prepare, readyok comes at once; tournaments ask before every game and when
    an engine seems to hang."""
    engine.ensure()
    engine.ping()
    asked = monotonic_ns()
    seconds = (engine.ping()[-1].at - asked) / 1e9
    engine.judge_delay(seconds, f"readyok took {seconds:.2f} s")


@GROUP.step()
def ready_counts(engine: Subject) -> None:
    """Each isready gets exactly one readyok; clients that count them get confused otherwise."""
    engine.ensure()
    engine.ping()
    engine.send(*["isready"] * 5)
    for _ in range(5):
        engine.until("readyok", engine.pace.answer, "isready, 5 times")
    for line in engine.listen(engine.pace.listen):
        if line.first == "readyok":
            raise Fault("one readyok too many", line.raw)


@GROUP.step()
def ready_after_new_game(engine: Subject) -> None:
    """isready is answered after ucinewgame (uginewgame), even if that comes twice; every
    tournament sends both before a game."""
    engine.ensure()
    for _ in range(2):
        engine.new_game()


@GROUP.step()
def ready_before_greeting(engine: Subject) -> None:
    """isready is also answered before the greeting; some clients first ask whether the engine
    runs."""
    engine.ensure()
    engine.spawn()
    engine.send("isready")
    engine.hope_for_ready("no readyok before the greeting")


@GROUP.step(needs=("ready",))
def answers(engine: Subject) -> None:
    """'go depth 1' in the starting position is answered by a bestmove; most steps need that."""
    engine.search("go depth 1")
