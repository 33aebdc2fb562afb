"""``python -m merels``: the command ``merels``."""

import sys

from merels.tournament.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
