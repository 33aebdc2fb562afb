"""Reading of a user's JSON file that contains a list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from merels.engine.common.errors import InputError


def read_json_list(path: Path, items: str) -> list[Any]:
    """Return the list in a JSON file in UTF-8, UTF-16 or UTF-32.

    ``items`` names the list's items in the `InputError` for any other file. `OSError` if the file
    cannot be read.
    """
    try:
        rows = json.loads(path.read_bytes())
    except UnicodeDecodeError as error:
        byte, offset = error.object[error.start], error.start
        raise InputError(
            str(path), f"expected text in UTF-8, found byte 0x{byte:02x} at offset {offset}; "
            "convert the file to UTF-8"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(str(path), f"expected a JSON list of {items}: {error}") from None
    if not isinstance(rows, list):
        raise InputError(str(path), f"expected a JSON list of {items}")
    return rows
