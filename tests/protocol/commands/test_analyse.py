"""The commands analyse, eval, d, perft and bench."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from threading import Thread

import pytest

from merels.engine.game.notation import parse_position
from merels.engine.game.position import Position
from merels.engine.search import evaluation
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tools import bench
from merels.protocol.client import in_process
from merels.protocol.commands import analyse
from merels.protocol.terminal import search
from tests.commands import MERELS, output
from tests.processes import limited
from tests.protocol.gui import PATIENCE

PERFT = json.loads((Path(__file__).parents[2] / "data" / "perft.json").read_text())


def lines_of(*words: str) -> list[str]:
    """Run a command that must succeed; return the lines of its output."""
    return output(*words).splitlines()


@pytest.mark.parametrize("row", PERFT[::7], ids=lambda row: f"{row['rules']} {row['position']}")
def test_perft_prints_the_specified_counts(row: dict[str, object]) -> None:
    counts = row["perft"]
    assert isinstance(counts, list)
    depth = max(d for d, leaves in enumerate(counts, 1) if leaves < 2_000_000)
    variant, *fields = str(row["rules"]).split()
    settings = ["-set", *fields] if fields else []
    lines = lines_of(
        "perft", str(depth), "-variant", variant, *settings, "-position", str(row["position"])
    )
    assert lines[-1] == str(counts[depth - 1])


def test_perft_divide_prints_counts_of_moves_and_then_the_total() -> None:
    lines = lines_of("perft", "4", "-divide")
    parts = [re.fullmatch(r"([a-g][1-7]): (\d+)", line) for line in lines[:24]]
    assert all(parts)
    assert sum(int(part[2]) for part in parts if part) == 24 * 23 * 22 * 21 == int(lines[-1])
    assert lines_of("perft", "0")[-1] == "1"
    assert lines_of("perft", "6")[-1] == "99274176"


def test_set_changes_fields_of_the_variant() -> None:
    white_flies = "O*O*O***/@*@*@***/@******* w 0 0 0 20"
    assert lines_of("perft", "1", "-position", white_flies)[-1] == "51"
    fields = ["-set", "Flying=never", "LockedMills=none"]
    assert lines_of("perft", "1", "-position", white_flies, *fields)[-1] == "6"
    assert lines_of("perft", "1", "-position", white_flies, "-variant", "loc")[-1] == "6"


def test_analyse_prints_the_board_the_lines_and_the_best_move() -> None:
    lines = lines_of("analyse", "startpos", "moves", "a1", "d6", "d1", "f4", "-depth", "6")
    assert any("Fen: " in line for line in lines)
    assert sum(" nodes " in line for line in lines) == 6
    assert re.fullmatch(r"White's best move: [a-gx1-7]+ \([+-]\d+\.\d\d\)", lines[-1])
    flags = ("-multipv", "2", "-depth", "4", "-threads", "2", "-hash", "1")
    two_variations = lines_of("analyse", *flags)
    assert sum(re.match(r" *3/", line) is not None for line in two_variations) == 2
    won = lines_of("analyse", "****OO**/*OOO@*@*/**@***** w 0 0 0 30", "-depth", "5")
    assert won[-1] == "White's best move: f4-e4 (wins in 2)"
    finished = lines_of("analyse", "O*O*****/@@@*****/******** w 0 0 0 9", "-movetime", "50")
    assert finished[-1] == "The game is over: Black wins, White has two men"
    assert not any(" nodes " in line for line in finished)


def test_a_position_may_be_quoted_or_not() -> None:
    text = "*O*@O**@/*@*O**@*/O*@**O** w 0 0 12 24"
    assert f"Fen: {text}" in output("d", text)
    assert f"Fen: {text}" in output("d", *text.split(), "-variant", "roman")


def test_eval_prints_white_s_view() -> None:
    board = "O*O*O*O*/@*@***@*/O*OO**O@ {} 0 0 12 24"
    for side, sign in (("w", 1), ("b", -1)):
        score = evaluation.evaluate(parse_position(board.format(side)))
        assert score * sign > 0
        last = output("eval", board.format(side)).splitlines()[-1]
        assert last.startswith(f"Evaluation: {sign * score:+} (White's view")


def test_bench_prints_the_nodes_of_its_searches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, text, _ = bench.POSITIONS[0]
    monkeypatch.setattr(bench, "POSITIONS", [(rules, text, 6)])
    expected_nodes = Searcher().search(parse_position(text), Limit(depth=6)).info.nodes
    assert analyse.bench([]) == 0
    assert capsys.readouterr().out.splitlines()[-2] == f"{expected_nodes} nodes"


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="Windows sends SIGINT only to a console")
@pytest.mark.parametrize("arguments", [("analyse", "-depth", "100"), ("perft", "7", "-divide")])
def test_ctrl_c_ends_a_command_without_error_output(arguments: tuple[str, ...]) -> None:
    started = subprocess.Popen(
        [*MERELS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    with limited(started) as process:
        assert process.stdout is not None
        awaited = " nodes " if arguments[0] == "analyse" else "a1: "
        while awaited not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert err == ""
    if arguments[0] == "analyse":
        assert process.returncode == 0
        assert "best move" in out.splitlines()[-1]
    else:
        assert process.returncode == 130


def test_ctrl_c_right_after_the_start_ends_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Thread):
        def start(self) -> None:
            super().start()
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(in_process, "Thread", Interrupted)
    handler = signal.getsignal(signal.SIGINT)
    result, interrupted = search.TerminalEngine().search(Position(), Limit(depth=100))
    assert interrupted and result.move is not None
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="Windows reports a closed pipe differently")
def test_a_closed_output_pipe_is_no_error() -> None:
    started = subprocess.Popen(
        [*MERELS, "perft", "7", "-divide"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with limited(started) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""
