"""Steps about the end of the process."""

from __future__ import annotations

from merels.protocol.check.conversation import Fault
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject

GROUP = Group("ending", "Ending", needs=("greeting",))


@GROUP.step()
def quit(engine: Subject) -> None:
    """'quit' ends the process, usually within a second. Clients kill an engine that stays, which
    may corrupt its files."""
    engine.start()
    engine.send("quit")
    engine.end("quit")


@GROUP.step()
def quit_at_once(engine: Subject) -> None:
    """'quit' works before the greeting, too: a user may close a dialog quickly."""
    engine.start()
    engine.spawn()
    engine.send("quit")
    engine.end("quit before the greeting")


@GROUP.step(needs=("ready", "answers"))
def quit_in_search(engine: Subject) -> None:
    """'quit' also ends the process during a search."""
    engine.begin("go infinite")
    engine.listen(engine.pace.listen / 2)
    engine.send("quit")
    engine.end("quit in a search")


@GROUP.step()
def end_of_input(engine: Subject) -> None:
    """The process ends when its input ends: the client has died, and an engine that stays behind
    uses up the machine."""
    engine.start()
    engine.close_input()
    engine.end("the end of its input")


@GROUP.step()
def end_of_input_at_once(engine: Subject) -> None:
    """The process also ends when its input ends before any command."""
    engine.start()
    engine.spawn()
    engine.close_input()
    engine.end("an empty input")


@GROUP.step(needs=("ready", "answers"))
def end_of_input_in_search(engine: Subject) -> None:
    """The process also ends when its input ends during a search, which nobody can stop any more."""
    engine.begin("go infinite")
    engine.listen(engine.pace.listen / 2)
    engine.close_input()
    engine.end("the end of its input in a search")


@GROUP.step(needs=("quit",))
def exit_code(engine: Subject) -> None:
    """Every process so far that had to end did so with exit code 0; tournaments report any other
    as a crash."""
    if not engine.exits:
        engine.start()
        engine.send("quit")
        engine.end("quit")
    for occasion, end in engine.exits:
        if end:
            raise Fault(f"{end} after {occasion}")
