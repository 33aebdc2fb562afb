"""A process that kills the engines of its parent if the parent dies first.

The parent imports this module and keeps one `Guardian`; the guardian process runs the same file as
a script. Its standard input is a pipe whose other end only the parent holds; lines ``+PID`` and
``-PID`` on it add and remove process groups. When the pipe ends, for whatever reason, every group
still listed is killed, and, where ``/proc`` exists, every process that carries the parent's mark in
its environment: engines caught between their start and their registration, and children that left
their engine's group.
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
"""``creationflags`` of a process that Ctrl-C at the terminal must not reach; 0 but on Windows."""
MARK = "MERELS_GUARD"
"""The environment variable of engines that holds the marks of all the processes above them."""


class Guardian:
    """The parent's side: the list of engine groups, and the process that watches over them.

    The process is started with the first engine, and again if it has been killed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _forget(self) -> None:
        self._groups: set[int] = set()
        self._mark = os.urandom(12).hex()
        self._process: subprocess.Popen[bytes] | None = None

    def _after_fork(self) -> None:
        """A forked child has no engines yet, and must not hold its parent's pipe open."""
        self._lock = threading.Lock()
        process = self._process
        self._forget()
        if process is not None and process.stdin is not None:
            process.stdin.close()
            process.returncode = 0  # Not this process's child: keeps Popen from waiting for it.

    def environment(self) -> dict[str, str]:
        """The environment for an engine: this process's own, and the mark."""
        above = os.environ.get(MARK, "")
        return {**os.environ, MARK: f"{above} {self._mark}".strip()}

    def add(self, pid: int) -> None:
        """Put an engine's group on the list; `OSError` if no guardian can be started."""
        with self._lock:
            self._groups.add(pid)
            if self._process is None or not self._send(f"+{pid}\n"):
                try:
                    self._start()
                except OSError:
                    self._groups.discard(pid)
                    raise

    def remove(self, pid: int) -> None:
        """Take a group off the list, before its number can come to mean another one."""
        with self._lock:
            self._groups.discard(pid)
            if self._process is not None and not self._send(f"-{pid}\n"):
                # The next engine tries again, and is not started without one.
                with contextlib.suppress(OSError):
                    self._start()

    def _send(self, text: str) -> bool:
        """Send a line to the process; False if it is gone."""
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode())
        except OSError:
            return False
        return True

    def _start(self) -> None:
        """Start the process and give it the whole list."""
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
        """Wait until the process has killed what is left of the engines."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5.0)


def kill_group(pid: int) -> None:
    """Kill a process group, or on Windows a process tree; one that is gone is no error."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    else:
        command = ["taskkill", "/F", "/T", "/PID", str(pid)]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_marked(mark: str) -> bool:
    """Kill the processes whose environment carries the mark; whether there were any."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return False
    found = False
    for pid in pids:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
            if mark.encode() in environment and pid != os.getpid():
                os.kill(pid, signal.SIGKILL)
                found = True
        except OSError:
            continue
    return found


def main() -> None:
    """The guardian process: keep the list until standard input ends, then kill."""
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
    # A process that forks during the search is found in the next round.
    for _ in range(10):
        if not kill_marked(sys.argv[1]):
            break


if __name__ == "__main__":
    main()
else:
    GUARDIAN = Guardian()
