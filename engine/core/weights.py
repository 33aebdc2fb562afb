"""The evaluation's weights: read from the file beside this module when first needed."""

from __future__ import annotations

from pathlib import Path

from merels.engine.core import core
from merels.engine.game.errors import InputError

PATH = Path(__file__).with_name("weights.bin")

_loaded = False


def load(path: Path = PATH) -> None:
    """Give the core the weights of a file; `InputError` when it cannot be read or is another's."""
    global _loaded
    try:
        core.load_weights(path.read_bytes())
    except OSError as error:
        what = f"the evaluation's weights cannot be read: {error.strerror}; reinstall merels"
        raise InputError(str(path), what) from None
    except ValueError as error:
        raise InputError(str(path), f"{error}; reinstall merels") from None
    _loaded = True


def ensure() -> None:
    """Load the weights unless some are loaded already."""
    if not _loaded:
        load()
