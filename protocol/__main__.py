"""``python -m merels.protocol``: the protocol loop."""

import sys

from merels.protocol.loop import main

sys.exit(main())
