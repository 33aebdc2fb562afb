"""The trial of every engine before the first game, and warnings of engines that fail later."""

from __future__ import annotations

import html
import json
import sys
from pathlib import Path

import pytest

from tests.commands import output, refusal
from tests.kit import fakes
from tests.kit.rows import check_rows
from tests.processes import assert_no_engine_is_left, needs_proc
from tests.tournament.processes import Marked, play
from tests.tournament.specs import engine_words, match, rows_of

pytestmark = pytest.mark.thorough

TIMEOUTS = ("starttimeout=5", "pingtimeout=0.5")
ONE_ROUND = ("-rounds", "1", "-quiet")
ONE_MOVE = (*ONE_ROUND, "-games", "1", "-maxmoves", "1")


def fake(*words: str, mode: str = "sound", name: str = "E") -> list[str]:
    """Return the flags of a fake engine with short timeouts."""
    return engine_words(name, *TIMEOUTS, "nodes=20", *words, command=fakes.fake(mode))


def refused(tmp_path: Path, *words: str) -> str:
    """Return the error of a run that must be refused and leave no file and no engine."""
    err = refusal("tournament", *words, "-rounds", "1", "-journal", f"{tmp_path}/j",
                  "-pgnout", f"{tmp_path}/g", folder=tmp_path)
    assert err.count("\n") == 1, err
    assert [path.name for path in tmp_path.iterdir() if path.name in "jg"] == []
    assert_no_engine_is_left()
    return err.removeprefix("merels tournament: ").strip()


def test_a_program_that_does_not_start_is_reported_with_its_error_output(tmp_path: Path) -> None:
    def check(words: str, message: str) -> None:
        flags = [word.replace("+", " ") for word in words.split()]
        assert message in refused(tmp_path, *match("-engine", *flags, "name=E", "nodes=1"))

    (tmp_path / "text").touch()
    check_rows([
        ("cmd=./mini.pu", "'-engine E': does not start: no such engine: './mini.pu' is not in "),
        (f"cmd={sys.executable} args=-c+'import+no_such_module'",
         "does not start: ends before uciok, exit code 1: "
         "ModuleNotFoundError: No module named 'no_such_module'"),
        ("cmd=./text", "Permission denied; make it executable"),
        ("cmd=cat starttimeout=0.2",
         "gives no answer to uci in 0.2 s; last output: 'uci'; see proto= and starttimeout="),
        ('cmd=sh args=-c+"echo+no+net+file;+exit+3"',
         "does not start: ends before uciok, exit code 3 (it wrote 'no net file')"),
    ], check)


def test_an_engine_that_refuses_its_options_is_refused(tmp_path: Path) -> None:
    """The catalogue of faults has the messages of the trial for engines that cannot play."""
    def check(mode: str, words: str, message: str) -> None:
        assert message in refused(tmp_path, *match(*fake(words, mode=mode)))

    check_rows([
        ("sound", "option.Hsh=5", "'-engine E option.Hsh=5': no such option; did you mean Hash?"),
        ("sound", "option.Hash=0", "'-engine E option.Hash=0': option Hash takes a whole number"),
        ("rejects-hash", "option.Hash=7", "'-engine E': rejects its options or the rules: "
         "info string error '7': no memory for it"),
    ], check)


@pytest.mark.parametrize("mode", ["stops-only", "stderr"])
def test_slow_and_odd_engines_are_not_refused(mode: str) -> None:
    engine = fake("st=0.2" if mode == "stops-only" else "pingtimeout=20", mode=mode)
    status, out, err = Marked(*match(*engine, *ONE_ROUND, "-games", "1", "-maxmoves", "2")).wait()
    assert status != 2 and "#  Name" in out, err


@pytest.mark.parametrize(
    ("flags", "fields"),
    [
        (["-variant", "mill", "-set", "Flying=never", "Blocked=draws"],
         "Flying=never, Blocked=draws"),
        (["-variant", "morris"], "ThreeThreePlies=0"),
    ],
)
def test_rules_without_an_engine_option_need_rules_known(
    tmp_path: Path, flags: list[str], fields: str
) -> None:
    """The fake engine has an option for three rule sets, but no options for their fields."""
    message = refused(tmp_path, *match(*fake(), *flags))
    assert message == (
        f"'-engine E': has no option for {fields}; "
        "add rules=known if it already plays by these rules"
    )
    each = ["-each"] if len(flags) == 2 else []
    play(*match(*fake(*each, "rules=known"), *flags, *ONE_MOVE))


