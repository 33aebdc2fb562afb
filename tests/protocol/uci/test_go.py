"""The command go: limits, stop, ponder, perft, finished games, and missing resources."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import merels.engine
import merels.protocol
from merels.engine.game.notation import parse_move, parse_position
from merels.engine.game.position import Position
from merels.engine.search.limits import Limit
from merels.protocol.uci.go_command import parse_go
from merels.protocol.uci.wording import Uci, Ugi
from tests.processes import needs_proc
from tests.protocol.gui import Gui

MOVING = "*O*@O**@/*@*O**@*/O*@**O** w 0 0 12 24"

INFO = re.compile(
    r"info depth \d+ seldepth \d+ multipv \d+ score (cp -?\d+|mate -?\d+)( lowerbound| upperbound)?"
    r"( wdl \d+ \d+ \d+)? nodes \d+ nps \d+ hashfull \d+ tbhits \d+ time \d+( pv( [a-gx1-7-]+)+)?"
)


def check_search(lines: list[str], position: Position) -> None:
    """Check that a search wrote a score, one legal best move and legal variations."""
    assert sum(line.startswith("bestmove") for line in lines) == 1
    assert any(line.startswith("info ") and " score " in line for line in lines)
    for line in lines[:-1]:
        assert line.startswith("info string ") or INFO.fullmatch(line), line
        if " pv " in line:
            play_all(position, line.split(" pv ")[1].split())
    words = lines[-1].split()
    assert words[0] == "bestmove" and len(words) in (2, 4)
    play_all(position, words[1::2])


def play_all(position: Position, tokens: list[str]) -> None:
    """Check that a sequence of moves is legal."""
    for token in tokens:
        position = position.push(parse_move(token))


@pytest.mark.parametrize(
    "go",
    [
        "go depth 5",
        "go nodes 2000",
        "go movetime 40",
        "go wtime 500 btime 500 winc 5 binc 5",
        "go binc 5 movestogo 3 wtime 500 winc 5 btime 500",
        "go wtime 300",
        "go wtime 0 btime 0",
        "go wtime -100 btime 1000",
        "go wtime 1 btime 1 movestogo 1",
        "go wtime 99999999999999999 btime 9 depth 2",
        "go depth 3 mate 2 nodes 100000 movetime 10000",
        "go depth 0",
        "go nodes 0",
        "go movetime 0",
        "go movetime -5",
        "GO Depth 2",
        "go depth 99999999999999999 nodes 1000",
        "go p1time 200 p2time 200 p1inc 1 p2inc 1",
    ],
)
def test_each_limit_gives_one_legal_best_move(gui: Gui, go: str) -> None:
    check_search(gui.go(go, "position startpos"), Position())
    check_search(gui.go(go, f"position fen {MOVING}"), parse_position(MOVING))


@pytest.mark.parametrize(
    ("dialect", "line"),
    [
        (Uci(), "wtime 1000 btime 2000 winc 3 binc 4 movestogo 5"),
        (Ugi(), "p2inc 4 p1inc 3 p2time 2000 p1time 1000 movestogo 5"),
    ],
)
def test_each_side_has_its_own_clock_and_increment(dialect: Uci, line: str) -> None:
    go = parse_go(line.split(), Position(), dialect)
    assert not go.complaints
    assert go.limit == Limit(
        white_clock=1.0, black_clock=2.0, white_inc=0.003, black_inc=0.004, remaining_moves=5
    )


@pytest.mark.parametrize(
    "go",
    ["btime 100", "p2time 100", "winc 100", "binc 100 movestogo 5", "winc 0 binc 0", "wtime x",
     "wtime -50"],
)
def test_a_missing_clock_of_the_side_to_move_is_zero(gui: Gui, go: str) -> None:
    check_search(gui.go(f"go {go}", "position startpos"), Position())
    limit = parse_go(go.split(), Position(), Uci()).limit
    assert limit.white_clock == 0


@pytest.mark.parametrize(
    "go", ["nodes 1000000.0", "depth 2.5", "mate", "movetime 1e3", "depth x nodes y"]
)
def test_a_go_whose_limits_cannot_be_read_is_no_endless_search(gui: Gui, go: str) -> None:
    """The client of such a line waits for a move, and sends no stop."""
    lines = gui.go(f"go {go}", "position startpos")
    assert any(line.startswith("info string error") for line in lines)
    check_search(lines, Position())


@pytest.mark.parametrize("go", ["foo", "searchmoves d7", "perft", "ponder"])
def test_a_go_with_words_but_without_a_limit_is_no_endless_search(gui: Gui, go: str) -> None:
    gui.send("position startpos", f"go {go}")
    lines = []
    if go == "ponder":
        lines = gui.until("info depth 4 ")
        assert not any(line.startswith("bestmove") for line in lines)
        gui.send("ponderhit")
    check_search(lines + gui.until("bestmove"), Position())


def test_go_without_clocks_or_with_another_limit_has_no_clock(gui: Gui) -> None:
    for go in ("", "infinite", "depth 9 btime 100", "winc 0 binc 0 movetime 50", "btime 1 nodes 5"):
        assert parse_go(go.split(), Position(), Uci()).limit.white_clock is None
    for go in ("go", "go infinite btime 100"):
        gui.send(go)
        lines = gui.until("info depth 4 ") + gui.ask()
        assert not any(line.startswith("bestmove") for line in lines)
        gui.stop()


def test_invalid_words_after_go_are_reported_and_ignored(gui: Gui) -> None:
    lines = gui.go("go foo depth x wtime winc 1.5 btime nodes 300 movestogo -- depth 3")
    for token in ("'foo'", "'x'", "'wtime'", "'1.5'", "'btime'", "'--'"):
        assert any(line.startswith("info string") and token in line for line in lines), token
    check_search(lines, Position())
    assert " depth 3 " in lines[-2]


def test_searchmoves_restricts_the_search_to_its_legal_moves(gui: Gui) -> None:
    assert gui.go("go searchmoves a1 depth 4")[-1].split()[1] == "a1"
    assert gui.go("go depth 4 searchmoves A7 g7 nodes 500")[-1].split()[1] in ("a7", "g7")
    lines = gui.go("go searchmoves a1 d6-d5 zz depth 2")
    assert lines[-1].split()[1] == "a1"
    assert any("'d6-d5'" in line for line in lines)
    assert any("'zz'" in line for line in lines)
    closing = "position startpos moves a1 d6 d1 f4"
    assert gui.go("go depth 2 searchmoves g1 xf4", closing)[-1].split()[1] == "g1xf4"
    lines = gui.go("go depth 2 searchmoves xf4 g1xf4 g1xd6")
    assert any("'xf4'" in line for line in lines)
    assert lines[-1].split()[1] in ("g1xf4", "g1xd6")


@pytest.mark.parametrize("go", ["depth 2", "infinite", "ponder wtime 10 btime 10"])
def test_searchmoves_without_a_legal_move_searches_no_other_moves(gui: Gui, go: str) -> None:
    gui.send("position startpos", f"go {go} searchmoves zz d6-d5")
    if go != "depth 2":
        gui.until("info string error")
        assert not any(line.startswith("bestmove") for line in gui.several_answers())
        gui.send("stop")
    assert gui.until("bestmove")[-2:] == ["info depth 0 score cp 0", "bestmove 0000"]
    check_search(gui.go("go depth 2 searchmoves"), Position())


def test_a_stop_during_the_first_iteration_takes_effect_after_it(gui: Gui) -> None:
    """With 64 variations and many moves, the stop arrives during the first iteration."""
    text = "OOO*****/@@@*****/******** w 0 0 0 30"
    gui.send("setoption name MultiPV value 64", f"position fen {text}")
    for _ in range(50):
        gui.raw(b"go infinite\nstop\n")
        lines = gui.until("bestmove")
        assert not any("error" in line for line in lines)
        check_search(lines, parse_position(text))


def test_a_go_during_a_search_stops_that_search_first(gui: Gui) -> None:
    gui.send("position startpos", "go infinite", f"position fen {MOVING}", "go depth 3")
    check_search(gui.until("bestmove"), Position())
    check_search(gui.until("bestmove"), parse_position(MOVING))
    assert gui.ask() == []


def test_a_new_game_stops_a_running_search(gui: Gui) -> None:
    lines = gui.ask("go infinite", "ucinewgame")
    assert sum(line.startswith("bestmove") for line in lines) == 1


@pytest.mark.parametrize(
    ("position", "score"),
    [
        ("O*O*****/@@@*****/******** w 0 0 0 9", "mate 0"),
        ("O*******/@@@*****/******** b 0 0 0 9", "mate 1"),
        ("OOO*****/@@@*****/******** w 0 0 80 60", "cp 0"),
        ("OOO*****/@@@*****/******** w 0 0 4 30", "cp 0"),
    ],
)
def test_a_finished_game_has_a_score_and_no_best_move(gui: Gui, position: str, score: str) -> None:
    for go in ("go depth 3", "go movetime 50", "go wtime 100", "go mate 1"):
        lines = gui.go(go, f"position fen {position}")
        assert lines[-1] == "bestmove 0000"
        assert lines[-2].startswith("info depth 0 ")
        assert f" score {score} " in lines[-2]
    for go in ("go", "go infinite"):
        gui.send(go)
        lines = gui.until("info") + gui.several_answers()
        assert [line.split()[0] for line in lines] == ["info"]
        assert gui.stop()[-1] == "bestmove 0000"


def test_a_draw_by_repetition_has_no_best_move_and_the_game_may_continue(gui: Gui) -> None:
    cycle = "f6-d6 g4-g7 d6-f6 g7-g4"
    start = "position fen ********/*O*O*O**/**@@*@*@ w 0 0 0 30 moves"
    assert gui.go("go depth 3", f"{start} {cycle}")[-1] != "bestmove 0000"
    lines = gui.go("go depth 3", f"{start} {cycle} {cycle}")
    assert lines[-1] == "bestmove 0000"
    assert " score cp 0 " in lines[-2]
    assert gui.ask(f"{start} {cycle} {cycle} f6-e5", "query gameover") == ["response false"]
    assert gui.go("go depth 3")[-1] != "bestmove 0000"
    (error,) = gui.ask("position fen O*******/@@@*****/******** b 0 0 0 9 moves d6-d7")
    assert "the game is over" in error


def test_perft_without_a_number_starts_no_search(gui: Gui) -> None:
    for line in ("perft", "perft x", "perft infinite"):
        lines = gui.ask(line)
        assert len(lines) == 1 and lines[0].endswith("expected a number of plies, as in perft 5")
    gui.send("stop")
    assert gui.several_answers() == []


def test_perft_writes_a_count_for_each_move_and_their_sum(gui: Gui) -> None:
    gui.send("position startpos moves d6", "go perft 3")
    lines = gui.until("Nodes searched")
    assert len(lines) == 23 + 2 and lines[-2] == ""
    assert lines[-1] == "Nodes searched: 10626"
    assert sum(int(line.split(": ")[1]) for line in lines[:-2]) == 10626
    for command, total in (("perft 1", 23), ("go perft 0", 1), ("perft 2", 23 * 22)):
        gui.send(command)
        assert gui.until("Nodes searched")[-1] == f"Nodes searched: {total}"


def test_perft_may_finish_before_the_next_command_stops_it(gui: Gui) -> None:
    gui.send("go perft 5", "go depth 2")
    lines = gui.until("bestmove")
    assert "Nodes searched: 5140800" in lines
    gui.send("go perft 5", "quit")
    assert "Nodes searched: 5140800" in gui.until("Nodes searched")


@pytest.mark.thorough
def test_perft_can_be_stopped(gui: Gui) -> None:
    gui.ask("go perft 20")
    gui.send("stop")
    assert gui.until("Nodes searched")[-2] == ""
    gui.send("go perft 20")
    assert gui.go("go depth 2")[-1].startswith("bestmove ")


def test_a_thousand_invalid_words_get_eleven_error_lines(gui: Gui) -> None:
    for words in ("searchmoves" + " z9" * 1000, "x " * 1000):
        lines = gui.go(f"go depth 1 {words}")
        errors = [line for line in lines if line.startswith("info string error ")]
        assert len(errors) == 11
        assert errors[-1] == "info string error 990 more words after go are ignored"


def test_the_time_of_a_search_runs_while_it_waits_for_perft(gui: Gui) -> None:
    """Perft takes longer than the time limit, so that only the first iteration is searched."""
    gui.ask()
    gui.raw(b"go perft 6\ngo movetime 10\n")
    lines = gui.until("bestmove")
    assert {line.split()[2] for line in lines if line.startswith("info depth")} == {"1"}


@needs_proc
def test_a_short_search_does_not_touch_a_whole_large_hash_table(process: Gui) -> None:
    process.send("setoption name Hash value 1024")
    check_search(process.go("go movetime 100"), Position())
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    assert int(status.partition("VmHWM:")[2].split()[0]) < 256 << 10


def leave_memory(process: Gui, mebibytes: int) -> None:
    """Limit the engine's address space to its current size plus ``mebibytes``."""
    import resource

    pid = process.process.pid
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    maximum = pages * resource.getpagesize() + (mebibytes << 20)
    resource.prlimit(pid, resource.RLIMIT_AS, (maximum, maximum))


