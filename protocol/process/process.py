"""Engine processes: started in a group of their own, and ended so that nothing of them is left."""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from merels.protocol.process.command import POSIX, find_executable, split_command
from merels.protocol.process.errors import EngineError
from merels.protocol.process.guardian import GUARDIAN, OWN_GROUP, kill_group
from merels.protocol.process.limits import ResourceLimits
from merels.protocol.process.standard_error import WIDE_PIPE, StandardError

QUIT_SECONDS = 2.0
"""Grace period for an engine to exit after ``quit``, in seconds."""
TERMINATE_SECONDS = 0.5
"""Grace period after SIGTERM, in seconds."""
_DRAIN = 1 << 16
_SLICE = 0.02


def describe_status(status: int) -> str:
    """An exit code, or minus the signal, in words."""
    if status >= 0:
        return f"exit code {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def _session_ticks(name: str, session: int) -> int | None:
    """Clock ticks that a process and its reaped children have run; None in another session."""
    with open(f"/proc/{name}/stat", "rb") as file:
        # The program's name before the last bracket may hold anything.
        words = file.read().rpartition(b")")[2].split()
    return sum(map(int, words[11:15])) if int(words[3]) == session else None


def _why(error: OSError | ValueError) -> str:
    """The reason why the system refused, or why it could not be asked: a NUL in a name."""
    return str(getattr(error, "strerror", None) or error)


def _cannot_start(program: str, error: OSError | ValueError) -> EngineError:
    """The error of a program that is there and does not start."""
    number = getattr(error, "errno", None)
    hint = ""
    if number == errno.EACCES and not os.access(program, os.X_OK):
        hint = "; make it executable, or give its interpreter as cmd= and the script in args="
    elif number == errno.ENOEXEC:
        hint = "; a script begins with a line such as #!/usr/bin/env python3"
    elif number == errno.ENOENT:
        hint = "; the program in its first line is missing"
    return EngineError(f"cannot start '{program}': {_why(error)}{hint}")


