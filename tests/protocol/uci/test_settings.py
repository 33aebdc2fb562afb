"""The engine's options: declarations, valid and invalid values, and the effect of each."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START
from merels.engine.game.rules import FIELDS, PRESETS, parse_rules
from merels.engine.search.levels import LEVELS
from merels.protocol.common.options import Option, parse_option
from merels.protocol.uci.settings import OPTIONS, Settings, split_setting
from tests.processes import needs_proc
from tests.protocol.gui import Gui

OPTION_TYPES = {
    name: kind
    for kind, names in {
        "spin": (
            "Hash", "Threads", "MultiPV", "Move Overhead", "Repetition", "NoRemovalPlies",
            "ThreeThreePlies", "UCI_Elo", "LevelSeed",
        ),
        "check": (
            "Ponder", "UCI_LimitStrength", "UCI_AnalyseMode", "UCI_ShowWDL", "OpeningTables",
        ),
        "combo": ("UCI_Variant", "Flying", "LockedMills", "DoubleMill", "Blocked"),
        "string": ("UCI_Opponent", "TablePath", "Debug Log File"),
        "button": ("Clear Hash",),
    }.items()
    for name in names
}


def declarations(gui: Gui) -> dict[str, str]:
    """Return each option's declaration by name, beginning with its type."""
    lines = "\n".join(gui.greet())
    return dict(re.findall(r"^option name (.+?) type (.+)$", lines, re.MULTILINE))


@pytest.mark.parametrize("path", ["9" * 400, "a\0b", "no such folder"])
def test_an_invalid_table_path_is_reported_and_the_engine_plays(gui: Gui, path: str) -> None:
    lines = gui.ask(f"setoption name TablePath value {path}")
    assert len(lines) == 1 and "is not a folder of tables" in lines[0]
    assert gui.go("go depth 1")[-1].startswith("bestmove ")


def test_all_options_are_declared_with_their_types(gui: Gui) -> None:
    declared = declarations(gui)
    assert {name: text.split()[0] for name, text in declared.items()} == OPTION_TYPES
    assert declared["Hash"].startswith("spin default 16 min 1 max ")
    assert declared["UCI_Variant"] == (
        "combo default mill var loc var mill var multi var morris var roman"
    )
    assert declared["Flying"] == "combo default own var never var own var both"
    elos = [level.elo for level in LEVELS]
    assert declared["UCI_Elo"].endswith(f"min {min(elos)} max {max(elos)}")
    assert declared["UCI_Opponent"] == "string default <empty>"
    assert declared["Clear Hash"] == "button"


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: str(option.name))
def test_an_option_is_equal_after_writing_and_parsing_its_declaration(option: Option) -> None:
    assert parse_option(str(option)) == option
    values = Settings()
    values.set(option.name.upper(), option.default)
    assert values[option.name] == option.default


@pytest.mark.parametrize(
    ("name", "invalid"),
    [
        ("Hash", "0"),
        ("Hash", "-1"),
        ("Hash", "many"),
        ("Hash", ""),
        ("Hash", "1e3"),
        ("Hash", "16.0"),
        ("Hash", "99999999999999999999999"),
        ("Hash", "\u0663"),
        ("Threads", "0"),
        ("Ponder", "yes"),
        ("Ponder", ""),
        ("UCI_Variant", "chess"),
        ("Flying", "sometimes"),
        ("Repetition", "-1"),
        ("UCI_Elo", "1"),
    ],
)
def test_an_invalid_value_is_an_error_and_the_old_value_is_kept(name: str, invalid: str) -> None:
    values = Settings()
    old = values[name]
    with pytest.raises(InputError) as error:
        values.set(name, invalid)
    assert error.value.token == invalid
    assert name in error.value.expected
    assert values[name] == old


def test_a_carriage_return_in_an_option_is_an_error(gui: Gui) -> None:
    gui.raw(b"debug on\nsetoption name UCI_Opponent value none\rquit\nisready\n")
    (error,) = gui.until("readyok")[:-1]
    assert error == (
        "info string error 'none?quit': "
        "option UCI_Opponent takes a name and a value without line breaks"
    )
    gui.raw(b"setoption name UCI_Opponent value none \r\n")
    assert gui.line() == "info string UCI_Opponent is none"
    assert gui.ask("setoption name UCI_Opponent") == ["info string UCI_Opponent is <empty>"]


