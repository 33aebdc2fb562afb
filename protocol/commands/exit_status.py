"""Exit statuses of the commands, and the mapping of errors to them."""

from __future__ import annotations

import sys
from collections.abc import Callable

from merels.engine.common.errors import Failure, InputError, printable

OK = 0
FAILED = 1
"""The command line is right, but the work failed or its outcome is negative."""
USAGE_ERROR = 2
"""The command line, or a file that it names, is wrong."""
INTERRUPTED = 130


def run_command(program: str, body: Callable[[], int]) -> int:
    """Run a command and return its exit status; each error becomes a line on standard error.

    The notes of a `Failure` follow on lines of their own. A reader that closes our standard
    output has seen enough, which is no error.
    """
    lines: list[str] = []
    try:
        try:
            status = body()
        except SystemExit as leaving:  # argparse's way out
            status = int(leaving.code or OK)
        sys.stdout.flush()  # A full disk shows here, while it can still be reported.
        return status
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:
        status = OK
    except InputError as error:
        status, lines = USAGE_ERROR, str(error).split("\n")
    except MemoryError as error:
        status, lines = USAGE_ERROR, [str(error) or "not enough memory"]
    except Failure as error:
        status, lines = FAILED, [str(error), *getattr(error, "__notes__", ())]
    except OSError as error:
        where = error.filename or "standard output cannot be written"
        status, lines = FAILED, [f"{where}: {error.strerror or error}"]
    except RuntimeError as error:
        if "thread" not in str(error):
            raise
        status, lines = USAGE_ERROR, [f"{error}: the system allows no more of them"]
    for line in lines:
        print(f"{program}: {printable(line)}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = None  # Nobody will read what is left in its buffer.
    return status
