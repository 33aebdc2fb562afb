"""Atomic replacement of files: full disks, links, permissions, pipes and locks."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from merels.engine.common.saving import (
    append_whole,
    create_draft,
    lock,
    locked,
    publish,
    write_named,
    write_whole,
)
from tests.kit import full_disk

posix = pytest.mark.skipif(os.name != "posix", reason="needs links, modes and pipes of POSIX")
FULL_DISK_SCRIPT = """
from pathlib import Path
from merels.engine.common import saving
limit_files(100)
try:
    getattr(saving, sys.argv[1])(Path(sys.argv[2]), eval(sys.argv[3]))
except OSError as error:
    print(type(error).__name__)
"""


def error_on_a_full_disk(function: str, path: Path, content: str) -> str:
    """Call a function of `saving` with files limited to 100 bytes; return its error's type."""
    done = full_disk.run_script(FULL_DISK_SCRIPT, function, path, content)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("function", ["write_whole", "write_named"])
@pytest.mark.parametrize("old", ["old", None])
def test_a_full_disk_keeps_the_old_file_and_leaves_no_draft(
    tmp_path: Path, function: str, old: str | None
) -> None:
    path = tmp_path / "file"
    if old is not None:
        path.write_text(old)
    assert error_on_a_full_disk(function, path, "[b'12' * 40, b'34' * 40]") == "OSError\n"
    assert [file.read_text() for file in tmp_path.iterdir()] == ([] if old is None else [old])


def test_a_full_disk_adds_nothing_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    assert error_on_a_full_disk("append_whole", path, "b'12' * 80") == "OSError\n"
    assert path.read_text() == "old"
    append_whole(path, b" and new")
    assert path.read_text() == "old and new"


def test_an_error_while_parts_are_written_leaves_no_draft(tmp_path: Path) -> None:
    wrong: list[object] = [b"x", "no bytes"]
    with pytest.raises(TypeError):
        write_whole(tmp_path / "file", wrong)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@posix
def test_a_link_is_replaced_and_not_followed_unless_the_user_named_it(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_named(link, [b"named"])
    assert link.is_symlink() and target.read_text() == "named"
    write_whole(link, [b"whole"])
    assert not link.is_symlink() and link.read_text() == "whole" and target.read_text() == "named"


@posix
def test_a_dangling_link_gets_a_target_and_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "new").symlink_to("made")
    write_named(tmp_path / "new", [b"new"])
    assert (tmp_path / "new").is_symlink() and (tmp_path / "made").read_text() == "new"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        write_named(tmp_path / "loop", [b"x"])
    assert (tmp_path / "loop").is_symlink()


@posix
def test_permissions_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    for mode in (0o600, 0o640, 0o755):
        path.chmod(mode)
        write_whole(path, [b"new"])
        assert stat.S_IMODE(path.stat().st_mode) == mode
    path.chmod(0o600)
    assert stat.S_IMODE(os.stat(create_draft(path)).st_mode) == 0o600
    old_umask = os.umask(0o027)
    try:
        write_whole(tmp_path / "made", [b""])
    finally:
        os.umask(old_umask)
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o640


@posix
def test_a_file_without_write_permission_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o444)
    if os.geteuid() == 0:  # Permissions do not bind root.
        monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError):
        write_whole(path, [b"new"])
    assert [file.name for file in tmp_path.iterdir()] == ["file"] and path.read_text() == "old"


@posix
def test_a_pipe_is_written_to_and_a_folder_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    # Without a writer, the thread would wait without end.
    reader = Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()
    write_named(tmp_path / "pipe", [b"through ", b"a pipe"])
    reader.join(60)
    assert read == [b"through a pipe"] and (tmp_path / "pipe").is_fifo()
    with pytest.raises(IsADirectoryError):
        write_named(tmp_path, [b"x"])
    with pytest.raises(OSError):
        write_whole(tmp_path, [b"x"])
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_a_report_to_standard_output_keeps_earlier_output(tmp_path: Path, mode: str) -> None:
    """A report to /dev/stdout neither replaces the output file nor overwrites other output."""
    script = (
        "import sys; from merels.engine.common.saving import write_named\n"
        "print('before'); write_named('/dev/stdout', [b'report\\n']); print('after')"
    )
    path = tmp_path / "out"
    path.write_text("earlier\n")
    with open(path, mode) as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, timeout=60, check=True)
    earlier = "earlier\n" if mode == "ab" else ""
    assert path.read_text() == earlier + "before\nreport\nafter\n"


def test_each_draft_has_a_new_name_and_replaces_its_file(tmp_path: Path) -> None:
    name = "x" * 250
    first, second = create_draft(tmp_path / name), create_draft(tmp_path / name)
    assert first != second and os.path.dirname(first) == str(tmp_path)
    Path(first).write_text("whole")
    publish(first, tmp_path / name)
    assert (tmp_path / name).read_text() == "whole"


def test_only_one_process_locks_a_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    script = (
        "import os, sys; from merels.engine.common.saving import lock\n"
        "lock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)); print('locked', flush=True)\n"
        "sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert other.stdout is not None and other.stdout.readline() == b"locked\n"
        descriptor = os.open(path, os.O_RDWR)
        with pytest.raises((BlockingIOError, PermissionError)):
            lock(descriptor)
        other.communicate(timeout=60)  # The system unlocks the file when the process ends.
        lock(descriptor)
        os.close(descriptor)
    finally:
        other.kill()
        other.wait()


@posix
def test_a_file_removed_while_it_is_locked_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.pgn"
    locks = 0

    def remove_once(descriptor: int) -> None:
        nonlocal locks
        locks += 1
        lock(descriptor)
        if locks == 1:
            path.unlink()

    monkeypatch.setattr("merels.engine.common.saving.lock", remove_once)
    with locked(path) as descriptor:
        os.write(descriptor, b"game")
    assert (path.read_bytes(), locks) == (b"game", 2)
