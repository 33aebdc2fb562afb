"""Building and packing tables: kills, interrupts, full disks, too little memory."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.files import rules_folder
from merels.engine.tablebase.probe import open_tables
from tests.engine.tablebase.test_files import FOLDER, RULES, last_change
from tests.engine.tablebase.test_pack import UNLIMITED, packed
from tests.kit import full_disk
from tests.kit.tables import built_folder
from tests.processes import needs_proc, needs_resource, wait_for_file

PACKED = rules_folder(UNLIMITED)


def test_a_killed_build_is_resumed(tmp_path: Path) -> None:
    """After ``kill -9``, complete files are used and drafts are removed."""
    program = (
        "import sys; from pathlib import Path; from merels.engine.game.rules import make_rules;"
        "from merels.engine.tablebase.build import Builder;"
        "Builder(Path(sys.argv[1]), make_rules('mill'), depths=True).build(10)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
    try:
        wait_for_file(tmp_path / FOLDER / "4-4.wdl")
    finally:
        process.kill()
        process.wait()
    finished = {path.name for path in (tmp_path / FOLDER).glob("*.wdl")}
    assert not open_tables(tmp_path, RULES, check=True).problems
    (tmp_path / FOLDER / "6-3.wdl.part").write_bytes(b"half")
    changes = {name: last_change(tmp_path / FOLDER / name) for name in finished}
    tables = Builder(tmp_path, RULES, depths=True).build(8)
    assert tables.men == 8 and not tables.problems
    assert {name: last_change(tmp_path / FOLDER / name) for name in finished} == changes
    assert not list((tmp_path / FOLDER).glob("*.part"))


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process there")
def test_an_interrupted_build_stops_at_once(tmp_path: Path) -> None:
    """Ctrl-C ends a build with exit status 130 and leaves no draft."""
    build = [sys.executable, "-m", "merels", "tables", "build", "-men", "12", "-dir", str(tmp_path)]
    process = subprocess.Popen(build, stderr=subprocess.PIPE, text=True)
    try:
        wait_for_file(tmp_path / FOLDER / "5-3.wdl")
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert "finished tables are kept" in error
    assert not list((tmp_path / FOLDER).glob("*.part"))


def test_a_full_disk_during_a_build_is_one_clear_error(tmp_path: Path) -> None:
    """Complete files are kept, no draft is left, and the next build continues."""
    done = full_disk.run_command(200_000, "tables", "build", "-men", "7", "-dir", tmp_path)
    assert done.returncode == 2 and done.stderr.count("merels tables: ") == 1
    assert "4-3.wdl" in done.stderr and "All finished files are kept" in done.stderr
    assert sorted(path.name for path in (tmp_path / FOLDER).iterdir()) == ["3-3.wdl"]
    assert Builder(tmp_path, RULES).build(7).men == 7


@needs_proc
@needs_resource
def test_a_build_without_memory_is_one_clear_error(tmp_path: Path) -> None:
    """Builds run with several small memory limits, so that different steps fail."""
    script = (
        "import os, resource, sys; import merels.protocol.commands.tables\n"
        "from merels.tournament.commands.main import main\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * os.sysconf('SC_PAGE_SIZE')\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[1]) << 20),) * 2)\n"
        "sys.exit(main(['tables', 'build', '-men', '7', '-threads', '2', '-dir', sys.argv[2]]))"
    )
    statuses = set()
    for megabytes in (1, 8, 16, 2000):
        words = [sys.executable, "-c", script, str(megabytes), str(tmp_path / str(megabytes))]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == 0 or done.stderr.strip(), "a failure without a message"
        statuses.add(done.returncode)
    assert statuses == {0, 2}


def test_a_killed_packing_is_resumed(tmp_path: Path) -> None:
    """After ``kill -9``, complete files are used and drafts are removed."""
    program = (
        "import sys; from pathlib import Path; from merels.engine.game.rules import make_rules;"
        "from merels.engine.tablebase.pack import Packer;"
        "rules = make_rules('morris', ['Repetition=0', 'NoRemovalPlies=0']);"
        "Packer(Path(sys.argv[1]), Path(sys.argv[2]), rules).pack()"
    )
    built = built_folder(UNLIMITED, 7)
    process = subprocess.Popen([sys.executable, "-c", program, str(built), str(tmp_path)])
    try:
        wait_for_file(tmp_path / PACKED / "3-3.wdp")
    finally:
        process.kill()
        process.wait()
    assert not open_tables(tmp_path, UNLIMITED, check=True).problems
    (tmp_path / PACKED / "4-3.wdp.part").write_bytes(b"half")
    time = (tmp_path / PACKED / "3-3.wdp").stat().st_mtime_ns
    packed(built, tmp_path, UNLIMITED)
    assert (tmp_path / PACKED / "3-3.wdp").stat().st_mtime_ns == time
    assert not list((tmp_path / PACKED).glob("*.part"))


def test_a_full_disk_during_packing_is_one_clear_error(tmp_path: Path) -> None:
    """Complete files are kept, and no draft is left."""
    built = built_folder(UNLIMITED, 7)
    done = full_disk.run_command(
        30_000, "tables", "pack", "-dir", built, "-out", tmp_path, "-variant", "morris",
        "-set", "Repetition=0", "NoRemovalPlies=0",
    )
    assert done.returncode == 2 and done.stderr.count("merels tables: ") == 1
    assert "4-3.wdp" in done.stderr and "All finished files are kept" in done.stderr
    assert sorted(path.name for path in (tmp_path / PACKED).iterdir()) == ["3-3.wdp"]
