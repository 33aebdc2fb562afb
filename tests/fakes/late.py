"""An engine that is sound when it is first started: ``late.py FILE SCRIPT [WORD…]``.

The first process makes the FILE and plays soundly; all later ones run the SCRIPT.
"""

import os
import sys

path, *words = sys.argv[1:]
try:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    words = [os.path.join(os.path.dirname(__file__), "fake.py"), "sound"]
except FileExistsError:
    pass
os.execv(sys.executable, [sys.executable, *words])
