"""RULES.md and rules.jsonl agree with the two implementations of the rules, Python and compiled."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import format_moves, parse_position, play_moves
from merels.engine.game.rules import Rules, make_rules, preset
from tests.commands import output
from tests.protocol import rules_cases

FOLDER = Path(__file__).parents[2] / "protocol"
PAGE = (FOLDER / "RULES.md").read_text("utf-8")
DIAGRAMS = re.findall(r"^```\n(7  [^`]*?)\n\nFen: (.*?)\n```\n((?:<!--.*-->\n)*)", PAGE, re.M)
CASES = [json.loads(line) for line in (FOLDER / "rules.jsonl").read_text("utf-8").splitlines()]


def rules_of(case: dict[str, Any]) -> Rules:
    """Return the rules of a case."""
    fields = case.get("set", {})
    return make_rules(case["rules"], [f"{name}={value}" for name, value in fields.items()])


@pytest.mark.parametrize(("diagram", "fen", "claims"), DIAGRAMS, ids=lambda text: text[:24])
def test_a_diagram_and_the_legality_of_the_moves_below_it(
    diagram: str, fen: str, claims: str
) -> None:
    assert output("d", fen).startswith(f"{diagram}\n\nFen: {fen}\n")
    claim = r"<!-- (\w+):(.*?)(not legal|legal|blocked) -->"
    for rules, moves, verdict in re.findall(claim, claims):
        position = parse_position(fen, preset(rules))
        legal = format_moves(position.legal_moves()).split()
        if verdict == "blocked":
            assert legal == [] and position.outcome() is not None
        for move in moves.split():
            assert (move in legal) == (verdict == "legal"), (rules, move)
            assert f"`{move}`" in PAGE or move.partition("x")[0] in PAGE


def test_diagrams_were_found() -> None:
    assert len(DIAGRAMS) == 7 and sum(bool(claims) for *_, claims in DIAGRAMS) == 6


def test_the_generator_reproduces_the_cases() -> None:
    assert (FOLDER / "rules.jsonl").read_text("utf-8") == rules_cases.text()
    assert f"{len(CASES)} positions" in (FOLDER.parent / "README.md").read_text("utf-8")


OTHER_VALUES = {
    "Flying": ["never", "own", "both"], "LockedMills": ["any", "none"],
    "DoubleMill": ["one", "each"], "Blocked": ["loses", "draws"], "Repetition": ["2", "4"],
    "NoRemovalPlies": ["79", "81"], "ThreeThreePlies": ["3", "5"],
}


@pytest.mark.parametrize("field", OTHER_VALUES)
def test_an_engine_with_another_value_of_a_field_fails_a_case(field: str) -> None:
    def fails(value: str) -> bool:
        """Return whether an engine that always plays by this value fails a case."""
        for case in CASES:
            rules = rules_of(case)
            wrong = rules.with_field(field, value)
            if wrong == rules:
                continue
            try:
                position = play_moves(parse_position(case["position"], wrong), case["moves"])
            except InputError:
                return True
            outcome = position.outcome()
            legal = [] if outcome else format_moves(position.legal_moves()).split()
            word = rules_cases.outcome_word(outcome)
            if (word, sorted(legal)) != (case["outcome"], case["legal"]):
                return True
        return False

    assert all(map(fails, OTHER_VALUES[field]))
