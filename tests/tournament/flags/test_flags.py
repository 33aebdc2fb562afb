"""The command line of tournaments: the meaning of flags, and errors."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.rules import parse_rules
from merels.tournament.flags import run_options
from merels.tournament.flags.command_line import parse
from merels.tournament.flags.make_settings import make_settings
from merels.tournament.flags.name_engines import name_engines
from merels.tournament.flags.run_options import RunOptions, load_factory, make_run_options
from merels.tournament.pairing.schedule import schedule_for
from merels.tournament.records.games import SECOND, Adjudication, TimeControl
from merels.tournament.records.fields import read_clock
from merels.tournament.records.output import PgnStyle
from merels.tournament.records.settings import LEAGUE, Settings
from merels.tournament.run.log_file import LogFile
from merels.tournament.statistics.sprt import Sprt
from merels.tournament.views.pgn_file import PgnFile
from tests.commands import output, refusal
from tests.kit.tables import copy_tables

MATCH = ["-engine", "cmd=a", "name=A", "-engine", "cmd=b", "name=B", "-each", "tc=10+0.1"]
"""Flags of a match of two engines."""


def settings_of(*argv: str) -> Settings:
    """Return the settings of the match with more flags."""
    return make_settings(parse([*MATCH, *argv]), seed=1)


def run_options_of(*argv: str) -> RunOptions:
    """Return the options of a run of the match with more flags."""
    flags = parse([*MATCH, *argv])
    return make_run_options(flags, make_settings(flags, seed=1))


def error_of(*argv: str) -> str:
    """Return the error of a command line."""
    with pytest.raises(InputError) as error:
        flags = parse(argv)
        settings = make_settings(flags, seed=1)
        make_run_options(flags, settings)
        flags.faults.raise_all()
        schedule_for(settings)
    return str(error.value)


@pytest.mark.parametrize(
    ("announced", "names"),
    [
        (["Y", "A", "B"], ["A", "A 2", "B"]), (["Y", "B", "B"], ["A", "B", "B 2"]),
        (["Y", "\a", " "], ["A", "b", "c"]),
    ],
)
def test_an_engine_without_a_name_gets_the_announced_one(
    announced: list[str], names: list[str]
) -> None:
    flags = parse(["-engine", "cmd=a", "name=A", "-engine", "cmd=b", "-engine", "cmd=c",
                   "-each", "nodes=9"])  # fmt: skip
    named = name_engines(make_settings(flags, seed=1), flags, announced=announced)
    assert [entrant.engine.name for entrant in named.engines] == names


@pytest.mark.parametrize("words", [("-games", "3"), ("-games", "1", "-repeat", "5")])
def test_an_odd_number_of_games_in_a_match_is_refused(words: tuple[str, ...]) -> None:
    flags = parse([*MATCH, *words])
    make_settings(flags, seed=None)
    with pytest.raises(InputError, match="has no pair.*report penta=false"):
        flags.faults.raise_all()
    assert make_settings(parse([*MATCH, *words, "-report", "penta=false"]), None).games % 2
    three = [*MATCH, "-engine", "cmd=c", "name=C", *words]
    assert make_settings(parse(three), None).games % 2, "ratings count single games"
    assert make_settings(flags, seed=7).games % 2, "a journal of a former version is continued"


@pytest.mark.parametrize(
    ("text", "moves", "seconds", "increment"),
    [
        ("10+0.1", None, 10, 0.1),
        ("40/60+0.6", 40, 60, 0.6),
        ("1:30+1", None, 90, 1),
        ("40/1:30.5", 40, 90.5, 0),
        ("0.2+0.002", None, 0.2, 0.002),
        (".5", None, 0.5, 0),
    ],
)
def test_a_tc_is_read(text: str, moves: int | None, seconds: float, increment: float) -> None:
    assert read_clock(text) == TimeControl(
        time=round(seconds * SECOND), increment=round(increment * SECOND), moves=moves
    )


def test_an_infinite_time_control_is_no_clock() -> None:
    assert read_clock("inf") == read_clock("Infinite") == TimeControl()


@pytest.mark.parametrize(
    "text", ["", "x", "10+", "+1", "0", "-5", "1e3", "40/", "/60", "0/60", "1:2:3", "nan", "9" * 30]
)
def test_an_invalid_time_control_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="tc=moves/min:sec"):
        read_clock(text)


def test_the_keys_of_an_engine_override_those_of_each(tmp_path: Path) -> None:
    program = tmp_path / "x y"
    program.touch()
    flags = parse([
        "-engine", f"cmd={program}", "args=--a 'b c' -d", "option.Hash=16",
        "option.Some Path=a=b", "proto=UGI", "restart=on", "ponder=true", "timemargin=20",
        "starttimeout=2.5", "-engine", "cmd=z.sh", "st=0.5",
        "-each", "tc=40/60", "option.Threads=2",
    ])
    first, second = make_settings(flags, seed=1).engines
    assert first.engine.command == (str(program), "--a", "b c", "-d")
    assert dict(first.engine.options) == {"Threads": "2", "Hash": "16", "Some Path": "a=b"}
    assert (first.engine.protocol, first.restart, first.ponder) == ("ugi", True, True)
    assert first.limit == TimeControl(time=60 * SECOND, moves=40, margin=20_000_000)
    assert first.start_timeout == 2.5
    assert (second.name, second.engine.protocol, second.restart) == ("z", "uci", False)
    assert second.limit == TimeControl(per_move=SECOND // 2), "overrides -each"


def test_an_error_in_a_value_of_each_is_reported_once() -> None:
    """In a former version, each engine repeated the error."""
    error = error_of(*MATCH, "-each", "st=0", "option.Hash=x\ny", "rules=x")
    assert len(error.splitlines()) == 4, error
    assert "of A" not in error and "of B" not in error


def test_default_names_are_made_distinct() -> None:
    engines = make_settings(parse(["-engine", "cmd=x", "-engine", "cmd=d/x", "-engine", "cmd=y",
                                   "name=x 2", "-each", "nodes=1"]), 1).engines
    assert [engine.name for engine in engines] == ["x", "x 3", "x 2"]
    assert "two engines have this name" in error_of(
        "-engine", "cmd=x", "name=A", "-engine", "cmd=y", "name=A", "-each", "nodes=1"
    )


def test_defaults_are_those_of_other_runners() -> None:
    chosen = settings_of()
    assert (chosen.format, chosen.rounds, chosen.games, chosen.swap) == ("roundrobin", 2, 2, True)
    assert chosen.rules == "mill" and chosen.adjudication == Adjudication()
    options = run_options_of()
    assert (options.concurrency, options.intervals.rating, options.intervals.score) == (1, 10, 1)


def test_without_engines_the_built_in_levels_play() -> None:
    chosen = make_settings(parse([]), seed=1)
    assert len(chosen.engines) >= 4
    assert {entrant.engine.command[0] for entrant in chosen.engines} == {sys.executable}
    levels = {dict(entrant.engine.options)["UCI_Elo"] for entrant in chosen.engines}
    assert len(levels) == len(chosen.engines)


def test_flags_set_the_format_games_rules_and_tags() -> None:
    chosen = settings_of(
        "-tournament", "gauntlet", "-rounds", "7", "-games", "1", "-noswap",
        "-seeds", "1", "-srand", "99", "-variant", "multi", "-set", "Flying=never", "Repetition=0",
        "-event", "E",
    )
    assert (chosen.format, chosen.rounds, chosen.games, chosen.seed) == ("gauntlet", 7, 1, 99)
    assert not chosen.swap
    assert chosen.rules == "multi Flying=never Repetition=0"
    assert chosen.event == "E"


def test_repeat_sets_only_a_minimum_of_games() -> None:
    assert settings_of("-games", "1", "-repeat").games == 2
    assert settings_of("-repeat", "4").games == 4
    assert settings_of("-games", "4", "-repeat").games == 4
    assert settings_of("-games", "4", "-repeat", "2").games == 4


def test_flags_set_adjudication_and_an_sprt() -> None:
    chosen = settings_of(
        "-draw", "movenumber=20", "movecount=4", "score=5", "-resign", "movecount=3", "score=400",
        "twosided", "-maxmoves", "100", "-sprt", "elo0=-1.5", "elo1=2", "alpha=0.1",
        "model=logistic", "-report", "penta=false",
    )
    assert chosen.adjudication == Adjudication(20, 4, 5, 0, 3, 400, True, 100)
    assert chosen.sprt == Sprt(-1.5, 2, 0.1, 0.05, "logistic")
    assert not chosen.by_pairs and chosen.rounds > 1000


def test_an_engine_with_a_limit_of_processor_time_restarts_for_each_game() -> None:
    flags = parse(["-engine", "cmd=a", "cpu=5", "-engine", "cmd=b", "-each", "nodes=1"])
    assert [engine.restart for engine in make_settings(flags, 1).engines] == [True, False]


def test_tbadjudicate_restricts_adjudication_by_tables(tmp_path: Path) -> None:
    copy_tables(tmp_path, parse_rules("mill"), 6)
    assert settings_of("-tb", str(tmp_path)).adjudication == Adjudication(tables=str(tmp_path))
    for word, results in (("both", "BOTH"), ("WIN_LOSS", "WIN_LOSS"), ("Draw", "DRAW")):
        chosen = settings_of("-tb", str(tmp_path), "-tbadjudicate", word).adjudication
        assert chosen == Adjudication(tables=str(tmp_path), table_results=results)
    assert "'-tbadjudicate': expected -tb as well" in error_of(*MATCH, "-tbadjudicate", "DRAW")


def test_flags_set_files_concurrency_and_output() -> None:
    options = run_options_of(
        "-pgnout", "games.pgn", "timeleft=true", "append=false", "-shard", "2/3",
        "-concurrency", "4", "-force-concurrency", "-scoreinterval", "0", "-quiet",
    )
    assert (options.pgn_file, options.pgn_append) == ("games.pgn", False)
    assert options.pgn_style == PgnStyle(clock=True)
    assert options.intervals.score == 0
    assert (options.shard, options.concurrency, options.quiet) == ((2, 3), 4, True)


def test_flags_may_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "my flags"
    path.write_text("# a match\n-engine cmd=a 'name=The A'\n-engine cmd=b name=B\n-each nodes=5\n")
    chosen = make_settings(parse(["-config", f"file={path}", "-rounds", "3"]), 1)
    assert [engine.name for engine in chosen.engines] == ["The A", "B"] and chosen.rounds == 3


def test_flags_of_a_file_have_the_place_of_its_name_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "flags"
    path.write_text("-set Repetition=5 -rounds 3 -each nodes=5")
    chosen = settings_of("-set", "Flying=never", "-rounds", "7", "-config", str(path))
    assert chosen.rules == "mill Flying=never Repetition=5" and chosen.rounds == 3
    assert settings_of("-config", str(path), "-rounds", "7").rounds == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [("-config loop", "cannot name another"), ("-event a\0b", "a zero byte"),
     ("-event 'a", "cannot read the flags")],
)
def test_an_invalid_file_of_flags_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").write_text(text)
    error = error_of("-config", "file=loop")
    assert "loop" in error and message in error


def test_an_engines_own_plies_override_the_common_depth() -> None:
    flags = parse(["-engine", "cmd=a", "plies=3", "-engine", "cmd=b", "-each", "depth=1"])
    assert [engine.limit.depth for engine in make_settings(flags, 1).engines] == [3, 1]


def test_ponder_needs_no_value() -> None:
    flags = parse([*MATCH[:3], "ponder", *MATCH[3:]])
    assert [engine.ponder for engine in make_settings(flags, 1).engines] == [True, False]
    assert settings_of("ponder").engines[1].ponder


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system pins nothing")
def test_a_processor_named_twice_is_one_processor() -> None:
    processor = min(os.sched_getaffinity(0))
    assert "needs 2 processors, found 1" in error_of(
        *MATCH, "-concurrency", "2", "-use-affinity", f"{processor},{processor}"
    )
    affinity = ("-use-affinity", str(processor))
    error = error_of(*MATCH, *affinity, "-executor", "a:b")
    assert "cannot be combined with -executor" in error
    assert run_options_of(*affinity).cpus == ((processor,),)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system pins nothing")
def test_a_game_with_ponder_gets_two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_options, "usable_processors", lambda: [0, 1, 2, 3, 4])
    ponder = ("ponder", "-use-affinity", "0-4", "-concurrency")
    assert run_options_of(*ponder, "2").cpus == ((0, 1), (2, 3))
    error = error_of(*MATCH, *ponder, "3")
    assert "needs 6 processors, 2 for each game with ponder; found 5" in error


def test_a_second_thread_of_a_core_is_used_last(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_options, "_TOPOLOGY", str(tmp_path / "cpu{}"))
    for cpu, siblings in enumerate(("0,4", "1,5", "2-3", "2-3", "0,4", "1,5")):
        (tmp_path / f"cpu{cpu}").write_text(siblings + "\n")
    assert run_options._spread([0, 1, 2, 3, 4, 5]) == [0, 1, 2, 3, 4, 5]
    assert run_options._spread([0, 2, 3, 4, 5]) == [0, 2, 5, 3, 4]
    assert run_options._spread([0, 7]) == [0, 7]


def test_an_error_about_an_unknown_flag_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "flags.txt"
    path.write_text("-engine cmd=a\n-ronds 3\n")
    with pytest.raises(InputError) as error:
        parse(["-config", str(path)]).faults.raise_all()
    assert str(error.value) == f"'-ronds': unknown flag; did you mean -rounds? (in {path})"


def test_a_journal_in_a_missing_folder_is_refused_with_the_system_error(tmp_path: Path) -> None:
    message = refusal("tournament", "-rounds", "1", "-journal", f"{tmp_path}/none/j")
    assert "cannot open this journal: No such file or directory" in message


def test_an_unknown_flag_that_begins_with_h_is_not_help() -> None:
    assert "unrecognized arguments: -html" in refusal("ratings", "games.pgn", "-html", "page.html")
    assert output("ratings", "-help") == output("ratings", "--help")


def test_all_faults_of_a_command_line_are_reported_together(tmp_path: Path) -> None:
    config = tmp_path / "flags.txt"
    config.write_text("-evnt x", encoding="utf-8")
    error = refusal(
        "tournament", "-engine", "cmd=./no-such-engine", "name=A", "-engine", "cmd=merels",
        "nodez=4", "name=B", "-config", str(config), "-ronds", "3", "-games", "x", "-draw",
        "movecount=0", "-openings", "no.pos", "-maxmoves", "-log", "level=foo", "-shard", "3/2",
    )
    parts = (
        "'nodez=': unknown key for -engine; did you mean nodes?",
        "'-evnt': unknown flag; did you mean -event?",
        "'-ronds': unknown flag; did you mean -rounds?",
        "'-maxmoves': expected a value after this flag",
        "'-shard': expected -srand N as well",
        "'-engine': no limit for A; add tc=",
        "'-engine': no limit for B; add tc=",
        "'x': expected a whole number from 1 to 10000 for -games",
        "no.pos': cannot read this file",
        "'0': expected a whole number from 1 to 1000000000 for -draw movecount=",
        "'foo': expected trace, info, warn, err, fatal for -log level=",
        "'-log': expected file=",
        "'3': expected a whole number from 1 to 2 for i of -shard i/n",
        "'-engine A': does not start: no such engine: './no-such-engine' is not in",
    )
    lines = error.splitlines()
    assert len(lines) == len(parts), error
    for part in parts:
        assert any(line.startswith("merels tournament: '") and part in line for line in lines), part


def test_a_league_plays_one_game_at_once_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a former version, up to four games shared the processors, also under a clock."""
    monkeypatch.setattr(run_options, "usable_processors", lambda: [0, 1, 2, 3])
    league = replace(settings_of(), format=LEAGUE)
    assert make_run_options(parse([]), league).concurrency == 1
    demo = parse([])
    assert make_run_options(demo, make_settings(demo, seed=1)).concurrency == 4


