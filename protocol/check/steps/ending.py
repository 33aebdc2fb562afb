"""Steps about the end of the process."""

from __future__ import annotations

from merels.protocol.check.conversation import Fault
from merels.protocol.check.step import Check, Group
from merels.protocol.check.subject import Subject

GROUP = Group("ending", "Ending", needs=("greeting",))
GREETED, NEW, SEARCHING = range(3)
"""States of the process when it must end."""


def _ends(state: int, command: str, occasion: str) -> Check:
    """Send a command in some state, or end the input without one; then the process must end."""

    def check(engine: Subject) -> None:
        if state == SEARCHING:
            engine.begin("go infinite")
            engine.listen(engine.pace.listen / 2)
        else:
            engine.start()
            if state == NEW:
                engine.spawn()
        if command:
            engine.send(command)
        else:
            engine.close_input()
        engine.end(occasion)

    return check


GROUP.add(
    "quit", "'quit' ends the process, usually within a second. Clients kill an engine that stays, "
    "which may corrupt its files.", _ends(GREETED, "quit", "quit"))
GROUP.add(
    "quit-at-once", "'quit' works before the greeting, too: a user may close a dialog quickly.",
    _ends(NEW, "quit", "quit before the greeting"))
GROUP.add(
    "quit-in-search", "'quit' also ends the process during a search.",
    _ends(SEARCHING, "quit", "quit in a search"), needs=("ready", "answers"))
GROUP.add(
    "end-of-input", "The process ends when its input ends: the client has died, and an engine that "
    "stays behind uses up the machine.", _ends(GREETED, "", "the end of its input"))
GROUP.add(
    "end-of-input-at-once", "The process also ends when its input ends before any command.",
    _ends(NEW, "", "an empty input"))
GROUP.add(
    "end-of-input-in-search", "The process also ends when its input ends during a search, which "
    "no client can stop.", _ends(SEARCHING, "", "the end of its input in a search"),
    needs=("ready", "answers"))


@GROUP.step(needs=("quit",))
def exit_code(engine: Subject) -> None:
    """Every process so far that had to end did so with exit code 0; tournaments report any other
    as a crash."""
    if not engine.exits:
        _ends(GREETED, "quit", "quit")(engine)
    for occasion, end in engine.exits:
        if end:
            raise Fault(f"{end} after {occasion}")
