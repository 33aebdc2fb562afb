"""The client with real engine processes: merels itself, and fakes with faults."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import format_position, parse_move, parse_position
from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.rules import make_rules
from merels.engine.game.score import PovScore, Score
from merels.engine.search.limits import Info, Limit
from merels.protocol.client.any_engine import AnalysisComplete, AnyEngine, Stop
from merels.protocol.client.dialects import dialect
from merels.protocol.client.engine import Engine
from merels.protocol.client.in_process import InProcessEngine
from merels.protocol.common.options import Options, Value, parse_option
from merels.protocol.process.command import find_executable
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.protocol.process.guardian import GUARDIAN
from tests.kit.fakes import fake
from tests.processes import marked, needs_proc, own_mark
from tests.protocol.gui import ENGINE

OTHER_START = "**@@@@@@/********/*OOO***O w 0 0 0 20"


pytestmark = pytest.mark.usefixtures("no_engine_is_left")


def test_an_engine_can_be_configured_asked_to_search_and_closed() -> None:
    with Engine.popen(ENGINE) as engine:
        assert engine.name.startswith("merels")
        engine.configure({"hash": 2, "clear hash": None})
        engine.new_game()
        engine.ping(5.0)
        result = engine.play(Position(), Limit(depth=4))
        assert result.move in Position().legal_moves()
        assert result.info.depth == 4
        assert result.info.score is not None
        assert result.info.pv[0] == result.move
        only = parse_move("a1")
        assert engine.play(Position(), Limit(depth=3), root_moves=[only]).move == only
        finished = parse_position("OOO*****/********/@@****** b 0 0 0 30", make_rules("mill"))
        assert engine.play(finished, Limit(depth=2)).move is None
        pid = engine.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_engine_is_sent_the_moves_since_the_last_irreversible_move() -> None:
    """With only the current position, the engine could not detect a draw by repetition."""
    position = start = parse_position(OTHER_START)
    tokens = ["a7-a4", "e4-e5", "a4-a7", "e5-e4"]
    for token in tokens:
        position = position.push(parse_move(token))
    sent: list[bytes] = []
    with Engine.popen(fake("sound"), trace=lambda _, data: sent.append(data)) as engine:
        engine.play(position, Limit(nodes=1))
        engine.play(position, Limit(nodes=1), moves=[parse_move("a7-a4")])
        engine.analyse(position, Limit(nodes=1))
        engine.analysis(position, Limit(nodes=1)).wait()
    lines = [line for line in b"".join(sent).decode().splitlines() if line.startswith("position")]
    line = f"position fen {format_position(start)} moves {' '.join(tokens)}"
    assert lines == [line, f"{line} a7-a4", line, line]


def test_a_search_sets_the_rules_of_its_position() -> None:
    # d7 closes two mills: one man is removed under mill, two with DoubleMill=each.
    text = "O*@***@*/O**@*@**/*O*****O w 5 5 0 5"
    for settings, token in (([], "d7xb2"), (["DoubleMill=each"], "d7xb2xc4")):
        position = parse_position(text, make_rules("mill", settings))
        with Engine.popen(ENGINE) as engine:
            only = [parse_move(token)]
            assert engine.play(position, Limit(depth=2), root_moves=only).move == only[0]
            # The next search sets the position's rules again.
            engine.configure({"DoubleMill": "one" if settings else "each"})
            assert engine.play(position, Limit(depth=2), root_moves=only).move == only[0]


def test_the_number_of_variations_is_set_for_each_search() -> None:
    sent: list[bytes] = []
    with Engine.popen(ENGINE, trace=lambda _, data: sent.append(data)) as engine:
        variations = engine.analyse(Position(), Limit(depth=3), multipv=3)
        assert [info.multipv for info in variations] == [1, 2, 3]
        assert len({info.pv[0] for info in variations}) == 3
        sent.clear()
        assert engine.play(Position(), Limit(depth=2)).move is not None
        assert not any(b" multipv 2 " in data for data in sent)
        engine.analyse(Position(), Limit(depth=2), multipv=2)
        with engine.analysis(Position(), Limit(depth=3)) as analysis:
            assert {info.multipv for info in analysis if info.score} == {1}


def test_an_analysis_without_a_limit_runs_until_it_is_stopped() -> None:
    with Engine.popen(ENGINE) as engine:
        depths = []
        with engine.analysis(Position()) as analysis:
            for info in analysis:
                depths.append(info.depth)
                if len(depths) == 5:
                    break
            assert analysis.running
        assert not analysis.running
        assert engine.play(Position(), Limit(depth=2)).move is not None


def test_another_thread_can_kill_an_engine_that_ignores_stop() -> None:
    with Engine.popen(fake("never")) as engine:
        killer = threading.Timer(0.1, engine.kill)
        killer.start()
        with pytest.raises(EngineTerminated, match="killed by SIGKILL"):
            engine.play(Position(), Limit(time=30.0))
        killer.join()
    engine.kill()  # A closed engine may be killed again.


def test_an_analysis_that_exceeds_its_time_is_stopped() -> None:
    traced: list[bytes] = []
    with Engine.popen(fake("stops-only"), trace=lambda _, data: traced.append(data)) as engine:
        engine.timeout = 0.1
        with pytest.raises(EngineTimeout, match="does not end its search"):
            engine.analyse(Position(), Limit(time=0.1))
    assert b"bestmove" in b"".join(traced).partition(b"stop\n")[2]


@pytest.mark.parametrize("mode", ["upper", "crlf", "tab", "blank", "unended"])
def test_an_analysis_ends_however_bestmove_is_written(mode: str) -> None:
    with Engine.popen(fake(mode)) as engine:
        # The whole timeout passes before an answer without a line feed is accepted.
        engine.timeout = 2.0 if mode == "unended" else 20.0
        with engine.analysis(Position(), Limit(time=0.1)) as analysis:
            analysis.wait()
        assert not analysis.running


@contextmanager
def killed_if_it_hangs(engine: Engine) -> Iterator[None]:
    """Kill the engine if the block takes longer than 20 seconds."""
    killer = threading.Timer(20.0, engine.kill)
    killer.start()
    try:
        yield
    finally:
        killer.cancel()


@pytest.mark.parametrize("limit", [Limit(depth=3), Limit(time=0.1)])
def test_a_ping_drops_no_line_of_an_analysis_whose_search_has_ended(limit: Limit) -> None:
    with Engine.popen(fake("sound")) as engine, killed_if_it_hangs(engine):
        engine.timeout = 1.0
        analysis = engine.analysis(Position(), limit)
        engine.ping(20.0)  # The fake answers "go" before "isready".
        engine.ping(20.0)
        assert analysis.running
        assert analysis.wait().depth == 3 and not analysis.running
        engine.ping(20.0)
        assert engine.play(Position(), Limit(depth=1)).move is not None


def test_a_ping_drops_no_line_of_a_running_analysis() -> None:
    with Engine.popen(ENGINE) as engine, killed_if_it_hangs(engine):
        with engine.analysis(Position()) as analysis:
            depths = []
            for _ in range(4):
                engine.ping()
                info = analysis.next()
                assert info is not None
                depths.append(info.depth)
        assert depths == [1, 2, 3, 4]


def stopping(stop: Stop) -> Iterator[Move]:
    """Yield no moves; when iterated, set ``stop`` in another thread."""
    thread = threading.Thread(target=stop.set)
    thread.start()
    thread.join()
    yield from ()


@pytest.mark.parametrize("start", [lambda: Engine.popen(ENGINE), InProcessEngine])
def test_a_stop_before_go_ends_the_search(
    start: Callable[[], Engine | InProcessEngine],
) -> None:
    limit = Limit(nodes=1_000_000)
    stops = [Stop() for _ in range(3)]
    with start() as engine:
        played = engine.play(Position(), limit, moves=stopping(stops[0]), stop=stops[0]).info
        analysed = engine.analyse(Position(), limit, moves=stopping(stops[1]), stop=stops[1])
        with engine.analysis(
            Position(), limit, moves=stopping(stops[2]), stop=stops[2]
        ) as analysis:
            streamed = analysis.wait()
        for info in (played, analysed, streamed):
            assert info.nodes is not None and info.nodes < 500_000
        # The stops do not affect later searches.
        assert engine.play(Position(), Limit(depth=4)).info.depth == 4


def test_a_stop_ends_every_search_that_has_it_and_no_later_search() -> None:
    sent: list[bytes] = []
    with Engine.popen(fake("stops-only"), trace=lambda _, data: sent.append(data)) as engine:
        with killed_if_it_hangs(engine):
            stop, unused = Stop(), Stop()
            stop.set()
            for _ in range(2):
                assert engine.play(Position(), Limit(depth=1), stop=stop).move is not None
            stop.set()
            engine.ping()
            assert sent.count(b"stop\n") == 2
            timer = threading.Timer(0.2, unused.set)
            timer.start()
            assert engine.play(Position(), Limit(depth=1), stop=unused).move is not None
            unused.set()
            assert sent.count(b"stop\n") == 3


def test_next_of_an_analysis_can_time_out() -> None:
    with Engine.popen(fake("stops-only")) as engine, killed_if_it_hangs(engine):
        with engine.analysis(Position()) as analysis:
            for _ in range(3):
                assert analysis.next(0.01) is None and analysis.running
            analysis.stop()
            assert analysis.next(20.0) is not None
            assert analysis.next(20.0) is None and not analysis.running
    with InProcessEngine() as in_process, in_process.analysis(Position()) as analysis:
        while (info := analysis.next(0.0)) is None:
            assert analysis.running
        assert info.depth == 1 and analysis.running


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"Hsh": 1}, "'Hsh': no such option; did you mean Hash"),
        ({"Hash": 0}, "'0': option Hash takes a whole number from 1 to 1024"),
        ({"Hash": "many"}, "'many': option Hash takes a whole number from 1 to 1024"),
        ({"Hash": "1_0"}, "'1_0': option Hash takes a whole number from 1 to 1024"),
        ({"Hash": "٣"}, "'٣': option Hash takes a whole number from 1 to 1024"),
        ({"Hash": None}, "'None': option Hash takes a value"),
        ({"uci_variant": "chess"}, "'chess': option UCI_Variant takes one of mill, multi, loc"),
    ],
)
def test_an_error_names_the_invalid_option(settings: dict[str, Value], message: str) -> None:
    with Engine.popen(fake("sound")) as engine:
        assert list(engine.options) == ["UCI_Variant", "Hash"]
        with pytest.raises(InputError, match=message):
            engine.configure(settings)


@pytest.mark.parametrize(
    "bounds, valid, invalid, expected",
    [
        (f"min {-1 << 63} max {(1 << 63) - 1}", (1 << 63) - 1, 1 << 63,
         "from -9223372036854775808 to 9223372036854775807$"),
        (f"min {-1 << 63} max 0", -1 << 63, (-1 << 63) - 1, "from -9223372036854775808 to 0$"),
        ("min 1", 1, 0, "from 1$"),
        ("max 9", 9, 10, "to 9$"),
    ],
)
def test_the_error_about_a_spin_names_its_bounds(
    bounds: str, valid: int, invalid: int, expected: str
) -> None:
    option = parse_option(f"option name X type spin default 0 {bounds}")
    assert option is not None and option.check(str(valid)) == str(valid)
    with pytest.raises(InputError, match=f"'{invalid}': option X takes a whole number {expected}"):
        option.check(invalid)


def test_an_engine_that_declares_no_options_is_sent_every_option() -> None:
    sent: list[bytes] = []
    with Engine.popen(fake("none"), trace=lambda _, data: sent.append(data)) as engine:
        engine.options = Options()
        engine.configure({"Style": "wild", "Clear Hash": None})
    assert b"setoption name Clear Hash\n" in sent and b"setoption name Style value wild\n" in sent


@pytest.mark.parametrize(
    "command, message",
    [
        ("./no-such-engine", "no-such-engine"),
        (["no-such-engine", "x"], "no-such-engine"),
        ("", "empty"),
        ("'open", "cannot read the engine's command"),
        ("TMP/text", "cannot start"),
        ("TMP", "is a folder"),
        ("TMP/a folder", "'TMP/a folder' is a folder"),
        ("TMP/nothing", "there is no file"),
        ("TMP/no mill", "there is no file '.*/no', and no file '.*/no mill'; .*args="),
        ("pyhton3 mini.py",
         "'pyhton3' is not in PATH or the current folder, and no file 'pyhton3 mini.py'; .*args="),
    ],
)
def test_the_error_about_a_command_names_the_cause(
    command: str | list[str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("no program")
    (tmp_path / "a folder").mkdir()
    if isinstance(command, str):
        command = command.replace("TMP", str(tmp_path))
    with pytest.raises(EngineError, match=message.replace("TMP", str(tmp_path))):
        Engine.popen(command)


@pytest.mark.parametrize(
    "command, directory, stderr, message",
    [
        (["sh", "a\0b"], None, None, "cannot start '.*sh': .*embedded null"),
        (["sh", "\ud800"], None, None, "cannot start '.*sh': .*surrogates not allowed"),
        (["a\0b"], None, None, "no such engine: 'a.b'"),
        (["sh"], None, "a\0b", "cannot write 'a.b': .*embedded null"),
        (["sh"], "a\0b", None, "no such folder: 'a.b'"),
        (["sh"], "/no/such", None, "no such folder: '/no/such'"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="needs sh")
def test_a_command_or_path_that_the_system_rejects_is_an_engine_error(
    command: list[str], directory: str | None, stderr: str | None, message: str
) -> None:
    with pytest.raises(EngineError, match=message):
        Engine.popen(command, directory=directory, stderr=stderr)


def make_script(script: Path, condition: str = "true") -> None:
    """Write a shell script that is an engine, and runs only if the condition is true."""
    script.write_text(f'#!/bin/sh\n{condition} && exec {shlex.join(fake())}\n')
    script.chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="shell script")
def test_a_command_is_looked_up_in_the_engine_s_directory_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "my-engine"
    make_script(script, "test -f my-engine")
    for command in ("./my-engine", "my-engine"):
        with Engine.popen(command, directory=str(tmp_path)) as engine:
            assert engine.name == "Fake"
    monkeypatch.chdir(tmp_path)
    assert find_executable(["./my-engine"]) == str(script)


@pytest.mark.thorough
def test_every_timeout_quotes_the_engine_s_last_output() -> None:
    quote = "; last output, without a line feed: 'info string broken'"
    with Engine.popen(fake("text-for-readyok", "info string broken")) as engine:
        with pytest.raises(EngineTimeout, match=f"no answer to isready in 1 s{quote}"):
            engine.ping(1.0)
    with Engine.popen(fake("text-for-bestmove", "info string broken")) as engine:
        engine.timeout = 1.0
        with pytest.raises(EngineTimeout, match=f"does not end its search in its time{quote}"):
            engine.analyse(Position(), Limit(time=0.01))
        with pytest.raises(EngineTimeout, match=f"no answer to an earlier search in 1 s{quote}"):
            engine.play(Position(), Limit(time=0.01))
    with Engine.popen(fake("text-for-bestmove", "info string broken")) as engine:
        engine.timeout = 1.0
        with pytest.raises(EngineTimeout, match=f"plays no move in its time{quote}"):
            engine.play(Position(), Limit(time=0.01))
    with Engine.popen(fake("text-for-bestmove", "info string broken")) as engine:
        engine.connection.watch_silence(0.5)
        with pytest.raises(EngineTimeout, match=f"does not respond for 1 s{quote}"):
            engine.play(Position(), Limit(nodes=1))
    with pytest.raises(EngineTimeout, match=r"uci in 3 s; .* line feed: 'id name .*uciok\\r'"):
        Engine.popen(fake("cr"), timeout=3.0)


def test_a_search_that_would_never_end_is_refused() -> None:
    sent: list[bytes] = []
    with Engine.popen(ENGINE, trace=lambda _, data: sent.append(data)) as engine:
        for limit in (Limit(), Limit(black_clock=1.0, white_inc=1.0)):
            message = "for White would never end: set time, depth, nodes, mate or White's clock"
            with pytest.raises(ValueError, match=message):
                engine.play(Position(), limit)
            with pytest.raises(ValueError, match=message):
                engine.analyse(Position(), limit)
            assert not any(b"go" in data for data in sent)
            # An analysis may have such a limit, since it can be stopped.
            with engine.analysis(Position(), limit) as analysis:
                assert analysis.next() is not None and analysis.running
            assert any(b"go infinite" in data for data in sent)
            sent.clear()


def test_the_error_about_an_illegal_move_quotes_what_the_engine_reported() -> None:
    for answer in ("a1xg7", "0000"):
        script = f"go: print info string error in position & answer bestmove {answer}"
        with Engine.popen(fake(script)) as engine:
            with pytest.raises(EngineError, match="; the engine reported: 'info string error in"):
                engine.play(Position(), Limit(nodes=1))


def test_a_move_outside_the_moves_to_choose_from_is_an_error() -> None:
    with Engine.popen(fake("sound")) as engine:
        move = engine.play(Position(), Limit(nodes=1)).move
        others = [other for other in Position().legal_moves() if other != move]
        with pytest.raises(EngineError, match="answered '..', which is not in root_moves"):
            for other in others:
                engine.play(Position(), Limit(nodes=1), root_moves=[other])


@pytest.mark.parametrize("mode", ["stubborn", "family"])
def test_close_kills_an_engine_that_ignores_quit_and_sigterm(mode: str) -> None:
    engine = Engine.popen(fake(mode))
    engine.close(0.2)
    with pytest.raises(EngineTerminated):
        engine.ping()
    engine.close()


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_engine_that_ignores_quit_gets_sigterm_before_sigkill(tmp_path: Path) -> None:
    file = tmp_path / "terminated"
    handler = f"lambda *_: (create('{file}'), leave('0'))"
    Engine.popen(fake(f"start: do signal.signal(15, {handler}); quit: hang")).close(1.0)
    assert file.exists()


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_line_break_in_an_option_is_refused(end: str) -> None:
    with Engine.popen(ENGINE) as engine:
        with pytest.raises(InputError, match=r"takes a name and a value without line breaks"):
            engine.configure({"Hash": 2, "UCI_Opponent": f"none{end}quit"})
        engine.options = Options()
        with pytest.raises(InputError, match=r"takes a name and a value without line breaks"):
            engine.configure({f"Style{end}quit": "wild"})
        engine.ping()


def test_a_lone_surrogate_in_the_name_of_an_option_is_refused() -> None:
    with Engine.popen(fake("none")) as engine:
        engine.options = Options()
        with pytest.raises(InputError, match="takes a name and a value without lone surrogates"):
            engine.configure({"Style\udcff": "wild"})


@needs_proc
def test_no_engine_runs_without_a_guardian(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = fake()
    with Engine.popen(sound) as engine:
        assert GUARDIAN._process is not None
        GUARDIAN._process.kill()
        GUARDIAN._process.wait()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", "/no/such/python")
            with pytest.raises(EngineError, match="process that ends engines: No such"):
                Engine.popen(sound)
            assert len(marked(own_mark())) == 1
            engine.close()
        Engine.popen(sound).close()


def test_a_trace_gets_both_directions_and_a_file_gets_standard_error(tmp_path: Path) -> None:
    traced: list[tuple[str, bytes]] = []
    errors = tmp_path / "stderr"
    with Engine.popen(
        fake("stderr"), trace=lambda *lines: traced.append(lines), stderr=str(errors)
    ) as engine:
        engine.play(Position(), Limit(nodes=1))
    assert (">", b"uci\n") in traced
    assert (">", b"position startpos\ngo nodes 1\n") in traced
    assert b"bestmove" in b"".join(data for direction, data in traced if direction == "<")
    assert errors.stat().st_size == 1 << 20


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_an_engine_does_not_wait_for_a_reader_of_its_standard_error(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(EngineError, match="pipe': no program reads this pipe; start its reader"):
        Engine.popen(fake("sound"), stderr=str(pipe))


def test_a_score_is_converted_to_either_side_s_view() -> None:
    score = PovScore(Score(cp=30), BLACK)
    assert (score.relative, score.white(), score.black()) == (
        Score(cp=30), Score(cp=-30), Score(cp=30),
    )
    assert PovScore(Score(win_in=5), BLACK).white() == Score(win_in=-5)
    assert PovScore(Score(win_in=-4), WHITE).white() == Score(win_in=-4)
    assert PovScore(Score(win_in=0), WHITE).black() == Score(win_in=1)


@pytest.mark.parametrize(
    "name, mate, plies",
    [("uci", 3, 5), ("uci", 1, 1), ("uci", -2, -4), ("uci", 0, 0), ("ugi", 5, 5), ("ugi", -4, -4)],
)
def test_mate_scores_are_converted_to_plies(name: str, mate: int, plies: int) -> None:
    line = b"info depth 4 score mate %d nodes 9" % mate
    assert dialect(name).info_summary(line, WHITE).win_in == plies
    info = dialect(name).info(line, Position())
    assert info.score == PovScore(Score(win_in=plies), WHITE)


def test_every_field_of_an_info_line_is_read() -> None:
    line = (
        b"info depth 8 seldepth 12 multipv 2 score cp 30 upperbound wdl 500 300 200 nodes 99 "
        b"nps 1000 hashfull 5 tbhits 3 time 1500 pv d6 f4 d6 a1"
    )
    info = dialect("uci").info(line, Position())
    assert (info.depth, info.seldepth, info.multipv, info.nodes) == (8, 12, 2, 99)
    assert (info.nps, info.hashfull, info.tbhits, info.time) == (1000, 5, 3, 1.5)
    assert info.score == PovScore(Score(cp=30), WHITE)
    assert (info.bound, info.wdl) == ("upper", (500, 300, 200))
    assert info.pv == (parse_move("d6"), parse_move("f4"))
    info = dialect("uci").info(b"info string a  score 300 depth 9", Position())
    assert (info.string, info.score, info.depth) == ("a score 300 depth 9", None, None)


def test_go_lines_have_limits_in_whole_milliseconds() -> None:
    limit = Limit(white_clock=1.5, black_clock=0.25, white_inc=0.01, black_inc=0, remaining_moves=9)
    line = dialect("uci").go(limit, WHITE)
    assert line == b"go wtime 1500 btime 250 winc 10 binc 0 movestogo 9\n"
    line = dialect("ugi").go(limit, WHITE)
    assert line == b"go p1time 1500 p2time 250 p1inc 10 p2inc 0 movestogo 9\n"
    line = dialect("uci").go(Limit(time=0.0001, depth=3, nodes=7, mate=2), WHITE)
    assert line == b"go movetime 1 depth 3 nodes 7 mate 2\n"
    line = dialect("uci").go(Limit(black_clock=0.005), WHITE, ponder=True)
    assert line == b"go ponder btime 5\n"
    moves = (parse_move("d6"), parse_move("a1"))
    line = dialect("uci").go(Limit(), WHITE, root_moves=moves, infinite=True)
    assert line == b"go infinite searchmoves d6 a1\n"


def test_a_position_line_without_moves_lacks_the_word_moves() -> None:
    assert dialect("uci").position(Position()) == b"position startpos"
    moves = [parse_move("d6"), parse_move("f4")]
    assert dialect("uci").position(Position(), moves) == b"position startpos moves d6 f4"
    other = parse_position(OTHER_START)
    assert dialect("ugi").position(other) == b"position fen " + OTHER_START.encode()


def test_an_unknown_protocol_is_an_engine_error() -> None:
    with pytest.raises(EngineError, match="no such protocol: 'xboard'; expected uci, ugi, sanmill"):
        Engine.popen(ENGINE, protocol="xboard")


# An engine that answers its first search a number of seconds after "stop", and later searches at
# once. Meanwhile it answers "isready".
LATE_ANSWER_SCRIPT = r"""
import sys, threading
searches = 0
def send(*lines):
    print("\n".join(lines), flush=True)
