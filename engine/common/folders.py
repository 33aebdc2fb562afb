"""Folders for a user's files, in the customary place of each operating system."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from merels.engine.common.errors import InputError


def user_folder(content: str, variable: str, *, cache: bool) -> Path:
    """Return the folder for ``content``: the environment ``variable``'s value, or a default.

    The default is in the user's cache folder if ``cache`` is true, otherwise in the folder for data
    that cannot be recreated. `InputError` if the user has no home folder.
    """
    if folder := os.environ.get(variable):
        return Path(folder)
    try:
        return _base_folder(cache) / "merels" / content
    except (RuntimeError, KeyError):
        raise InputError(
            "HOME", f"no home folder for {content}; set {variable} to a folder"
        ) from None


def _base_folder(cache: bool) -> Path:
    if sys.platform == "darwin":
        return _home() / "Library" / ("Caches" if cache else "Application Support")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local")
    folder = Path(os.environ.get("XDG_CACHE_HOME" if cache else "XDG_DATA_HOME", ""))
    if folder.is_absolute():  # The XDG standard requires ignoring a relative path.
        return folder
    return _home() / (".cache" if cache else ".local/share")


def _home() -> Path:
    """Return the user's home folder; an empty HOME counts as unset, not as the root folder.

    `RuntimeError` or `KeyError` if the system knows no home folder.
    """
    if sys.platform == "win32" or os.environ.get("HOME") != "":
        return Path.home()
    import pwd  # Imported here, because Windows does not have it.

    return Path(pwd.getpwuid(os.getuid()).pw_dir)
