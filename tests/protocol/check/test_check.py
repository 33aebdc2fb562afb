"""``merels check``: sound engines pass every step, and each fault fails the step that names it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.game.notation import parse_position
from merels.protocol.check.conversation import FAST, Pace
from merels.protocol.check.faults import quoted
from merels.protocol.check.runner import run
from merels.protocol.check.step import PROTOCOLS, Finding, Verdict
from merels.protocol.check.subject import Subject
from merels.protocol.check.suite import GROUPS, STEPS, choose
from merels.protocol.check.transcript import Kind, Line, judge, read_info
from merels.protocol.client.engine_spec import EngineSpec, read_engine
from tests.commands import command
from tests.processes import FAKE, assert_none_is_left

main = command("check")

FAULTY = str(Path(__file__).parents[2] / "fakes" / "faulty.py")
OURS = [f"cmd={sys.executable}", "args=-m merels.protocol"]
QUICK = Pace(answer=1.5, ready=4.0, watch=0.05, listen=0.05, movetime=40, plies=4, games=1)

READINESS = "ready,answers,stop,stop-at-once,infinite-waits,ready-in-search"
SEARCHES = "go-depth,go-mixed,go-nodes,go-movetime,go-searchmoves,multipv,deterministic"
POSITIONS = "position-fen,position-bare-moves,position-grows,bad-positions,bad-moves"
INPUTS = "unknown-commands,empty-lines,bad-arguments"
ENDS = "quit,quit-in-search,end-of-input,end-of-input-in-search,exit-code"
# Mode of the fake, the step that names its fault, and those among which it is to fail alone.
FAULTS = [
    ("early", "silent-before-greeting", "handshake"),
    ("nameless", "id-name", "handshake"),
    ("late-option", "nothing-after-greeting", "handshake"),
    ("two-hashes", "option-lines", "handshake"),
    ("bad-default", "option-defaults", "handshake"),
    ("deaf-to-stop", "stop", READINESS),
    ("answers-idle-stop", "stop-idle", "stop,stop-idle,one-bestmove"),
    ("infinite-ends", "infinite-waits", "stop,infinite-waits,ready-in-search,go-alone"),
    ("ponder-ends", "ponder-waits", "stop,ponder-waits,ponder-stop,ponder-hit"),
    ("deaf-to-ponderhit", "ponder-hit", "ponder-waits,ponder-hit,ponder-hit-at-once"),
    ("late-ready", "ready-in-search", READINESS),
    ("deeper", "go-depth", SEARCHES),
    ("more-nodes", "go-nodes", SEARCHES),
    ("slower", "go-movetime", SEARCHES),
    ("no-searchmoves", "go-searchmoves", SEARCHES),
    ("same-lines", "multipv", SEARCHES),
    ("random", "deterministic", SEARCHES),
    ("dies-of-bare-moves", "position-bare-moves", POSITIONS),
    ("forgets-position", "bad-positions", POSITIONS),
    ("takes-half", "bad-moves", POSITIONS),
    ("dies-of-bad-value", "set-out-of-bounds", "set-out-of-bounds,set-unknown"),
    ("exact-names", "option-case", "option-case,set-malformed"),
    ("dies-of-nonsense", "unknown-commands", INPUTS),
    ("illegal", "bestmove-legal", "moves,output"),
    ("no-removal", "whole-moves", "moves,output"),
    ("plays-on", "finished-games", "moves,output"),
    ("illegal-pv", "pv-legal", "moves,output"),
    ("illegal-ponder", "ponder-legal", "moves,output"),
    ("two-bestmoves", "one-bestmove", "moves,output"),
    ("long-bestmove", "bestmove-form", "moves,output"),
    ("no-score", "score-before-bestmove", "go-movetime,moves,output"),
    ("bad-number", "info-syntax", "moves,output"),
    ("too-full", "info-bounds", "moves,output"),
    ("depth-falls", "info-depth-rises", "moves,output"),
    ("nodes-fall", "info-counts-rise", "moves,output"),
    ("long-time", "info-time-honest", "moves,output"),
    ("trailing-blank", "clean-lines", "moves,output"),
    ("hangs-at-quit", "quit-in-search", ENDS),
    ("outlives-input", "end-of-input-in-search", ENDS),
    ("bad-exit", "exit-code", ENDS),
    ("dies-of-second-uci", "greeting-again", "greeting,greeting-again"),
    ("anonymous", "id-author", "id-name,id-author"),
    ("long-uciok", "greeting-lines", "id-name,greeting-lines"),
    ("dies-of-early-isready", "ready-before-greeting", "readiness"),
    ("deaf-in-timed", "stop-timed", "stop,stop-timed"),
    ("deaf-in-ponder", "ponder-stop", "stop,ponder-waits,ponder-stop"),
    ("deaf-to-early-hit", "ponder-hit-at-once", "ponder-waits,ponder-hit,ponder-hit-at-once"),
    ("late-after-hit", "ponder-hit", "ponder-waits,ponder-hit,ponder-hit-at-once"),
    ("late-on-clock", "go-clock", "go-clock,go-mixed"),
    ("late-on-last-move", "go-moves-to-go", "go-clock,go-moves-to-go"),
    ("late-on-one-clock", "go-one-clock", "go-clock,go-one-clock"),
    ("late-on-no-time", "go-little-time", "go-clock,go-little-time"),
    ("dies-of-huge-numbers", "go-huge-numbers", "go-clock,go-huge-numbers"),
    ("deeper-when-mixed", "go-mixed", "go-depth,go-mixed"),
    ("dies-of-unknown-words", "go-unknown-words", "go-depth,go-unknown-words"),
    ("dies-of-bare-go", "go-alone", "go-depth,go-alone"),
    ("long-mate", "go-mate", "go-depth,go-mate"),
    ("dies-of-second-go", "go-in-search", "go-depth,go-in-search"),
    ("forgets-last-move", "position-grows", POSITIONS),
    ("dies-of-late-position", "position-in-search", "position-fen,position-in-search"),
    ("dies-of-check", "set-checks", "set-defaults,set-checks"),
    ("dies-of-spin", "set-spins", "set-defaults,set-spins"),
    ("dies-of-combo", "set-combos", "set-defaults,set-combos"),
    ("dies-of-no-string", "set-strings", "set-defaults,set-strings"),
    ("dies-of-button", "press-buttons", "set-defaults,press-buttons"),
    ("dies-of-unknown-option", "set-unknown", "set-unknown,set-malformed"),
    ("dies-of-bare-setoption", "set-malformed", "set-unknown,set-malformed"),
    ("dies-of-late-setoption", "set-in-search", "set-defaults,set-in-search"),
    ("dies-of-empty-lines", "empty-lines", INPUTS),
    ("only-lf", "crlf", "crlf,torn-lines"),
    ("dies-of-blanks", "extra-spaces", "extra-spaces,torn-lines"),
    ("dies-of-long-lines", "long-lines", "torn-lines,long-lines"),
    ("dies-of-junk", "binary-junk", "extra-spaces,binary-junk"),
    ("dies-of-bare-debug", "bad-arguments", INPUTS),
    ("dies-of-debug", "debug-mode", "debug-mode,board-command"),
    ("dies-of-d", "board-command", "debug-mode,board-command"),
    ("forced-forgotten", "forced-move", "bestmove-legal,forced-move"),
    ("dies-of-repetition", "repeated-position", "bestmove-legal,repeated-position"),
    ("third-move", "whole-games", "whole-moves,bestmove-legal,whole-games"),
    ("outlives-quit", "quit", "quit,quit-at-once"),
    ("outlives-early-quit", "quit-at-once", "quit,quit-at-once"),
    ("outlives-no-input", "end-of-input-at-once", "end-of-input,end-of-input-at-once"),
]
# The same, where the fault would be felt by other steps as well.
FELT_BY_MANY = [
    ("dies-of-uci", "greeting", "greeting,ready"),
    ("dies-of-isready", "ready", "greeting,ready"),
    ("slow-ready", "ready-at-once", "ready,ready-at-once"),
    ("two-readyoks", "ready-counts", "ready,ready-at-once,ready-counts"),
    ("dies-of-new-game", "ready-after-new-game", "ready,ready-after-new-game"),
    ("dies-of-go", "answers", "ready,answers"),
    ("loses-third-stop", "stop-at-once", "stop,stop-at-once"),
    ("ignores-startpos", "position-startpos", "position-startpos,position-fen"),
    ("ignores-fen", "position-fen", "position-startpos,position-fen"),
    ("ignores-moves", "position-moves", "position-startpos,position-moves"),
    ("ignores-fen-moves", "position-fen-moves", "position-fen,position-fen-moves"),
    ("dies-of-default", "set-defaults", "set-defaults,press-buttons"),
    ("tears-lines", "torn-lines", "ready,torn-lines"),
    ("reads-ten-lines", "many-lines", "ready,many-lines"),
    ("outlives-idle-input", "end-of-input", "end-of-input,end-of-input-in-search"),
]
UGI_FAULTS = [
    ("ponder-in-ugi", "bestmove-two-words", "output,queries"),
    ("dies-of-blanks", "extra-spaces", "extra-spaces,torn-lines"),
    ("query-yes", "query-move", "bestmove-legal,query-move,query-result"),
    ("over-is-turn", "query-game-over", "queries"),
    ("result-is-over", "query-result", "queries"),
]
# Steps that find nothing worse than unusual.
UNUSUAL = [
    ("noisy", "silent-stderr", "silent-stderr,known-lines"),
    ("talkative", "known-lines", "silent-stderr,known-lines"),
    ("no-nodes", "info-complete", "info-complete,known-lines"),
    ("slow-to-prepare", "ready", "ready,ready-at-once,ready-before-greeting,deterministic"),
    ("deaf-to-noise", "noise-before-command", "noise-before-command,torn-lines"),
]
# Modes in which steps find nothing at all.
SOUND = [
    ("capitals", "info-complete,multipv"),
    ("slow-after-option", "set-combos"),
    ("needs-ponder", "infinite-waits,ponder-waits,go-depth"),
    ("needs-isready", "answers,infinite-waits,go-depth,multipv,deterministic"),
]


@pytest.fixture(autouse=True, scope="module")
def leaves_no_process() -> Iterator[None]:
    """Whatever the engines do, nothing of them is left at the end."""
    yield
    assert_none_is_left()


def check(
    mode: str, only: str = "", protocol: str = "uci", pace: Pace = QUICK
) -> tuple[dict[str, Verdict], list[Finding]]:
    """What comes of the steps for a mode of the fake: verdicts by step, and all findings."""
    subject = Subject(EngineSpec((sys.executable, FAULTY, mode), protocol=protocol), pace)
    try:
        findings = run(choose([name for name in only.split(",") if name]), subject, lambda _: None)
    finally:
        subject.close()
    return {finding.step.name: finding.verdict for finding in findings}, findings


def failed(findings: list[Finding]) -> dict[str, str]:
    """The steps that failed, with their reasons."""
    return {f.step.name: f.reason for f in findings if f.verdict is Verdict.FAIL}


@pytest.mark.parametrize(("protocol", "other"), [("uci", "ugi"), ("ugi", "uci")])
def test_our_engine_passes_every_step(protocol: str, other: str) -> None:
    verdicts, findings = check("sound", protocol=protocol)
    assert failed(findings) == {}
    assert len(verdicts) == len(STEPS)
    skipped = {finding.reason for finding in findings if finding.verdict is Verdict.SKIP}
    assert skipped == {f"only for {other}"}


def test_what_is_said_to_an_engine_that_still_starts_can_wait() -> None:
    _, findings = check("slow-to-start", "ready-before-greeting,quit-at-once,end-of-input-at-once")
    assert failed(findings) == {}
    assert "no readyok before the greeting" not in {finding.reason for finding in findings}


@pytest.mark.parametrize(
    ("rule", "skipped"),
    [
        ("Repetition=1", {"multipv", "bad-positions", "bad-moves", "forced-move"}),
        ("NoRemovalPlies=1", {"forced-move"}),
    ],
)
def test_what_the_rules_end_is_not_played(rule: str, skipped: set[str]) -> None:
    subject = Subject(read_engine([*OURS, f"option.{rule}"], PROTOCOLS), QUICK)
    findings = run(choose(["search", "position", "moves"]), subject, lambda _: None)
    subject.close()
    assert failed(findings) == {}
    reason = "the engine's rules end the game in the position that it needs"
    assert {finding.step.name for finding in findings if finding.reason == reason} == skipped


def test_the_report_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["-engine", *OURS, "-fast", "-json", "-only", "handshake,ponder-hit,query-move"])
    report = json.loads(capsys.readouterr().out)
    assert code == 0
    assert report["engine"]["name"].startswith("merels ")
    assert (report["engine"]["protocol"], report["engine"]["rules"]) == ("uci", "mill")
    counts = {key: value for key, value in report["summary"].items() if key != "seconds"}
    assert counts == {"pass": 10, "fail": 0, "warn": 0, "skip": 1}
    step = report["steps"][0]
    assert (step["group"], step["name"], step["verdict"]) == ("handshake", "greeting", "pass")
    assert step["line"] is None and step["expected"].startswith("The handshake")


@pytest.mark.parametrize(("mode", "step", "only"), FAULTS + FELT_BY_MANY)
def test_each_fault_fails_the_step_that_names_it(mode: str, step: str, only: str) -> None:
    verdicts, findings = check(mode, only)
    assert list(failed(findings)) == [step], failed(findings)
    assert len(verdicts) > 1


@pytest.mark.parametrize(("mode", "step", "only"), UGI_FAULTS)
def test_each_fault_in_ugi_fails_the_step_that_names_it(mode: str, step: str, only: str) -> None:
    _, findings = check(mode, only, "ugi")
    assert list(failed(findings)) == [step], failed(findings)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "step"), [fault[:2] for fault in FAULTS])
def test_each_fault_fails_one_step_of_all(mode: str, step: str) -> None:
    _, findings = check(mode, pace=FAST)
    assert list(failed(findings)) == [step], failed(findings)


@pytest.mark.parametrize(("mode", "step", "only"), UNUSUAL)
def test_what_is_allowed_but_unusual_is_a_warning(mode: str, step: str, only: str) -> None:
    verdicts, _ = check(mode, only)
    assert verdicts.pop(step) is Verdict.WARN
    assert set(verdicts.values()) == {Verdict.PASS}


def test_every_step_can_find_something() -> None:
    found = {step for _, step, _ in FAULTS + FELT_BY_MANY + UGI_FAULTS + UNUSUAL}
    assert found == {step.name for step in STEPS}


def test_noise_on_standard_error_is_quoted() -> None:
    _, findings = check("noisy", "silent-stderr")
    assert findings[0].line == "thinking…".encode()


def test_a_failure_quotes_the_line_and_names_the_search() -> None:
    _, findings = check("illegal", "bestmove-legal")
    assert findings[0].line == b"bestmove a1xg7"
    assert "'go depth 4' after 'position startpos'" in findings[0].reason


@pytest.mark.parametrize(("mode", "only"), SOUND)
def test_what_every_client_bears_is_no_fault(mode: str, only: str) -> None:
    verdicts, findings = check(mode, only)
    assert set(verdicts.values()) == {Verdict.PASS}, findings


def test_what_needs_an_engine_that_answers_is_skipped_without_one() -> None:
    subject = Subject(EngineSpec((*FAKE, "never-ready")), replace(QUICK, ready=0.5))
    findings = run(STEPS, subject, lambda _: None)
    subject.close()
    assert set(failed(findings)) == {"ready"}
    skipped = [f for f in findings if f.verdict is Verdict.SKIP]
    assert any(f.reason == "needs ready, which did not pass" for f in skipped)


def test_an_engine_that_never_gets_ready_is_not_started_for_every_step() -> None:
    subject = Subject(EngineSpec((*FAKE, "never-ready")), replace(QUICK, ready=0.5))
    steps = choose(["id-name", "stop", "go-depth", "go-nodes", "go-movetime", "quit"])
    findings = run(steps, subject, lambda _: None)
    subject.close()
    # Steps run in the order of the suite: the greeting still says what it says.
    assert [f.verdict.value for f in findings] == ["pass", "fail", "fail", "fail", "skip", "skip"]
    assert "failed to start 3 times" in findings[-1].reason


def test_a_death_in_the_searches_that_many_steps_judge_is_one_failure() -> None:
    subject = Subject(EngineSpec((*FAKE, "parent-dies")), QUICK)
    findings = run(choose(["moves", "output"]), subject, lambda _: None)
    subject.close()
    judging = {"bestmove-legal", "pv-legal", "one-bestmove", "info-syntax", "clean-lines"}
    assert "whole-moves" in failed(findings)
    skipped = [f for f in findings if f.step.name in judging]
    assert {f.verdict for f in skipped} == {Verdict.SKIP}
    assert {f.reason for f in skipped} == {"the searches to judge could not be made"}


def test_many_lines_in_one_packet_ask_for_one_answer() -> None:
    subject = Subject(EngineSpec((sys.executable, FAULTY, "sound")), QUICK)
    findings = run(choose(["many-lines"]), subject, lambda _: None)
    subject.close()
    assert [finding.verdict for finding in findings] == [Verdict.PASS]
    # Besides the first that every process gives.
    assert sum(line.first == "readyok" for line in subject.transcript) == 1 + 1


def test_after_failed_starts_the_rest_is_skipped() -> None:
    subject = Subject(EngineSpec((*FAKE, "die-start")), QUICK)
    # Steps that do not need the greeting to have passed in this run.
    steps = choose(["id-name", "id-author", "option-lines", "quit", "end-of-input"])
    findings = run(steps, subject, lambda _: None)
    subject.close()
    assert [f.verdict.value for f in findings] == ["fail", "fail", "fail", "skip", "skip"]
    assert "failed to start 3 times" in findings[-1].reason


def test_the_suite_is_bounded_in_time() -> None:
    subject = Subject(EngineSpec((sys.executable, FAULTY, "sound")), QUICK)
    findings = run(STEPS[:5], subject, lambda _: None, most_seconds=-1.0)
    subject.close()
    assert {f.reason for f in findings} == {"the time limit of -1 s has passed"}


def test_the_report_groups_steps_and_ends_in_counts(capsys: pytest.CaptureFixture[str]) -> None:
    engine = [f"cmd={sys.executable}", f"args={FAULTY} nameless", "name=Anna"]
    assert main(["-engine", *engine, "-only", "handshake,query-move", "-fast"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("Anna (unnamed engine), uci, judged by the rules of mill\n")
    assert "\nHandshake\n  ok    greeting\n" in out
    assert "  FAIL  id-name" in out and "\n        expected: The greeting has" in out
    assert "  skip  query-move (only for ugi)\n" in out
    assert "\n8 passed, 1 failed, 1 skipped of 10 steps in " in out
    assert out.endswith("to repeat the failed steps: -only id-name\n")


def test_the_list_names_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-list"]) == 0
    out = capsys.readouterr().out
    listed = [line.split()[0] for line in out.splitlines() if re.match("  [a-z]", line)]
    assert listed == [step.name for step in STEPS]
    assert main(["-list", "-only", "ending"]) == 0
    assert "go-depth" not in capsys.readouterr().out


def test_steps_have_names_and_sentences_of_their_own() -> None:
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names) >= 90
    assert not {group.name for group in GROUPS} & set(names)
    assert all(choose([step.name]) == [step] for step in STEPS)
    for step in STEPS:
        assert len(step.expected) > 30 and step.expected.endswith("."), step.name
        assert set(step.needs) <= set(names), step.name
        earlier = names[: names.index(step.name)]
        assert set(step.needs) <= set(earlier), f"{step.name} needs what comes later"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-engine", "cmd=./no-such-engine"], "'./no-such-engine' is not in"),
        ([], "expected one engine to check"),
        (["-engine", "cmd=x", "-engine", "cmd=y"], "expected one engine to check"),
        (["-engine", "cmd=x", "colour=red"], "expected cmd=, args="),
        (["-engine", "cmd=x", "proto=sanmill"], "expected uci, ugi"),
        (["-engine", "proto=uci"], "expected cmd="),
        (["-engine", "cmd=x", "-only", "go-dept"], "did you mean go-depth?"),
        (["-engine", "cmd=x", "-variant", "chess"], "'chess': expected"),
        (["-timeout", "0"], "expected seconds from 0.001 to 3600, found '0'"),
        (["-engine", *OURS, "option.Hsh=2"], "'option.Hsh=2': no such option; did you mean"),
        (["-engine", *OURS, "option.Hash=x"], "'option.Hash=x': option Hash takes a whole number"),
    ],
)
def test_mistakes_get_one_line_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.err.count("\n") == 1
    assert captured.out == ""


def test_the_command_is_found_by_its_name() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "merels.tournament.commands.main",
         "check", "-engine", *OURS, "-only",
         "greeting"],
        capture_output=True, text=True, timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "1 passed, 0 failed of 1 steps" in result.stdout


def test_options_of_the_command_line_are_set_at_every_start() -> None:
    words = [*OURS, "option.MultiPV=2", "option.UCI_ShowWDL=true"]
    subject = Subject(read_engine(words, PROTOCOLS), QUICK)
    search = subject.search("go depth 2")
    subject.close()
    assert {info.numbers["multipv"] for info in search.infos} == {1, 2}
    assert all(sum(info.wdl) == 1000 for info in search.infos)


def test_lines_are_quoted_visibly() -> None:
    assert quoted(b"a\tb\x1b[2J \r") == r"'a\tb\x1b[2J \r'"
    assert quoted(b"\xff\x00") == r"'\xff\x00'"
    assert len(quoted(b"x" * 10_000)) < 200


@pytest.mark.parametrize(
    ("line", "mistakes", "unknown"),
    [
        ("info depth 3 seldepth 5 score cp -12 upperbound nodes 5 pv d6 f4", 0, []),
        ("info depth x score cp 1", 1, []),
        ("info depth", 1, []),
        ("info depth -1", 1, []),
        ("info score 12 depth 2", 1, ["12"]),
        ("info score mate -3 wdl 0 0 1000 string depth x", 0, []),
        ("info wdl 1 2", 1, []),
        ("info flavour sweet", 0, ["flavour", "sweet"]),
    ],
)
def test_info_lines_are_read_strictly(line: str, mistakes: int, unknown: list[str]) -> None:
    info = read_info(Line(line.encode(), 0))
    assert (len(info.mistakes), info.unknown) == (mistakes, unknown)


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
def test_answers_are_judged_by_the_rules(text: str, kind: Kind) -> None:
    position = parse_position("**@O@@**/**@O@O@*/@*@OO*OO w 0 0 24 32")
    assert judge(position, text) is kind


def test_moves_are_judged_by_the_rules_that_the_flags_name_where_the_engine_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ["-variant", "morris", "-set", "Repetition=0", "Blocked=draws"]
    assert main(["-engine", f"cmd={sys.executable}", f"args={FAULTY} morris-unsaid", "-fast",
                 *flags, "-only", "bestmove-legal,repeated-position"]) == 0
    out = capsys.readouterr().out
    assert "judged by the rules of morris Blocked=draws Repetition=0\n" in out
    assert "the engine's rules have no repetition" in out
    # An engine that offers all of them says all of them itself.
    assert main(["-engine", *OURS, "-fast", *flags, "-only", "id-name"]) == 0
    assert "judged by the rules of mill\n" in capsys.readouterr().out
    fake = [f"cmd={FAKE[0]}", f"args={' '.join(FAKE[1:])} sound"]
    assert main(["-engine", *fake, "-fast", *flags, "-only", "id-name"]) == 0
    assert "judged by the rules of mill Blocked=draws Repetition=0\n" in capsys.readouterr().out


def test_moves_are_judged_by_the_rules_that_the_engine_names() -> None:
    ours = [*OURS, "option.Repetition=0", "option.UCI_Variant=multi", "option.flying=never"]
    subject = Subject(read_engine(ours, PROTOCOLS), QUICK)
    subject.ensure()
    subject.close()
    assert str(subject.rules) == "multi Flying=never"
