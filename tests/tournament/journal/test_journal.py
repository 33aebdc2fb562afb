"""The journal: rows survive unchanged, and only valid journals are continued."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.tournament.journal import journal as store
from merels.tournament.journal import open as opening
from merels.tournament.journal.journal import Journal, JournalError
from merels.tournament.journal.open import open_journal, open_run, read_journal
from merels.tournament.journal.rows import make_row
from merels.tournament.records.settings import LEAGUE, UNKNOWN_COMMAND, Settings
from tests.tournament.specs import (
    MERELS,
    NOTES,
    changed,
    result,
    resumed_journal,
    rows_of,
    settings,
)

FIRST, SECOND = settings().engines


def begin(path: Path | str | None) -> Journal:
    """Create a journal, in memory if ``path`` is None."""
    return open_journal(None if path is None else str(path), settings(), NOTES)


@pytest.mark.parametrize("name", ["journal.db", None])
def test_rows_are_read_as_written(tmp_path: Path, name: str | None) -> None:
    with begin(name and tmp_path / name) as journal:
        for number in (3, 1, 2):
            journal.append(make_row(result(number)))
        assert journal.numbers() == [1, 2, 3]
        row = journal.row(3)
        assert row == make_row(result(3)) == list(journal.rows())[2]
        assert tuple(row.played()) == result().moves
        assert row.white_score == 1.0
        rows = list(journal.rows_without_moves())
        assert [(row.white, row.white_score) for row in rows] == [("A", 1.0)] * 3


def test_no_name_of_a_file_means_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    begin(":memory:").close()
    read_journal(":memory:").close()


def test_another_process_can_read_a_game_as_soon_as_it_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with begin(path) as journal:
        journal.append(make_row(result(1)))
        with read_journal(str(path)) as reader:
            assert reader.numbers() == [1]


def test_an_unfinished_query_may_be_closed_after_the_journal(tmp_path: Path) -> None:
    with begin(tmp_path / "journal.db") as journal:
        for number in (1, 2):
            journal.append(make_row(result(number)))
        rows = journal.query("SELECT * FROM games")
        next(rows)
    rows.close()


def test_notes_change_together_or_not_at_all(tmp_path: Path) -> None:
    with begin(tmp_path / "journal.db") as journal:
        before = journal.meta()
        limit = before["settings"] + "x" * 4096
        journal._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, len(limit))
        with pytest.raises(JournalError):
            journal.set_meta({"arguments": '["-rounds", "9"]', "settings": limit + limit})
        assert journal.meta() == before
        journal.set_meta({"arguments": '["-rounds", "9"]'})
        assert journal.meta() == {**before, "arguments": '["-rounds", "9"]'}


def test_a_journal_after_a_checkpoint_is_a_single_file(tmp_path: Path) -> None:
    path = tmp_path / "j"
    for number in (1, 2):
        with resumed_journal(str(path), settings(), NOTES) as journal:
            assert journal._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            journal.append(make_row(result(number)))
            journal.checkpoint()
            assert [entry.name for entry in tmp_path.iterdir()] == ["j"]


def test_a_journal_with_a_reader_keeps_its_log_and_stays_valid(tmp_path: Path) -> None:
    with begin(tmp_path / "j") as journal:
        journal.append(make_row(result(1)))
        with read_journal(str(tmp_path / "j")) as reader:
            with pytest.raises(JournalError, match="another process is using it"):
                journal.checkpoint()
            assert reader.numbers() == [1]


def test_a_locked_journal_is_reported_as_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.1)
    path = str(tmp_path / "j")
    with begin(path) as journal:
        journal.append(make_row(result(1)))
        journal.checkpoint()
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputError, match="cannot read this journal: another process is using"):
            read_journal(path)
        (tmp_path / "new").touch()
    with closing(sqlite3.connect(tmp_path / "new", isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(JournalError, match="new: another process is using it"):
            begin(tmp_path / "new")


def test_the_second_of_two_runs_that_create_a_journal_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begin(tmp_path / "j"):
        # The second run has checked the path before the first one created the file.
        monkeypatch.setattr(opening, "is_new", lambda path: True)
        with pytest.raises(JournalError, match="j: another process is using it"):
            begin(tmp_path / "j")


def test_control_characters_of_a_reason_are_replaced() -> None:
    assert make_row(result(reason="White\x1b[2J\nlost")).reason == "White?[2J?lost"


def write_game(path: Path | str) -> None:
    """Create a journal with one game."""
    with begin(path) as journal:
        journal.append(make_row(result(1)))


def test_a_new_run_overwrites_only_a_journal_of_its_command_without_a_game(tmp_path: Path) -> None:
    begin(tmp_path / "j").close()
    write_game(tmp_path / "j")
    with pytest.raises(InputError, match="add -resume"):
        begin(tmp_path / "j")
    assert len(rows_of(tmp_path / "j")) == 1
    league = replace(settings(), format=LEAGUE)
    open_journal(f"{tmp_path}/league", league, NOTES).close()
    with pytest.raises(InputError, match="this file exists; name another file"):
        begin(tmp_path / "league")


def test_only_a_journal_that_can_be_continued_gets_the_advice_to_resume(tmp_path: Path) -> None:
    games = tmp_path / "games.pgn"
    games.write_text('[Event "A"]\n\n1. d6 f4 *\n')
    with pytest.raises(InputError, match="not a complete merels journal: .*; name another file$"):
        begin(games)
    converted = tmp_path / "converted"
    engines = tuple(replace(entrant, engine=replace(entrant.engine, command=UNKNOWN_COMMAND))
                    for entrant in settings().engines)
    imported = replace(settings(), engines=engines)
    with open_journal(str(converted), imported, NOTES) as journal:
        journal.append(make_row(result(1)))
    with pytest.raises(InputError, match="this file exists; name another file"):
        open_journal(str(converted), imported, NOTES)


def stored_words(path: str) -> list[str]:
    """Return the command line stored in a journal."""
    stored = open_run(path)
    stored.journal.close()
    assert stored.command == "merels tournament" and stored.settings.seed == 7
    return stored.words


def test_resume_creates_a_missing_journal(tmp_path: Path) -> None:
    path = str(tmp_path / "j")
    with resumed_journal(path, settings(), NOTES) as journal:
        assert journal.numbers() == []
    assert stored_words(path) == []


def test_an_empty_file_is_a_new_journal(tmp_path: Path) -> None:
    (tmp_path / "j").touch()
    with begin(tmp_path / "j") as journal:
        journal.append(make_row(result()))


@pytest.mark.parametrize(
    ("chosen", "difference"),
    [
        (settings(rounds=1), "-rounds: now 1, in the journal 2"),
        (settings(3), "-engine: now 3 (A, B, C), in the journal 2 (A, B)"),
        (settings(engines=(FIRST, changed(SECOND, name="C"))), "-engine 2 name: now C, in the"),
    ],
)
def test_another_tournament_is_refused(tmp_path: Path, chosen: Settings, difference: str) -> None:
    path = str(tmp_path / "j")
    write_game(path)
    with pytest.raises(InputError, match="another tournament") as error:
        resumed_journal(path, chosen, NOTES)
    assert difference in str(error.value)


def test_settings_are_stored_in_the_form_of_version_0_1_0() -> None:
    first, second = json.loads(settings().as_json())["engines"]
    assert first == {
        "name": "A", "command": list(MERELS), "directory": None, "protocol": "uci", "options": [],
        "resources": None, "restart": False, "ponder": False,
        "start_timeout": 20.0, "ping_timeout": 20.0,
        "limit": {"time": None, "increment": 0, "moves": None, "per_move": None, "nodes": 20,
                  "depth": None, "margin": 0},
    }
    assert second == first | {"name": "B", "limit": first["limit"] | {"nodes": 30}}


def test_rounds_may_be_added_but_not_removed(tmp_path: Path) -> None:
    path = str(tmp_path / "j")
    write_game(path)
    resumed_journal(path, settings(rounds=9), NOTES).close()
    with pytest.raises(InputError, match="rounds"):
        resumed_journal(path, settings(rounds=5), NOTES)


def test_the_stored_command_line_changes_only_with_the_settings(tmp_path: Path) -> None:
    path = str(tmp_path / "j")
    begin(path).close()
    nine = ["-rounds", "9"]
    for rounds, words, stored in ((2, ["-quiet"], []), (9, nine, nine), (9, ["-quiet"], nine)):
        notes = {"id": "y", "arguments": json.dumps(words)}
        resumed_journal(path, settings(rounds=rounds), notes).close()
        assert stored_words(path) == stored


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (lambda data: data.replace(b"white TEXT", b"wh\xffte TEXT"),
         "not a complete merels journal: no such column"),
        (lambda data: b"this is not a database, however long it may be " * 100,
         "not a complete merels journal|not a merels journal"),
        (lambda data: data[:68] + bytes(4) + data[72:], "not a merels journal"),
        (lambda data: data[:5000], "not a complete merels journal|damaged"),
        (lambda data: data[: 4096 * 3] + b"\xaa" * 4096 * 4 + data[4096 * 7 :],
         "not a complete merels journal|damaged"),
        (lambda data: data[:60] + bytes([0, 0, 0, 99]) + data[64:], "format 99"),
    ],
    ids=["column name", "text", "database of another program", "truncated", "middle", "format"],
)
def test_damaged_files_are_refused(
    tmp_path: Path, damaged: Callable[[bytes], bytes], message: str
) -> None:
    path = tmp_path / "j"
    with begin(path) as journal:
        for number in range(1, 100):
            journal.append(make_row(result(number)))
    data = path.read_bytes()
    assert damaged(data) != data
    path.write_bytes(damaged(data))
    with pytest.raises(InputError, match=message) as error:
        resumed_journal(str(path), settings(), NOTES)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE games SET reason = CAST(x'ff' AS TEXT)", "complete merels journal: Could not"),
        ("UPDATE games SET scores = '- - #x'", "expected numbers for its moves"),
        ("UPDATE games SET nodes = printf('1 1 %025d', 9)", "expected numbers for its moves"),
        ("UPDATE games SET depths = '6'", "expected numbers for its moves"),
        ("UPDATE games SET depths = printf('%.*c', 5000, '9') || ' 1 1'", "'game 1': expected"),
        ("ALTER TABLE games DROP COLUMN clocks", "not a complete merels journal: no such column"),
        ("PRAGMA user_version = 4",
         "has format 4, this program reads format 5; use the version of merels"),
        ("DROP TABLE games", "it has triggers, views, or other tables"),
        ("DELETE FROM meta WHERE key = 'settings'", "it has no settings"),
        ("UPDATE meta SET value = '[]' WHERE key = 'settings'", "its settings have no valid"),
        ("UPDATE meta SET value = '7' WHERE key = 'settings'", "its settings have no valid"),
        ("UPDATE meta SET value = '{\"seed\": 1}' WHERE key = 'settings'", "have no valid engines"),
        ("UPDATE meta SET value = json_set(value, '$.openings.file', 5) WHERE key = 'settings'",
         "settings have no valid file"),
        ("UPDATE meta SET value = json_set(value, '$.engines[1]', 'B') WHERE key = 'settings'",
         "settings have no valid engines"),
        ("UPDATE meta SET value = json_set(value, '$.engines[1].command', json('[]')) "
         "WHERE key = 'settings'",
         "settings have no valid command"),
        ("UPDATE meta SET value = json_set(value, '$.engines[1].options', json('[[\"Hash\"]]')) "
         "WHERE key = 'settings'",
         "settings have no valid options"),
        ("PRAGMA writable_schema = ON;UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT)",
         "not a complete merels journal"),
        ("UPDATE meta SET value = '[1]' WHERE key = 'arguments'", "not a list of words"),
        ("UPDATE meta SET value = 'x' WHERE key = 'arguments'", "journal is damaged: Expecting"),
        ("DELETE FROM meta WHERE key = 'id'", "it has no id"),
        ("UPDATE games SET result = '1,0'", "game 1 has an impossible result or position"),
        ("UPDATE games SET position = ''", "game 1 has an impossible result or position"),
        ("INSERT INTO meta VALUES ('verdict', 'H2')", "its verdict"),
        ("INSERT INTO meta VALUES ('verdict', 'H1')", "a verdict, but no SPRT"),
    ],
)
def test_invalid_content_is_an_error_of_one_line(
    tmp_path: Path, statement: str, message: str
) -> None:
    with begin(tmp_path / "j") as journal:
        journal.append(make_row(result(1)))
    with sqlite3.connect(tmp_path / "j") as database:
        database.executescript(statement)
    with pytest.raises(InputError, match=message) as error:
        with read_journal(str(tmp_path / "j")) as journal:
            for row in journal.rows():
                row.played()
    assert len(str(error.value).splitlines()) == 1


def test_a_failed_creation_leaves_no_partial_journal(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with pytest.raises(JournalError):
        open_journal(str(path), settings(), {"id": object()})  # type: ignore[dict-item]
    assert path.stat().st_size == 0
    resumed_journal(str(path), settings(), NOTES).close()


def test_a_run_killed_while_it_created_its_journal_can_be_resumed(tmp_path: Path) -> None:
    path = tmp_path / "j"
    script = f"""
