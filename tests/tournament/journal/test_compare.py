"""Differences between tournaments, in the words of the command line."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from merels.engine.search.levels import LEVELS
from merels.protocol.process.limits import ResourceLimits
from merels.tournament.journal.compare import differences, listed
from merels.tournament.records.games import SECOND, Adjudication, TimeControl
from merels.tournament.records.settings import (
    OpeningSettings,
    Parameter,
    Schedule,
    Settings,
    Tuning,
    read_settings,
)
from merels.tournament.records.table import FLAGS, TUNE_FLAGS
from merels.tournament.statistics.sprt import Sprt
from tests.tournament.specs import MERELS, changed, engine, settings

CLUB = LEVELS[2].elo

FULL = replace(
    settings(2),
    engines=tuple(
        replace(
            changed(engine(name), resources=ResourceLimits(1, 2, 3), options=(("Hash", "1"),),
                    directory="/", command=("x", "z")),
            limit=TimeControl(SECOND, 1_000_000, 5, None, 6, 7, 8_000_000),
        )
        for name in "AB"
    ),
    openings=OpeningSettings("/none/a.pos", plies=3, digest="a" * 64),
    adjudication=Adjudication(1, 2, 3, 4, 5, 6, True, 7, "/tables"),
    sprt=Sprt(0, 5),
    rules="mill Flying=never",
)  # fmt: skip
"""Settings in which every flag of a tournament has a value."""
TUNE = replace(FULL, tuning=Tuning((Parameter("Margin", 1, 0, 9, 0.5),), Schedule(0.1)))
"""Settings in which every flag of a tune has a value."""


def diff(ours: Settings, theirs: Settings, played: str = "ABC") -> str:
    """Return the differences as text; ``played`` has the names of the engines that have played."""
    folder = os.getcwd()
    return listed(differences(ours, theirs, played, (folder, folder)), "now", "in the journal")


def other_value(value: Any) -> Any:
    """Return a different value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return {"mill Flying=never": "mill Flying=both", "normalized": "logistic"}.get(value, "x")
    if isinstance(value, tuple):
        return (("Hash", "2"),) if isinstance(value[0], tuple) else ("y", "z")
    if value is None:
        return 2 * SECOND
    return value / 2 if isinstance(value, float) else value + (1 if value < 1000 else 1_000_000)


def variations(original: Any) -> Iterator[tuple[str, Any]]:
    """Yield copies of a dataclass with one field changed, each with the name of that field."""
    for field in fields(original):
        value = getattr(original, field.name)
        if dataclasses.is_dataclass(value):
            for name, varied in variations(value):
                yield name, replace(original, **{field.name: varied})
        elif value and isinstance(value, tuple) and dataclasses.is_dataclass(value[-1]):
            for name, varied in variations(value[-1]):
                yield name, replace(original, **{field.name: (*value[:-1], varied)})
        # Files are compared by content, a tournament is never a tune, and a renamed parameter
        # would be two changes.
        elif field.compare and field.name != "file" and (
            value != "Margin" and (field.name, value) != ("tuning", None)
        ):
            yield field.name, replace(original, **{field.name: other_value(value)})


@pytest.mark.parametrize(
    ("ours", "field", "theirs"),
    [(ours, *change) for ours in (FULL, TUNE) for change in variations(ours)],
)
def test_every_setting_is_named_by_its_flag(ours: Settings, field: str, theirs: Settings) -> None:
    """Every setting, even a new one, has a flag and a value as the user types it."""
    text = diff(ours, theirs)
    flag, *rest = text.partition(":")[0].split()
    keys = (FLAGS if ours is FULL else {**FLAGS, **TUNE_FLAGS})[flag].keys
    if keys:
        assert rest[-1] in (*keys, "option.Hash", "name", "Margin"), text
    assert "in the journal" in text and ";" not in text
    typed = re.sub(r"\b[cr]_end\b", "", text)
    assert "_" not in typed and "000000000" not in typed, text


def test_settings_survive_json() -> None:
    assert read_settings(FULL.as_json()) == FULL


def with_limits(*values: TimeControl) -> Settings:
    return settings(
        engines=tuple(replace(engine(name), limit=limit) for name, limit in zip("AB", values))
    )


SLOW, FAST = TimeControl(2 * SECOND, 20_000_000), TimeControl(SECOND, 10_000_000)


