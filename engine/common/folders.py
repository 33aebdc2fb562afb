"""Folders for a user's files, in the customary place of each operating system."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from merels.engine.common.errors import InputError


def user_folder(what: str, variable: str, *, cache: bool) -> Path:
    """Return the folder for ``what``: the environment ``variable``'s value, or a default.

    The default is in the user's folder for caches or, unless ``cache``, for data that cannot be
    made again. `InputError` if the user has no home folder.
    """
    if given := os.environ.get(variable):
        return Path(given)
    try:
        return _base(cache) / "merels" / what
    except RuntimeError:
        raise InputError(
            "HOME", f"there is no home folder to keep {what} in: set {variable} to a folder"
        ) from None


def _base(cache: bool) -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / ("Caches" if cache else "Application Support")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    named = Path(os.environ.get("XDG_CACHE_HOME" if cache else "XDG_DATA_HOME", ""))
    if named.is_absolute():  # The XDG standard says to ignore a relative path.
        return named
    return Path.home() / (".cache" if cache else ".local/share")
