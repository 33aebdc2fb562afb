"""The cookie of a board with a fixed port, kept so that a bookmark works after a restart."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from merels.engine.common.saving import write_whole

_FORM = re.compile(r"[A-Za-z0-9_-]{32}")
_BYTES = 24


def kept_secret(folder: Path, port: int) -> str:
    """Return the secret of a port, which a file in ``folder`` keeps; create the file if need be.

    Only the user may read the file. A file that others can read, or with other content, is
    replaced. Raise `OSError` if the file can be neither read nor written.
    """
    path = folder / f"cookie-{port}"
    with suppress(FileNotFoundError, UnicodeDecodeError):
        text = path.read_text(encoding="ascii")
        if _FORM.fullmatch(text) and _is_private(path):
            return text
    folder.mkdir(parents=True, exist_ok=True)
    secret = secrets.token_urlsafe(_BYTES)
    with suppress(FileNotFoundError):
        path.unlink()
    # `write_whole` keeps the permissions of the file that it replaces.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    write_whole(path, [secret.encode()])
    return secret


def _is_private(path: Path) -> bool:
    """Return whether no other user may read a file, as far as the system has such permissions."""
    return os.name != "posix" or not path.stat().st_mode & 0o077
