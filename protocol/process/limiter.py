"""Limits its own process and becomes the engine: ``limiter.py RLIMIT_CPU=2:3 … -- PROGRAM WORD…``.

It is run as a script in the place of an engine that has limits. So they hold from the engine's
first instruction on, for it and for whatever it starts, and no code has to run between fork and
exec in a process that has threads.
"""

import os
import resource
import sys

CANNOT_RUN = 126
"""The exit status where the engine cannot be run, as shells have it."""


def limit(word: str) -> None:
    """Carry out ``NAME=SOFT:HARD``; a limit that is tighter already stays as it is."""
    name, _, values = word.partition("=")
    soft, hard = map(int, values.split(":"))
    kind = getattr(resource, name)
    allowed = resource.getrlimit(kind)[1]
    if allowed != resource.RLIM_INFINITY:
        soft, hard = min(soft, allowed), min(hard, allowed)
    resource.setrlimit(kind, (soft, hard))


def main() -> None:
    """Set the limits and run the program in this process."""
    end = sys.argv.index("--")
    command = sys.argv[end + 1 :]
    try:
        for word in sys.argv[1:end]:
            limit(word)
        os.execv(command[0], command)
    except (OSError, ValueError) as error:
        os.write(2, f"cannot run {command[0]!r}: {error}\n".encode(errors="replace"))
        os._exit(CANNOT_RUN)


if __name__ == "__main__":
    main()