def test_debug_writes_an_empty_value_as_a_word_and_shortens_a_long_value(gui: Gui) -> None:
    lines = gui.ask("debug on", "setoption name TablePath value <empty>")
    assert lines == ["info string TablePath is <empty>"]
    (line,) = gui.ask("setoption name UCI_Opponent value " + "x" * 100_000)
    assert len(line) < 1000


def test_invalid_setoption_lines_are_reported_and_change_nothing(gui: Gui) -> None:
    gui.send("debug on", "setoption name Hash value 32")
    assert gui.line() == "info string Hash is 32"
    for invalid in (
        "setoption name Hash value 0",
        "setoption name hash",
        "setoption name Repetition value 1",
        "setoption name No Such Option value 3",
        "setoption",
        "setoption name",
        "setoption Hash value 3",
        "setoption option Hash value 3",
        "setoption name value 3",
    ):
        (line,) = gui.ask(invalid)
        assert line.startswith("info string error "), invalid
    assert gui.ask("setoption name HASH value 32") == ["info string Hash is 32"]
    assert any("Repetition=3 " in line for line in gui.ask("d"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("name Hash value 5", ("Hash", "5")),
        ("NAME Clear  Hash", ("Clear Hash", "")),
        ("name Debug Log File value /a  b/value c ", ("Debug Log File", "/a  b/value c")),
        ("name Hash value", ("Hash", "")),
        ("name value value value", ("value", "value")),
    ],
)
def test_names_and_values_may_contain_spaces(line: str, expected: tuple[str, str]) -> None:
    assert split_setting(line) == expected


def test_a_variant_sets_the_fields_and_a_field_overrides_it() -> None:
    values = Settings()
    for name in PRESETS:
        values.set("UCI_Variant", name)
        assert values.rules == PRESETS[name]
    values.set("UCI_Variant", "multi")
    values.set("flying", "NEVER")
    values.set("Repetition", "5")
    assert values.rules == parse_rules("multi Flying=never Repetition=5")
    values.set("UCI_Variant", "loc")
    assert values.rules == PRESETS["loc"]
    assert {field.name for field in FIELDS} < set(OPTIONS)


def test_rule_options_change_the_legal_moves(gui: Gui) -> None:
    gui.send("position fen O*O*O***/@*@*@***/@******* w 0 0 0 20")
    assert "Legal moves: 51" in gui.ask("d")
    gui.send("setoption name Flying value never")
    lines = gui.ask("d")
    assert "Legal moves: 6" in lines
    assert any("mill Flying=never" in line for line in lines)
    gui.send("setoption name UCI_Variant value morris")
    assert "Legal moves: 51" in gui.ask("d")


def test_the_position_is_set_up_again_under_new_rules(gui: Gui) -> None:
    gui.send("position startpos moves d6 f4")
    position = gui.fen()
    assert gui.ask("setoption name UCI_Variant value multi") == []
    assert gui.fen() == position
    # This move removes two men, which is illegal with DoubleMill one.
    two_removals = "position fen O*******/O****@**/*O@*@**O w 5 6 0 5 moves d7xd1xg4"
    assert gui.ask(two_removals) == []
    (note,) = gui.ask("setoption name DoubleMill value one")
    assert note.startswith("info string ") and "d7xd1xg4" in note
    assert gui.fen() == START


def test_setting_an_option_is_an_error_during_a_search_but_not_after_stop(gui: Gui) -> None:
    gui.send("debug on", "go infinite")
    lines = gui.ask("setoption name Hash value 1", "setoption name UCI_Variant value loc")
    assert sum("during a search" in line for line in lines) == 2
    # After "stop", setoption waits until the search has ended.
    gui.raw(b"stop\nsetoption name Hash value 2\nisready\n")
    lines = gui.until("readyok")
    assert sum(line.startswith("bestmove") for line in lines) == 1
    assert lines[-2] == "info string Hash is 2"
    for _ in range(50):
        gui.go("go depth 1")
        assert gui.ask("setoption name Hash value 3") == ["info string Hash is 3"]


