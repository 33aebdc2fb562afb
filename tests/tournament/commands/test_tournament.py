"""``merels tournament`` as a process: output, exit status, signals and files."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from merels.engine import full_version
from merels.protocol.formats.pgn.reader import parse_records
from merels.tournament.commands.main import COMMANDS, main
from merels.tournament.flags.command_line import parse
from merels.tournament.flags.make_settings import make_settings
from merels.tournament.journal.open import open_journal, open_run, read_journal
from merels.tournament.journal.rows import Row
from tests.processes import LATE, needs_proc
from tests.tournament.processes import COMMAND, Marked, wait_for
from tests.tournament.specs import engine_words, match, parallel

pytestmark = pytest.mark.thorough


def rows_of(path: str) -> list[Row]:
    """Return the rows of a journal."""
    with read_journal(path) as journal:
        return list(journal.rows())


def test_lines_that_scripts_parse() -> None:
    run = Marked(*match("-rounds", "3", "-ratinginterval", "2", *parallel(2),
                        "-sprt", "elo0=-500", "elo1=500", "alpha=0.001", "beta=0.001"))
    status, out, err = run.wait()
    assert status == 0 and "Traceback" not in err
    lines = out.splitlines()
    assert re.fullmatch(r"Started game 1 of 6 \(A vs B\)", lines[0])
    finished = [line for line in lines if line.startswith("Finished")]
    pattern = r"Finished game (\d) \(([AB]) vs ([AB])\): (1-0|0-1|1/2-1/2) \{[^{}]+\}"
    matches = [re.fullmatch(pattern, line) for line in finished]
    assert [match and match[1] for match in matches] == list("123456")
    number, fraction = r"-?(\d+\.\d\d|inf)", r"-?\d+\.\d%"
    for form in (
        r"Score of A vs B: \d+ - \d+ - \d+  \[\d\.\d{3}\] 6",
        rf"Elo: {number} \+/- {number}, nElo: {number} \+/- {number}",
        rf"LOS: {number} %, DrawRatio: {number} %, PairsRatio: {number}",
        r"Games: 6, Wins: \d+, Losses: \d+, Draws: \d+, Points: \d+\.\d \(\d+\.\d\d %\)",
        rf"Ptnml\(0-2\): \[\d+(, \d+){{4}}\], WL/DD Ratio: {number}",
        rf"LLR: {number} \({fraction}\) \({number}, {number}\) \[{number}, {number}\]",
    ):
        assert any(re.fullmatch(form, line) for line in lines), form
    assert "nan" not in out


def test_a_warning_names_games_that_share_processors() -> None:
    words = match("-rounds", "1", "-games", "2", "-srand", "1")
    assert "-force-concurrency" not in Marked(*words).wait()[2]
    status, _, err = Marked(*words, "-concurrency", "99", "-force-concurrency").wait()
    assert status == 0 and "-force-concurrency: 99 games share " in err
    assert "times and time forfeits are not reliable" in err


def test_identical_engines_print_no_nan() -> None:
    status, out, _ = Marked(*match("-rounds", "2", "-ratinginterval", "1", nodes=(9, 9))).wait()
    assert status == 0 and "nan" not in out.lower()


@pytest.mark.quick
def test_journal_and_pgn_agree(tmp_path: Path) -> None:
    run = Marked(*match("-rounds", "4", *parallel(2), "-variant", "multi",
                        "-pgnout", f"file={tmp_path}/g.pgn", "-journal", f"file={tmp_path}/j.db"))
    status, _, err = run.wait()
    assert status == 0
    assert re.search(r"seed 5\b", err)
    records = list(parse_records((tmp_path / "g.pgn").read_text()))
    rows = rows_of(f"{tmp_path}/j.db")
    assert [f"{row.opening} {row.moves}".split() for row in rows] == [
        [str(move) for move in record.moves] for record in records
    ]
    for record in records:
        assert record.tags["Variant"] == "multi"
        outcome = record.final().outcome()
        assert outcome is not None and outcome.result == record.result


def test_resume_needs_no_engines(tmp_path: Path) -> None:
    flags = ["-journal", f"file={tmp_path}/j.db"]
    assert Marked(*match("-rounds", "1", *flags)).wait()[0] == 0
    status, out, _ = Marked(*flags, "-resume", "-rounds", "2").wait()
    assert status == 0 and "Finished game 3 (A vs B)" in out and "Finished game 2 " not in out
    status, out, err = Marked(*flags, "-resume").wait()
    assert status == 0 and "Games: 4," in out, err
    assert [path.name for path in tmp_path.iterdir()] == ["j.db"]
    status, out, err = Marked(*match("-rounds", "2", *flags)).wait()
    assert status == 2 and "-resume" in err
    status, out, err = Marked(*match("-rounds", "2", *flags, "-resume", "-maxmoves", "5")).wait()
    assert status == 2 and "; -maxmoves: now 5, in the journal 0" in err


def stored_command(path: str) -> tuple[list[str], str]:
    """Return the command line and the folder that a journal stores."""
    stored = open_run(path)
    stored.journal.close()
    return stored.words, stored.folder


def test_a_journal_holds_its_command_line_without_the_file_of_flags(tmp_path: Path) -> None:
    config, journal = tmp_path / "flags.txt", ["-journal", f"file={tmp_path}/j.db"]
    config.write_text(shlex.join(match("-rounds", "1")))
    assert Marked("-config", str(config), *journal).wait()[0] == 0
    config.unlink()
    words = [*match("-rounds", "1"), *journal]
    assert stored_command(f"{tmp_path}/j.db") == (words, os.getcwd())
    status, out, err = Marked(*journal, "-resume", "-rounds", "2").wait()
    assert status == 0 and "Finished game 4 (" in out, err


@pytest.mark.parametrize(
    "mistake",
    [["-openings", "plies=99"], ["-openings", "no.pos"], ["-openings", "book", "start=501"],
     ["-tournament", "gauntlet", "-seeds", "2"], ["-tournament", "swiss", "-rounds", "2"]],
)
def test_a_mistake_leaves_no_journal_behind(
    tmp_path: Path, mistake: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tournament", *match("-journal", f"file={tmp_path}/j", *mistake)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("resume", [[], ["-resume"]])
def test_an_unwritable_file_leaves_no_journal_behind(
    tmp_path: Path, resume: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = match("-journal", f"file={tmp_path}/j", *resume)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        for more in (["-pgnout", f"{tmp_path}/no/g"], ["-log", f"{tmp_path}/no/l"],
                     ["-serve", port]):
            assert main(["tournament", *words, *more]) == 2
            assert more[-1] in capsys.readouterr().err
            assert list(tmp_path.iterdir()) == []


def test_an_unwritable_file_keeps_an_existing_journal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = match("-journal", f"file={tmp_path}/j", "-resume", "-pgnout", f"{tmp_path}/no/g")
    chosen = make_settings(parse(words), None)
    open_journal(f"{tmp_path}/j", chosen, {"id": "x", "arguments": "[]"}).close()
    assert main(["tournament", *words]) == 2
    assert "no/g" in capsys.readouterr().err
    assert stored_command(f"{tmp_path}/j") == ([], "")


def test_resume_without_engines_and_journal_starts_nothing(tmp_path: Path) -> None:
    status, out, err = Marked("-journal", f"file={tmp_path}/misspelt", "-resume").wait()
    assert status == 2 and out == "" and "there is no journal to continue" in err
    assert list(tmp_path.iterdir()) == []


@needs_proc
def test_one_interrupt_finishes_the_games(tmp_path: Path) -> None:
    run = Marked(*match("-rounds", "1000", *parallel(2), "-journal", f"file={tmp_path}/j"))
    wait_for(run, "Finished game 4 ")
    run.process.send_signal(signal.SIGINT)
    status, out, err = run.wait()
    assert status == 130 and "Traceback" not in err
    assert "continue with: -journal" in err and run.survivors() == []
    rows = rows_of(f"{tmp_path}/j")
    assert {row.termination for row in rows} == {"normal"}
    assert f"Games: {len(rows)}," in out


@needs_proc
@pytest.mark.parametrize(
    "signals", [[signal.SIGINT, signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP]]
)
def test_interrupted_at_once(tmp_path: Path, signals: list[signal.Signals]) -> None:
    slow = match("-rounds", "9", *parallel(2), "-journal", f"file={tmp_path}/j",
                 "-each", "st=60", nodes=(10**9, 10**9))
    # The tests themselves may run under nohup.
    run = Marked(*slow, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    wait_for(run, "Started game 1 ")
    for number in signals:
        time.sleep(0.3)
        run.process.send_signal(number)
    status, out, err = run.wait(30)
    assert status == 130 and "Traceback" not in err and run.survivors() == []
    assert ("finishing the games" in err) == (len(signals) > 1)
    assert rows_of(f"{tmp_path}/j") == []


@needs_proc
def test_a_second_run_of_a_journal_is_refused_at_the_start(tmp_path: Path) -> None:
    flags = match("-rounds", "1000", "-journal", f"file={tmp_path}/j", "-resume")
    run = Marked(*flags)
    wait_for(run, "Finished game 2 ")
    status, out, err = Marked(*flags).wait()
    assert (status, out) == (2, "")
    message = "another run is writing this journal; wait until it ends, or name another file"
    assert f"'j': {message} (" in err
    run.process.kill()
    run.process.wait()
    assert run.process.stdout is not None and run.process.stderr is not None
    run.process.stdout.close()
    run.process.stderr.close()
    run = Marked(*flags)  # The killed run must not leave a lock.
    wait_for(run, "Finished game ")
    run.process.send_signal(signal.SIGINT)
    assert run.wait()[0] == 130
    assert not (tmp_path / "j.lock").exists()


@needs_proc
def test_a_run_under_nohup_survives_sighup(tmp_path: Path) -> None:
    words = match("-rounds", "40", *parallel(2), "-journal", f"file={tmp_path}/j")
    run = Marked(*words, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for(run, "Started game 1 ")
    run.process.send_signal(signal.SIGHUP)
    status, out, err = run.wait()
    assert status == 0 and "Traceback" not in err
    assert len(rows_of(f"{tmp_path}/j")) == 80


@needs_proc
def test_a_closed_standard_output_ends_the_run(tmp_path: Path) -> None:
    run = Marked(*match("-rounds", "1000", "-journal", f"file={tmp_path}/j"))
    wait_for(run, "Finished game 2 ")
    run.process.stdout.close()
    run.process.stdout = None
    assert run.process.wait(30) == 1
    assert run.survivors() == []
    message = run.process.stderr.read().splitlines()
    assert message[1] == "merels tournament: standard output cannot be written: Broken pipe"
    assert f"continue with: -journal file={tmp_path}/j -resume" in message[2] and len(message) == 3
    run.process.stderr.close()


@needs_proc
@pytest.mark.parametrize("words", [[], ["-quiet"]])
def test_a_full_disk_for_output_ends_the_run_resumably(tmp_path: Path, words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        command = [*COMMAND, *match("-rounds", "1", "-journal", f"file={tmp_path}/j", *words)]
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert run.returncode == 1 and "Traceback" not in run.stderr
    assert "standard output cannot be written: No space left" in run.stderr
    assert "continue with: -journal" in run.stderr


@needs_proc
@pytest.mark.parametrize(
    ("flags", "without"),
    [
        (("-pgnout", "/dev/full"), "it from game 1 on"),  # no advice, because there is no journal
        (("-log", "/dev/full", "level=info"), "this log"),
    ],
)
def test_a_full_output_file_is_reported_once_and_fails_the_finished_run(
    flags: tuple[str, ...], without: str
) -> None:
    status, out, err = Marked(*match("-rounds", "2", *flags, "-quiet")).wait()
    assert status == 1 and "Games: 4," in out
    message = f"cannot write /dev/full: No space left on device; going on without {without}"
    assert err.splitlines() == [f"merels tournament: {message}"]


@pytest.mark.parametrize("flag", ["-journal", "-pgnout", "-log"])
def test_a_file_flag_needs_a_name(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", *match(flag)]) == 2
    assert f"'{flag}': expected file=" in capsys.readouterr().err


def test_one_file_for_two_flags_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "precious"
    path.write_text("startpos\n")
    os.symlink(path, tmp_path / "link")
    for first, second in itertools.combinations(("-openings", "-journal", "-pgnout", "-log"), 2):
        words = match(first, f"file={path}", second, f"file={tmp_path}/link")
        assert main(["tournament", *words]) == 2
        assert f"{first} and {second} cannot have the same file" in capsys.readouterr().err
    assert path.read_text() == "startpos\n"
    path.write_text(shlex.join(match()))
    for other in ("-journal", "-pgnout", "-log"):
        assert main(["tournament", "-config", str(path), other, f"{tmp_path}/link"]) == 2
        assert f"-config and {other} cannot have the same file" in capsys.readouterr().err
    assert path.read_text() == shlex.join(match())


def test_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "tournament" in text and "stats" in text
    assert main(["turnament"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "did you mean tournament?" in err
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"merels {full_version()}\n"
    assert main(["stats", "-wld", "1,2,3"]) == 0
    assert all(":" in entry for entry, _ in COMMANDS.values())


def test_without_a_command_merels_runs_the_engine() -> None:
    done = subprocess.run(
        COMMAND[:-1], input="uci\nquit\n", capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("id name merels") and done.stdout.endswith("uciok\n")


@pytest.mark.parametrize("arguments", [["-wat"], ["-engine", "cmd=x", "nodes=1"], ["-rounds", "x"]])
def test_a_mistake_is_one_line(arguments: list[str]) -> None:
    status, out, err = Marked(*arguments).wait()
    assert status == 2 and out == "" and len(err.splitlines()) == 1


FAKE = """
import sys
for line in sys.stdin:
    word = line.split()[0] if line.split() else ""
    if word == "uci":
        print("uciok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "go":
        {answer}
    elif word == "quit":
        break
"""
FAULTS = {
    "Crash": ("sys.exit(3)", "abandoned", "disconnects"),
    "Silent": ("__import__('time').sleep(1000)", "abandoned", "stalls"),
    "Illegal": ("print('bestmove a2', flush=True)", "illegal move", "illegal move ('a2'"),
}


@needs_proc
def test_faulty_engines_leave_the_rest_unharmed(tmp_path: Path) -> None:
    """All faulty engines start when they are tried; then Missing's program no longer exists."""
    engines = []
    for name in ("Missing", *FAULTS):
        path = tmp_path / f"{name}.py"
        if name in FAULTS:
            path.write_text(FAKE.format(answer=FAULTS[name][0]))
        command = [*LATE, str(tmp_path / f"{name}.tried"), str(path)]
        engines += engine_words(name, "pingtimeout=1", command=command)
    run = Marked(*match(*engines, "-each", "nodes=20", "-rounds", "1", *parallel(2),
                        "-journal", f"file={tmp_path}/j"))
    status, out, err = run.wait(120)
    assert status == 1 and "Traceback" not in err and run.survivors() == []
    warned = re.findall(r"^WARNING: (\w+) played no legal move", out, re.M)
    assert sorted(warned) == sorted(FAULTS)
    rows = rows_of(f"{tmp_path}/j")
    assert len(rows) == 20 == len(set(row.number for row in rows))
    good = [row for row in rows if {row.white, row.black} == {"A", "B"}]
    assert {row.termination for row in good} == {"normal"}
    for name, (_, termination, words) in FAULTS.items():
        for row in rows:
            if {row.white, row.black} in ({name, "A"}, {name, "B"}):
                assert row.result == ("0-1" if row.white == name else "1-0")
                assert row.termination == termination and words in row.reason
                assert row.reason.startswith("White" if row.white == name else "Black")
    assert "Missing" not in {name for row in rows for name in (row.white, row.black)}
    assert re.search(r"engine Missing does not start \(.*\): its games are left unplayed\n", err)
    table = {line.split()[1]: line for line in out.splitlines() if line[:1].isdigit()}
    assert set(table) >= {"A", "B", *FAULTS}
    assert "\n\n#  Name " in out, "an empty line between the games and the tables"


def test_log(tmp_path: Path) -> None:
    path, gone = tmp_path / "log", [*LATE, str(tmp_path / "tried"), "/no/such"]
    run = Marked(*match("-rounds", "1", "-log", f"file={path}", "level=info", "engine=true",
                        *engine_words("C", "nodes=1", command=gone)))
    assert run.wait()[0] == 1
    text = path.read_text()
    assert re.search(r"^\S+ info  game \d: A vs B started$", text, re.M)
    waits = r"^\S+ warn  engine C does not start \(exit code 2: .*; its games wait"
    assert re.search(waits, text, re.M)
    assert re.search(r"^\S+ trace A > go ", text, re.M) and " trace B < bestmove " in text
    again = match("-rounds", "1", "-log", f"file={path}", "level=fatal")
    assert Marked(*again).wait()[0] == 0
    assert path.read_text() == text, "the log keeps its old lines"
    path.write_text(torn := text + "2026-01-02T03:04:05.678+00:00 info  game 7: A v")
    assert Marked(*match("-rounds", "1", "-log", f"file={path}", "level=info")).wait()[0] == 0
    assert re.match(r"\n\S+ info  game 1: A vs B started\n", path.read_text()[len(torn):])
    assert Marked(*again, "-log", "append=false").wait()[0] == 0
    assert path.read_text() == ""


def test_games_of_one_tournament_are_openings_of_another(tmp_path: Path) -> None:
    games = ["-pgnout", f"{tmp_path}/games.pgn"]
    assert Marked(*match("-rounds", "1", *games)).wait()[0] == 0
    again = ["-openings", f"{tmp_path}/games.pgn", "-maxmoves", "10", "-journal", f"{tmp_path}/j"]
    assert Marked(*match("-rounds", "1", *again)).wait()[0] == 0
    rows = rows_of(f"{tmp_path}/j")
    assert [len(row.opening.split()) for row in rows] == [8, 8]
    assert (tmp_path / "games.pgn").read_text().count(f"1. {rows[0].opening[:2]} ") == 2


@pytest.mark.parametrize("more", [[], ["-quiet"]])
def test_only_games_go_to_standard_output(more: list[str], tmp_path: Path) -> None:
    flags = ["-journal", f"{tmp_path}/j", "-pgnout", "file=-", *more]
    status, out, err = Marked(*match("-rounds", "1", *flags), cwd=tmp_path).wait()
    records = list(parse_records(out))
    assert status == 0 and [record.tags["White"] for record in records] == ["A", "B"]
    assert "Games: 2, " in err and "Termination" in err, "the report"
    assert ("Finished game 2 " in err) == (not more)
    status, again, err = Marked(*flags[:2], "-resume", "-rounds", "2", cwd=tmp_path).wait()
    assert again.startswith(out) and len(list(parse_records(again))) == 4, "also the first games"
    assert [path.name for path in tmp_path.iterdir()] == ["j"]


@needs_proc
def test_closed_standard_output_for_games_ends_the_run(tmp_path: Path) -> None:
    run = Marked(*match("-rounds", "1000", "-pgnout", "-", "-journal", f"file={tmp_path}/j"))
    wait_for(run, '[White "B"]')
    run.process.stdout.close()
    run.process.stdout = None
    assert run.process.wait(60) == 1 and run.survivors() == []
    message = run.process.stderr.read()
    assert "standard output cannot be written: Broken pipe" in message
    assert f"continue with: -journal file={tmp_path}/j -resume" in message
    run.process.stderr.close()
