"""Engine processes: started in a group of their own, and ended so that nothing of them is left."""

from __future__ import annotations

import errno
import os
import select
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress

from merels.protocol.process.errors import EngineError
from merels.protocol.process.guardian import GUARDIAN, kill_group
from merels.protocol.process.limits import ResourceLimits

POSIX = os.name == "posix"
QUIT_SECONDS = 2.0
"""What an engine has to end by itself, once told to."""
TERMINATE_SECONDS = 0.5
"""What it has after SIGTERM."""
_DRAIN = 1 << 16
_SLICE = 0.02
WIDE_PIPE = 1 << 20
"""Bytes that a pipe from an engine may be made to hold."""


def split_words(text: str) -> list[str]:
    """The words of a command line, as a shell would split it; `EngineError` for an open quote."""
    try:
        return shlex.split(text, posix=POSIX)
    except ValueError as error:
        raise EngineError(f"cannot read the engine's command {text!r}: {error}") from None


def split_command(command: str | Sequence[str], directory: str | None = None) -> list[str]:
    """A command as a list of words; no shell runs.

    A string that names an existing file, here, in ``directory`` or in PATH, is that program;
    otherwise it is split as a shell would split it.
    """
    if not isinstance(command, str):
        words = list(command)
    elif _locate(command, directory) is not None:
        words = [command]
    else:
        words = split_words(command)
    if not words:
        raise EngineError("the engine's command is empty")
    return words


def _locate(name: str, directory: str | None) -> str | None:
    """The file that a program's name means: in its directory, in PATH, then from here."""
    beside = os.path.join(directory, name) if directory else None
    candidates = (beside, shutil.which(name), name)
    return next((path for path in candidates if path and os.path.isfile(path)), None)


def find_executable(name: str, directory: str | None = None) -> str:
    """The absolute path of an engine; `EngineError` says where it was looked for."""
    found = _locate(name, directory)
    if found is not None:
        return os.path.abspath(found)
    for candidate in (directory and os.path.join(directory, name), name):
        if candidate and os.path.isdir(candidate):
            raise EngineError(f"no such engine: '{candidate}' is a folder")
    if os.path.isabs(name):
        raise EngineError(f"no such engine: there is no file '{name}'")
    places = "PATH" if os.path.dirname(name) == "" else os.getcwd()
    also = f" or {directory}" if directory else ""
    raise EngineError(f"no such engine: '{name}' is not in {places}{also}")


def describe_status(status: int) -> str:
    """An exit code, or minus the signal, in words."""
    if status >= 0:
        return f"exit code {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def _why(error: OSError | ValueError) -> str:
    """The reason why the system refused, or why it could not be asked: a NUL in a name."""
    return str(getattr(error, "strerror", None) or error)


class EngineProcess:
    """A running engine: its process, its group, and the two pipes to it.

    ``stdin`` and ``stdout`` are raw descriptors. ``sentinel`` is a descriptor that becomes
    readable when the process itself ends, even if a child of it holds its pipes; None where the
    system has none.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        directory: str | None = None,
        stderr: str | None = None,
        limits: ResourceLimits | None = None,
    ) -> None:
        """Start the command in ``directory``; `EngineError` names what cannot be started.

        It gets three descriptors, its standard ones, and no other of this process's. What it
        writes to standard error is appended to the file ``stderr``, or dropped.
        """
        words = split_command(command, directory)
        words[0] = find_executable(words[0], directory)
        if directory is not None and not os.path.isdir(directory):
            raise EngineError(f"no such directory: '{directory}'")
        self._limits = limits
        started = words
        if limits is not None:
            if not os.access(words[0], os.X_OK):
                raise EngineError(f"cannot start '{words[0]}': {os.strerror(errno.EACCES)}")
            started = limits.command(words)
        try:
            errors = subprocess.DEVNULL if stderr is None else os.open(
                stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644
            )
        except (OSError, ValueError) as error:
            raise EngineError(f"cannot write '{stderr}': {_why(error)}") from None
        try:
            self._popen = subprocess.Popen(
                started,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=directory,
                env=GUARDIAN.environment(),
                close_fds=True,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise EngineError(f"cannot start '{words[0]}': {_why(error)}") from None
        finally:
            if errors >= 0:
                os.close(errors)
        self.pid = self._popen.pid
        assert self._popen.stdin is not None and self._popen.stdout is not None
        try:
            GUARDIAN.add(self.pid)
        except OSError as error:
            with self._popen:
                kill_group(self.pid)
            raise EngineError(f"cannot start the guardian of engines: {_why(error)}") from None
        self.stdin = self._popen.stdin.fileno()
        self.stdout = self._popen.stdout.fileno()
        self.sentinel: int | None = None
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):
                self.sentinel = os.pidfd_open(self.pid)
        self.closed = False

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

    def wait(self, seconds: float) -> bool:
        """Wait for the process itself to end, dropping what it still writes; whether it did."""
        deadline = time.monotonic() + seconds
        poll = select.poll() if POSIX else None
        if poll is not None:
            poll.register(self.stdout, select.POLLIN)
            if self.sentinel is not None:
                poll.register(self.sentinel, select.POLLIN)
        while self.exit_status() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if poll is None:
                time.sleep(min(left, _SLICE))
                continue
            pause = left if self.sentinel is not None else min(left, _SLICE)
            for descriptor, _ in poll.poll(pause * 1000 + 1):
                if descriptor == self.stdout and not self._drain():
                    poll.unregister(self.stdout)
        return True

    def _drain(self) -> bool:
        """Drop what can be read; False at the end of the output."""
        try:
            return bool(os.read(self.stdout, _DRAIN))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def describe_end(self, seconds: float = 0.5) -> str:
        """How a process whose output ended came to its end, for a sentence in brackets."""
        self.wait(seconds)
        status = self.exit_status()
        if status is None:
            return "closed its output"
        end = describe_status(status)
        limits = self._limits if status else None
        return end if limits is None else f"{end}, {limits.explain(status)}"

    def widen_output(self) -> None:
        """Let the pipe from the engine hold a megabyte, where the system allows it."""
        with suppress(ImportError, AttributeError, OSError):
            import fcntl

            fcntl.fcntl(self.stdout, fcntl.F_SETPIPE_SZ, WIDE_PIPE)

    def close_input(self) -> None:
        """Close the pipe to the engine: to most engines the end of their input means to quit."""
        stdin = self._popen.stdin
        if stdin is not None:
            with suppress(OSError):
                stdin.close()

    def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the process within about ``patience`` seconds and leave nothing of it.

        It is let end by itself, then asked with SIGTERM, then killed; in any case every process
        left in its group is killed, and the engine's own is reaped.
        """
        if self.closed:
            return
        self.closed = True
        self.close_input()
        if not self.wait(patience):
            self._terminate()
            self.wait(min(patience, TERMINATE_SECONDS))
        kill_group(self.pid)
        GUARDIAN.remove(self.pid)
        # One that is stuck in the kernel is killed and goes when the kernel lets it.
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(5.0)
        if self._popen.stdout is not None:
            self._popen.stdout.close()
        if self.sentinel is not None:
            os.close(self.sentinel)
            self.sentinel = None

    def _terminate(self) -> None:
        """Ask the whole group to end."""
        if not POSIX:
            self._popen.terminate()
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGTERM)