def test_concurrency_on_an_executor_may_exceed_the_local_limit() -> None:
    words = ("-concurrency", "5000", "-force-concurrency")
    assert run_options_of(*words, "-executor", "a:b").concurrency == 5000
    assert "expected a whole number from 1 to 1024" in error_of(*MATCH, *words)


@pytest.mark.parametrize(("name", "message"), [
    ("no_such_module:make", "cannot import this executor: "),
    ("os:no_such_name", "cannot import this executor: "),
    ("os", "cannot import this executor: "),
    ("os:name", "expected a function that returns an executor"),
])
def test_an_executor_that_is_no_function_of_a_module_is_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=f"'{name}': {message}"):
        load_factory(name)


@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="needs the permissions of POSIX")
def test_an_existing_file_is_written_in_a_folder_that_allows_no_new_files() -> None:
    """In a former version, -pgnout and -log refused it, and append=false replaced the file."""
    # Not in tmp_path, which other users may not enter.
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("pgn", "log")]
        for path in paths:
            path.write_text("of another run\n")
            path.chmod(0o666)
        os.chmod(folder, 0o555)
        user = os.getuid()
        if user == 0:
            os.setresuid(65534, 65534, 0)
        try:
            flags = parse([*MATCH, "-pgnout", str(paths[0]), "-log", str(paths[1])])
            make_run_options(flags, make_settings(flags, seed=1))
            flags.faults.raise_all()
            PgnFile(str(paths[0]), "abc", append=False).close()
            LogFile(str(paths[1]), append=False).close()
            assert "its folder cannot be written to" in error_of(
                *MATCH, "-pgnout", f"{folder}/new.pgn"
            )
        finally:
            os.setresuid(user, user, user)
            os.chmod(folder, 0o755)
        assert [path.read_text() for path in paths] == ["", ""]