@needs_proc
@pytest.mark.parametrize("flags", [(), ("-executor", "concurrent.futures:ProcessPoolExecutor")])
def test_an_undeclared_option_is_reported(flags: tuple[str, ...]) -> None:
    example = Path(__file__).parents[3] / "protocol" / "examples" / "minimal_engine.py"
    words = (f"cmd={sys.executable}", f"args={example}", "name=E", "nodes=1", "option.Hash=3")
    _, err = play(*match("-engine", *words, *ONE_MOVE, *flags))
    assert err == "merels tournament: E declares no options; it may ignore option.Hash\n"


@needs_proc
def test_a_resumed_journal_stays_as_it_was_when_an_engine_is_refused(tmp_path: Path) -> None:
    script, journal = tmp_path / "mill.py", tmp_path / "j"
    words = match("-engine", f"cmd={sys.executable} {script}", "name=E", "nodes=20",
                  "-journal", str(journal), "-resume", "-games", "1", "-maxmoves", "2", "-quiet")
    sound = f"import os; os.execv({sys.executable!r}, {[*fakes.fake()]})\n"
    script.write_text(sound)
    play(*words, "-rounds", "1")
    before = journal.read_bytes()
    script.write_text("raise SystemExit('out of order')\n")
    status, out, err = Marked(*words, "-rounds", "2").wait()
    assert status == 2 and not out
    assert "does not start: ends before uciok, exit code 1: out of order" in err
    assert journal.read_bytes() == before and len(list(tmp_path.iterdir())) == 2
    # Without games to play, the engine is not started.
    play(*words, "-rounds", "1")
    script.write_text(sound)
    play(*words, "-rounds", "2")
    assert len(rows_of(journal)) == 6


@needs_proc
@pytest.mark.parametrize("pool", ["ThreadPoolExecutor", "ProcessPoolExecutor"])
def test_a_worker_tries_the_engines_of_a_foreign_executor(tmp_path: Path, pool: str) -> None:
    executor = ("-executor", f"concurrent.futures:{pool}", "-journal", f"{tmp_path}/j")
    rival = engine_words("A", "nodes=20")
    run = Marked(*rival, *fake(mode="illegal"), *executor)
    status, out, err = run.wait()
    assert status == 2 and "Finished" not in out and run.survivors() == []
    assert err.splitlines()[-1].startswith(
        "merels tournament: '-engine E': makes an illegal move ('a1xg7', "
    )
    # The journal without a game is replaced, although the engine has other options.
    play(*rival, *fake("option.Hash=3"), *executor, *ONE_MOVE)
    status, _, err = Marked(*rival, *fake("option.Hash=3"), *executor, *ONE_MOVE).wait()
    assert status == 2 and "this file exists; add -resume" in err


@needs_proc
def test_an_engine_that_stops_playing_after_its_trial_is_a_warning(tmp_path: Path) -> None:
    journal, command = f"{tmp_path}/j", fakes.fake("illegal", once=tmp_path / "tried")
    engine = engine_words("E", *TIMEOUTS, "nodes=20", command=command)
    run = Marked(*match(*engine, "-rounds", "1", "-maxmoves", "20", "-journal", journal))
    status, out, _ = run.wait()
    assert status == 1 and run.survivors() == []
    line = out.splitlines()[-1]
    assert line.startswith("WARNING: E played no legal move in its last 4 games, from game ")
    assert "the reason was: " in line
    status, out, _ = Marked("-journal", journal, "-resume").wait()
    assert status == 1 and out.splitlines()[-1] == line
    warning = line.removeprefix("WARNING: ")
    assert output("ratings", journal).splitlines()[-1] == line
    assert json.loads(output("ratings", journal, "-format", "json"))["warnings"] == [warning]
    assert html.escape(warning) in output("ratings", journal, "-format", "html")
