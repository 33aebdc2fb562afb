"""Data files of the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.engine.common.data_file import DataFile
from merels.engine.common.errors import InputError

NUTS = DataFile("nuts", b"MERELSNU", 3)
SOUND = NUTS.pack(b"walnut")


def test_a_payload_is_packed_and_unpacked() -> None:
    assert NUTS.unpack(SOUND) == NUTS.unpack(SOUND, 6) == b"walnut"
    assert SOUND[:12] == b"MERELSNU\x03\0\0\0"


@pytest.mark.parametrize(
    ("data", "size", "expected"),
    [
        (b"", None, "not a file of nuts: it begins with '', not 'MERELSNU'"),
        (SOUND[:12], None, "12 bytes: cut off within its header"),
        (SOUND[:8] + b"\x02" + SOUND[9:], None, "nuts of version 2, this program reads 3"),
        (SOUND[:-1], None, "21 bytes: cut off or damaged"),
        (SOUND[:-1], 6, "21 bytes instead of 22: cut off or damaged"),
        (SOUND[:-1] + b"T", 6, "damaged data: CRC-32 "),
    ],
)
def test_an_invalid_file_is_refused(data: bytes, size: int | None, expected: str) -> None:
    with pytest.raises(ValueError) as caught:
        NUTS.unpack(data, size)
    assert str(caught.value).startswith(expected)


def test_an_unreadable_file_is_reported_with_advice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing': cannot read the nuts: .*; reinstall merels"):
        NUTS.read(tmp_path / "missing")
