"""Names for the engines without ``name=``: those that the engines announce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merels.tournament.flags.command_line import ParsedFlags
from merels.tournament.flags.make_settings import free_name
from merels.tournament.flags.make_tuning import SIDES
from merels.tournament.records.settings import Settings


def name_engines(
    settings: Settings, given: ParsedFlags, stored: Sequence[str] = (),
    announced: Sequence[str] = (),
) -> Settings:
    """Return the settings with a name for every engine that has no ``name=``.

    An engine gets its name of ``announced``, with a number if another engine has that name. In a
    continued run, the engines keep their ``stored`` names, those in the journal.
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
    elif announced:
        taken = {name for index, name in enumerate(names) if index not in unnamed}
        for index in unnamed:
            name = announced[index]
            if name.isprintable() and name.strip():
                names[index] = free_name(name, taken)
                taken.add(names[index])
                if is_tune:
                    names = [name + side for side in SIDES]
    return replace(settings, engines=tuple(
        replace(entrant, engine=replace(entrant.engine, name=name))
        for entrant, name in zip(engines, names)
    ))
