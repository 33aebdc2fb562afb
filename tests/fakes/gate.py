"""An engine that starts when a file exists: ``gate.py FILE WORD…``.

The WORDs are the arguments of Python that run the engine.
"""

import os
import sys
import time

path, *words = sys.argv[1:]
while not os.path.exists(path):
    time.sleep(0.02)
os.execv(sys.executable, [sys.executable, *words])
