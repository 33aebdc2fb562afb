"""``-resume``: how often it reads the journal, and the flags that it takes from there."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sqlite3
import sys
from collections import Counter
from pathlib import Path

import pytest

from merels.engine import full_version
from merels.tournament.flags.command_line import parse
from merels.tournament.flags.make_settings import make_settings
from merels.tournament.journal import journal as journal_module
from merels.tournament.journal.open import open_journal, open_run, read_journal
from merels.tournament.journal.rows import make_row
from merels.tournament.records.settings import read_settings
from tests import commands
from tests.tournament.processes import Marked, play, wait_for
from tests.tournament.specs import engine_words, match, result, rows_of

SHORT = ("-maxmoves", "1")
FACTORY = """
from concurrent.futures import ThreadPoolExecutor

def executor():
    print("an executor is made", flush=True)
    return ThreadPoolExecutor(1)
"""


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which SQLite adds its statements, and ``open PATH`` for each connection."""
    texts: list[str] = []
    connect = sqlite3.connect

    def traced(path: str, **options: object) -> sqlite3.Connection:
        texts.append(f"open {path}")
        database = connect(path, **options)  # type: ignore[call-overload]
        database.set_trace_callback(texts.append)
        return database  # type: ignore[no-any-return]

    monkeypatch.setattr(journal_module.sqlite3, "connect", traced)
    return texts


@pytest.mark.parametrize(("rounds", "has_games_left"), [
    ("1", False), pytest.param("2", True, marks=pytest.mark.thorough),
])
@pytest.mark.parametrize("retyped", [False, True])
def test_a_resume_opens_its_journal_once_and_reads_each_game_once(
    tmp_path: Path, statements: list[str], capsys: pytest.CaptureFixture[str],
    rounds: str, has_games_left: bool, retyped: bool,
) -> None:
    line = match("-journal", f"{tmp_path}/j", *SHORT, "-rounds", "1")
    notes = {"id": "x", "arguments": json.dumps(line)}
    with open_journal(f"{tmp_path}/j", make_settings(parse(line), None), notes) as journal:
        for number in (1, 2):
            journal.append(make_row(result(number)))
    statements.clear()
    words = line if retyped else ["-journal", f"{tmp_path}/j"]
    status, out, err = commands.run(capsys, ["tournament", *words, "-resume", "-rounds", rounds])
    assert status == 0 and ("Finished game 4 " in out) == has_games_left, err
    assert sum(text.startswith("open ") for text in statements) == 1
    assert sum("quick_check" in text for text in statements) == 1
    read = Counter(number for text in statements
                   for number in re.findall(r"SELECT \* FROM games WHERE number = (\d+)", text))
    assert read == {"1": 1, "2": 1}
    assert not any(re.search(r"\bmoves\b.* FROM games ORDER BY", text) and "<>" not in text
                   for text in statements), "no statement reads the moves of all games at once"


@pytest.fixture
def stopped_run(tmp_path: Path) -> Path:
    """Return a folder with the journal ``j`` of a stopped run that has an executor and a page."""
    (tmp_path / "mine.py").write_text(FACTORY)
    run = Marked(*match("-rounds", "500", *SHORT, "-journal", "j", "-executor", "mine:executor",
                        "-executorwait", "60", "-serve", "0", "-concurrency", "1"), cwd=tmp_path)
    wait_for(run, "Finished game 2 ")
    run.process.send_signal(signal.SIGINT)
    status, _, err = run.wait()
    assert status == 130 and "standings at http://127.0.0.1:" in err
    return tmp_path


@pytest.mark.thorough
def test_a_resumed_run_has_the_stored_executor_and_page_unless_they_are_turned_off(
    stopped_run: Path
) -> None:
    resume = ("-journal", "j", "-resume")
    for added, has_executor, has_page in (
        ((), True, True),
        (("-executor", "none"), False, True),
        (("-executor", "none", "-serve", "none"), False, False),
        ((), True, True),
    ):
        run = Marked(*resume, *added, cwd=stopped_run)
        lines: list[str] = []
        assert run.process.stdout is not None
        for line in run.process.stdout:
            lines.append(line)
            if line.startswith("Finished"):
                break
        run.process.send_signal(signal.SIGINT)
        status, _, err = run.wait()
        assert status == 130, err
        assert ("an executor is made\n" in lines) == has_executor
        assert ("standings at http" in err) == has_page
        hint = " ".join(("-journal", "file=j", "-resume", *added))
        assert f"continue with: {hint}\n" in err, "the advice repeats the added flags"


