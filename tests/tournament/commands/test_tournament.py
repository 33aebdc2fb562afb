"""``merels tournament`` as a process: output, exit status, signals and files."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import signal
import socket
from pathlib import Path

import pytest

from merels.protocol.formats.pgn.reader import parse_records
from merels.tournament.commands.main import main
from merels.tournament.flags.command_line import parse
from merels.tournament.flags.make_settings import make_settings
from merels.tournament.journal.open import open_journal, open_run
from tests.kit.fakes import fake
from tests.processes import needs_proc
from tests.tournament.processes import Marked, play, wait_for
from tests.tournament.specs import MERELS, NOTES, engine_words, match, parallel, rows_of

pytestmark = pytest.mark.thorough


def test_lines_that_scripts_parse_keep_their_form() -> None:
    out, err = play(*match("-rounds", "3", "-ratinginterval", "2", *parallel(2),
                           "-sprt", "elo0=-500", "elo1=500", "alpha=0.001", "beta=0.001"))
    assert "Traceback" not in err
    lines = out.splitlines()
    # Starts are shown when they happen, so game 3 may start before game 1.
    starts = [line for line in lines if line.startswith("Started")]
    assert lines[0] == starts[0] and sorted(starts) == [
        f"Started game {number} of 6 ({'A vs B' if number % 2 else 'B vs A'})"
        for number in range(1, 7)
    ]
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
    assert "-force-concurrency" not in play(*words)[1]
    _, err = play(*words, "-concurrency", "99", "-force-concurrency")
    assert "-force-concurrency: 99 games share " in err
    assert "times and time forfeits are not reliable" in err


def stored_command(path: str) -> tuple[list[str], str]:
    """Return the command line and the folder that a journal stores."""
    stored = open_run(path)
    stored.journal.close()
    return stored.words, stored.folder


def test_a_journal_stores_the_flags_of_a_file_and_not_its_name(tmp_path: Path) -> None:
    config, journal = tmp_path / "flags.txt", ["-journal", f"file={tmp_path}/j.db"]
    config.write_text(shlex.join(match("-rounds", "1")))
    play("-config", str(config), *journal)
    config.unlink()
    words = [*match("-rounds", "1"), *journal]
    assert stored_command(f"{tmp_path}/j.db") == (words, os.getcwd())
    assert "Finished game 4 (" in play(*journal, "-resume", "-rounds", "2")[0]


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
    open_journal(f"{tmp_path}/j", make_settings(parse(words), None), NOTES).close()
    assert main(["tournament", *words]) == 2
    assert "no/g" in capsys.readouterr().err
    assert stored_command(f"{tmp_path}/j") == ([], "")


def test_resume_without_engines_and_journal_starts_nothing(tmp_path: Path) -> None:
    status, out, err = Marked("-journal", f"file={tmp_path}/misspelt", "-resume").wait()
    assert status == 2 and out == "" and "there is no journal to continue" in err
    assert list(tmp_path.iterdir()) == []


@needs_proc
def test_one_interrupt_finishes_the_games_in_progress(tmp_path: Path) -> None:
    run = Marked(*match("-rounds", "1000", *parallel(2), "-journal", f"file={tmp_path}/j"))
    wait_for(run, "Finished game 4 ")
    run.process.send_signal(signal.SIGINT)
    status, out, err = run.wait()
    assert status == 130 and "Traceback" not in err
    assert "continue with: -journal" in err and run.survivors() == []
    rows = rows_of(tmp_path / "j")
    assert {row.termination for row in rows} == {"normal"}
    assert f"Games: {len(rows)}," in out


@needs_proc
@pytest.mark.parametrize(
    "signals", [[signal.SIGINT, signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP]]
)
def test_two_interrupts_or_another_signal_stop_the_games_in_progress(
    tmp_path: Path, signals: list[signal.Signals]
) -> None:
    slow = match("-rounds", "9", *parallel(2), "-journal", f"file={tmp_path}/j",
                 "-each", "st=60", nodes=(10**9, 10**9))
    # The default action is set, because the tests themselves may run under nohup.
    run = Marked(*slow, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    wait_for(run, "Started game 1 ")
    first, *others = signals
    run.process.send_signal(first)
    for number in others:
        # A second signal that is sent before the first is handled would be lost.
        assert any("finishing the games" in line for line in run.process.stderr)
        run.process.send_signal(number)
    status, out, err = run.wait()
    assert status == 130 and "Traceback" not in err and run.survivors() == []
    assert "finishing the games" not in err
    assert rows_of(tmp_path / "j") == []


@needs_proc
def test_a_run_under_nohup_survives_sighup(tmp_path: Path) -> None:
    words = match("-rounds", "10", *parallel(2), "-journal", f"file={tmp_path}/j")
    run = Marked(*words, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for(run, "Started game 1 ")
    run.process.send_signal(signal.SIGHUP)
    status, _, err = run.wait()
    assert status == 0 and "Traceback" not in err
    assert len(rows_of(tmp_path / "j")) == 20


@needs_proc
def test_a_closed_error_output_does_not_end_the_run(tmp_path: Path) -> None:
    """A notice ended the run, with exit status 0."""
    run = Marked(*match("-rounds", "1000", "-journal", f"file={tmp_path}/j"))
    wait_for(run, "Finished game 2 ")
    run.process.stderr.close()
    run.process.stderr = None
    run.process.send_signal(signal.SIGINT)
    status, out, _ = run.wait()
    assert status == 130 and f"Games: {len(rows_of(tmp_path / 'j'))}," in out
    assert run.survivors() == []


@needs_proc
@pytest.mark.parametrize(
    ("flags", "line"), [((), "Finished game 2 "), (("-pgnout", "-"), '[White "B"]')]
)
def test_a_closed_standard_output_ends_the_run(
    tmp_path: Path, flags: tuple[str, ...], line: str
) -> None:
    run = Marked(*match("-rounds", "1000", *flags, "-journal", f"file={tmp_path}/j"))
    wait_for(run, line)
    run.process.stdout.close()
    run.process.stdout = None
    assert run.process.wait(60) == 1 and run.survivors() == []
    lines = run.process.stderr.read().splitlines()
    run.process.stderr.close()
    assert "merels tournament: cannot write to standard output: Broken pipe" in lines
    advice = f"continue with: -journal file={tmp_path}/j -resume"
    assert any(advice in line for line in lines) and (len(lines) == 3 or flags), lines


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


NO_FILE = "start: do os.write(2, b'no such file') & exit 2"


def test_a_log_has_the_entries_of_its_level(tmp_path: Path) -> None:
    path, missing = tmp_path / "log", fake(NO_FILE, once=tmp_path / "tried")
    run = Marked(*match("-rounds", "1", "-log", f"file={path}", "level=info", "engine=true",
                        *engine_words("C", "nodes=1", command=missing)))
    assert run.wait()[0] == 1
    text = path.read_text()
    assert re.search(r"^\S+ info  game \d: A vs B started$", text, re.M)
    waits = r"^\S+ warn  process \d+: engine C does not start \(ends .* code 2: .*; its games wait"
    assert re.search(waits, text, re.M)
    for line in ("A > go ", "B < bestmove "):
        assert re.search(rf"^\S+ trace game \d: {line}", text, re.M)
    assert re.search(r"^\S+ trace process \d+: [AB] > quit$", text, re.M)


def test_a_log_is_appended_after_an_incomplete_line_unless_append_is_false(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(incomplete := "2026-01-02T03:04:05.678+00:00 info  game 7: A v")
    log = (*match("-rounds", "1"), "-log", f"file={path}")
    play(*log, "level=fatal")
    assert path.read_text() == f"{incomplete}\n"
    play(*log, "level=info")
    added = path.read_text().removeprefix(f"{incomplete}\n")
    assert re.match(r"\S+ info  game 1: A vs B started\n", added)
    play(*log, "level=fatal", "append=false")
    assert path.read_text() == ""


@pytest.mark.parametrize("more", [[], ["-quiet"]])
def test_pgnout_to_standard_output_prints_only_games_there(more: list[str], tmp_path: Path) -> None:
    flags = ["-journal", f"{tmp_path}/j", "-pgnout", "file=-", *more]
    out, err = play(*match("-rounds", "1", *flags), cwd=tmp_path)
    assert [record.tags["White"] for record in parse_records(out)] == ["A", "B"]
    assert "Games: 2, " in err and "Termination" in err, "the report"
    assert ("Finished game 2 " in err) == (not more)
    resumed, _ = play(*flags[:2], "-resume", "-rounds", "2", cwd=tmp_path)
    assert resumed.startswith(out) and len(list(parse_records(resumed))) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["j"]


def test_an_engine_is_started_once_before_the_games_although_it_has_no_name(tmp_path: Path) -> None:
    """In a former version, engines without name= were started once more, only for their names."""
    engine = f"echo >> starts; exec {shlex.join(MERELS)}"
    words = ["-engine", "cmd=sh", f"args=-c {shlex.quote(engine)}", "nodes=9"]
    out, _ = play(*words, *words[:-1], "nodes=10", "-rounds", "1", "-maxmoves", "1", cwd=tmp_path)
    assert re.search(r"Score of (merels .+) vs \1 2: ", out), out
    assert len((tmp_path / "starts").read_text()) == 2 + 2, "two trials, and two for the games"
