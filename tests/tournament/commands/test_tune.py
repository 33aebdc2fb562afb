"""``merels tune`` with an engine whose best option values are known."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest

from merels.tournament.journal.open import open_run
from tests.commands import run
from tests.kit.fakes import fake
from tests.tournament.processes import Marked, play, wait_for
from tests.tournament.report.test_report import Page
from tests.tournament.specs import engine_words, parallel, rows_of

pytestmark = pytest.mark.thorough

FAKE = Path(__file__).parents[2] / "fakes" / "tunable.py"
TUNABLE = (sys.executable, str(FAKE), "Alpha=70", "Beta=35")
SHORT = ("-openings", "plies=4", "-resign", "score=500", "-maxmoves", "3")
"""Games of few moves, which are enough for the fake engine."""
ROW = re.compile(r"^(\w+) +\d+ +(\d+\.\d) +(\d+\.\d|-) +0 to 100 +5$", re.M)


def flags(*more: str) -> list[str]:
    """Return the flags of a tune of three parameters."""
    return [*engine_words("E", "depth=1", command=TUNABLE), *SHORT, "-param", "Alpha",
            "-param", "Beta", "-param", "Noise", *more]


def tune(*more: str, **options: object) -> tuple[int, str, str]:
    """Run a tune to its end; return status, output and errors."""
    return Marked(*flags(*more), command="tune", **options).wait(300)


def values(out: str) -> dict[str, tuple[float, float | None]]:
    """Return each parameter's tuned value and its error from the final table."""
    return {name: (float(value), None if error == "-" else float(error))
            for name, value, error in ROW.findall(out)}


def games(path: Path) -> list[tuple[int, str, str, str, str]]:
    """Return the parts of a journal's games that kills and concurrency must not change."""
    return [(r.number, r.white, r.opening, r.moves, r.result) for r in rows_of(path)]


def test_values_end_within_their_errors(tmp_path: Path) -> None:
    report = tmp_path / "tune.html"
    status, out, err = tune("-pairs", "800", "-srand", "4", *parallel(2), "-out", str(report),
                            "-sprt", "elo0=0", "elo1=50")
    assert status == 0, err
    results = values(out)
    for name, best in (("Alpha", 70), ("Beta", 35)):
        value, error = results[name]
        assert error is not None and abs(value - best) <= error
    assert results["Noise"][1] is None
    words = " ".join(f"option.{name}={value:.0f}" for name, (value, _) in results.items())
    assert f"\n{words}\n" in out
    assert "E tuned vs E untuned" in out and "H1 was accepted" in out
    html = report.read_text()
    tags = Page(html).tags
    assert tags.count("svg") == tags.count("polyline") == 3, "a plot of each parameter"
    assert "H1 was accepted" in html


def test_a_tune_on_an_executor_needs_the_bounds_of_its_parameters() -> None:
    each = ("start=50", "min=0", "max=100")
    words = [*engine_words("E", "depth=1", command=TUNABLE), *SHORT, "-param", "Alpha", *each]
    executor = ("-executor", "concurrent.futures:ThreadPoolExecutor")
    out, _ = play(*words, "-pairs", "6", *executor, command="tune")
    assert "After 6 of 6 pairs:" in out
    status, _, err = Marked(*words, "-param", "Beta", *executor, command="tune").wait()
    assert status == 2 and "'-param Beta': expected start=, min=, max= as well" in err


def test_a_journal_of_another_command_is_refused(tmp_path: Path) -> None:
    journal = str(tmp_path / "j")
    assert tune("-pairs", "2", "-journal", journal)[0] == 0
    status, _, err = tune("-pairs", "3", "-journal", journal, "-resume")
    assert status == 2 and "another tune; -pairs: now 3, in the journal 2" in err
    status, _, err = Marked("-journal", journal, "-resume").wait()
    assert status == 2 and "continue it with merels tune" in err
    status, _, err = tune("-pairs", "2", "-journal", journal)
    assert status == 2 and "add -resume to continue it" in err
    Path(journal).unlink()
    Path(journal + ".sprt").write_text("games")
    status, _, err = tune("-pairs", "2", "-journal", journal, "-sprt")
    assert status == 2 and "the games of the test go into this file, which exists" in err


def test_the_advice_after_an_interrupted_final_test_continues_the_tune(tmp_path: Path) -> None:
    test = ("-sprt", "elo0=0", "elo1=1")
    run = Marked(*flags("-pairs", "40", "-spsa", "r_end=1", "-srand", "4", "-journal", "j", *test),
                 command="tune", cwd=tmp_path)
    wait_for(run, "Finished game 1 (E tuned vs E untuned)")
    run.process.send_signal(signal.SIGINT)
    status, _, err = run.wait()
    assert status == 130 and err.endswith("continue with: -journal file=j -resume\n")
    stored = open_run(f"{tmp_path}/j.sprt")
    with stored.journal:
        assert stored.settings.seed == 5, "the test has other openings than the tune"


def test_a_parameter_starts_at_the_option_of_the_engine() -> None:
    words = engine_words("E", "depth=1", "option.alpha=61", command=TUNABLE)
    out, _ = play(*words, *SHORT, "-param", "Alpha", "c_end=0.5", "-pairs", "1", command="tune")
    assert re.search(r"^Alpha +61 ", out, re.M)


def test_the_options_are_read_in_the_trial_of_the_engine(tmp_path: Path) -> None:
    """In a former version, the engine was started twice before the first game."""
    count = f"start: do open({str(tmp_path / 'starts')!r}, 'a').write('.')"
    words = engine_words("E", "nodes=1", command=fake(count))
    play(*words, "-param", "Hash", "-pairs", "1", "-maxmoves", "1", command="tune")
    assert (tmp_path / "starts").read_text() == "." * 3, "a trial, and both sides of the pair"


def test_a_step_may_be_half_the_range_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tune", *engine_words("E", "depth=1", command=TUNABLE), *SHORT, "-pairs", "1",
             "-param", "Alpha", "min=20", "max=60"]
    status, _, err = run(capsys, [*words, "c_end=20.5"])
    assert status == 2 and "'20.5': expected a number from 0.5 to 20 for c_end=" in err
    status, _, err = run(capsys, [*words, "c_end=20"])
    assert status == 0, err
