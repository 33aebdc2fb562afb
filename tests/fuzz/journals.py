"""Fuzzing of files of finished games: journals, damaged by bytes or by SQL, and PGN."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from pathlib import Path
from typing import Self

from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.journal.open import open_journal
from merels.tournament.journal.rows import Row, make_row
from merels.tournament.records.games import Entrant, TimeControl
from merels.tournament.records.settings import Settings
from tests.fuzz.commands import IDLE, run_command, within
from tests.fuzz.harness import Case, FolderFuzzer, Tally
from tests.fuzz.mutate import NUMBERS, ODD, edit, make_edits, spoil
from tests.tournament.specs import result

FLAGS = ["-engine", "cmd=/none", "name=A", "-engine", "cmd=/none", "name=B", "-each", "nodes=20",
         "-rounds", "2", "-srand", "7"]
_META = ("settings", "arguments", "id", "created", "version", "verdict")
_VALUES = ("NULL", "x'ff00'", "''", "0", "-1", "1.5", "1e300", "9223372036854775807", "'*'", "'-'",
           "'#'", "'#x'", "'1-0'", "'nobody'", "'d6'", "'z9 q'", "'a b c d e f g'",
           "CAST(x'ff' AS TEXT)", "'9999-12-31T23:59:59'", "'\x1b[2J'", "'{}'", "'[]'", "'[1]'",
           "'null'", "'{\"seed\": []}'", "'{\"openings\": 5}'", "'\"x\"'", "'[\"-engine\"]'",
           "'[\"-shard\"]'", "'[[]]'")


class Journals(FolderFuzzer):
    """A journal after byte edits or SQL statements, given to every command that reads journals.

    `mutate.edit` describes the edits; a statement begins with ``sql``.
    """

    name = "journals"
    unit = "files"

    def __enter__(self) -> Self:
        super().__enter__()
        limit = TimeControl(nodes=20)
        engines = tuple(Entrant(EngineSpec(("/none",), name), limit) for name in "AB")
        path = str(Path(self._folder.name) / "sound")
        # The settings agree with the flags, so that -resume reports only the damage.
        notes = {"id": "x", "arguments": json.dumps(FLAGS), "created": "2026"}
        with open_journal(path, Settings(engines, seed=7), notes) as journal:
            for number in range(1, 5):
                journal.append(make_row(result(number)))
        self._settings = sound_settings(path)
        self._sound = Path(path).read_bytes()
        self._number = 0
        return self

    def make(self, chance: random.Random) -> Case:
        """Return random byte edits or SQL statements."""
        if chance.random() < 0.4:
            return make_edits(chance, len(self._sound), 200)
        return [_statement(chance, self._settings) for _ in range(chance.choice((1, 1, 2)))]

    def check(self, case: Case) -> Tally:
        """Rate, review, merge and resume the journal."""
        self._number += 1
        folder = Path(self._folder.name) / str(self._number)
        folder.mkdir()
        (folder / "spoilt").write_bytes(edit(self._sound, case))
        (folder / "sound").write_bytes(self._sound)
        _execute(folder / "spoilt", [text[4:] for text in case if text.startswith("sql ")])
        with within(str(folder)):
            tallies = [
                run_command("ratings", "spoilt", "-format", form)
                for form in ("text", "html", "json")
            ]
            tallies.append(run_command("review", "spoilt", "-nodes", "1", "-json"))
            # Resuming comes last, as it writes to the journal.
            tallies.append(run_command("merge", "out", "sound", "spoilt"))
            tallies.append(run_command("merge", "out2", "spoilt"))
            resume = ["-journal", "spoilt", "-resume", *IDLE]
            tallies.append(run_command("tournament", *resume, "-pgnout", "p", "-quiet"))
            tallies.append(run_command("tournament", *FLAGS, *resume))
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        # A file counts as accepted if any command accepts it.
        accepted = any(tally.accepted for tally in tallies)
        return Tally(int(accepted), int(not accepted))


class GameFiles(FolderFuzzer):
    """PGN files for ``merels ratings`` and ``review``."""

    name = "gamefiles"
    unit = "files"

    def make(self, chance: random.Random) -> Case:
        """Return some damaged games; each character of the text is one byte."""
        games = []
        for number in range(chance.choice((1, 2, 5))):
            white, black = chance.sample(("A", "B", "Mühle", 'C "x"', "?"), 2)
            score = chance.choice(("1-0", "0-1", "1/2-1/2", "*", "2-0", ""))
            games.append(
                f'[Event "?"]\n[Round "{number // 2}"]\n[White "{white}"]\n[Black "{black}"]\n'
                f'[Result "{score}"]\n[Termination "normal"]\n\n1. d6 {{+0.1/2}} f4 {score}\n\n'
            )
        text = "".join(games)
        if chance.random() < 0.9:
            text = spoil(text, chance, (text,))
        coding = chance.choice(("utf-8", "utf-8", "utf-8", "latin-1"))
        return [text.encode(coding, "replace").decode("latin-1")]

    def check(self, case: Case) -> Tally:
        """Rate the file in every output format, and review it."""
        path = os.path.join(self._folder.name, "games.pgn")
        Path(path).write_bytes("".join(case).encode("latin-1", "replace"))
        tallies = [
            run_command("ratings", path, "-format", form)
            for form in ("text", "html", "json", "csv")
        ]
        # A review may refuse illegal moves, which ratings do not check.
        run_command("review", path, "-nodes", "1", "-pgn")
        accepted = all(tally.accepted for tally in tallies)
        return Tally(int(accepted), int(not accepted))


def sound_settings(path: str) -> str:
    """Return the JSON of a journal's settings."""
    database = sqlite3.connect(path)
    try:
        (text,) = database.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone()
        return str(text)
    finally:
        database.close()


