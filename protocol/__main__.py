"""``python -m merels.protocol``: the protocol loop."""

import sys

from merels.protocol.uci.loop import main

if sys.argv[1:]:
    print("merels: the protocol loop takes no arguments; see merels --help", file=sys.stderr)
    sys.exit(2)
sys.exit(main())
