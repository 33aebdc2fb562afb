"""Engine processes: each runs in its own process group, and `close` ends the whole group."""

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

from merels.engine.common.saving import open_to_append
from merels.protocol.process.command import POSIX, find_executable, split_command
from merels.protocol.process.errors import EngineError
from merels.protocol.process.guardian import GUARDIAN, OWN_GROUP, kill_group
from merels.protocol.process.limits import ResourceLimits
from merels.protocol.process.standard_error import WIDE_PIPE, StandardError

QUIT_SECONDS = 2.0
"""Grace period for an engine to exit after ``quit``, in seconds."""
TERMINATE_SECONDS = 0.5
"""Grace period after SIGTERM, in seconds."""
CHUNK = 1 << 16
"""Maximum number of bytes of one read."""
_CHECK_SECONDS = 0.02
"""Seconds between checks of whether a process has ended, where no descriptor reports it."""


def describe_status(status: int) -> str:
    """Describe ``status``, an exit code or minus the number of the signal that killed a process."""
    if status >= 0:
        return f"exit code {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def _session_ticks(name: str, session: int) -> int | None:
    """Return the CPU time of a process and its reaped children, in clock ticks.

    ``name`` is the process's folder in /proc. None if the process is not in ``session``.
    """
    with open(f"/proc/{name}/stat", "rb") as file:
        # The program's name, in brackets, may itself contain spaces and brackets.
        fields = file.read().rpartition(b")")[2].split()
    return sum(map(int, fields[11:15])) if int(fields[3]) == session else None


def _reason(error: OSError | ValueError) -> str:
    """Return the system's error text, or that of a `ValueError`, for example a NUL in a name."""
    return str(getattr(error, "strerror", None) or error)


def _start_error(program: str, error: OSError | ValueError) -> EngineError:
    """Return the error for a program that exists but cannot be started."""
    number = getattr(error, "errno", None)
    hint = ""
    if number == errno.EACCES and not os.access(program, os.X_OK):
        hint = "; make it executable, or give its interpreter as cmd= and the script in args="
    elif number == errno.ENOEXEC:
        hint = "; a script begins with a line such as #!/usr/bin/env python3"
    elif number == errno.ENOENT:
        hint = "; the program in its first line is missing"
    return EngineError(f"cannot start '{program}': {_reason(error)}{hint}")


def _guardian_error(error: OSError) -> EngineError:
    """Return the error for a guardian that cannot be started."""
    return EngineError(f"cannot start the helper process that ends engines: {_reason(error)}")