def _execute(path: Path, statements: list[str]) -> None:
    """Execute SQL statements on a journal; ignore those that fail."""
    if not statements:
        return
    database = sqlite3.connect(path, isolation_level=None)
    try:
        database.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            try:
                database.execute(statement)
            except (sqlite3.Error, ValueError):
                continue
    finally:
        database.close()


def _statement(chance: random.Random, settings: str) -> str:
    """Return a random SQL statement that damages a journal."""
    value = chance.choice(_VALUES)
    if chance.random() < 0.1:
        value = _text(chance.choice((*NUMBERS, *ODD)))
    draw = chance.random()
    if draw < 0.5:
        column, other = chance.sample(Row._fields, 2)
        if chance.random() < 0.2:
            value = other
        return f"sql UPDATE games SET {column} = {value} WHERE number = {chance.randint(1, 4)}"
    if draw < 0.65:
        return f"sql UPDATE meta SET value = {value} WHERE key = '{chance.choice(_META)}'"
    if draw < 0.85:
        value = _spoilt_json(settings, chance)
        return f"sql UPDATE meta SET value = {value} WHERE key = 'settings'"
    if draw < 0.9:
        return f"sql DELETE FROM meta WHERE key = '{chance.choice(_META)}'"
    return chance.choice((
        "sql DROP TABLE games", "sql DROP TABLE meta", "sql DELETE FROM games",
        f"sql ALTER TABLE games DROP COLUMN {chance.choice(Row._fields)}",
        "sql ALTER TABLE games RENAME TO game", "sql PRAGMA user_version = 2",
        f"sql INSERT OR REPLACE INTO meta VALUES ('verdict', {value})",
        f"sql ALTER TABLE games ADD COLUMN more TEXT DEFAULT {value}",
        "sql INSERT INTO games SELECT 7, round, 9, black, white, position, opening, opening_name, "
        "result, termination, reason, moves, scores, depths, nodes, times, clocks, started, "
        f"{value} FROM games WHERE number = 1",
    ))


def _spoilt_json(settings: str, chance: random.Random) -> str:
    """Return settings, damaged as text or with one value replaced, as an SQL literal."""
    if chance.random() < 0.5:
        return _text(spoil(settings, chance))
    data = json.loads(settings)
    place = data
    key = chance.choice(list(place))
    while isinstance(place[key], dict) and place[key] and chance.random() < 0.7:
        place = place[key]
        key = chance.choice(list(place))
    place[key] = chance.choice((None, 0, -1, 10**30, "x", [], {}, [[]], 1.5, True, "1e9"))
    return _text(json.dumps(data))


def _text(text: str) -> str:
    return "'" + text.replace("'", "''").replace("\0", "") + "'"


