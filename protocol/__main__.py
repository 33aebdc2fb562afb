"""``python -m merels.protocol``: the protocol loop."""

import sys

from merels.engine.common.errors import InputError
from merels.protocol.commands.exit_status import run_command
from merels.protocol.uci.loop import main


def _loop() -> int:
    if sys.argv[1:]:
        raise InputError(sys.argv[1], "the protocol loop takes no arguments; see merels --help")
    return main()


sys.exit(run_command("merels", _loop))
