"""Reading of a user's JSON list: encodings and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.common.json_list import read_json_list


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_a_list_is_read_in_all_encodings_of_unicode(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "list.json"
    path.write_text('["ü"]', encoding=encoding)
    assert read_json_list(path, "words") == ["ü"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'["\xfc"]', "expected text in UTF-8, found byte 0xfc at offset 2; convert the file to "
         "UTF-8"),
        (b"", "expected a JSON list of words: Expecting value: line 1 column 1 (char 0)"),
        (b"{}", "expected a JSON list of words"),
        (b"[" * 100_000, "expected a JSON list of words: maximum recursion depth exceeded"),
    ],
)
def test_another_file_is_named(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_json_list(path, "words")
    assert caught.value.token == str(path) and caught.value.expected.startswith(reason)
