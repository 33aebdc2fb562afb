"""A process that outlives its parent just long enough to kill what the parent started.

It is run as a script, one for each process that starts engines. Its standard input is a pipe whose
other end the parent alone holds; lines ``+PID`` and ``-PID`` on it add and remove process groups.
When the pipe ends, for whatever reason, every group still on the list is killed, and, where
``/proc`` tells, every process that carries the parent's mark in its environment: those are engines
caught between their start and their registration, and children that left their engine's group.
"""

import os
import signal
import sys

MARK = "MERELS_GUARD"
"""The environment variable that engines carry: the marks of all the processes above them."""


def kill_group(pid: int) -> None:
    """Kill a process group, or on Windows a process tree; one that is gone is no error."""
    if os.name == "posix":
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    else:
        import subprocess

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
    """Keep the list until standard input ends, then kill."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    mark = sys.argv[1]
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        pid = int(line[1:])
        if line[:1] == b"+":
            groups.add(pid)
        else:
            groups.discard(pid)
    for pid in groups:
        kill_group(pid)
    # A process that forks while it is looked for is caught in the next round.
    for _ in range(10):
        if not kill_marked(mark):
            break


if __name__ == "__main__":
    main()