def test_a_difference_of_all_engines_is_listed_once() -> None:
    assert diff(with_limits(FAST, FAST), with_limits(SLOW, SLOW)) == (
        "-each tc: now 1+0.01, in the journal 2+0.02")
    assert diff(with_limits(FAST, SLOW), with_limits(SLOW, SLOW)) == (
        "-engine A tc: now 1+0.01, in the journal 2+0.02")
    assert diff(with_limits(FAST, FAST), with_limits(SLOW, FAST)) == (
        "-engine A tc: now 1+0.01, in the journal 2+0.02")


def test_only_three_differences_are_named() -> None:
    ours = settings(seed=1, games=4, event="x", swap=False, rounds=9)
    assert diff(ours, settings()) == (
        "-games: now 4, in the journal 2; -noswap: now on, in the journal off; "
        "-srand: now 1, in the journal 7; and 1 more")


def test_values_are_compared_in_all_digits() -> None:
    ours, theirs = (settings(sprt=Sprt(0, 5, alpha)) for alpha in (0.05, 0.05000001))
    assert diff(ours, theirs) == "-sprt alpha: now 0.05, in the journal 0.05000001"


def test_a_flag_given_on_one_side_only_is_compared_by_keys() -> None:
    assert diff(settings(sprt=Sprt(0, 5)), settings()) == (
        "-sprt elo0: now 0, in the journal not given; "
        "-sprt elo1: now 5, in the journal not given; "
        "-sprt alpha: now 0.05, in the journal not given; and 2 more")


def test_a_moved_file_of_openings_is_equal_and_a_changed_one_is_not() -> None:
    before = settings(openings=OpeningSettings("/old/a.pos", digest="1" * 64))
    assert diff(settings(openings=OpeningSettings("/new/b.pos", digest="1" * 64)), before) == ""
    text = diff(settings(openings=OpeningSettings("/old/a.pos", digest="2" * 64)), before)
    assert text == ("-openings file: now /old/a.pos (SHA-256 22222222), "
                    "in the journal /old/a.pos (SHA-256 11111111)")


def with_program(*command: str, directory: str | None = None) -> Settings:
    """Return a match in which A has another command."""
    first, second = settings().engines
    return settings(engines=(changed(first, command=command, directory=directory), second))


def test_a_program_may_have_another_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mini.py").write_text("same text")
    os.symlink(tmp_path / "here", tmp_path / "link")
    stored = with_program(f"{tmp_path}/here/mini.py")
    assert diff(with_program("here/mini.py"), stored) == ""
    assert diff(with_program(f"{tmp_path}/link/mini.py"), stored) == ""
    assert diff(with_program("./mini.py", directory=f"{tmp_path}/here"), stored) != ""
    assert diff(with_program("py", "./here/mini.py"), with_program("py", "here/mini.py")) == ""
    assert diff(with_program("py", "here/mini.py"), with_program("py", "there/mini.py")) == (
        "-engine A args: now here/mini.py, in the journal there/mini.py")
    # Two builds may have the same name, so a program has moved only if its old path is gone.
    moved = with_program(f"{tmp_path}/there/mini.py")
    assert diff(moved, stored) == (f"-engine A cmd: now {tmp_path}/there/mini.py, "
                                   f"in the journal {tmp_path}/here/mini.py")
    (tmp_path / "here" / "mini.py").unlink()
    assert diff(moved, stored) == ""
    assert diff(with_program("mini2.py"), stored) != ""


def test_the_command_of_an_engine_may_change_until_it_has_played() -> None:
    first, second = settings().engines
    ours = settings(engines=(changed(first, command=("/b/right", "x"), protocol="ugi"), second))
    assert diff(ours, settings(), played="B") == ""
    text = diff(ours, settings(), played="A")
    assert text.startswith("-engine A cmd: now /b/right, in the journal ")


def with_level(elo: int, python: str, limited: str = "true") -> Settings:
    """Return a match in which A is a level of the built-in engine."""
    first, second = settings().engines
    options = (("UCI_LimitStrength", limited), ("UCI_Elo", str(elo)))
    command = (python, *MERELS[1:])
    return settings(engines=(changed(first, command=command, options=options), second))


def test_the_built_in_engine_is_equal_in_every_installation() -> None:
    assert diff(with_level(CLUB, "/a/python3"), with_level(CLUB, "/b/python")) == ""
    assert diff(with_level(CLUB, "/a/python3"), with_level(1000, "/a/python3")) == (
        "-engine A level: now Club, in the journal 1000")
    assert diff(with_level(CLUB, "/a/python3"), with_level(CLUB, "/a/python3", "false")) == (
        "-engine A level: now Club, in the journal not given; "
        "-engine A option.UCI_LimitStrength: now not given, in the journal false; "
        f"-engine A option.UCI_Elo: now not given, in the journal {CLUB}")
