"""The results in engine/tablebase/results/ agree with tables that these tests build."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from merels.engine.game.rules import PRESETS, parse_rules
from tests.kit.tables import built_tables

FOLDER = Path(__file__).parents[3] / "engine" / "tablebase" / "results"
FILES = {
    "morris-unlimited": parse_rules("morris Repetition=0 NoRemovalPlies=0"),
    **{name: PRESETS[name] for name in ("mill", "morris", "loc", "multi")},
}
MOVING_STATES = 8_904_593_601
"""Gasser's count of all states of the moving phase."""


def rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", FILES)
def test_the_sectors_of_a_file_are_complete(name: str) -> None:
    moving = [row for row in rows(name) if row["in_hand"] == "0"]
    assert len(moving) == 49 and sum(int(row["states"]) for row in moving) == MOVING_STATES
    for row in rows(name):
        assert int(row["states"]) == sum(int(row[value]) for value in ("wins", "draws", "losses"))


def compare(name: str, men: int) -> None:
    """Compare tables of up to ``men`` men with the file of results."""
    headers = built_tables(FILES[name], men).headers
    listed = {(int(row["own"]), int(row["opponent"])): row for row in rows(name)
              if row["in_hand"] == "0"}
    compared = set()
    for sector, header in headers.items():
        sides = [(sector.own, sector.opponent), (sector.opponent, sector.own)]
        for tally, side in zip(header.tallies, sides, strict=False):
            row = listed[side]
            assert (tally.won, tally.drawn, tally.lost) == (
                int(row["wins"]), int(row["draws"]), int(row["losses"])), side
            assert f"{header.values_checksum:08x}" == row["crc32"], side
            compared.add(side)
    assert compared == {side for side in listed if sum(side) <= men}


@pytest.mark.parametrize("name", FILES)
def test_small_sectors_are_as_published(name: str) -> None:
    compare(name, 8 if name == "morris" else 7)