class EngineProcess:
    """A running engine: its process, its group, and the two pipes to it.

    ``stdin`` and ``stdout`` are raw descriptors, ``errors`` is its standard error. ``sentinel`` is
    a descriptor that becomes readable when the process itself ends, even if a child of it holds its
    pipes; None where the system has none.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        directory: str | None = None,
        stderr: str | Callable[[bytes], object] | None = None,
        limits: ResourceLimits | None = None,
    ) -> None:
        """Start the command in ``directory``; `EngineError` names what cannot be started.

        It gets three descriptors, its standard ones, and no other of this process's. What it
        writes to standard error is appended to the file ``stderr``, or passed to that function in
        whole lines.
        """
        words = split_command(command, directory)
        words[0] = find_executable(words, directory)
        if directory is not None and not os.path.isdir(directory):
            raise EngineError(f"no such directory: '{directory}'")
        self._limits = limits
        started = words
        if limits is not None:
            if not os.access(words[0], os.X_OK):
                refusal = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                raise _cannot_start(words[0], refusal)
            started = limits.command(words)
        copy: int | Callable[[bytes], object] = -1
        try:
            if callable(stderr):
                copy = stderr
            elif stderr is not None:
                copy = os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except (OSError, ValueError) as error:
            raise EngineError(f"cannot write '{stderr}': {_why(error)}") from None
        try:
            self._popen = subprocess.Popen(
                started,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                env=GUARDIAN.environment(),
                close_fds=True,
                start_new_session=True,
                creationflags=OWN_GROUP,
            )
        except (OSError, ValueError) as error:
            if isinstance(copy, int) and copy >= 0:
                os.close(copy)
            raise _cannot_start(words[0], error) from None
        self.pid = self._popen.pid
        assert self._popen.stdin is not None and self._popen.stdout is not None
        assert self._popen.stderr is not None
        self.errors = StandardError(self._popen.stderr, copy)
        try:
            GUARDIAN.add(self.pid)
        except OSError as error:
            with self._popen:
                kill_group(self.pid)
                self.errors.close()
            raise EngineError(f"cannot start the guardian of engines: {_why(error)}") from None
        self.stdin = self._popen.stdin.fileno()
        self.stdout = self._popen.stdout.fileno()
        self.sentinel: int | None = None
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):
                self.sentinel = os.pidfd_open(self.pid)
        self.closed = False
        self._ending = threading.Lock()
        self._killed = False
        """Whether the group was killed for the last time: its number may come to mean another."""

    def exit_status(self) -> int | None:
        """The exit code, or minus the signal, of a process that ended; None while it runs.

        Where the system allows, the process is not reaped by this: while it is a zombie, the
        number of its group cannot come to mean another one.
        """
        if self._popen.returncode is not None or not hasattr(os, "waitid"):
            return self._popen.poll()
        try:
            state = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        except ChildProcessError:
            return self._popen.poll()
        if state is None:
            return None
        return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status

    def cpu_seconds(self) -> float | None:
        """Processor time of the engine and its children; None if the system reports none."""
        used = None
        with suppress(OSError):
            for name in os.listdir("/proc"):
                with suppress(OSError, ValueError, IndexError):
                    if int(name) and (ticks := _session_ticks(name, self.pid)) is not None:
                        used = (used or 0) + ticks
        return None if used is None else used / os.sysconf("SC_CLK_TCK")

    def wait(self, seconds: float) -> bool:
        """Wait for the process itself to end, dropping what it still writes; whether it did."""
        deadline = time.monotonic() + seconds
        poll = select.poll() if POSIX else None
        errors = self.errors.descriptor
        if poll is not None:
            for source in (self.stdout, errors, self.sentinel):
                if source is not None and source >= 0:
                    poll.register(source, select.POLLIN)
        while self.exit_status() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if poll is None:
                time.sleep(min(left, _SLICE))
                continue
            pause = left if self.sentinel is not None else min(left, _SLICE)
            for descriptor, _ in poll.poll(pause * 1000 + 1):
                if descriptor == self.sentinel:
                    continue
                is_open = self.errors.drain() if descriptor == errors else self._drain()
                if not is_open:
                    poll.unregister(descriptor)
        return True

    def _drain(self) -> bool:
        """Drop what can be read; False at the end of the output."""
        try:
            return bool(os.read(self.stdout, _DRAIN))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def describe_end(self, seconds: float = 0.5, pipe: str = "output") -> str:
        """How a process that closed a pipe came to its end, and the last line of its errors.

        It has that many seconds to end after its pipe.
        """
        self.wait(seconds)
        status = self.exit_status()
        end = f"closed its {pipe}" if status is None else describe_status(status)
        if status and self._limits is not None:
            end += f", {self._limits.explain(status)}"
        words = self.errors.last_line()
        return f"{end}: {words}" if words else end

    def widen_output(self) -> None:
        """Enlarge each pipe from the engine to a megabyte, where the system allows it."""
        with suppress(ImportError, AttributeError, OSError):
            import fcntl

            for descriptor in (self.stdout, self.errors.descriptor):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, WIDE_PIPE)

    def close_input(self) -> None:
        """Close the pipe to the engine: to most engines the end of their input means to quit."""
        stdin = self._popen.stdin
        if stdin is not None:
            with suppress(OSError):
                stdin.close()

    def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the process within about ``patience`` seconds and leave nothing of it.

        It may exit first, then gets SIGTERM, then SIGKILL; in any case every process
        left in its group is killed, and the engine's own is reaped. An exception, such as that of
        an interrupt from the keyboard, only cuts the patience short.
        """
        if self.closed:
            return
        self.close_input()
        try:
            if not self.wait(patience):
                self.terminate()
                self.wait(min(patience, TERMINATE_SECONDS))
        finally:
            self._reap()

    def _reap(self) -> None:
        """Kill what is left of the group, and free what the process held."""
        with self._ending:
            kill_group(self.pid)
            self._killed = True
        GUARDIAN.remove(self.pid)
        # One that is stuck in the kernel is killed and goes when the kernel lets it.
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(5.0)
        self.closed = True
        if self._popen.stdout is not None:
            self._popen.stdout.close()
        self.stdin = self.stdout = -1  # Their numbers may soon mean other files.
        self.errors.close()
        if self.sentinel is not None:
            os.close(self.sentinel)
            self.sentinel = None

    def terminate(self) -> None:
        """Ask the whole group to end; any thread may."""
        with self._ending:
            if self._killed:
                return
            if not POSIX:
                self._popen.terminate()
                return
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the whole group; any thread may."""
        with self._ending:
            if not self._killed:
                kill_group(self.pid)