def test_a_hash_that_exceeds_the_memory_is_replaced_by_a_smaller_hash(gui: Gui) -> None:
    maximum = declarations(gui)["Hash"].split()[-1]
    gui.send("debug on", f"setoption name Hash value {maximum}")
    assert gui.line() == f"info string Hash is {maximum}"
    errors = gui.ask()
    if not errors:
        pytest.skip("this machine overcommits memory")
    assert errors[0].startswith("info string error ") and "Hash" in errors[0]
    assert gui.go("go depth 3")[-1].startswith("bestmove ")


def test_move_overhead_is_subtracted_from_the_clock(gui: Gui) -> None:
    deepest = []
    for overhead in (5000, 0):
        gui.send("ucinewgame", f"setoption name Move Overhead value {overhead}")
        lines = gui.go("go wtime 4000 btime 4000 movestogo 2", "position startpos")
        deepest.append(max(int(line.split()[2]) for line in lines if line.startswith("info depth")))
    assert deepest[0] < deepest[1], "an overhead larger than the clock had no effect"


@pytest.mark.thorough
@needs_proc
def test_memory_is_allocated_at_isready_not_at_the_greeting(process: Gui) -> None:
    def size() -> int:
        """Return the size of the engine's address space in MiB."""
        status = Path(f"/proc/{process.process.pid}/status").read_text()
        return int(status.partition("VmSize:")[2].split()[0]) >> 10

    process.send("setoption name Hash value 512", "uci")
    process.until("uciok")
    process.fen()
    size_before = size()
    process.ask()
    assert size() - size_before > 500


def test_wdl_is_written_only_with_uci_showwdl(gui: Gui) -> None:
    assert not any(" wdl " in line for line in gui.go("go depth 2"))
    lines = gui.go("go depth 2", "setoption name UCI_ShowWDL value true")
    for line in lines[:-1]:
        match = re.search(r" score cp -?\d+ wdl (\d+) (\d+) (\d+) nodes ", line)
        assert match and sum(map(int, match.groups())) == 1000


def test_limited_strength_limits_the_search_but_not_analysis(gui: Gui) -> None:
    def nodes() -> int:
        lines = gui.go("go depth 9", "ucinewgame")
        return max(int(line.split(" nodes ")[1].split()[0]) for line in lines if " nodes " in line)

    full_strength = nodes()
    gui.send(f"setoption name UCI_Elo value {LEVELS[0].elo}")
    assert nodes() == full_strength
    gui.send("setoption name UCI_LimitStrength value true")
    assert nodes() < full_strength / 10
    gui.send("setoption name UCI_AnalyseMode value true")
    assert nodes() == full_strength


def test_the_log_contains_both_directions(gui: Gui, tmp_path: Path) -> None:
    path = tmp_path / "the  log file.txt"
    assert gui.ask(f"setoption name Debug Log File value {path}") == []
    gui.send("position startpos moves zz")
    gui.go("go depth 1")
    assert gui.ask("setoption name Debug Log File value <empty>") == []
    text = path.read_text(encoding="utf-8")
    stamped = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} "
    assert all(re.match(stamped + "[<>] ", line) for line in text.splitlines())
    assert "> position startpos moves zz" in text
    assert "< info string error 'zz'" in text
    assert "< bestmove " in text
    size = path.stat().st_size
    gui.go("go depth 1")
    assert path.stat().st_size == size


def test_a_log_that_cannot_be_opened_is_an_error(gui: Gui, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "such" / "folder", "a\0b"):
        (line,) = gui.ask(f"setoption name Debug Log File value {path}")
        assert line.startswith("info string error ") and "cannot write this file" in line


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_ends_only_the_log(process: Gui) -> None:
    process.send("setoption name Debug Log File value /dev/full")
    lines = process.go("go depth 2")
    assert lines[-1].startswith("bestmove ")
    assert sum("Debug Log File cannot be written" in line for line in lines) == 1
    assert process.ask() == []
    process.send("quit")
    assert process.exit_code() == 0
    assert process.errors() == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_log_to_a_named_pipe_is_an_error(gui: Gui, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (line,) = gui.ask(f"setoption name Debug Log File value {tmp_path / 'pipe'}")
    assert "found a pipe" in line
