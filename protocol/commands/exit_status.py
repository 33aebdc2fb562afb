"""Exit statuses of commands, and the mapping of exceptions to them."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress

from merels.engine.common.errors import Failure, InputError, shortage
from merels.protocol.common.notices import notify, set_command

OK = 0
FAILED = 1
"""The command line is valid, but the work failed or its result is negative."""
USAGE_ERROR = 2
"""The command line, or a file that it names, is invalid, or memory or threads are lacking."""
INTERRUPTED = 130
"""The user pressed Ctrl-C."""


def run_command(program: str, body: Callable[[], int]) -> int:
    """Run a command and return its exit status; print errors as lines on standard error.

    The notes of a `Failure` follow its text, each on a line. If the reader of standard output
    closes the pipe, as ``head`` does, the status is `OK`.
    """
    lines: list[str] = []
    set_command(program)
    try:
        try:
            status = body()
        except SystemExit as leaving:  # argparse raises it after --help and after errors.
            status = int(leaving.code or OK)
        sys.stdout.flush()  # Raises on a full disk; at exit the error could not be reported.
        return status
    except KeyboardInterrupt:
        status = INTERRUPTED
        _drop_blocked_output()
    except BrokenPipeError:
        status = OK
    except InputError as error:
        status, lines = USAGE_ERROR, str(error).split("\n")
    except Failure as error:
        status, lines = FAILED, [str(error), *getattr(error, "__notes__", ())]
    except OSError as error:
        where = error.filename or "cannot write to standard output"
        status, lines = FAILED, [f"{where}: {error.strerror or error}"]
        if isinstance(error, FileNotFoundError) and not error.filename:  # By os.getcwd.
            lines = ["the working directory was deleted; change to another one"]
    except (MemoryError, RuntimeError) as error:
        if not (message := shortage(error)):
            raise
        status, lines = USAGE_ERROR, [message]
    for line in lines:
        notify(line)
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = None  # Otherwise the interpreter reports the failed flush again at exit.
    return status


def _drop_blocked_output() -> None:
    """Drop unwritten output if standard output accepts none now, as a full pipe does.

    Otherwise the next flush, or that of the interpreter at exit, would wait for the reader.
    """
    with suppress(OSError, ValueError, AttributeError):  # No descriptor, or no poll(2).
        descriptor = sys.stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        if not poll.poll(0):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
