"""The cookie of a board with a fixed port, kept so that a bookmark works after a restart."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from merels.engine.common.saving import write_whole

_SECRET_FORM = re.compile(r"[A-Za-z0-9_-]{32}")
_SECRET_BYTES = 24


def kept_secret(folder: Path, port: int) -> str:
    """Return the cookie's secret for a port from a file in ``folder``; create a missing file.

    Only the user may access the file. A file that others can access, or without a valid secret, is
    replaced. Raise `OSError` if the file cannot be read or written.
    """
    path = folder / f"cookie-{port}"
    with suppress(FileNotFoundError, UnicodeDecodeError):
        text = path.read_text(encoding="ascii")
        if _SECRET_FORM.fullmatch(text) and _is_private(path):
            return text
    folder.mkdir(parents=True, exist_ok=True)
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    with suppress(FileNotFoundError):
        path.unlink()
    # `write_whole` keeps the permissions of the file that it replaces.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    write_whole(path, [secret.encode()])
    return secret


def _is_private(path: Path) -> bool:
    """Return whether only the file's owner has permissions; True on systems without POSIX modes."""
    return os.name != "posix" or not path.stat().st_mode & 0o077
