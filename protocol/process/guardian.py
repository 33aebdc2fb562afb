"""A process that kills the engines of its parent if the parent dies first.

The parent imports this module and uses its `GUARDIAN`; the guardian process runs this file as a
script. The parent writes lines to the guardian's standard input: ``+PID`` adds a process group,
``-PID`` removes one. Only the parent keeps the other end of that pipe open, so the pipe ends when
the parent dies for any reason. The guardian then kills every listed group.

Where ``/proc`` exists, it also kills every process with the parent's mark in its environment. Such
processes are engines that were started but not yet listed, and children that left their engine's
group.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading

OWN_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""``creationflags`` of a process that Ctrl-C at the terminal must not end; 0 except on Windows."""
MARK = "MERELS_GUARD"
"""Environment variable of engines: the marks of all their ancestors, separated by spaces."""


class Guardian:
    """The parent's list of engine process groups, and its connection to the guardian process.

    The guardian process is started before the first engine, and again after it was killed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reset()
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _reset(self) -> None:
        self._groups: set[int] = set()
        self._mark = os.urandom(12).hex()
        self._process: subprocess.Popen[bytes] | None = None

    def _after_fork(self) -> None:
        """Start with no engines in a forked child, and close its copy of the parent's pipe.

        If the child kept that pipe open, the guardian would not notice the parent's death.
        """
        self._lock = threading.Lock()
        process = self._process
        self._reset()
        if process is not None and process.stdin is not None:
            process.stdin.close()
            # Popen must not wait for the guardian, which is a child of the parent.
            process.returncode = 0

    def environment(self) -> dict[str, str]:
        """Return the environment for an engine: this process's own with the mark added.

        Start the guardian, which ends marked processes; `OSError` if it cannot be started.
        """
        with self._lock:
            if self._process is None:
                self._start()
        inherited = os.environ.get(MARK, "")
        return {**os.environ, MARK: f"{inherited} {self._mark}".strip()}

    def add(self, pid: int) -> None:
        """Add an engine's process group; `OSError` if no guardian can be started."""
        with self._lock:
            self._groups.add(pid)
            if not self._send(f"+{pid}\n"):
                try:
                    self._start()
                except OSError:
                    self._groups.discard(pid)
                    raise

    def remove(self, pid: int) -> None:
        """Remove a process group; call it before the system can reuse the group's number."""
        with self._lock:
            self._groups.discard(pid)
            if self._process is not None and not self._send(f"-{pid}\n"):
                # The next `add`, which needs a guardian, reports a failure.
                with contextlib.suppress(OSError):
                    self._start()

    def _send(self, text: str) -> bool:
        """Send a line to the guardian process; return False if it has ended."""
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode())
        except OSError:
            return False
        return True

    def _start(self) -> None:
        """Start the guardian process and send it the whole list."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, self._mark],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            creationflags=OWN_GROUP,
        )
        for pid in self._groups:
            self._send(f"+{pid}\n")

    def _end(self) -> None:
        """Close the pipe; wait at most 5 seconds for the guardian to kill the listed groups."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5.0)


def kill_group(pid: int) -> None:
    """Kill a process group, or on Windows a process tree, if it still exists."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    else:
        command = ["taskkill", "/F", "/T", "/PID", str(pid)]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_marked(mark: str) -> bool:
    """Kill other processes with ``mark`` in their environment; return whether any was killed."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return False
    killed = False
    for pid in pids:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
            if mark.encode() in environment and pid != os.getpid():
                os.kill(pid, signal.SIGKILL)
                killed = True
        except OSError:
            continue
    return killed


def main() -> None:
    """Keep the list of groups until standard input ends; then kill them and marked processes."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        pid = int(line[1:])
        if line[:1] == b"+":
            groups.add(pid)
        else:
            groups.discard(pid)
    for pid in groups:
        kill_group(pid)
    # Each further round finds children that were forked during the previous round.
    for _ in range(10):
        if not kill_marked(sys.argv[1]):
            break


if __name__ == "__main__":
    main()
else:
    GUARDIAN = Guardian()
