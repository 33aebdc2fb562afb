"""Memory available for engines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from merels.tournament.play import memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux reports")


def test_the_available_share_is_between_none_and_all() -> None:
    assert 0 < memory.available_share() < 1


@pytest.mark.parametrize("limit", [1_000_000, None])
def test_a_container_has_the_memory_that_its_limit_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int | None
) -> None:
    """Cached files, which are ``inactive_file``, do not count as used."""
    texts = {"limit": f"{limit or 'max'}\n", "use": "900000\n",
             "parts of the use": "anon 7\ninactive_file 200000\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    machine = memory.available_share()
    files = tuple(str(tmp_path / name) for name in texts)
    monkeypatch.setattr(memory, "_GROUPS", (files, ("/missing",) * 3))
    share = memory.available_share()
    assert share == pytest.approx(0.3) if limit else abs(share - machine) < 0.1


def test_memory_is_short_if_it_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_MACHINE", str(tmp_path / "missing"))
    assert memory.MemoryWatch()()
