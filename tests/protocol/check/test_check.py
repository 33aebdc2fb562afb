"""``merels check``: running and reporting steps, judging lines and moves."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.common.errors import quoted
from merels.engine.game.notation import parse_position, play_moves
from merels.engine.game.rules import PRESETS, make_rules
from merels.protocol import examples
from merels.protocol.check.conversation import Skip
from merels.protocol.check.positions import MOVING, SHUFFLE
from merels.protocol.check.report import summary
from merels.protocol.check.run import STEPS, choose
from merels.protocol.check.step import GROUPS, PROTOCOLS, Finding, Verdict
from merels.protocol.check.subject import Kind, Subject, judge
from merels.protocol.client.engine_spec import EngineSpec, read_engine
from tests.commands import call, command
from tests.kit import fakes
from tests.protocol.check.checking import QUICK, check, failed, fake, faulty
from tests.protocol.gui import ENGINE

pytestmark = pytest.mark.thorough

main = command("check")

MERELS = [f"cmd={sys.executable}", "args=-m merels.protocol"]
"""Words of ``-engine`` for merels itself."""


def test_a_step_is_skipped_with_the_value_that_an_option_does_not_allow() -> None:
    subject = Subject(EngineSpec(tuple(ENGINE)), QUICK)
    try:
        with pytest.raises(Skip, match="the engine has no option MultiPV that can be set to 1000"):
            subject.require_option("MultiPV", 1000)
    finally:
        subject.discard()


def test_low_limits_on_plies_end_the_game_in_no_position_of_a_step() -> None:
    options = ("option.NoRemovalPlies=1", "option.ThreeThreePlies=1", "option.Repetition=2")
    findings = check(read_engine([*MERELS, *options], PROTOCOLS), "search,position,moves")
    assert failed(findings) == {}
    assert not [finding for finding in findings if finding.verdict is Verdict.SKIP]


@pytest.mark.parametrize("variant", PRESETS)
def test_shuffle_returns_to_its_position_under_every_rule_set(variant: str) -> None:
    start = parse_position(MOVING, make_rules(variant))
    assert play_moves(start, SHUFFLE).men == start.men


def test_the_json_report_has_engine_counts_and_steps(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["-engine", *MERELS, "-fast", "-json", "-only", "handshake,ponder-hit,query"])
    report = json.loads(capsys.readouterr().out)
    assert code == 0
    assert report["engine"]["name"].startswith("merels ")
    assert (report["engine"]["protocol"], report["engine"]["rules"]) == ("uci", "mill")
    counts = {key: value for key, value in report["summary"].items() if key != "seconds"}
    # On a busy machine, a step may warn of a delay instead of passing.
    assert counts.pop("pass") + counts.pop("warn") == 6
    assert counts == {"fail": 0, "skip": 1}
    step = report["steps"][0]
    assert (step["group"], step["name"], step["verdict"]) == ("handshake", "greeting", "pass")
    assert step["line"] is None and step["expected"].startswith("The handshake")


def test_a_warning_quotes_standard_error() -> None:
    findings = check(faulty("start: do os.write(2, 'thinking…\\n'.encode())"), "silent-stderr")
    assert findings[0].line == "thinking…".encode()


def test_standard_error_includes_an_unfinished_line() -> None:
    code = "import sys; sys.stderr.write('no end'); sys.stderr.flush(); sys.stdin.read()"
    subject = Subject(EngineSpec((sys.executable, "-c", code)), QUICK)
    subject.spawn()
    while not subject.stderr():
        subject.listen(0.1)
    subject.discard()
    assert subject.stderr() == b"no end"


def test_a_timeout_quotes_an_unfinished_line() -> None:
    findings = check(fake("cr"), "greeting", replace(QUICK, start=3.0))
    assert findings[0].reason == "no answer to 'uci' in 3 s"
    assert findings[0].line is not None and findings[0].line.endswith(b"\ruciok\r")


def test_a_timeout_without_output_quotes_standard_error() -> None:
    code = "import sys, time; sys.stderr.write('no net'); sys.stderr.flush(); time.sleep(1000)"
    engine = EngineSpec((sys.executable, "-c", code))
    findings = check(engine, "greeting", replace(QUICK, start=2.0))
    assert findings[0].reason == "no answer to 'uci' in 2 s; last error output: 'no net'"


def test_a_timeout_of_an_engine_that_does_not_flush_its_output_names_the_cause() -> None:
    code = "import sys\nout = open(1, 'w')\nfor line in sys.stdin: out.write('uciok\\n')"
    engine = EngineSpec((sys.executable, "-c", code))
    findings = check(engine, "greeting", replace(QUICK, start=2.0))
    assert findings[0].reason == (
        "no answer to 'uci' in 2 s; an engine must flush every line that it writes"
    )


def test_a_failure_quotes_the_line_and_names_the_search() -> None:
    findings = check(faulty("out: s/bestmove [a-g].*/bestmove a1xg7/"), "bestmove-legal")
    assert findings[0].line == b"bestmove a1xg7"
    assert "'go depth 4' after 'position startpos'" in findings[0].reason


def test_steps_that_need_a_failed_step_are_skipped() -> None:
    findings = check(fake("never-ready"), pace=replace(QUICK, ready=0.5))
    assert set(failed(findings)) == {"ready"}
    skipped = [f for f in findings if f.verdict is Verdict.SKIP]
    assert any(f.reason == "needs ready, which did not pass" for f in skipped)


def test_three_timeouts_of_readyok_skip_the_remaining_steps() -> None:
    steps = "id-lines,stop,go-depth,go-nodes,go-movetime,quit"
    findings = check(fake("never-ready"), steps, replace(QUICK, ready=0.5))
    # The first step needs only the greeting.
    assert [f.verdict.value for f in findings] == ["pass", "fail", "fail", "fail", "skip", "skip"]
    assert "failed to start 3 times" in findings[-1].reason


def test_a_crash_in_the_survey_fails_one_step_and_skips_the_others() -> None:
    findings = check(fake("parent-dies"), "moves,output")
    judging = {"pv-legal", "one-bestmove", "info-syntax", "clean-lines"}
    assert "bestmove-legal" in failed(findings)
    skipped = [f for f in findings if f.step.name in judging]
    assert {f.verdict for f in skipped} == {Verdict.SKIP}
    assert {f.reason for f in skipped} == {
        "the searches that this step judges failed in an earlier step"
    }


def test_many_lines_sends_one_isready() -> None:
    subject = Subject(faulty(), QUICK)
    findings = check(subject, "many-lines")
    assert [finding.verdict for finding in findings] == [Verdict.PASS]
    # A new process also prints one readyok before the step.
    assert sum(line.first == "readyok" for line in subject.transcript) == 1 + 1


def test_three_failed_starts_skip_the_remaining_steps() -> None:
    # These steps do not need the step greeting.
    findings = check(fake("die-start"), "id-lines,option-lines,set-options,quit,end-of-input")
    assert [f.verdict.value for f in findings] == ["fail", "fail", "fail", "skip", "skip"]
    assert "failed to start 3 times" in findings[-1].reason


def test_steps_after_the_time_limit_are_skipped() -> None:
    findings = check(faulty(), "handshake", max_seconds=-1.0)
    assert {f.reason for f in findings} == {"the time limit of -1 s has passed"}


def test_a_run_that_the_time_limit_cut_short_does_not_call_the_engine_ready() -> None:
    findings = check(faulty(), max_seconds=-1.0)
    expected = f"unknown, because the time limit skipped {len(STEPS) - 1} steps"
    assert summary(findings, 300.0).endswith(f"\nready for tournaments: {expected}")


def test_the_report_groups_steps_and_ends_with_counts(capsys: pytest.CaptureFixture[str]) -> None:
    command = faulty("out{line.startswith('id name')}: drop").command
    engine = [f"cmd={shlex.join(command)}", "name=Anna"]
    assert main(["-engine", *engine, "-only", "handshake,query", "-fast"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("Anna (unnamed engine), uci, judged by the rules of mill\n")
    assert "\nHandshake\n  ok    greeting\n" in out
    assert "  FAIL  id-lines" in out and "\n        expected: The greeting has" in out
    assert "\nSkipped\n  query (only for ugi)\n" in out
    assert "\n4 passed, 1 failed, 1 skipped of 6 steps in " in out
    assert out.endswith("to repeat the failed steps: -only id-lines\n"
                        "ready for tournaments: no, because of id-lines\n")


def test_all_accepted_bad_positions_are_reported_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = (Path(examples.__path__[0]) / "minimal_engine.py").read_text("utf-8")
    rejection = 'raise ValueError("expected O, @ and *, and at most nine men a side")'
    assert rejection in source
    (tmp_path / "engine.py").write_text(source.replace(rejection, "pass"), "utf-8")
    engine = [f"cmd={sys.executable}", f"args='{tmp_path / 'engine.py'}'"]
    assert main(["-engine", *engine, "-only", "bad-positions", "-fast"]) == 1
    out = capsys.readouterr().out
    assert "(too many men)" in out and "        also: does not keep the position before" in out


def test_a_sound_engine_is_ready_for_tournaments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-engine", *MERELS, "-fast"]) == 0
    assert capsys.readouterr().out.endswith("ready for tournaments: yes, nothing failed\n")


def test_the_list_names_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-list"]) == 0
    out = capsys.readouterr().out
    listed = [line.split()[0] for line in out.splitlines() if re.match("  [a-z]", line)]
    assert listed == [step.name for step in STEPS]
    assert main(["-list", "-only", "ending"]) == 0
    assert "go-depth" not in capsys.readouterr().out


def test_step_names_are_unique_and_every_step_has_a_text() -> None:
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names) >= 50
    assert not GROUPS.keys() & set(names)
    assert all(choose([step.name]) == [step] for step in STEPS)
    for step in STEPS:
        assert len(step.expected) > 30 and step.expected.endswith("."), step.name
        assert set(step.needs) <= set(names), step.name
        earlier = names[: names.index(step.name)]
        assert set(step.needs) <= set(earlier), f"{step.name} needs a later step"


def test_options_of_the_command_line_are_set_at_every_start() -> None:
    words = [*MERELS, "option.MultiPV=2", "option.UCI_ShowWDL=true"]
    subject = Subject(read_engine(words, PROTOCOLS), QUICK)
    search = subject.search("go depth 2")
    subject.discard()
    assert {info.numbers["multipv"] for _, info in search.infos} == {1, 2}
    assert all(sum(info.wdl) == 1000 for _, info in search.infos)


def test_quoted_escapes_control_characters_and_shortens() -> None:
    assert quoted(b"a\tb\x1b[2J \r") == r"'a\tb\x1b[2J \r'"
    assert quoted(b"\xff\x00") == r"'\xff\x00'"
    assert len(quoted(b"x" * 10_000)) < 200


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("d1-a1xd3", Kind.LEGAL),
        ("d1-a1", Kind.WITHOUT_REMOVAL),
        ("d1-a1xa1", Kind.UNREADABLE),
        ("d1-a1xd1", Kind.UNREADABLE),
        ("a1", Kind.ILLEGAL),
        ("", Kind.UNREADABLE),
        ("0000", Kind.NONE),
        ("(none)", Kind.NONE),
        ("draw", Kind.NONE),
    ],
)
def test_legality_of_answers(text: str, kind: Kind) -> None:
    position = parse_position("**@O@@**/**@O@O@*/@*@OO*OO w 0 0 24 32")
    assert judge(position, text) is kind


def test_flags_set_rule_fields_for_which_the_engine_has_no_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ["-variant", "morris", "-set", "Repetition=0", "Blocked=draws"]
    silent = faulty(
        "out{words[0] == 'option'}: drop; start: do "
        "handle('setoption name UCI_Variant value morris'), "
        "handle('setoption name Repetition value 0')"
    )
    assert main(["-engine", f"cmd={shlex.join(silent.command)}", "-fast",
                 *flags, "-only", "bestmove-legal"]) == 0
    out = capsys.readouterr().out
    assert "judged by the rules of morris Blocked=draws Repetition=0\n" in out
    # merels has an option for every field, so the flags change nothing.
    assert main(["-engine", *MERELS, "-fast", *flags, "-only", "id-lines"]) == 0
    assert "judged by the rules of mill\n" in capsys.readouterr().out
    fake_engine = [f"cmd={shlex.join(fakes.fake())}"]
    assert main(["-engine", *fake_engine, "-fast", *flags, "-only", "id-lines"]) == 0
    assert "judged by the rules of mill Blocked=draws Repetition=0\n" in capsys.readouterr().out


def test_a_report_names_the_rules_that_tournaments_accept_only_with_rules_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine = [f"cmd={shlex.join(fakes.fake())}"]
    flags = ["-fast", "-set", "Repetition=0", "-only", "id-lines", "-json"]
    for words, missing in (([], ["Repetition=0"]), (["rules=known"], [])):
        main(["-engine", *engine, *words, *flags])
        assert json.loads(capsys.readouterr().out)["engine"]["missing_rules"] == missing
    findings = [Finding(step, Verdict.PASS) for step in STEPS]
    assert summary(findings, 1.0, ["Flying=never"]).endswith(
        "yes, nothing failed, but it has no option for Flying=never: add rules=known to -engine"
    )


def test_options_of_the_engine_determine_the_rules() -> None:
    ours = [*MERELS, "option.Repetition=0", "option.UCI_Variant=multi", "option.flying=never"]
    subject = Subject(read_engine(ours, PROTOCOLS), QUICK)
    subject.ensure_ready()
    subject.discard()
    assert str(subject.rules) == "multi Flying=never"


def test_rules_that_the_engine_s_options_set_are_not_those_of_the_flags() -> None:
    done = call("check", "-engine", *MERELS, "-variant", "multi", "-only", "greeting")
    assert done.returncode == 0 and "judged by the rules of mill" in done.stdout
    assert "add option.UCI_Variant=multi to -engine" in done.stderr


@pytest.mark.parametrize("slow_start", [
    "sleep 0.6",
    pytest.param("do __import__('select').select([0], [], [], 1)", id="until the greeting"),
])
def test_an_early_line_is_found_if_a_later_start_is_slower(
    tmp_path: Path, slow_start: str
) -> None:
    script = f"start: {slow_start} & print readyok"
    engine = EngineSpec(fakes.fake(script, once=tmp_path / "started"))
    assert list(failed(check(engine, "silent-before-greeting"))) == ["silent-before-greeting"]


def test_a_line_inside_the_greeting_does_not_repeat_the_start() -> None:
    """Only a line before the answer to the greeting may have been printed at the start."""

    class Prompt(Subject):
        starts = 0

        def spawn(self) -> None:
            super().spawn()
            self.starts += 1

        def greet(self) -> None:
            super().greet()
            self.greeting_seconds = 0.0  # A slow answer of a busy machine repeats the start, too.

    subject = Prompt(faulty(r"out: s/^(id name.*)/\1\nhello/"), QUICK)
    check(subject, "silent-before-greeting")
    assert subject.starts == 2 and [line.text for line in subject.greeting][1] == "hello"
