"""Whether a file, which may come from a stranger, is a whole journal that this version can read."""

from __future__ import annotations

import json

from merels.tournament.journal.journal import APPLICATION_ID, SCHEMA_VERSION, TABLES, TYPES, Journal
from merels.tournament.records.files import file_error
from merels.tournament.records.settings import check_settings, engine_names


def check_journal(journal: Journal) -> None:
    """Raise an `InputError` unless the journal can be read, and what it notes can be used.

    What is read of it later has the types and the size that a journal's fields have.
    """
    journal.distrust()
    _check_format(journal)
    _check_schema(journal)
    ((found,),) = journal.query("PRAGMA quick_check(1)")
    if found != "ok":
        raise journal.damaged(found)
    _check_values(journal)
    meta = journal.meta()
    try:
        _check_notes(meta)
    except ValueError as error:
        raise journal.damaged(str(error)) from None
    _check_names(journal, engine_names(meta["settings"]))


def _check_format(journal: Journal) -> None:
    """See that the file is marked as a journal, of the version that we read."""
    ((application,),) = journal.query("PRAGMA application_id")
    ((version,),) = journal.query("PRAGMA user_version")
    if application != APPLICATION_ID:
        raise file_error(journal.path or "", "this file is not a merels journal")
    if version != SCHEMA_VERSION:
        raise file_error(
            journal.path or "",
            f"this journal has format {version}, this program reads {SCHEMA_VERSION}",
        )


def _check_schema(journal: Journal) -> None:
    """Refuse triggers, views and virtual tables, which are programs, and other columns."""
    for kind, name, page in journal.query("SELECT type, name, rootpage FROM sqlite_master"):
        if kind != "table" or name not in TABLES or not page:
            raise journal.damaged(f"it holds a {kind} '{name}', which no journal has")
    for name, columns in TABLES.items():
        found = list(journal.query(f"PRAGMA table_xinfo({name})"))
        computed = any(hidden for *_, hidden in found)
        if computed or [column for _, column, *_ in found] != list(columns):
            raise journal.damaged(f"its table '{name}' has other columns than a journal's")


def _check_values(journal: Journal) -> None:
    """See that every value is of its column's type, which SQLite does not, and makes sense."""
    for name, columns in TABLES.items():
        wrong = " OR ".join(
            f"typeof({column}) <> '{TYPES[kind].lower()}'" for column, kind in columns.items()
        )
        for _ in journal.query(f"SELECT 1 FROM {name} WHERE {wrong} LIMIT 1"):
            raise journal.damaged(f"a value in its table '{name}' is of another type")
    for condition, what in (
        ("result NOT IN ('1-0', '0-1', '1/2-1/2', '*')", "has an invalid result"),
        ("number < 1", "has a number below 1"),
        ("white = black", "is of an engine against itself"),
    ):
        for (number,) in journal.query(f"SELECT number FROM games WHERE {condition} LIMIT 1"):
            raise journal.damaged(f"game {number} {what}")


def _check_names(journal: Journal, names: list[str]) -> None:
    """Refuse games of engines other than these."""
    marks = ",".join("?" * len(names))
    query = f"SELECT number FROM games WHERE NOT (white IN ({marks}) AND black IN ({marks}))"
    for (number,) in journal.query(query, *names, *names):
        raise journal.damaged(f"game {number} is of engines that this tournament does not have")


def _check_notes(meta: dict[str, str]) -> None:
    """Raise a `ValueError` unless the notes on the tournament can be used."""
    try:
        check_settings(meta["settings"])
        arguments = json.loads(meta["arguments"])
    except KeyError as error:
        raise ValueError(f"it does not say its {error.args[0]}") from None
    except RecursionError:
        raise ValueError("its notes are nested too deeply") from None
    if not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
        raise ValueError("its command line is no list of words")
    if "id" not in meta:
        raise ValueError("it does not say its id")
    if meta.get("verdict", "H0") not in ("H0", "H1"):
        raise ValueError("its verdict is neither H0 nor H1")
    if "verdict" in meta and json.loads(meta["settings"]).get("sprt") is None:
        raise ValueError("it has a verdict, but no test that came to it")