for line in sys.stdin:
    word = line.split()[0]
    if word == "uci":
        send("uciok")
    elif word == "isready":
        send("readyok")
    elif word == "go":
        searches += 1
        if searches > 1:
            send("info depth 1 score cp 2 pv f4")
            if "infinite" not in line:
                send("bestmove f4")
    elif word == "stop":
        late = ("info depth 9 score cp 999 pv a1", "bestmove a1")
        if searches == 1:
            timer = threading.Timer(float(sys.argv[1]), send, late)
            timer.daemon = True
            timer.start()
        else:
            send("bestmove f4")
    elif word == "quit":
        break
"""


def engine_that_owes_an_answer(
    error: str = "plays no move in its time", seconds: float = 2.0
) -> Engine:
    """Return an engine that owes the answer to its first search, which raised ``error``.

    The answer comes ``seconds`` after the engine was told to stop.
    """
    engine = Engine.popen([sys.executable, "-c", LATE_ANSWER_SCRIPT, str(seconds)])
    engine.timeout = 0.1
    with pytest.raises(EngineTimeout, match=error):
        if "move" in error:
            engine.play(Position(), Limit(time=0.01))
        else:
            engine.analyse(Position(), Limit(time=0.01))
    engine.timeout = 15.0
    return engine


@pytest.mark.thorough
def test_a_late_answer_is_not_taken_for_the_answer_to_the_next_search() -> None:
    with engine_that_owes_an_answer() as engine:
        result = engine.play(Position(), Limit(depth=1))
        assert str(result.move) == "f4" and result.info.depth == 1
    with engine_that_owes_an_answer("does not end its search in its time") as engine:
        engine.ping()
        assert engine.analyse(Position(), Limit(depth=1)).depth == 1
    with engine_that_owes_an_answer(seconds=1000.0) as engine:
        engine.timeout = 0.1
        with pytest.raises(EngineTimeout, match="no answer to an earlier search in 0.1 s"):
            engine.analysis(Position())


@pytest.mark.parametrize(
    ("words", "wdl"),
    [
        ("1000 0 0", (1000, 0, 0)), ("0 1000 0", (0, 1000, 0)), ("0 0 1000", (0, 0, 1000)),
        ("0 400 600", (0, 400, 600)), ("1 2", None), ("1 2 x", None), ("x 2 3", None), ("", None),
    ],
)
def test_wdl_is_read_if_it_has_three_numbers(words: str, wdl: tuple[int, int, int] | None) -> None:
    assert dialect("uci").info(f"info wdl {words}".encode(), Position()).wdl == wdl


def test_another_game_begins_with_ucinewgame() -> None:
    sent: list[bytes] = []
    with Engine.popen(fake(), trace=lambda mark, data: sent.append(data)) as engine:
        for game in ("a", "a", "b", None, "b"):
            engine.play(Position(), Limit(nodes=1), game=game)
    assert b"".join(sent).count(b"ucinewgame") == 2


def test_options_of_a_search_are_as_before_afterwards() -> None:
    sent: list[bytes] = []
    with Engine.popen(ENGINE, trace=lambda mark, data: mark == ">" and sent.append(data)) as engine:
        engine.configure({"Hash": 2})
        for search in (engine.play, engine.analyse):
            sent.clear()
            search(Position(), Limit(nodes=1), options={"hash": 4, "UCI_Opponent": "x"})
            lines = b"".join(sent).decode().splitlines()
            assert [line for line in lines if "Hash" in line or "Opponent" in line] == [
                "setoption name Hash value 4", "setoption name UCI_Opponent value x",
                "setoption name Hash value 2", "setoption name UCI_Opponent value <empty>",
            ]
        sent.clear()
        with pytest.raises(InputError, match="expected a dict of options"):
            engine.configure("Hash")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="expected a dict of options"):
            engine.play(Position(), Limit(nodes=1), options="Hash")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="'Hsh': no such option; did you mean Hash?"):
            engine.play(Position(), Limit(nodes=1), options={"Hsh": 4})
        with pytest.raises(InputError, match="illegal move"):
            engine.play(Position(), Limit(nodes=1), options={"Hash": 4}, root_moves=["d6", "a1-d1"])
        assert b"Hash" not in b"".join(sent)
    with InProcessEngine() as engine, pytest.raises(InputError, match="has no options"):
        engine.play(Position(), Limit(nodes=1), options={"Hash": 4})


@pytest.mark.parametrize("make", [lambda: Engine.popen(ENGINE), InProcessEngine])
def test_an_engine_ponders_until_its_next_call(make: Callable[[], AnyEngine]) -> None:
    with make() as engine:
        first = engine.play(Position(), Limit(nodes=2000), ponder=True)
        assert first.move is not None and first.ponder is not None
        assert engine._analysis is not None and engine._analysis.next(30.0) is not None
        after = Position().push(first.move).push(first.ponder)
        second = engine.play(after, Limit(nodes=2000), info=False)
        assert engine._analysis is None and second.info == Info()
        assert after.is_legal(second.move or "")
        won = Position("OO******/@@@*****/*O****** w 0 0 0 30")
        assert engine.play(won, Limit(depth=3), ponder=True).ponder is None


@pytest.mark.parametrize("make", [lambda: Engine.popen(ENGINE), InProcessEngine])
def test_an_analysis_is_read_as_in_python_chess(make: Callable[[], AnyEngine]) -> None:
    with make() as engine:
        with engine.analysis(Position(), Limit(depth=5)) as analysis:
            depths = [analysis.get().depth]
            while analysis.running:
                if analysis.empty():
                    continue
                depths.append(analysis.get().depth)
            with pytest.raises(AnalysisComplete):
                while True:
                    depths.append(analysis.get().depth)
            assert analysis.empty() and analysis.next() is None
        assert sorted(set(depths), key=lambda depth: depth or 0)[-1] == 5
        assert analysis.info.depth == 5
