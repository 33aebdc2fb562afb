"""The guardian's other end: which process groups go when this process goes."""

from __future__ import annotations

import atexit
import os
import secrets
import subprocess
import sys
import threading

from merels.protocol.process import guardian


class Guard:
    """The list of engine groups that a guardian process kills if this process dies first.

    The guardian is started with the first engine, and again should somebody have killed it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _forget(self) -> None:
        self._groups: set[int] = set()
        self._mark = secrets.token_hex(12)
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
        above = os.environ.get(guardian.MARK, "")
        return {**os.environ, guardian.MARK: f"{above} {self._mark}".strip()}

    def add(self, pid: int) -> None:
        """Put an engine's group on the list; `OSError` where no guardian can be started."""
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
                try:
                    self._start()
                except OSError:
                    pass  # The next engine tries again, and is not started without one.

    def _send(self, text: str) -> bool:
        """Tell the guardian; whether it was there to hear."""
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode())
        except OSError:
            return False
        return True

    def _start(self) -> None:
        """Start a guardian and give it the whole list."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", guardian.__file__, self._mark],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for pid in self._groups:
            self._send(f"+{pid}\n")

    def _end(self) -> None:
        """Let the guardian do its last work, so that this process leaves nothing behind it."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            try:
                self._process.wait(5.0)
            except subprocess.TimeoutExpired:
                pass


GUARD = Guard()
