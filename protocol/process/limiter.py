"""Sets resource limits and executes an engine: ``limiter.py RLIMIT_CPU=2:3 … -- PROGRAM WORD…``.

The limits hold from the engine's first instruction and for its children. `subprocess.Popen` could
set them only with ``preexec_fn``, which is unsafe in a process that has threads.
"""

import os
import resource
import sys

CANNOT_RUN = 126
"""Exit status if a limit cannot be set or the engine cannot be executed; shells use it, too."""


def limit(word: str) -> None:
    """Set the limit ``NAME=SOFT:HARD``, but never above the current hard limit."""
    name, _, values = word.partition("=")
    soft, hard = map(int, values.split(":"))
    kind = getattr(resource, name)
    allowed = resource.getrlimit(kind)[1]
    if allowed != resource.RLIM_INFINITY:
        soft, hard = min(soft, allowed), min(hard, allowed)
    resource.setrlimit(kind, (soft, hard))


def main() -> None:
    """Set the limits and execute the program in this process."""
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
