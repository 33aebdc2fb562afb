"""An engine that is faulty only in later processes: ``late.py FILE SCRIPT [WORD…]``.

The first process creates the FILE and runs a sound engine; all later ones run the SCRIPT.
"""

import os
import sys

path, *words = sys.argv[1:]
try:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    words = [os.path.join(os.path.dirname(__file__), "random_mover.py"), "sound"]
except FileExistsError:
    pass
os.execv(sys.executable, [sys.executable, *words])