def test_the_advice_repeats_the_flags_of_a_resume_that_names_the_engines(tmp_path: Path) -> None:
    line = match(*SHORT, "-wait", str(10**9))
    journal, added = ["-journal", "file=j", "-resume"], ["-pgnout", "file=p"]
    for number, (words, advice) in enumerate((
        (line, []), ([*line, *added], added), ([*added, *line], [*added, *line]),
    ), 1):
        run = Marked(*words, *journal, cwd=tmp_path)
        wait_for(run, f"Finished game {number} ")
        run.process.send_signal(signal.SIGINT)
        status, _, err = run.wait()
        assert status == 130
        assert shlex.split(err.rpartition("continue with: ")[2]) == [*journal, *advice]


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be deleted")
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_deleted_journal_ends_the_run_and_its_games_are_continued_from_a_second_file(
    tmp_path: Path, interrupted: bool
) -> None:
    more = ["-wait", str(10**9)] if interrupted else ["-rounds", "500"]
    run = Marked(*match(*SHORT, *more), "-journal", "file=j", cwd=tmp_path)
    wait_for(run, "Finished game 1 ")
    (tmp_path / "j").unlink()
    if interrupted:
        run.process.send_signal(signal.SIGINT)
    status, _, err = run.wait()
    played = len(rows_of(tmp_path / "j.saved"))
    games = f"{played} game{'s' * (played > 1)} stored in j.saved"
    assert (status, err.splitlines()[-2:]) == (1, [
        f"merels tournament: the journal j was deleted during the run; {games}",
        "merels tournament: stopped; continue with: -journal file=j.saved -resume",
    ])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["j.saved"]
    run = Marked("-journal", "file=j.saved", "-resume", cwd=tmp_path)
    wait_for(run, f"Finished game {played + 1} ")


@pytest.mark.thorough
def test_a_local_run_continues_on_an_executor_with_the_announced_names(tmp_path: Path) -> None:
    words = [word for word in match("-rounds", "1", *SHORT) if not word.startswith("name=")]
    play(*words, "-journal", f"{tmp_path}/j")
    with read_journal(f"{tmp_path}/j") as journal:
        names = [engine.name for engine in read_settings(journal.meta()["settings"]).engines]
    assert names[0] == f"merels {full_version()}"
    out, _ = play("-journal", f"{tmp_path}/j", "-resume", "-rounds", "2",
                  "-executor", "concurrent.futures:ThreadPoolExecutor")
    assert f"Finished game 4 ({names[1]} vs {names[0]})" in out


def test_a_run_of_a_former_version_continues_with_its_own_openings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its settings do not state that the pairings share no opening, as they do by default now."""
    line = [*match(*SHORT), *engine_words("C", "nodes=1"), "-journal", f"{tmp_path}/j"]
    chosen = make_settings(parse([*line, "-openings", "policy=encounter", "-rounds", "1"]), None)
    assert " policy=" not in shlex.join(line)
    notes = {"id": "x", "arguments": json.dumps(line)}
    open_journal(f"{tmp_path}/j", chosen, notes).close()
    with open_run(f"{tmp_path}/j").journal as journal:
        old = journal.meta()["settings"].replace('"policy": "encounter", ', "")
        assert "policy" not in old
        journal.set_meta({"settings": old})
    resume = ["tournament", "-journal", f"{tmp_path}/j", "-resume"]
    status, _, err = commands.run(capsys, [*resume, "-openings", "policy=round", "-rounds", "1"])
    assert status == 2 and "-openings policy: now round, in the journal encounter" in err
    status, _, err = commands.run(capsys, [*resume, "-rounds", "1"])
    assert status == 0, err
    openings = {row.pair: row.opening for row in rows_of(tmp_path / "j")}
    assert len(set(openings.values())) == 3
