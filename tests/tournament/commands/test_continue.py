"""``-resume``: how often it reads the journal, and the flags that it takes from there."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import sys
from pathlib import Path

import pytest

from merels.engine import full_version
from merels.tournament.flags.command_line import parse
from merels.tournament.flags.make_settings import make_settings
from merels.tournament.journal import journal as journal_module
from merels.tournament.journal.open import open_journal, open_run, read_journal
from merels.tournament.journal.rows import make_row
from merels.tournament.records.settings import read_settings
from merels.tournament.run.plan import Plan
from merels.tournament.run.scoreboard import READ_AHEAD
from tests import commands
from tests.commands import call
from tests.kit import executor
from tests.kit.executor import INVENTED, Script, after, interrupts, invent
from tests.tournament.processes import play
from tests.tournament.specs import engine_words, match, planned_games, result, rows_of

SHORT = ("-maxmoves", "1")


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


@pytest.mark.parametrize(("rounds", "has_games_left"), [("1", False), ("2", True)])
@pytest.mark.parametrize("retyped", [False, True])
def test_a_resume_opens_its_journal_once_and_reads_each_game_once(
    tmp_path: Path, statements: list[str], capsys: pytest.CaptureFixture[str],
    rounds: str, has_games_left: bool, retyped: bool,
) -> None:
    line = match("-journal", f"{tmp_path}/j", *INVENTED, "-rounds", "1")
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
    assert not any("SELECT *" in text for text in statements), "no game is read with its moves"
    assert sum(f"LIMIT {READ_AHEAD}" in text for text in statements) == 1
    assert not any(re.search(r"\bmoves\b.* FROM games ORDER BY", text) and "<>" not in text
                   for text in statements), "no statement reads the moves of all games at once"


@pytest.fixture
def stopped_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the journal ``j`` of a stopped run that has an executor and a page."""
    monkeypatch.setattr(executor, "SCRIPT", interrupted())
    done = call("tournament", *match("-rounds", "16", *SHORT, "-journal", "j", *INVENTED,
                                     "-executorwait", "60", "-serve", "0"), folder=tmp_path)
    assert done.returncode == 130 and "standings at http://127.0.0.1:" in done.stderr
    return tmp_path


def interrupted() -> Script:
    """Return a script that interrupts the run at its second pair."""
    return Script({2: after(interrupts)})


def test_a_resumed_run_has_the_stored_executor_and_page_unless_they_are_turned_off(
    stopped_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resume = ("tournament", "-journal", "j", "-resume")
    for added, has_page in (((), True), (("-serve", "none"), False), ((), True)):
        monkeypatch.setattr(executor, "SCRIPT", script := interrupted())
        done = call(*resume, *added, folder=stopped_run)
        assert done.returncode == 130, done.stderr
        assert len(script.executors) == 1
        assert ("standings at http" in done.stderr) == has_page
        hint = " ".join(("-journal", "file=j", "-resume", *added))
        assert f"continue with: {hint}\n" in done.stderr, "the advice repeats the added flags"
    monkeypatch.setattr(executor, "SCRIPT", script := Script())
    done = call(*resume, "-executor", "none", "-serve", "none", folder=stopped_run)
    assert done.returncode == 0 and script.executors == [], done.stderr


def test_the_advice_repeats_the_flags_of_a_resume_that_names_the_engines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = match("-rounds", "500", *INVENTED)
    journal, added = ["-journal", "file=j", "-resume"], ["-pgnout", "file=p"]
    for words, advice in (
        (line, []), ([*line, *added], added), ([*added, *line], [*added, *line]),
    ):
        monkeypatch.setattr(executor, "SCRIPT", interrupted())
        done = call("tournament", *words, *journal, folder=tmp_path)
        assert done.returncode == 130
        assert shlex.split(done.stderr.rpartition("continue with: ")[2]) == [*journal, *advice]


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be deleted")
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_deleted_journal_ends_the_run_and_its_games_are_continued_from_a_second_file(
    tmp_path: Path, interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete() -> None:
        (tmp_path / "j").unlink()
        if interrupted:
            interrupts()

    monkeypatch.setattr(executor, "SCRIPT", Script({5: after(delete)}))
    words = match("-rounds", "500", *INVENTED)
    done = call("tournament", *words, "-journal", "file=j", folder=tmp_path)
    played = len(rows_of(tmp_path / "j.saved"))
    assert played > 2
    assert (done.returncode, done.stderr.splitlines()[-2:]) == (1, [
        "merels tournament: the journal j was deleted during the run; "
        f"{played} games stored in j.saved",
        "merels tournament: stopped; continue with: -journal file=j.saved -resume",
    ])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["j.saved"]
    monkeypatch.setattr(executor, "SCRIPT", Script({2: after(interrupts)}))
    done = call("tournament", "-journal", "file=j.saved", "-resume", folder=tmp_path)
    assert f"Finished game {played + 1} " in done.stdout


def test_a_local_run_continues_on_an_executor_with_the_announced_names(tmp_path: Path) -> None:
    words = [word for word in match("-rounds", "1", *SHORT) if not word.startswith("name=")]
    play(*words, "-journal", f"{tmp_path}/j")
    with read_journal(f"{tmp_path}/j") as journal:
        names = [engine.name for engine in read_settings(journal.meta()["settings"]).engines]
    assert names[0] == f"merels {full_version()}"
    out, _ = play("-journal", f"{tmp_path}/j", "-resume", "-rounds", "2", *INVENTED)
    assert f"Finished game 4 ({names[1]} vs {names[0]})" in out


def test_a_run_of_a_former_version_continues_with_its_own_openings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its settings do not state that the pairings share no opening, as they do by default now."""
    line = [*match(*INVENTED), *engine_words("C", "nodes=1"), "-journal", f"{tmp_path}/j"]
    chosen = make_settings(parse([*line, "-openings", "policy=encounter", "-rounds", "1"]), None)
    assert " policy=" not in shlex.join(line)
    notes = {"id": "x", "arguments": json.dumps(line)}
    open_journal(f"{tmp_path}/j", chosen, notes).close()
    with open_run(f"{tmp_path}/j").journal as journal:
        journal.append(invent(next(planned_games(Plan(chosen)))))
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