def read_chunk(descriptor: int) -> bytes | None:
    """Return the bytes that can be read now; b'' at the end and after an error, None if none."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


class EngineProcess:
    """A running engine: its process, its process group and its standard streams.

    ``stdin`` and ``stdout`` are file descriptors, ``errors`` reads its standard error. ``sentinel``
    is a descriptor that becomes readable when the process ends, even if a child holds its pipes
    open; None if the system has no pidfd.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        directory: str | None = None,
        stderr: str | Callable[[bytes], object] | None = None,
        limits: ResourceLimits | None = None,
    ) -> None:
        """Start the command in ``directory``; `EngineError` if it cannot be started.

        The process inherits only its three standard streams. Its standard error is appended to the
        file ``stderr``, or passed to the function ``stderr`` in whole lines.
        """
        words = split_command(command, directory)
        words[0] = find_executable(words, directory)
        if directory is not None and not os.path.isdir(directory):
            raise EngineError(f"no such folder: '{directory}'; name an existing folder")
        self._limits = limits
        full_command = words
        if limits is not None:
            if not os.access(words[0], os.X_OK):
                refusal = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                raise _start_error(words[0], refusal)
            full_command = limits.command(words)
        try:
            environment = GUARDIAN.environment()
        except OSError as error:
            raise _guardian_error(error) from None
        copy: int | Callable[[bytes], object] = -1
        try:
            if callable(stderr):
                copy = stderr
            elif stderr is not None:
                copy = open_to_append(stderr)
        except (OSError, ValueError) as error:
            raise EngineError(f"cannot write '{stderr}': {_reason(error)}") from None
        try:
            self._popen = subprocess.Popen(
                full_command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                env=environment,
                close_fds=True,
                start_new_session=True,
                creationflags=OWN_GROUP,
            )
        except (OSError, ValueError) as error:
            if isinstance(copy, int) and copy >= 0:
                os.close(copy)
            raise _start_error(words[0], error) from None
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
            raise _guardian_error(error) from None
        self.stdin = self._popen.stdin.fileno()
        self.stdout = self._popen.stdout.fileno()
        self.sentinel: int | None = None
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):
                self.sentinel = os.pidfd_open(self.pid)
        self._stderr = self.errors.descriptor
        self.closed = False
        self._ending = threading.Lock()
        self._killed = False
        """Whether `_reap` has killed the group, after which the system may reuse its number."""

    def exit_status(self) -> int | None:
        """Return the exit code, or minus the signal, of a process that ended; None while it runs.

        With waitid(2) the process is not reaped, so that its group keeps its number until `_reap`.
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
        """Return the engine's processor time in seconds, children included; None if unknown."""
        used = None
        with suppress(OSError):
            for name in os.listdir("/proc"):
                with suppress(OSError, ValueError, IndexError):
                    if int(name) and (ticks := _session_ticks(name, self.pid)) is not None:
                        used = (used or 0) + ticks
        return None if used is None else used / os.sysconf("SC_CLK_TCK")

    def watch(self) -> select.poll:
        """Return a poll object for the output, standard error and `sentinel`; see `ready`."""
        poll = select.poll()
        for source in (self.stdout, self.errors.descriptor, self.sentinel):
            if source is not None and source >= 0:
                poll.register(source, select.POLLIN)
        return poll

    def ready(self, poll: select.poll, milliseconds: float) -> dict[int, int]:
        """Return the descriptors that become ready, with their events; drain standard error."""
        ready = dict(poll.poll(milliseconds))
        if self._stderr in ready and not self.errors.drain():
            poll.unregister(self._stderr)
        return ready

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the process, and drop its output; return whether it has ended."""
        if not POSIX:
            with suppress(subprocess.TimeoutExpired):
                self._popen.wait(seconds)
            return self.exit_status() is not None
        deadline = time.monotonic() + seconds
        poll = self.watch()
        while self.exit_status() is None:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            pause = remaining if self.sentinel is not None else min(remaining, _CHECK_SECONDS)
            ready = self.ready(poll, pause * 1000 + 1)
            if self.stdout in ready and read_chunk(self.stdout) == b"":
                poll.unregister(self.stdout)
        return True

    def describe_end(self, seconds: float = 0.5, pipe: str = "output") -> str:
        """Return how a process that closed ``pipe`` ended, and its last line of standard error.

        If the process does not end within ``seconds``, the closed pipe replaces the exit status.
        """
        self.wait(seconds)
        status = self.exit_status()
        end = f"closed its {pipe}" if status is None else describe_status(status)
        if status and self._limits is not None:
            end += f", {self._limits.explain(status)}"
        error = self.errors.last_line()
        return f"{end}: {error}" if error else end

    def widen_output(self) -> None:
        """Enlarge the pipes of standard output and error to `WIDE_PIPE` bytes, where possible."""
        with suppress(ImportError, AttributeError, OSError):
            import fcntl

            for descriptor in (self.stdout, self.errors.descriptor):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, WIDE_PIPE)

    def close_input(self) -> None:
        """Close the engine's standard input; most engines quit at its end."""
        stdin = self._popen.stdin
        if stdin is not None:
            with suppress(OSError):
                stdin.close()

    def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the process group.

        The process has ``patience`` seconds to exit, and `TERMINATE_SECONDS` at most after SIGTERM.
        Then every process left in the group is killed, and the engine is reaped. An exception
        during the wait, such as KeyboardInterrupt, only ends the wait early.
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
        """Kill the rest of the group, reap the engine and close all descriptors."""
        with self._ending:
            kill_group(self.pid)
            self._killed = True
        GUARDIAN.remove(self.pid)
        # A process inside an uninterruptible system call ends only after that call.
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(5.0)
        self.closed = True
        if self._popen.stdout is not None:
            self._popen.stdout.close()
        self.stdin = self.stdout = -1  # The system may reuse their numbers.
        self.errors.close()
        if self.sentinel is not None:
            os.close(self.sentinel)
            self.sentinel = None

    def terminate(self) -> None:
        """Send SIGTERM to the whole group, or on Windows end the process; for any thread."""
        with self._ending:
            if self._killed:
                return
            if not POSIX:
                self._popen.terminate()
                return
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the whole group; any thread may call this."""
        with self._ending:
            if not self._killed:
                kill_group(self.pid)
