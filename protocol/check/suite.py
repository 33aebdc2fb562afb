"""All steps in the order in which they run, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence

from merels.engine.game.errors import InputError, suggestion
from merels.protocol.check.step import Group, Step
from merels.protocol.check.steps import (
    ending,
    handshake,
    moves,
    options,
    output,
    position,
    queries,
    readiness,
    searching,
    stopping,
    strange_input,
)

GROUPS: tuple[Group, ...] = (
    handshake.GROUP,
    readiness.GROUP,
    stopping.GROUP,
    searching.GROUP,
    position.GROUP,
    options.GROUP,
    strange_input.GROUP,
    moves.GROUP,
    queries.GROUP,
    output.GROUP,
    ending.GROUP,
)
STEPS: tuple[Step, ...] = tuple(step for group in GROUPS for step in group.steps)


def choose(names: Sequence[str]) -> list[Step]:
    """The steps with these names, or in groups with these names; all of them for no names."""
    if not names:
        return list(STEPS)
    groups = {group.name for group in GROUPS}
    known = [step.name for step in STEPS]
    wanted = {name.lower() for name in names}
    for name in sorted(wanted):
        if name not in groups and name not in known:
            hint = suggestion(name, [*known, *groups]) or "; -list prints them all"
            raise InputError(name, f"no step or group has that name{hint}")
    return [step for step in STEPS if step.name in wanted or step.group in wanted]
