"""The default folders of a user's files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.common.folders import user_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the XDG standard applies to Linux")


@pytest.fixture(autouse=True)
def only_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment with HOME and no other variable for a folder."""
    for name in ("MERELS_NONE", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def folders() -> list[Path]:
    """Return the folders for files that can and cannot be created again."""
    return [user_folder("x", "MERELS_NONE", cache=cache) for cache in (True, False)]


def test_empty_variables_count_as_unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("MERELS_NONE", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, "")
    assert folders() == [tmp_path / ".cache/merels/x", tmp_path / ".local/share/merels/x"]
    monkeypatch.delenv("HOME")
    without_home = folders()
    monkeypatch.setenv("HOME", "")
    assert folders() == without_home != [Path("/.cache/merels/x"), Path("/.local/share/merels/x")]


def test_a_user_whom_the_system_does_not_know_needs_a_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import pwd

    def unknown(user: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {user}")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for home in ("", None):
        if home is None:
            monkeypatch.delenv("HOME")
        else:
            monkeypatch.setenv("HOME", home)
        with pytest.raises(InputError, match="no home folder for x; set MERELS_NONE to a folder"):
            folders()
