"""Description of the positions that the tables of ``level=perfect`` cover."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from merels.engine.common.errors import InputError, printable
from merels.engine.game.rules import Rules
from merels.engine.tablebase.probe import Tables, build_command, open_tables
from merels.engine.tablebase.sectors import MAX_MEN
from merels.engine.tablebase.small import SMALL_MEN
from merels.protocol.client.engine_spec import (
    LEVEL_OPTIONS,
    MERELS,
    OPTION,
    PERFECT,
    TABLES_OPTION,
    EngineSpec,
)


def table_coverage(spec: EngineSpec, rules: Sequence[Rules]) -> list[str]:
    """Return a sentence for each rule set of ``rules`` that ``level=perfect`` has tables for.

    Return [] for any other engine. Raise `InputError` with the command that builds tables if no
    rule set has tables besides the small ones that merels builds when it starts.
    """
    options = {name.lower(): value for name, value in spec.options}
    folder = options.get(TABLES_OPTION.lower(), "")
    limits_strength = LEVEL_OPTIONS[0].lower() in options
    if spec.command != MERELS or not folder or limits_strength:
        return []
    opened = [open_tables(Path(folder), each) for each in rules]
    sentences = [text for tables in opened if (text := _coverage(tables, folder))]
    if sentences:
        return sentences
    problem = (
        f"no tables for {rules[0]} in {printable(folder)} beyond the small ones built at start-up"
    )
    if opened[0].problems:
        problem = opened[0].problems[0]
    raise InputError(
        f"level={PERFECT}",
        f"{problem}; build tables with {build_command(rules[0], Path(folder))}, or name another "
        f"folder with {OPTION}{TABLES_OPTION}=",
    )


def _coverage(tables: Tables, folder: str) -> str:
    """Return a description of a rule set's tables; '' if there are only small tables."""
    claim = f"level={PERFECT} plays {tables.rules} by tables"
    if tables.complete:
        return f"{claim} from the first man on"
    remedy = f"{build_command(tables.rules, Path(folder))} makes the rest"
    if tables.men == MAX_MEN:
        return f"{claim} when no man is in hand, and searches in the placing phase; {remedy}"
    if not any(sector.men > SMALL_MEN for sector in tables.headers):
        return ""
    men = f"at most {tables.men}" if tables.men > SMALL_MEN else "certain numbers of men"
    claim += f" when no man is in hand and {men} are on the board"
    return f"{claim}, and searches elsewhere; {remedy}"
