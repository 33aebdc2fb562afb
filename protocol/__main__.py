"""``python -m merels.protocol``: the protocol loop."""

import sys

from merels.protocol.loop import main

if sys.argv[1:]:
    sys.exit("merels: the protocol loop takes no arguments; see merels --help")
sys.exit(main())