needs_prlimit = pytest.mark.skipif(sys.platform != "linux", reason="needs prlimit")


@pytest.mark.parametrize("busy", ["bench", "go perft 12"])
def test_a_go_during_a_long_job_does_not_delay_readyok(gui: Gui, busy: str) -> None:
    """The search waits for the end of the job, and the session for neither."""
    gui.send(busy)
    gui.raw(b"go searchmoves a1\nisready\nstop\n")
    lines = gui.until("bestmove")
    assert not any("odes" in line for line in lines[: lines.index("readyok")])
    assert lines[-1].startswith("bestmove a1") and gui.ask() == []


@needs_prlimit
def test_an_engine_without_a_thread_ends_at_go(process: Gui, tmp_path: Path) -> None:
    process.ask(f"setoption name TablePath value {tmp_path}")
    leave_memory(process, 1)
    process.send("go infinite searchmoves a1")
    assert_unable_to_search(process, "can't start new thread; use fewer threads")


SCRIPT_OF_A_FAILING_SEARCH = """
from merels.engine.search.searcher import Searcher
from merels.protocol.uci.loop import main


def fail(*arguments, **named):
    raise ZeroDivisionError("in a search")

Searcher.search = fail
main()
"""


def test_an_exception_in_a_search_ends_the_engine_without_a_bestmove() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT_OF_A_FAILING_SEARCH], input="go depth 2\n",
        capture_output=True, text=True, timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "merels: internal, ZeroDivisionError: in a search\n"


