"""merels passes every step of the check; a fault fails exactly one of the steps that are run."""

from __future__ import annotations

import pytest

from merels.protocol.check.conversation import FAST
from merels.protocol.check.step import Verdict
from merels.protocol.check.suite import STEPS
from tests.protocol.check.checking import check, failed, faulty

pytestmark = pytest.mark.thorough

READINESS = "ready,answers,stop,stop-at-once,infinite-waits,ready-in-search"
SEARCHES = "go-depth,go-mixed,go-nodes,go-movetime,go-searchmoves,multipv,deterministic"
POSITIONS = "position-fen,position-bare-moves,position-grows,bad-positions,bad-moves"
INPUTS = "unknown-commands,empty-lines,bad-arguments"
ENDS = "quit,quit-in-search,end-of-input,end-of-input-in-search,exit-code"
# The mode of faulty.py, the only step that it fails, and the steps or groups that are run.
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
    ("trailing-space", "clean-lines", "moves,output"),
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
    ("bare-go-ends", "go-alone", "infinite-waits,go-depth,go-alone"),
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
    ("dies-of-spaces", "extra-spaces", "extra-spaces,torn-lines"),
    ("dies-of-long-lines", "long-lines", "torn-lines,long-lines"),
    ("dies-of-junk", "binary-junk", "extra-spaces,binary-junk"),
    ("dies-of-bare-debug", "bad-arguments", INPUTS),
    ("dies-of-debug", "debug-mode", "debug-mode,board-command"),
    ("dies-of-d", "board-command", "debug-mode,board-command"),
    ("forced-forgotten", "forced-move", "bestmove-legal,forced-move"),
    ("dies-of-repetition", "repeated-position", "bestmove-legal,repeated-position"),
    ("fourth-move", "whole-games", "whole-moves,bestmove-legal,whole-games"),
    ("outlives-quit", "quit", "quit,quit-at-once"),
    ("outlives-early-quit", "quit-at-once", "quit,quit-at-once"),
    ("outlives-no-input", "end-of-input-at-once", "end-of-input,end-of-input-at-once"),
]
OVERLAPPING_FAULTS = [
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
"""Like `FAULTS`, for faults that also fail steps which are not run."""
UGI_FAULTS = [
    ("ponder-in-ugi", "bestmove-two-words", "output,queries"),
    ("dies-of-spaces", "extra-spaces", "extra-spaces,torn-lines"),
    ("query-yes", "query-move", "bestmove-legal,query-move,query-result"),
    ("over-is-turn", "query-game-over", "queries"),
    ("result-is-over", "query-result", "queries"),
]
"""Like `FAULTS`, in the dialect UGI."""
WARNINGS = [
    ("noisy", "silent-stderr", "silent-stderr,known-lines"),
    ("talkative", "known-lines", "silent-stderr,known-lines"),
    ("no-nodes", "info-complete", "info-complete,known-lines"),
    ("other-pv", "info-complete", "info-complete,known-lines"),
    ("slow-to-prepare", "ready", "ready,ready-at-once,ready-before-greeting,deterministic"),
    ("random", "deterministic", SEARCHES),
    ("deaf-to-noise", "noise-before-command", "noise-before-command,torn-lines"),
]
"""Modes of faulty.py, the only step that warns of each mode, and the steps that are run."""
SOUND = [
    ("capitals", "info-complete,multipv"),
    ("better-at-end", "info-complete"),
    ("slow-after-option", "set-combos"),
    ("needs-ponder", "infinite-waits,ponder-waits,go-depth"),
    ("needs-isready", "answers,infinite-waits,go-depth,multipv,deterministic"),
]
"""Modes of faulty.py without a fault, and the steps that are run; all of them pass."""


@pytest.mark.parametrize(("protocol", "other"), [("uci", "ugi"), ("ugi", "uci")])
def test_merels_passes_every_step(protocol: str, other: str) -> None:
    findings = check(faulty("sound", protocol))
    assert failed(findings) == {} and len(findings) == len(STEPS)
    skipped = {finding.reason for finding in findings if finding.verdict is Verdict.SKIP}
    assert skipped == {f"only for {other}"}


@pytest.mark.parametrize(
    ("mode", "step", "only", "protocol"),
    [(*fault, "uci") for fault in FAULTS + OVERLAPPING_FAULTS]
    + [(*fault, "ugi") for fault in UGI_FAULTS],
)
def test_each_fault_fails_only_its_step_of_the_steps_run(
    mode: str, step: str, only: str, protocol: str
) -> None:
    findings = check(faulty(mode, protocol), only)
    assert list(failed(findings)) == [step], failed(findings)
    assert len(findings) > 1


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "step"), [fault[:2] for fault in FAULTS])
def test_each_fault_fails_only_its_step_of_all_steps(mode: str, step: str) -> None:
    findings = check(faulty(mode), pace=FAST)
    assert list(failed(findings)) == [step], failed(findings)


@pytest.mark.parametrize(("mode", "step", "only"), WARNINGS)
def test_unusual_but_allowed_output_is_a_warning(mode: str, step: str, only: str) -> None:
    verdicts = {finding.step.name: finding.verdict for finding in check(faulty(mode), only)}
    assert verdicts.pop(step) is Verdict.WARN
    assert set(verdicts.values()) == {Verdict.PASS}


@pytest.mark.parametrize(("mode", "only"), SOUND)
def test_output_that_all_clients_accept_passes(mode: str, only: str) -> None:
    findings = check(faulty(mode), only)
    assert {finding.verdict for finding in findings} == {Verdict.PASS}, findings


def test_every_step_has_a_fault_that_it_detects() -> None:
    tested = {step for _, step, _ in FAULTS + OVERLAPPING_FAULTS + UGI_FAULTS + WARNINGS}
    assert tested == {step.name for step in STEPS}