import os, signal
from merels.tournament.journal.journal import Journal

def put(meta):
    journal._database.execute("PRAGMA cache_size = 1")  # SQLite writes to the file at once.
    for number in range(100):
        journal._database.execute("INSERT INTO meta VALUES (?, ?)", (number, "x" * 5000))
    os.kill(os.getpid(), signal.SIGKILL)

journal = Journal({str(path)!r})
journal._put_meta = put
journal.create("", {{}})
"""
    killed = subprocess.run([sys.executable, "-c", script])
    assert killed.returncode == -signal.SIGKILL and path.stat().st_size
    resumed_journal(str(path), settings(), NOTES).close()


def test_paths_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises((InputError, JournalError), match="journal"):
        begin(tmp_path / "none" / "j")
    with pytest.raises(InputError, match="no such file"):
        read_journal(str(tmp_path / "j"))
    with pytest.raises(InputError, match="this is a folder"):
        begin(tmp_path)


def test_two_runs_on_one_journal_are_detected(tmp_path: Path) -> None:
    with begin(tmp_path / "j") as journal:
        journal.append(make_row(result(1)))
        with pytest.raises(JournalError, match="game 1 .*another run"):
            journal.append(make_row(result(1)))


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_journal_that_another_run_writes_is_refused_under_every_name(tmp_path: Path) -> None:
    begin(tmp_path / "j").close()
    (tmp_path / "link").symlink_to("j")
    with opening.reserved(str(tmp_path / "j")):
        for name in ("j", "link"):
            with pytest.raises(InputError, match=f"{name}': another run is writing this journal"):
                with opening.reserved(str(tmp_path / name)):
                    pass
    assert not (tmp_path / "j.lock").exists()


def test_a_full_disk_is_an_error_and_loses_no_stored_game(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with begin(path) as journal:
        journal.append(make_row(result(1)))
        pages = journal._database.execute("PRAGMA page_count").fetchone()[0]
        journal._database.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(JournalError, match="full"):
            for number in range(2, 1000):
                journal.append(make_row(result(number)))
        stored = journal.numbers()
    with resumed_journal(str(path), settings(), NOTES) as journal:
        assert journal.numbers() == stored and len(stored) > 1
        journal.append(make_row(result(5000)))


def other_journal(path: Path) -> Path:
    """Return another journal beside ``path``, with more games."""
    other = path.with_name("other")
    with begin(other) as journal:
        journal.set_meta({"id": "other"})
        for number in range(1, 40):
            journal.append(make_row(result(number)))
        journal.checkpoint()
    return other


needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be deleted")


@needs_posix
@pytest.mark.parametrize(
    ("change", "how"),
    [
        (lambda path: path.unlink(), "journal J was deleted"),
        (lambda path: path.rename(path.with_name("moved")), "journal J was deleted"),
        (lambda path: other_journal(path).replace(path), "journal J was replaced by another file"),
        (lambda path: path.write_bytes(b""), "journal J was overwritten"),
        (lambda path: shutil.copyfile(other_journal(path), path), "journal J was overwritten"),
        (lambda path: os.truncate(f"{path}-wal", 0), "log of the journal J was overwritten"),
    ],
    ids=["deleted", "renamed", "replaced", "emptied", "overwritten", "log emptied"],
)
@pytest.mark.parametrize("last", [4, None], ids=["append", "end"])
def test_a_journal_changed_by_another_program_ends_the_run_and_loses_no_game(
    tmp_path: Path, change: Callable[[Path], object], how: str, last: int | None
) -> None:
    path = tmp_path / "j"
    with resumed_journal(str(path), settings(), NOTES) as journal:
        journal.append(make_row(result(1)))
    with resumed_journal(str(path), settings(), NOTES) as journal:
        for number in (2, 3):
            journal.append(make_row(result(number)))
        change(path)
        content = path.read_bytes() if path.exists() else None
        with pytest.raises(JournalError) as caught:
            journal.append(make_row(result(last))) if last else journal.check_files()
        numbers = [1, 2, 3, *([last] if last else [])]
        assert str(caught.value) == (
            f"the {how.replace('J', str(path))} during the run; "
            f"{len(numbers)} games stored in {path}.saved"
        )
    assert (path.read_bytes() if path.exists() else None) == content
    if "log" not in how and content:
        with read_journal(str(path)) as other:
            assert (other.meta()["id"], len(other.numbers())) == ("other", 39)
    with resumed_journal(f"{path}.saved", settings(), NOTES) as journal:
        assert list(journal.rows()) == [make_row(result(number)) for number in numbers]
        journal.append(make_row(result(5)))


@needs_posix
@pytest.mark.parametrize("ending", ["-wal", "-shm"])
def test_a_deleted_log_is_created_again(tmp_path: Path, ending: str) -> None:
    path, copy = tmp_path / "j", tmp_path / "copy"
    with begin(path) as journal:
        for number in (1, 2):
            journal.append(make_row(result(number)))
        os.remove(f"{path}{ending}")
        journal.append(make_row(result(3)))
        journal.append(make_row(result(4)))
        # The files as a killed run leaves them.
        shutil.copyfile(path, copy)
        shutil.copyfile(f"{path}-wal", f"{copy}-wal")
    for file in (path, copy):
        with read_journal(str(file)) as reader:
            assert reader.numbers() == [1, 2, 3, 4]


@needs_posix
def test_a_deleted_log_of_a_journal_with_a_reader_loses_no_game(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with begin(path) as journal:
        journal.append(make_row(result(1)))
        with read_journal(str(path)) as reader:
            assert reader.numbers() == [1]
            os.remove(f"{path}-wal")
            with pytest.raises(JournalError, match="log of the journal .* 2 games stored in "):
                journal.append(make_row(result(2)))
    with read_journal(f"{path}.saved") as reader:
        assert reader.numbers() == [1, 2]


def test_a_log_written_into_the_file_by_another_program_is_harmless(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with begin(path) as journal:
        journal.append(make_row(result(1)))
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        journal.append(make_row(result(2)))
        assert journal.numbers() == [1, 2]


def test_without_its_folder_a_journal_is_saved_among_the_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, temporary = tmp_path / "folder", tmp_path / "temporary"
    for path in (folder, temporary):
        path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with begin(folder / "j") as journal:
        journal.append(make_row(result(1)))
        shutil.rmtree(folder)
        for _ in range(2):
            with pytest.raises(JournalError, match="2 games stored in "):
                journal.append(make_row(result(2)))
    assert sorted(path.name for path in temporary.iterdir()) == ["j.saved", "j.saved1"]


@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="needs the permissions of POSIX")
@pytest.mark.parametrize(("file", "reason"), [
    (0o444, "Permission denied"), (0o666, "its folder cannot be written to")])
def test_the_error_of_a_journal_that_cannot_be_continued_names_the_reason(
    file: int, reason: str
) -> None:
    """In a former version, it was SQLite's ``attempt to write a readonly database``."""
    # Not in tmp_path, which other users may not enter.
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "j")
        with begin(path) as journal:
            journal.checkpoint()
        os.chmod(path, file)
        os.chmod(folder, 0o555)
        user = os.getuid()
        if user == 0:
            os.setresuid(65534, 65534, 0)
        try:
            hint = f"{path}: {reason}; copy it to a folder where you may write"
            with Journal(path) as journal, pytest.raises(JournalError, match=hint):
                journal.prepare_writing()
        finally:
            os.setresuid(user, user, user)
            os.chmod(folder, 0o755)


def test_the_error_of_a_full_disk_asks_for_space(tmp_path: Path) -> None:
    """SQLite's words, ``database or disk is full``, name two causes."""
    with begin(tmp_path / "j") as journal:
        ((pages,),) = journal.query("PRAGMA page_count")
        list(journal.query(f"PRAGMA max_page_count = {pages}"))
        with pytest.raises(JournalError, match=f"{tmp_path}/j: No space left on device; free some"):
            for number in range(1, 1000):
                journal.append(make_row(result(number)))


@pytest.mark.skipif(sys.platform == "win32", reason="needs the permissions of POSIX")
def test_the_error_of_an_unclosed_journal_in_a_read_only_folder_names_its_log() -> None:
    # Not in tmp_path, which other users may not enter.
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "j")
        copy = os.path.join(folder, "copy")
        with begin(path):
            shutil.copy(path, copy)
            os.chmod(copy, 0o444)
        os.chmod(folder, 0o555)
        user = os.geteuid()
        try:
            if user == 0:
                os.seteuid(65534)
            with pytest.raises(InputError, match="a run has not closed this journal: move it"):
                read_journal(copy)
        finally:
            os.seteuid(user)
            os.chmod(folder, 0o755)
