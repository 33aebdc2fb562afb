"""Hostile engines, journals and pages: they harm no terminal, file, page or other process."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.formats.pgn.reader import parse_records
from merels.tournament.journal import journal as store
from merels.tournament.journal.import_games import GamesFile
from merels.tournament.journal.merging import merge
from merels.tournament.journal.open import open_journal, read_journal
from merels.tournament.journal.players import Roster
from merels.tournament.journal.rows import make_row
from tests.commands import command
from tests.kit.fakes import fake
from tests.processes import needs_proc, needs_resource
from tests.tournament.processes import COMMAND, Marked, page_address
from tests.tournament.specs import (
    NOTES,
    engine_words,
    parallel,
    result,
    resumed_journal,
    rows_of,
    settings,
)

pytestmark = pytest.mark.thorough

ratings = command("ratings")

PATIENCE = "300"
"""Timeout in seconds that only a hang exceeds."""


def flags(folder: Path, mode: str, argument: str = "", *words: str) -> list[str]:
    """Return the flags of a match of E, which is hostile except in its trial, against a sound S."""
    return [
        *engine_words("E", *words, command=fake(mode, argument, once=folder / "late")),
        *engine_words("S", command=fake()),
        "-each", "nodes=1", f"starttimeout={PATIENCE}", f"pingtimeout={PATIENCE}",
        "-srand", "1", "-maxmoves", "20",
    ]


def play(*words: str) -> tuple[str, str]:
    """Run a tournament in which E never moves; return its output and error output."""
    status, out, err = Marked(*words).wait(float(PATIENCE))
    assert status == 1, err
    return out, err


def merels(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command of merels."""
    return subprocess.run(
        [*COMMAND[:-1], *words], text=True, timeout=float(PATIENCE),
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def is_printable(text: str) -> bool:
    """Return whether a text has no control characters except line feeds."""
    return all(c == "\n" or c.isprintable() for c in text)


class Page(HTMLParser):
    """The names of a page's start tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)


def test_hostile_text_is_printed_as_harmless_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The text of an engine is in every file and page that a tournament writes."""
    journal, pgn, log = (str(tmp_path / name) for name in ("j", "games.pgn", "log"))
    out, err = play(
        *flags(tmp_path, "hostile"), "-rounds", "1", "-journal", journal, "-pgnout", pgn,
        "-log", f"file={log}", "level=trace", "engine=true",
    )
    assert "makes an illegal move ('?[2J" in out
    assert is_printable(out + err)
    logged = Path(log).read_text(encoding="utf-8")
    assert is_printable(logged) and re.search(r" trace game \d: E ! ", logged)
    text = Path(pgn).read_text(encoding="utf-8")
    assert is_printable(text)
    assert [record.result for record in parse_records(text)] == ["0-1", "1-0"]
    names = [(record.tags["White"], record.tags["Black"]) for record in parse_records(text)]
    assert names == [("E", "S"), ("S", "E")]
    for path in (journal, pgn):
        for form in ("text", "json", "csv", "html"):
            assert ratings([path, "-format", form]) == 0
            shown = capsys.readouterr().out
            if form == "html":
                tags = Page(shown).tags
                assert tags.count("script") == 2 and "img" not in tags
            else:
                assert is_printable(shown)


def test_letters_that_the_terminal_lacks_are_replaced(tmp_path: Path) -> None:
    pgn = tmp_path / "x.pgn"
    pgn.write_text('[White "Mühle 直"]\n[Black "B"]\n\n1. d6 1-0\n', encoding="utf-8")
    for words, status, shown in (
        (["ratings", str(pgn)], 0, "M?hle ?"),
        (["tournament", *flags(tmp_path, "hostile"), "-rounds", "1"], 1, "an illegal move ('?[2J"),
    ):
        done = merels(*words, env={**os.environ, "PYTHONIOENCODING": "ascii"})
        assert done.returncode == status and shown in done.stdout, done.stderr


@pytest.mark.parametrize("mode", ["hostile", "fails-to-start"])
def test_check_prints_no_control_characters(mode: str) -> None:
    engine = engine_words("\x1b[2J", command=fake(mode))
    for form in ([], ["-json"]):
        done = merels("check", "-fast", *engine, "-only", "greeting,moves", *form)
        assert done.returncode in (1, 2), done.stderr
        assert is_printable(done.stdout + done.stderr)
        assert "Traceback" not in done.stderr


def test_an_endless_greeting_is_cut_off() -> None:
    """A limit of time or of size ends the greeting, and only a bounded part is printed."""
    engine = engine_words("E", command=fake("endless-greeting"))
    done = merels("check", "-fast", *engine, "-only", "greeting")
    assert done.returncode == 1
    assert "more than 32 MiB" in done.stdout or "no answer to 'uci'" in done.stdout
    assert len(done.stdout) < 10_000


@needs_proc
def test_an_engine_inherits_no_file_of_the_runner(tmp_path: Path) -> None:
    """An engine gets neither the journal nor a pipe of a worker, whose messages are trusted."""
    report = tmp_path / "report"
    play(
        *flags(tmp_path, f"start: report {report}; go: answer bestmove (none)"),
        "-rounds", "1", "-games", "1", *parallel(2),
        "-journal", str(tmp_path / "j"), "-pgnout", str(tmp_path / "p"),
        "-log", f"file={tmp_path}/log", "-serve", "0",
    )
    descriptors = json.loads(report.read_text())["descriptors"]
    assert set(descriptors) == {"0", "1", "2"} and descriptors["2"].startswith("pipe:")
    assert descriptors["0"].startswith("pipe:") and descriptors["1"].startswith("pipe:")


@needs_resource
@pytest.mark.parametrize(
    ("mode", "argument", "limit", "reason"),
    [
        ("memory", "2000", "memory=1000", "exit code 1, limited to memory=1000: MemoryError"),
        ("cpu", "", "cpu=1", "killed by SIGXCPU, over its limit of cpu=1"),
    ],
)
def test_an_engine_over_its_limit_loses(
    tmp_path: Path, mode: str, argument: str, limit: str, reason: str
) -> None:
    journal = str(tmp_path / "j")
    out, _ = play(*flags(tmp_path, mode, argument, limit), "-rounds", "1", "-journal", journal)
    assert f"0-1 {{White disconnects ({reason})}}" in out
    assert [(row.result, row.termination) for row in rows_of(journal)] == [
        ("0-1", "abandoned"), ("1-0", "abandoned"),
    ]
    # A resumed run has the stored limits, so it is the same tournament.
    assert play("-journal", journal, "-resume")[0].count("Finished") == 0


def other_address() -> str:
    """Return an address of this machine other than that of the page."""
    if sys.platform == "linux":
        return "127.0.0.2"
    return socket.gethostbyname(socket.gethostname())


def test_the_page_refuses_foreign_hosts(tmp_path: Path) -> None:
    run = Marked(*flags(tmp_path, "none"), "-rounds", "1000", "-serve", "0")
    address = page_address(run)
    port = address.rstrip("/").rpartition(":")[2]
    with pytest.raises(OSError), socket.create_connection((other_address(), int(port)), timeout=60):
        pass
    with urllib.request.urlopen(address, timeout=60) as answer:
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", ""):
        request = urllib.request.Request(address, headers={"Host": host})
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(request, timeout=60)
    run.process.terminate()
    run.wait(float(PATIENCE))


@contextlib.contextmanager
def journal_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Create a valid journal of one game; yield its open database."""
    with open_journal(str(path), settings(), NOTES) as journal:
        journal.append(make_row(result()))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        yield database


NESTED = "[" * 100_000 + "]" * 100_000
MANIPULATIONS = {
    "trigger": "CREATE TRIGGER t AFTER INSERT ON games BEGIN DELETE FROM games; END",
    "view": "ALTER TABLE games RENAME TO old; CREATE VIEW games AS SELECT * FROM old",
    "endless view": "DROP TABLE games; CREATE VIEW games AS WITH RECURSIVE n(number) AS "
    "(SELECT 1 UNION ALL SELECT number + 1 FROM n) SELECT * FROM n",
    "virtual table": "CREATE VIRTUAL TABLE v USING fts5(x)",
    "long text": "UPDATE games SET moves = printf('%.*c', 20000000, 'x')",
    "deep settings": f"UPDATE meta SET value = '{NESTED}' WHERE key = 'settings'",
}


@pytest.mark.parametrize("statements", MANIPULATIONS.values(), ids=MANIPULATIONS)
def test_a_manipulated_journal_is_refused(
    tmp_path: Path, statements: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every reader refuses the journal with one line, before SQLite runs any code in it."""
    path = tmp_path / "j"
    with journal_database(path) as database:
        try:
            database.executescript(statements)
        except sqlite3.OperationalError as error:
            pytest.skip(f"this SQLite cannot manipulate the journal in this way: {error}")
    assert ratings([str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and "journal" in lines[0] and str(path) in lines[0]
    for read in (
        lambda: list(GamesFile(str(path)).games(Roster())),
        lambda: merge(str(tmp_path / "out"), [str(path)]),
        lambda: [*resumed_journal(str(path), settings(), {}).rows()],
    ):
        with pytest.raises(InputError):
            read()


def test_reading_a_journal_does_not_change_it(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with journal_database(path):
        pass
    before = path.read_bytes()
    with read_journal(str(path)) as journal:
        assert len(list(journal.rows())) == 1
        with pytest.raises(store.JournalError, match="readonly"):
            journal.append(make_row(result(2)))
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["j"]


def test_reading_the_journal_of_a_killed_run_changes_neither_it_nor_its_log(
    tmp_path: Path
) -> None:
    path, copy = tmp_path / "j", tmp_path / "copy" / "j ?#%41"
    copy.parent.mkdir()
    files = {path: copy, Path(f"{path}-wal"): Path(f"{copy}-wal")}
    with resumed_journal(str(path), settings(), NOTES) as journal:
        journal.append(make_row(result(1)))
        for file, copied in files.items():
            shutil.copyfile(file, copied)  # As a killed run leaves them.
    before = {file: file.read_bytes() for file in files.values()}
    for _ in range(2):
        with read_journal(str(copy)) as journal:
            assert journal.numbers() == [1]
        assert {file: file.read_bytes() for file in before} == before
    with resumed_journal(str(copy), settings(), NOTES) as journal:
        journal.append(make_row(result(2)))
        journal.checkpoint()
    with read_journal(str(copy)) as journal:
        assert journal.numbers() == [1, 2]


def test_the_programs_of_a_journal_are_printed_before_they_start(tmp_path: Path) -> None:
    """A resumed run starts the programs of its journal, which a stranger may have made."""
    journal = str(tmp_path / "j")
    play(*flags(tmp_path, "none"), "-rounds", "1", "-games", "1", "-journal", journal)
    (tmp_path / "late").unlink()
    done = merels(
        "tournament", "-journal", journal, "-resume", "-rounds", "2",
        stderr=subprocess.STDOUT, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert done.returncode == 1, done.stdout
    notice = f"the journal's own command line: -engine cmd={sys.executable}"
    assert done.stdout.index(notice) < done.stdout.index("Started game 2 ")
    assert notice in play("-journal", journal, "-resume", "-quiet")[1]
