"""Parsing of the words after ``-engine``."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.search.levels import level_named
from merels.engine.tablebase.probe import default_root
from merels.protocol.client.engine_spec import (
    MERELS,
    TABLES_OPTION,
    EngineSpec,
    program_name,
    read_engine,
)

PROTOCOLS = ("uci", "ugi")


def test_every_key_of_an_engine_is_read(tmp_path: Path) -> None:
    words = ["cmd=./a", "args=-x 'y z'", "name=A b", "proto=UGI", f"dir={tmp_path}",
             "option.X y=1=2", "option.Empty="]
    assert read_engine(words, PROTOCOLS) == EngineSpec(
        ("./a", "-x", "y z"), "A b", "ugi", str(tmp_path), (("X y", "1=2"), ("Empty", ""))
    )


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["cmd=./a"], ["./a"]),
        (["./a"], ["./a"]),
        (["cmd=./mill uci"], ["./mill", "uci"]),
        (["java -Dx=1 -jar a.jar", "name=A"], ["java", "-Dx=1", "-jar", "a.jar"]),
        (["cmd='./an engine' -u", "args=-x"], ["./an engine", "-u", "-x"]),
        (["cmd=engine 'a b' $HOME;x"], ["engine", "a b", "$HOME;x"]),
        (["cmd=my engine's", "args=-x"], ["HERE/my engine's", "-x"]),
        (["cmd=my engine's", "dir=folder"], ["my engine's"]),
        (["cmd=only there", "dir=folder"], ["only there"]),
    ],
)
def test_a_command_with_a_space_is_a_file_or_is_split(
    words: list[str], command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for file in ("my engine's", "folder/my engine's", "folder/only there"):
        (tmp_path / file).touch()
    expected = tuple(word.replace("HERE", os.getcwd()) for word in command)
    assert read_engine(words, PROTOCOLS).command == expected


def test_a_program_s_name_has_no_folder_and_no_suffix() -> None:
    assert program_name(["/opt/old mill.exe", "-x"]) == "old mill"
    assert program_name([".hidden"]) == ".hidden"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["name=A"], "'name=A': expected cmd="),
        (["cmd= "], "'cmd= ': expected cmd="),
        (["cmd=a", "b"], "'b': expected cmd="),
        (["cdm=a"], "'cdm=a': expected cmd="),
        (["cmd=a", "cmd=b"], "'cmd=b': cmd= is given twice; begin each engine with -engine"),
        (["cmd=a", "args='b"], "'a': cannot read"),
        (["cmd='a b"], "cannot read"),
        (["cmd=a", "option.=1"], "'option.=1': expected cmd="),
        (["cmd=a", "option.Hash"], "'option.Hash': expected cmd="),
        (["cmd=a", "option.X\n=1"], "takes a name and a value without line breaks"),
        (["cmd=a", "option.X\udcff=1"], "takes a name and a value without lone surrogates"),
        (["cmd=a", "option.X=\udcff"], "takes a name and a value without lone surrogates"),
        (["cmd=a", "proto=x", "name=N"], "'x': expected uci, ugi for proto= of N"),
        (["cmd=a", "dir=/no/such"], "'/no/such': no such folder for dir= of a"),
        (["cmd=a", "cpu=-1"], "'-1': expected whole seconds"),
    ],
)
def test_an_error_names_the_invalid_word_of_an_engine(words: list[str], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_engine(words, PROTOCOLS)


def test_a_level_is_merels_with_options_for_its_rating_or_its_tables() -> None:
    club = read_engine(["level=CLUB", "option.Hash=4"], PROTOCOLS)
    assert (club.command, club.name) == (MERELS, "Club")
    elo = level_named("Club").elo
    assert dict(club.options) == {"Hash": "4", "UCI_LimitStrength": "true", "UCI_Elo": str(elo)}
    perfect = read_engine(["level=PERFECT"], PROTOCOLS)
    assert (perfect.command, perfect.name) == (MERELS, "Perfect")
    assert dict(perfect.options) == {TABLES_OPTION: os.path.abspath(default_root())}
