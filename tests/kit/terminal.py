"""A command on a pseudo-terminal."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence


def on_a_terminal(
    command: Sequence[str], columns: int, seconds: float, interrupt_after: str = ""
) -> tuple[str, int]:
    """Run a command on a pseudo-terminal; return its output and its exit status.

    It is killed after ``seconds``, and gets Ctrl-C once the text ``interrupt_after`` was printed.
    """
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm", COLUMNS=str(columns), LINES="40")
        os.execv(command[0], list(command))
    watchdog = threading.Timer(seconds, os.kill, (child, signal.SIGKILL))
    watchdog.start()
    output, awaited = b"", interrupt_after.encode()
    try:
        while part := os.read(terminal, 65536):
            output += part
            if awaited and awaited in output:
                awaited = b""
                os.write(terminal, b"\x03")
    except OSError:
        pass  # Linux raises this error after the other end is closed.
    finally:
        status = os.waitpid(child, 0)[1]
        watchdog.cancel()
        os.close(terminal)
    assert not awaited, f"{interrupt_after!r} was not printed"
    return output.decode(), os.waitstatus_to_exitcode(status)
