"""Sentences on games that several versions of merels played."""

from __future__ import annotations

from dataclasses import replace

import pytest

from merels.tournament.journal.provenance import MAX_NAMED, Provenance
from merels.tournament.journal.rows import make_row
from merels.tournament.records.games import Origin
from tests.tournament.specs import result


@pytest.mark.parametrize("versions", [1, 2, MAX_NAMED, MAX_NAMED + 1, MAX_NAMED + 3])
def test_the_first_versions_are_named_and_the_rest_counted(versions: int) -> None:
    provenance = Provenance()
    for number in range(versions):
        origin = Origin("h", f"0.{number}", ("a 1", "b 1"), ("aa", "bb"))
        provenance.add(make_row(replace(result(number + 1), origin=origin)))
    mixtures = provenance.mixtures()
    if versions == 1:
        assert mixtures == []
        return
    named = [f"0.{number} (1 game)" for number in range(min(versions, MAX_NAMED))]
    more = [f"and {versions - MAX_NAMED} more"] if versions > MAX_NAMED else []
    listed = ", ".join(named + more)
    assert mixtures == [f"games were played by {versions} versions of merels: {listed}"]
