"""Names for the engines without ``name=``: those that the engines announce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from merels.tournament.flags.command_line import ParsedFlags
from merels.tournament.flags.make_settings import free_name
from merels.tournament.flags.make_tuning import SIDES
from merels.tournament.records.games import Entrant
from merels.tournament.records.settings import Settings

ReadNames = Callable[[Sequence[Entrant]], Sequence[str]]
"""Starts engines and returns the name that each announces, or ''."""


def name_engines(
    settings: Settings, given: ParsedFlags, stored: Sequence[str], read_names: ReadNames
) -> Settings:
    """Return the settings with a name for every engine that has no ``name=``.

    An engine gets the name that it announces, with a number if another engine has that name. In a
    continued run, the engines keep their ``stored`` names, those in the journal; () in a new run.
    """
    unnamed = [
        index for index, entry in enumerate(given.engines)
        if not entry.get("name") and "level" not in given.each | entry
    ]
    if not unnamed:
        return settings
    engines, names = settings.engines, [engine.name for engine in settings.engines]
    is_tune = settings.tuning is not None  # Then one engine is entered twice.
    if len(stored) == len(names):
        for index in range(len(names)) if is_tune else unnamed:
            names[index] = stored[index]
    elif not stored:
        announced = read_names([engines[index] for index in unnamed])
        taken = {name for index, name in enumerate(names) if index not in unnamed}
        for index, name in zip(unnamed, announced):
            if name.isprintable() and name.strip():
                names[index] = free_name(name, taken)
                taken.add(names[index])
                if is_tune:
                    names = [name + side for side in SIDES]
    return replace(settings, engines=tuple(
        replace(entrant, engine=replace(entrant.engine, name=name))
        for entrant, name in zip(engines, names)
    ))
