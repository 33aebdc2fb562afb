"""Names of engines that the command line gives none: what they call themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from merels.tournament.flags.command_line import ParsedFlags
from merels.tournament.flags.make_settings import free_name
from merels.tournament.flags.make_tuning import SIDES
from merels.tournament.records.games import Entrant
from merels.tournament.records.settings import Settings

Ask = Callable[[Sequence[Entrant]], Sequence[str]]
"""Starts engines and returns the name that each announces, empty for none."""


def name_engines(
    settings: Settings, given: ParsedFlags, known: Sequence[str], ask: Ask
) -> Settings:
    """The settings with a name for every engine of the command line that has no ``name=``.

    That is the engine's own, numbered where another has it. ``known`` are the names in a journal
    that is continued, in which engines keep theirs.
    """
    each = given.pairs.get("-each", {})
    unnamed = [
        index for index, entry in enumerate(given.engines)
        if not entry.get("name") and "level" not in each | entry
    ]
    if not unnamed:
        return settings
    engines, names = settings.engines, [engine.name for engine in settings.engines]
    is_tune = settings.tuning is not None  # Of one engine, which is entered twice.
    if len(known) == len(names):
        for index in range(len(names)) if is_tune else unnamed:
            names[index] = known[index]
    elif not known:
        announced = ask([engines[index] for index in unnamed])
        taken = {name for index, name in enumerate(names) if index not in unnamed}
        for index, own in zip(unnamed, announced):
            if own.isprintable() and own.strip():
                names[index] = free_name(own, taken)
                taken.add(names[index])
                if is_tune:
                    names = [own + side for side in SIDES]
    return replace(settings, engines=tuple(
        replace(entrant, engine=replace(entrant.engine, name=name))
        for entrant, name in zip(engines, names)
    ))