@pytest.mark.parametrize("damage", ["flipped", "missing"])
def test_an_engine_without_its_weights_ends_at_go(tmp_path: Path, damage: str) -> None:
    for package in (merels.engine, merels.protocol):
        folder = Path(package.__path__[0])
        shutil.copytree(
            folder, tmp_path / "merels" / folder.name,
            ignore=shutil.ignore_patterns("*.c", "__pycache__"),
        )  # fmt: skip
    # Without this file, the installed package would be imported.
    (tmp_path / "merels" / "__init__.py").touch()
    weights = tmp_path / "merels" / "engine" / "core" / "weights.bin"
    if damage == "missing":
        weights.unlink()
    else:
        data = bytearray(weights.read_bytes())
        data[len(data) // 2] ^= 1
        weights.write_bytes(data)
    with Gui(environment={"PYTHONPATH": str(tmp_path)}) as gui:
        (error,) = gui.ask()
        assert error.startswith("info string error ") and "reinstall merels" in error
        gui.send("go depth 2")
        assert_unable_to_search(gui, "reinstall merels")


@needs_prlimit
def test_an_engine_without_memory_for_its_weights_ends_at_go(tmp_path: Path) -> None:
    with Gui(environment={"MALLOC_ARENA_MAX": "1"}) as gui:
        # Perft starts the worker's thread, which needs memory, too.
        gui.send(f"setoption name TablePath value {tmp_path}", "go perft 1")
        gui.until("Nodes searched")
        leave_memory(gui, 4)
        (error,) = gui.ask()
        assert error.startswith("info string error ") and "memory" in error
        gui.send("go depth 2")
        assert_unable_to_search(gui, "memory")


def assert_unable_to_search(process: Gui, reason: str) -> None:
    """Check that the process ends with status 1, no bestmove and one line with the reason."""
    assert process.exit_code() == 1
    assert process.read_to_end() == []
    error = process.errors()
    assert error.startswith("merels: ") and reason in error and error.count("\n") == 1


@needs_prlimit
def test_a_search_without_memory_for_its_hash_table_uses_a_smaller_table(tmp_path: Path) -> None:
    def hash_error(requested: int, used: int) -> str:
        return (
            f"info string error '{requested} MiB': not enough memory; choose a smaller Hash; "
            f"{used} MiB are used instead"
        )

    # With its own arena, a thread would reserve memory into which the table fits.
    with Gui(environment={"MALLOC_ARENA_MAX": "1"}) as gui:
        # A free-threaded interpreter frees the old table only when the thread that made it runs
        # again. The freed memory adds to the memory that the limit leaves, so this table is small.
        gui.send("setoption name Hash value 1")
        gui.go("go depth 1", f"setoption name TablePath value {tmp_path}")
        gui.send("setoption name Hash value 17")
        gui.fen()
        leave_memory(gui, 6)
        lines = gui.go("go depth 2 searchmoves a1")
        assert lines[:2] == [hash_error(17, 16), hash_error(16, 1)]
        check_search(lines, Position())
        assert " depth 2 " in lines[-2] and lines[-1].split()[1] == "a1"
        assert gui.ask() == []
        assert gui.ask("setoption name Hash value 12") == [hash_error(12, 1)]
        gui.send("setoption name Hash value 16", "go ponder wtime 100 btime 100 depth 2")
        assert gui.line() == hash_error(16, 1)
        lines = gui.until(lambda line: " depth 2 " in line) + gui.several_answers()
        assert " depth 2 " in lines[-1]
        gui.send("ponderhit")
        check_search(lines + gui.until("bestmove"), Position())
