"""merels passes every step of the check; a fault fails exactly one of the steps that are run."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from merels.protocol.check.positions import AHEAD, FORCED
from merels.protocol.check.run import STEPS
from merels.protocol.check.step import Finding, Verdict
from tests.protocol.check.checking import check, failed, faulty, verdict

pytestmark = pytest.mark.thorough

READINESS = "ready,answers,stop,stop-at-once,infinite-waits,ready-in-search"
SEARCHES = "go-depth,go-mixed,go-nodes,go-movetime,go-searchmoves,multipv,deterministic"
POSITIONS = "position-fen,position-bare-moves,position-moves,bad-positions,bad-moves"
INPUTS = "unknown-commands,white-space"
ENDS = "ending"
SAME_LINES = (
    "out{' multipv 1 ' in line}: do first = line.partition(' pv ')[2]; "
    "out{' multipv ' in line}: s/ pv .*/ pv {first}/"
)
TAKES_HALF = (
    "position{line.startswith('position startpos') and len(line) < 1000}: reply & do rest = line & "
    "do while error:\n    error, rest = False, rest.rpartition(' ')[0]\n    handle(rest)"
)
READS_A_PART = (
    "start: do def parts():\n    while data := os.read(0, 1 << 16):\n"
    "        yield from re.findall(rb'[^\\n]*\\n|[^\\n]+', data)[:MOST]\nlines = parts()"
)
FORGETS_FORCED = (
    f"out{{'{FORCED}' in setup and go == 'go depth 3'}}: s/bestmove.*/bestmove 0000/"
)
BETTER_AT_END = (
    "out{line.startswith('info')}: s/ pv .*/ pv a1xg7/; out: s/^bestmove (\\S+).*/"
    "info depth 1 score cp 0 lowerbound nodes 1 time 0 pv \\1\\nbestmove \\1/"
)
SLOW_AFTER_OPTION = (
    "start: do due = False; setoption#1{words[2] == 'Blocked' and words[4] == 'draws'}: "
    "do due = True; isready{due}: sleep 1.8 & do due = False"
)
NEEDS_PONDER = (
    "start: do ponders = False; setoption{words[2] == 'Ponder'}: do ponders = words[-1] == 'true'; "
    "go{not ponders}: s/go ponder/go/"
)
# The script of a fault, the only step that it fails, and the steps or groups that are run.
FAULTS = [
    ("start: print readyok", "silent-before-greeting", "handshake"),
    ("out{line.startswith('id name')}: drop", "id-lines", "handshake"),
    (r"out{line == 'uciok'}: s/$/\noption name Late type check default true/",
     "greeting-lines", "handshake"),
    (r"out{line.startswith('option name Hash')}: s/$/\noption name hash type spin default 1 "
     r"min 1 max 2/",
     "option-lines", "handshake"),
    ("out: s/default 16 min 1/default 0 min 1/", "option-lines", "handshake"),
    ("stop: drop", "stop", READINESS),
    ("stop{not searching}: print bestmove 0000", "stop-idle", "stop,stop-idle,one-bestmove"),
    ("in: s/go infinite/go depth 3/",
     "infinite-waits", "stop,infinite-waits,ready-in-search"),
    ("in: s/go ponder.*/go depth 3/", "ponder-waits", "stop,ponder-waits,ponder-hit"),
    ("ponderhit: drop", "ponder-hit", "ponder-waits,ponder-hit"),
    ("out{line == 'readyok' and searching}: drop", "ready-in-search", READINESS),
    (r"go{words[1:2] == ['depth']}: s/depth \d+/depth {int(words[2]) + 1}/", "go-depth", SEARCHES),
    (r"in: s/nodes (\d+)/nodes \g<1>00/", "go-nodes", SEARCHES),
    (r"go{words[1:2] == ['movetime']}: s/movetime (\d+)/movetime 15\1/",
     "go-movetime", SEARCHES),
    ("in: s/searchmoves.*//", "go-searchmoves", SEARCHES),
    (SAME_LINES, "multipv", SEARCHES),
    ("in{line.endswith('moves')}: exit 1", "position-bare-moves", POSITIONS),
    ("position{line.startswith('position fen')}: reply & do error and handle('position startpos')",
     "bad-positions", "position-fen,bad-positions"),
    (TAKES_HALF, "bad-moves", POSITIONS),
    ("in{line.endswith('value nonsense')}: exit 1",
     "set-out-of-bounds", "set-out-of-bounds,set-unknown"),
    ("in{line.startswith('setoption name mULTIpv')}: drop",
     "option-case", "option-case,set-unknown"),
    ("in{line == 'nonsense'}: exit 1", "unknown-commands", INPUTS),
    ("out: s/bestmove [a-g].*/bestmove a1xg7/", "bestmove-legal", "moves,output"),
    (r"out: s/(bestmove [^x]*)x[^ ]*/\1/", "bestmove-legal", "moves,output"),
    ("out{' moves ' not in setup}: s/bestmove 0000/bestmove d6/",
     "finished-games", "moves,output"),
    ("out{' moves ' in setup}: s/bestmove 0000/bestmove a1xg7/",
     "draws-by-counting", "moves,output"),
    (r"out: s/( pv .*)/\1 a1xg7/", "pv-legal", "moves,output"),
    ("out: s/ponder .*/ponder a1xg7/", "ponder-legal", "moves,output"),
    (r"out: s/^(bestmove.*)/\1\n\1/", "one-bestmove", "moves,output"),
    (r"out: s/(bestmove [^ ]*)(.*)/\1 score 5/", "bestmove-form", "moves,output"),
    ("out{' score ' in line and 'movetime' in go}: drop",
     "score-before-bestmove", "go-movetime,moves,output"),
    ("out: s/tbhits 0/tbhits none/", "info-syntax", "moves,output"),
    (r"out: s/hashfull \d+/hashfull 5000/", "info-syntax", "moves,output"),
    (r"out: s/^bestmove/info depth 0 score cp 0\nbestmove/", "info-counts", "moves,output"),
    (r"out: s/^bestmove/info nodes 1\nbestmove/", "info-counts", "moves,output"),
    (r"out: s/ time \d+/ time 9999999/", "info-counts", "moves,output"),
    ("out: s/$/ /", "clean-lines", "moves,output"),
    ("quit{searching}: hang", "quit-in-search", ENDS),
    ("eof{searching}: hang", "end-of-input-in-search", ENDS),
    ("end: exit 3", "exit-code", ENDS),
    ("out{line.startswith('id author')}: drop", "id-lines", "id-lines"),
    ("out: s/^uciok$/uciok at your service/", "greeting-lines", "id-lines,greeting-lines"),
    ("stop{'movetime' in go}: drop", "stop", "stop"),
    ("stop{'ponder wtime 60000' in go}: drop", "ponder-waits", "stop,ponder-waits"),
    ("ponderhit{'movetime 50' in go}: drop",
     "ponder-hit", "ponder-waits,ponder-hit"),
    ("ponderhit{'wtime' in go}: sleep 0.8",
     "ponder-hit", "ponder-waits,ponder-hit"),
    (r"in: s/^go wtime \d+ btime \d+ winc 10 binc 10$/go movetime 700/",
     "go-clock", "go-clock,go-mixed"),
    (r"in: s/^go wtime \d+ btime \d+ movestogo 1$/go movetime 700/",
     "go-clock", "go-clock"),
    (r"in: s/^go [wb]time \d+$/go movetime 700/", "go-clock", "go-clock"),
    (r"in: s/^go wtime \S+ btime \S+ winc 0 binc 0$/go movetime 1300/",
     "go-little-time", "go-clock,go-little-time"),
    (r"go{re.search(r'\d{13}', line)}: exit 1", "go-mixed", "go-clock,go-mixed"),
    ("in: s/depth 2 btime/depth 3 btime/", "go-mixed", "go-depth,go-mixed"),
    ("in{line.startswith('go quickly')}: exit 1", "go-mixed", "go-depth,go-mixed"),
    ("in: s/^go$/go depth 3/", "infinite-waits", "infinite-waits,go-depth"),
    ("in{line == 'go'}: exit 1", "infinite-waits", "go-depth,infinite-waits"),
    ("out{go == 'go mate 1'}: s/score mate 1 /score mate 2 /", "go-mate", "go-depth,go-mate"),
    (r"in: s/(moves .*) g7xd5$/\1/", "position-moves", POSITIONS),
    *((f"in: s/ moves {move}$/ moves z9/", "position-rules", "position-fen,position-rules")
      for move in ("f2-e4", "g4-g1xd6", "d6xa1")),
    *((f"in: s/ moves {moves}$/ moves z9/", "position-rules", "position-fen,position-rules")
      for moves in (r"f4-f2 \S+ f2-f4", "d1xe4")),
    ("in{line.endswith(' moves g1xd6')}: s/^.+/position startpos moves d6/",
     "bad-moves", POSITIONS),
    ("in: s/ moves e5-a7$//", "bad-moves", POSITIONS),
    ("in: s/ moves g7-a1$//", "bad-moves", POSITIONS),
    ("position{searching}: exit 1", "position-in-search", "position-fen,position-in-search"),
    ("in{line == 'setoption name UCI_ShowWDL value true'}: exit 1",
     "set-options", "set-options"),
    ("in{line == 'setoption name Move Overhead value 5000'}: exit 1",
     "set-options", "set-options"),
    ("in{line == 'setoption name UCI_Variant value loc'}: exit 1",
     "set-options", "set-options"),
    ("in{line == 'setoption name TablePath value'}: exit 1",
     "set-options", "set-options"),
    ("in{line == 'setoption name Clear Hash' and not searching}: exit 1",
     "set-options", "set-options"),
    ("in{'No Such Option' in line}: exit 1", "set-unknown", "set-unknown"),
    ("in{line == 'setoption'}: exit 1", "set-unknown", "set-unknown"),
    ("setoption{searching}: exit 1", "set-in-search", "set-options,set-in-search"),
    ("in{line == ''}: exit 1", "white-space", INPUTS),
    (r"start: do lines = (line for line in lines if not line.endswith(b'\r\n'))",
     "white-space", "white-space,torn-lines"),
    ("in{line.startswith('go   ')}: exit 1", "white-space", "white-space,torn-lines"),
    ("in{len(line) > 100_000}: exit 1", "long-lines", "torn-lines,long-lines"),
    (r"in{'\ufffd' in line}: exit 1", "binary-junk", "white-space,binary-junk"),
    ("in{line == 'debug'}: exit 1", "unknown-commands", INPUTS),
    (FORGETS_FORCED, "forced-move", "bestmove-legal,forced-move"),
    ("out{go == 'go depth 2' and len(setup.split()) == 6}: s/bestmove.*/bestmove "
     "{setup.split()[3]}/",
     "whole-games", "bestmove-legal,whole-games"),
    ("quit{hellos and not searching}: drop", "quit", "quit,end-of-input"),
]
OVERLAPPING_FAULTS = [
    ("uci: exit 1", "greeting", "greeting,ready"),
    ("isready: exit 1", "ready", "greeting,ready"),
    ("isready#3+: sleep 1.2", "ready", "ready"),
    (r"out: s/^readyok$/readyok\nreadyok/", "ready-counts", "ready,ready-counts"),
    ("ucinewgame: exit 1", "ready", "ready"),
    ("go: exit 1", "answers", "ready,answers"),
    ("stop{searches > 3}: drop", "stop-at-once", "stop,stop-at-once"),
    ("position{line == 'position startpos' and 'fen' in setup}: drop",
     "position-fen", "position-fen"),
    ("position{line.startswith('position fen')}: drop", "position-fen",
     "position-fen"),
    ("in: s/^position startpos moves.*/position startpos/",
     "position-moves", "position-fen,position-moves"),
    (r"in: s/^(position fen .*) moves.*/\1/",
     "position-fen", "position-fen"),
    ("in{line == 'setoption name Hash value 16'}: exit 1",
     "set-options", "set-options"),
    (READS_A_PART.replace("MOST", "65536"), "torn-lines", "ready,torn-lines"),
    (READS_A_PART.replace("MOST", "10"), "many-lines", "ready,many-lines"),
    ("eof{hellos and not searching}: hang", "end-of-input", "end-of-input,end-of-input-in-search"),
]
"""Like `FAULTS`, for faults that also fail steps which are not run."""
UGI_FAULTS = [
    (r"out: s/bestmove ([^ ]*)/bestmove \1 ponder d6/", "bestmove-form", "output,queries"),
    ("in{line.startswith('go   ')}: exit 1", "white-space", "white-space,torn-lines"),
    ("out: s/response (true|false)/response yes/",
     "query", "bestmove-legal,query"),
    ("in: s/query gameover/query p1turn/", "query", "queries"),
    ("in: s/query result/query gameover/", "query", "queries"),
    (r"in: s/^(position fen .*) moves.*/\1/", "query", "queries"),
]
"""Like `FAULTS`, in the dialect UGI."""
WARNINGS = [
    (r"start: do os.write(2, 'thinking…\n'.encode())",
     "silent-stderr", "silent-stderr,clean-lines"),
    (r"out{line.startswith('bestmove')}: s/$/\nyour turn/",
     "clean-lines", "silent-stderr,clean-lines"),
    ("out{line.startswith('bestmove')}: s/-//", "bestmove-form", "bestmove-form,info-syntax"),
    (f"out{{'{AHEAD}' in setup}}: s/ score cp / score cp -/",
     "score-before-bestmove", "score-before-bestmove,bestmove-form"),
    ("out: s/ nodes [0-9]+//", "info-complete", "info-complete,clean-lines"),
    ("out: s/ pv [^ ]+/ pv a1xg7/", "info-complete", "info-complete,clean-lines"),
    ("isready#1: sleep 1.8", "ready", "ready,deterministic"),
    ("out{' moves e4-e3 d1-a1' in setup}: s/bestmove 0000/bestmove e4-e3/",
     "draws-by-counting", "finished-games,draws-by-counting"),
    ("in: s/5000/{5000 + time.monotonic_ns() % 45_000}/", "deterministic", SEARCHES),
]
"""Scripts, the only step that warns of each, and the steps that are run."""
SOUND = [
    ("out{line.startswith('bestmove')}: s/ .*/ {re.sub('[a-g][1-7]', lambda m: m[0].upper(), "
     "line[9:])}/",
     "info-complete,multipv"),
    (BETTER_AT_END, "info-complete"),
    (SLOW_AFTER_OPTION, "set-options"),
    (NEEDS_PONDER, "infinite-waits,ponder-waits,go-depth"),
    ("go{not pings}: drop", "answers,infinite-waits,go-depth,multipv,deterministic"),
]
"""Scripts without a fault, and the steps that are run; all of them pass."""



def run_all(rows: Sequence[tuple[str, str, str]]) -> list[list[Finding]]:
    """Return the findings of rows: scripts, the steps that are run, and the protocol."""
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(lambda row: check(faulty(row[0], row[2]), row[1]), rows))


def test_merels_passes_every_step() -> None:
    dialects = (("uci", "ugi"), ("ugi", "uci"))
    for (_, other), findings in zip(dialects, run_all([("", "", name) for name, _ in dialects])):
        assert failed(findings) == {} and len(findings) == len(STEPS)
        skipped = {finding.reason for finding in findings if finding.verdict is Verdict.SKIP}
        assert skipped == {f"only for {other}"}


def test_each_fault_fails_only_its_step_of_the_steps_run() -> None:
    rows = [(*fault, "uci") for fault in FAULTS + OVERLAPPING_FAULTS]
    rows += [(*fault, "ugi") for fault in UGI_FAULTS]
    wrong = {}
    for row, findings in zip(rows, run_all([(row[0], *row[2:]) for row in rows])):
        if list(failed(findings)) != [row[1]]:
            wrong[row[:2]] = failed(findings)
    assert not wrong


def test_unusual_but_allowed_output_is_a_warning() -> None:
    wrong = {}
    for (script, step, _), findings in zip(
        WARNINGS, run_all([(script, only, "uci") for script, _, only in WARNINGS])
    ):
        verdicts = {
            finding.step.name: finding.verdict if finding.step.name == step else verdict(finding)
            for finding in findings
        }
        if verdicts.pop(step) is not Verdict.WARN or set(verdicts.values()) != {Verdict.PASS}:
            wrong[script] = findings
    assert not wrong


def test_output_that_all_clients_accept_passes() -> None:
    for findings in run_all([(*row, "uci") for row in SOUND]):
        assert set(map(verdict, findings)) == {Verdict.PASS}, findings


def test_every_step_has_a_fault_that_it_detects() -> None:
    tested = {step for _, step, _ in FAULTS + OVERLAPPING_FAULTS + UGI_FAULTS + WARNINGS}
    assert tested == {step.name for step in STEPS}
