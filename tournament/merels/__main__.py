"""The command ``merels``, also as ``python -m merels``."""

import sys

INTERRUPTED = 130
"""Exit status after Ctrl-C, the same as in `merels.protocol.commands.exit_status`."""


def main() -> int:
    """Run the command; Ctrl-C ends it quietly, even while its modules are imported."""
    try:
        from merels.tournament.commands.main import main as run
    except KeyboardInterrupt:
        return INTERRUPTED
    return run()


if __name__ == "__main__":
    sys.exit(main())
